use protocol::ids::UserName;

use crate::{at, open};

fn user(name: &str) -> UserName {
    UserName::new(name).unwrap()
}

#[tokio::test]
async fn a_place_belongs_to_whoever_claimed_it_first() {
    let (_folder, storage) = open();
    let place = at(&storage, "/Output/train");
    assert_eq!(storage.owner(&place).await.unwrap(), None);
    assert_eq!(storage.claim(&place, &user("alice")).await.unwrap(), user("alice"));
    assert_eq!(storage.claim(&place, &user("bob")).await.unwrap(), user("alice"));
    assert_eq!(storage.claim(&place, &user("alice")).await.unwrap(), user("alice"));
    let other = at(&storage, "/path/x");
    storage.claim(&other, &user("alice")).await.unwrap();
    assert_eq!(storage.places_of(&user("alice")).await.unwrap(), [place.clone(), other]);
    assert!(storage.places_of(&user("bob")).await.unwrap().is_empty());
    storage.release(&place).await.unwrap();
    storage.release(&place).await.unwrap();
    assert_eq!(storage.claim(&place, &user("bob")).await.unwrap(), user("bob"));
    assert_eq!(storage.places_of(&user("bob")).await.unwrap(), [place]);
    assert_eq!(storage.places_of(&user("alice")).await.unwrap().len(), 1);
}

#[tokio::test]
async fn of_many_who_claim_one_gets_it_and_all_know() {
    let (_folder, storage) = open();
    let place = at(&storage, "/Output/race");
    let users: Vec<_> = (0..10).map(|number| user(&format!("u{number}"))).collect();
    let claims =
        futures::future::join_all(users.iter().map(|user| storage.claim(&place, user))).await;
    let owners: std::collections::BTreeSet<_> = claims.into_iter().map(Result::unwrap).collect();
    assert_eq!(owners.len(), 1);
}

#[tokio::test]
async fn odd_user_names_do_no_harm() {
    let (folder, storage) = open();
    let place = at(&storage, "/Output/x");
    for name in ["..", ".", ".berth"] {
        storage.claim(&place, &user(name)).await.unwrap();
        assert_eq!(storage.places_of(&user(name)).await.unwrap(), std::slice::from_ref(&place));
        storage.release(&place).await.unwrap();
    }
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1);
}
