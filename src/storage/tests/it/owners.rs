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
async fn only_a_folder_in_which_nothing_is_goes_as_an_empty_one() {
    let (folder, storage) = open();
    let [empty, full, file, link] =
        ["empty", "full", "file", "link"].map(|name| at(&storage, &format!("/Output/{name}")));
    for place in [&empty, &at(&storage, "/Output/full/within")] {
        storage.create_folder(place).await.unwrap();
    }
    let output = folder.path().join("files/Output");
    std::fs::write(output.join("file"), "").unwrap();
    std::os::unix::fs::symlink("empty", output.join("link")).unwrap();
    for place in [&full, &file, &link, &at(&storage, "/Output/file/below")] {
        assert!(!storage.remove_empty(place).await.unwrap(), "{place}");
    }
    for place in ["full/within", "file", "link", "empty"] {
        assert!(output.join(place).exists(), "{place}");
    }
    assert!(storage.remove_empty(&empty).await.unwrap());
    assert!(!storage.remove_empty(&empty).await.unwrap(), "it is gone");
    assert!(!storage.exists(&empty).await.unwrap());
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
async fn what_is_new_is_claimed_and_what_is_there_is_not() {
    let (_folder, storage) = open();
    let (alice, bob) = (user("alice"), user("bob"));
    for number in 0..3 {
        let place = at(&storage, &format!("/Output/new-{number}"));
        assert_eq!(storage.claim_new(&place, &alice).await.unwrap().as_ref(), Some(&alice));
        assert_eq!(storage.claim_new(&place, &bob).await.unwrap().as_ref(), Some(&alice));
        assert_eq!(storage.owner(&place).await.unwrap().as_ref(), Some(&alice));
    }
    assert_eq!(storage.places_of(&alice).await.unwrap().len(), 3);
    assert!(storage.places_of(&bob).await.unwrap().is_empty(), "nothing of his is left behind");
    let there = at(&storage, "/Output/there");
    storage.create_folder(&there).await.unwrap();
    assert_eq!(storage.claim_new(&there, &alice).await.unwrap(), None);
    assert_eq!(storage.owner(&there).await.unwrap(), None);
}

/// Nothing says yet who the user is.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn of_first_places_that_are_claimed_at_once_each_is_the_users() {
    for _ in 0..16 {
        let (_folder, storage) = open();
        let alice = user("alice");
        let places: Vec<_> = (0..16).map(|number| at(&storage, &format!("/a/{number}"))).collect();
        let claimed = places.iter().map(|place| storage.claim(place, &alice));
        for owner in futures::future::join_all(claimed).await {
            assert_eq!(owner.unwrap(), alice);
        }
        for place in &places {
            assert_eq!(storage.owner(place).await.unwrap().as_ref(), Some(&alice), "{place}");
        }
    }
}

