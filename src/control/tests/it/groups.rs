//! Groups that are changed at the same time.

use std::collections::BTreeSet;

use api::groups::GroupChange;
use api::users::NewUser;
use api::{Backend, ErrorCode};
use futures::future::join_all;
use protocol::cluster::VirtualClusterSettings;
use protocol::ids::{GroupName, UserName, VirtualClusterName};

use crate::house::{House, admin, close};

/// So many changes at the same time.
const MANY: usize = 12;

fn group(number: usize) -> GroupName {
    format!("group-{number:02}").parse().unwrap()
}

fn all() -> BTreeSet<GroupName> {
    (0..MANY).map(group).collect()
}

/// The groups that a user is in.
async fn groups_of(backend: &Backend, user: &UserName) -> BTreeSet<GroupName> {
    let groups = backend.groups.list(&admin()).await.unwrap().into_iter();
    let of_user = groups.filter(|group| group.members.iter().any(|member| member.user == *user));
    of_user.map(|group| group.name).collect()
}

/// Whatever is changed at the same time, nothing of it is lost.
pub(crate) async fn are_changed_at_once(backend: &Backend) {
    let alice: UserName = "alice".parse().unwrap();
    let user = NewUser {
        name: alice.clone(),
        password: "correct horse".into(),
        admin: false,
        temporary: false,
    };
    backend.users.create(&admin(), user).await.unwrap();
    let (by, nothing) = (admin(), Vec::new);
    let put = |number| backend.groups.alter(&by, &alice, vec![group(number)], nothing());
    join_all((0..MANY).map(put)).await.into_iter().for_each(|put| put.unwrap());
    assert_eq!(groups_of(backend, &alice).await, all(), "in each group");
    let take = |number| backend.groups.alter(&by, &alice, nothing(), vec![group(number)]);
    join_all((1..MANY).map(take)).await.into_iter().for_each(|taken| taken.unwrap());
    assert_eq!(groups_of(backend, &alice).await, BTreeSet::from([group(0)]));

    let lab: VirtualClusterName = "lab".parse().unwrap();
    let first = "first".parse().unwrap();
    let settings =
        VirtualClusterSettings { groups: vec![first], ..VirtualClusterSettings::new(lab.clone()) };
    backend.virtual_clusters.save(&admin(), settings).await.unwrap();
    let said =
        || GroupChange { virtual_clusters: Some(vec![lab.clone()]), ..GroupChange::default() };
    let names: Vec<GroupName> = all().into_iter().collect();
    let create = names.iter().map(|name| backend.groups.create(&by, name, said()));
    join_all(create).await.into_iter().for_each(|created| drop(created.unwrap()));
    let seen = backend.groups.list(&admin()).await.unwrap();
    let named = seen.into_iter().filter(|group| group.virtual_clusters.contains(&lab));
    let named: BTreeSet<GroupName> = named.map(|group| group.name).collect();
    assert!(named.is_superset(&all()), "each may use it: {named:?}");

    let one: GroupName = "one".parse().unwrap();
    let create = (0..MANY).map(|_| backend.groups.create(&by, &one, GroupChange::default()));
    let created = join_all(create).await;
    assert_eq!(created.iter().filter(|created| created.is_ok()).count(), 1);
    let refused = created.into_iter().filter_map(Result::err);
    assert!(refused.into_iter().all(|error| error.code == ErrorCode::ConflictGroupError));
    let described =
        GroupChange { description: Some("who trains".into()), ..GroupChange::default() };
    let elsewhere = GroupChange { external_name: Some("vision".into()), ..GroupChange::default() };
    let (described, elsewhere) = tokio::join!(
        backend.groups.change(&by, &one, described),
        backend.groups.change(&by, &one, elsewhere)
    );
    for changed in [described, elsewhere] {
        changed.unwrap();
    }
    let seen = backend.groups.list(&admin()).await.unwrap();
    let seen = seen.into_iter().find(|group| group.name == one).unwrap();
    assert_eq!((seen.description.as_str(), seen.external_name.as_str()), ("who trains", "vision"));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_that_are_changed_at_once_lose_nothing() {
    let house = House::new(1);
    let control = house.start().await;
    are_changed_at_once(&control.backend).await;
    close(&control).await;
}