#[tokio::test]
async fn what_is_nobodys_is_claimed_and_made_in_one_step() {
    let (_folder, storage) = open();
    let (alice, bob) = (user("alice"), user("bob"));
    let first = at(&storage, "/Output/first");
    assert!(!storage.claim_and_make(&first, &alice).await.unwrap(), "nothing says yet who she is");
    assert!(!storage.exists(&first).await.unwrap());
    storage.claim(&first, &alice).await.unwrap();
    let place = at(&storage, "/Output/new");
    assert!(storage.claim_and_make(&place, &alice).await.unwrap());
    assert!(storage.exists(&place).await.unwrap());
    assert_eq!(storage.owner(&place).await.unwrap().as_ref(), Some(&alice));
    assert_eq!(storage.places_of(&alice).await.unwrap(), [first.clone(), place.clone()]);
    storage.claim(&at(&storage, "/Output/his"), &bob).await.unwrap();
    for taken in [&place, &first] {
        assert!(!storage.claim_and_make(taken, &bob).await.unwrap());
        assert!(!storage.claim_and_make(taken, &alice).await.unwrap());
        assert_eq!(storage.owner(taken).await.unwrap().as_ref(), Some(&alice));
    }
    assert!(!storage.exists(&first).await.unwrap());
    let there = at(&storage, "/Output/there");
    storage.create_folder(&there).await.unwrap();
    assert!(!storage.claim_and_make(&there, &bob).await.unwrap());
    assert_eq!(storage.owner(&there).await.unwrap(), None);
    assert_eq!(storage.places_of(&bob).await.unwrap().len(), 1);
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

#[tokio::test]
async fn a_place_that_is_made_at_once_has_no_file_of_its_own() {
    use std::os::unix::fs::MetadataExt;
    let (folder, storage) = open();
    let own = folder.path().join("files/.berth");
    storage.claim(&at(&storage, "/Output/first"), &user("alice")).await.unwrap();
    let names = || std::fs::metadata(own.join("users/of-alice")).unwrap().nlink();
    let before = names();
    let place = at(&storage, "/Output/second");
    assert!(storage.claim_and_make(&place, &user("alice")).await.unwrap());
    assert_eq!(names(), before + 2, "its claim, and its entry in the list");
    assert_eq!(storage.places_of(&user("alice")).await.unwrap().len(), 2);
    storage.release(&place).await.unwrap();
    assert_eq!(names(), before);
    assert_eq!(storage.owner(&place).await.unwrap(), None);
}

#[tokio::test]
async fn whose_places_are_is_written_once_a_user() {
    use std::os::unix::fs::MetadataExt;
    let (folder, storage) = open();
    let own = folder.path().join("files/.berth");
    let files = |below: &str| {
        let entries = std::fs::read_dir(own.join(below)).unwrap().map(Result::unwrap);
        entries.map(|entry| entry.metadata().unwrap()).collect::<Vec<_>>()
    };
    for number in 0..20 {
        let place = at(&storage, &format!("/Output/train-{number}"));
        assert_eq!(storage.claim(&place, &user("alice")).await.unwrap(), user("alice"));
        assert_eq!(storage.claim(&place, &user("bob")).await.unwrap(), user("alice"));
    }
    let claims = files("owners");
    assert_eq!((claims.len(), claims[0].nlink()), (20, 21), "they are names of one file");
    assert!(files("places/of-alice").iter().all(|entry| entry.len() == 0));
    assert_eq!(storage.places_of(&user("alice")).await.unwrap().len(), 20);

    // Where that file is lost, it is written anew.
    std::fs::remove_dir_all(own.join("users")).unwrap();
    let last = at(&storage, "/Output/50%2F50%");
    storage.claim(&last, &user("alice")).await.unwrap();
    assert_eq!(storage.owner(&last).await.unwrap(), Some(user("alice")));
    let places = storage.places_of(&user("alice")).await.unwrap();
    assert!(places.len() == 21 && places.contains(&last));
}

#[tokio::test]
async fn places_that_an_earlier_version_listed_are_found_and_given_up() {
    let (folder, storage) = open();
    let place = at(&storage, "/Output/train");
    storage.claim(&place, &user("alice")).await.unwrap();
    let listed = folder.path().join("files/.berth/places/of-alice");
    std::fs::remove_dir_all(&listed).unwrap();
    std::fs::create_dir(&listed).unwrap();
    let digest = std::fs::read_dir(folder.path().join("files/.berth/owners")).unwrap();
    let digest = digest.map(|entry| entry.unwrap().file_name()).next().unwrap();
    std::fs::write(listed.join(digest), "/Output/train").unwrap();
    assert_eq!(storage.places_of(&user("alice")).await.unwrap(), std::slice::from_ref(&place));
    storage.claim(&place, &user("alice")).await.unwrap();
    assert_eq!(storage.places_of(&user("alice")).await.unwrap(), std::slice::from_ref(&place));
    storage.release(&place).await.unwrap();
    assert_eq!(std::fs::read_dir(&listed).unwrap().count(), 0);
}
