//! Holding, releasing and moving what waits.

use std::collections::BTreeMap;

use api::ErrorCode;
use api::audit::AuditAction;
use api::cluster::FreeGpus;
use api::jobs::{DryRun, JobQuery, Submission};
use api::queue::{Alternative, Instead, QueueChange, QueuePlace};
use api::users::NewUser;
use api::{Actor, Backend};
use control::{Control, GpuOptions, Options};
use protocol::amount::Amount;
use protocol::cluster::{GpuCount, VirtualClusterSettings};
use protocol::gpus::GpuWeights;
use protocol::ids::{GpuType, GroupName, JobKey, VirtualClusterName};
use protocol::limits::{Limit, Limits};
use protocol::spec::Priority;
use protocol::state::State;
use protocol::wait::{Ground, Likeness, WaitReason};

use crate::house::{House, admin, close, job, key, submit, until, until_state};

const FIRST: QueueChange = QueueChange::Move { place: QueuePlace::First };

async fn user(backend: &Backend, name: &str) -> Actor {
    let actor = Actor { user: name.parse().unwrap(), admin: false };
    let (name, password) = (actor.user.clone(), "correct horse".to_owned());
    backend
        .users
        .create(&admin(), NewUser { name, password, admin: false, temporary: false })
        .await
        .unwrap();
    actor
}

/// Submits a job that takes a whole node.
async fn waits(backend: &Backend, actor: &Actor, name: &str) -> JobKey {
    let text = job(name, 1, 8, "sleep 1000", "");
    let submission = Submission { text, cloned_from: None, expected_name: None };
    backend.jobs.submit(actor, submission).await.unwrap().key
}

/// The waiting jobs by their places, as soon as there are so many.
async fn order(backend: &Backend, jobs: &[&JobKey]) -> Vec<String> {
    let mut places = Vec::new();
    for key in jobs {
        let why = backend.queue.explain(&admin(), key).await.unwrap().unwrap();
        places.push((why.position, key.to_string()));
    }
    places.sort();
    places.into_iter().map(|(_, key)| key).collect()
}

async fn placed_at(backend: &Backend, key: &JobKey, position: u32) {
    until_of(backend, key, |why| why.position == position).await;
}

async fn until_of(
    backend: &Backend,
    key: &JobKey,
    wanted: impl Fn(&api::queue::Explanation) -> bool,
) -> api::queue::Explanation {
    let deadline = tokio::time::Instant::now() + crate::house::PATIENCE;
    let mut look = tokio::time::interval(std::time::Duration::from_millis(20));
    while tokio::time::Instant::now() < deadline {
        look.tick().await;
        let why = backend.queue.explain(&admin(), key).await.unwrap();
        if let Some(why) = why.filter(|why| wanted(why)) {
            return why;
        }
    }
    panic!("{key} does not become as wanted");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn owners_order_their_own_jobs_and_administrators_all() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let (ada, bob) = (user(backend, "ada").await, user(backend, "bob").await);
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    let a1 = waits(backend, &ada, "a1").await;
    let b1 = waits(backend, &bob, "b1").await;
    let a2 = waits(backend, &ada, "a2").await;
    placed_at(backend, &a2, 3).await;
    let all = [&a1, &b1, &a2];
    assert_eq!(order(backend, &all).await, ["ada~a1", "bob~b1", "ada~a2"]);
    let why = backend.queue.explain(&bob, &b1).await.unwrap().unwrap();
    assert_eq!(why.holders, [key("runs")]);
    assert_eq!(why.scarce.map(|scarce| (scarce.needs, scarce.free)), Some((8.into(), 0.into())));

    backend.queue.change(&ada, &a2, FIRST).await.unwrap();
    placed_at(backend, &a2, 1).await;
    assert_eq!(order(backend, &all).await, ["ada~a2", "bob~b1", "ada~a1"]);
    for change in [FIRST, QueueChange::Hold, QueueChange::Release] {
        let refused = backend.queue.change(&bob, &a1, change).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ForbiddenUserError, "another user's job");
        let refused = backend.queue.effect(&bob, &a1, change).await.unwrap_err();
        assert_eq!(refused.code, ErrorCode::ForbiddenUserError, "not even to see");
    }
    backend.queue.change(&admin(), &a1, FIRST).await.unwrap();
    placed_at(backend, &a1, 1).await;
    assert_eq!(order(backend, &all).await, ["ada~a1", "ada~a2", "bob~b1"]);

    let log = backend.audit.list(&admin(), None, 10).await.unwrap();
    let moved = log.iter().filter(|entry| entry.action == AuditAction::JobMoved);
    let moved: Vec<_> = moved.map(|entry| (entry.actor.as_str(), &*entry.object)).collect();
    assert_eq!(moved, [("admin", "ada~a1"), ("ada", "ada~a2")]);
    let events = backend.jobs.events(&bob, &a2).await.unwrap();
    assert!(events.iter().any(|event| event.kind == "moved" && event.message.contains("ada")));
    let running = backend.queue.change(&admin(), &key("runs"), FIRST).await.unwrap_err();
    assert_eq!(running.code, ErrorCode::ConflictJobError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_held_job_waits_until_who_may_releases_it() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let ada = user(backend, "ada").await;
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    let held = waits(backend, &ada, "held").await;
    backend.queue.change(&ada, &held, QueueChange::Hold).await.unwrap();
    let by = |name: &str, administrator| {
        let by = Some(name.parse().unwrap());
        WaitReason::Hold { by, administrator }
    };
    let said = by("ada", false);
    until_of(backend, &held, |why| why.reason == said).await;
    let effect = backend.queue.effect(&ada, &held, QueueChange::Release).await.unwrap();
    assert!(effect.is_nothing(), "nothing is free: {effect:?}");

    backend.jobs.stop(&admin(), &key("runs")).await.unwrap();
    until_state(backend, "runs", State::Stopped).await;
    submit(backend, job("passes", 1, 1, "true", "")).await;
    until_state(backend, "passes", State::Succeeded).await;
    let deadline = tokio::time::Instant::now() + crate::house::PATIENCE;
    let effect = loop {
        let effect = backend.queue.effect(&ada, &held, QueueChange::Release).await.unwrap();
        if !effect.is_nothing() || tokio::time::Instant::now() > deadline {
            break effect;
        }
        tokio::task::yield_now().await;
    };
    assert_eq!(effect.start.jobs, std::slice::from_ref(&held), "the node is free");
    assert_eq!(effect.start.counts, [("default".parse().unwrap(), 1)].into());
    let detail = backend.jobs.get(&ada, &held).await.unwrap();
    assert_eq!(detail.summary.state, State::Waiting, "it was only thought through");

    backend.queue.change(&admin(), &held, QueueChange::Hold).await.unwrap();
    backend.queue.change(&ada, &held, QueueChange::Hold).await.unwrap();
    let said = by("admin", true);
    let detail = backend.jobs.get(&ada, &held).await.unwrap();
    assert!(detail.summary.held.unwrap().administrator, "the owner's word does not replace it");
    until_of(backend, &held, |why| why.reason == said).await;
    let refused = backend.queue.change(&ada, &held, QueueChange::Release).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    backend.queue.change(&admin(), &held, QueueChange::Release).await.unwrap();
    let mut changes = backend.changes.subscribe(&ada);
    while backend.jobs.get(&ada, &held).await.unwrap().summary.state != State::Running {
        futures::StreamExt::next(&mut changes).await;
    }
    assert_eq!(backend.jobs.get(&ada, &held).await.unwrap().summary.held, None);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_owner_gives_no_more_priority_than_he_was_given() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let ada = user(backend, "ada").await;
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    let (first, second) = (waits(backend, &ada, "a1").await, waits(backend, &ada, "a2").await);
    placed_at(backend, &second, 2).await;
    let to = |priority| QueueChange::Priority { priority: Priority(priority) };
    let refused = backend.queue.change(&ada, &first, to(11)).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError, "10 was asked for");
    backend.queue.change(&ada, &first, to(5)).await.unwrap();
    placed_at(backend, &first, 2).await;
    backend.queue.change(&ada, &first, to(10)).await.unwrap();
    placed_at(backend, &first, 1).await;
    backend.queue.change(&admin(), &second, to(99)).await.unwrap();
    placed_at(backend, &second, 1).await;
    backend.queue.change(&admin(), &second, to(7)).await.unwrap();
    let refused = backend.queue.change(&ada, &second, to(10)).await.unwrap_err();
    assert!(refused.message.starts_with("7 is the highest"), "{refused}");
    let detail = backend.jobs.get(&ada, &second).await.unwrap();
    assert_eq!(detail.most_priority, Some(Priority(7)));
    assert_eq!(detail.summary.priority, Priority(7));
    until(backend, "runs", |detail| detail.summary.state == State::Running).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_waiting_job_is_told_what_there_is_who_holds_it_and_what_would_start_instead() {
    let house = House::new(2);
    let control = house.start().await;
    let backend = &control.backend;
    for name in ["left", "right"] {
        submit(backend, job(name, 1, 5, "sleep 1000", "")).await;
        until_state(backend, name, State::Running).await;
    }
    let free = FreeGpus { gpus: 6, on_one_node: 3, borrowed: 0 };
    let titan: GpuType = "TITANX".parse().unwrap();
    let clusters = backend.virtual_clusters.list(&admin()).await.unwrap();
    assert_eq!(clusters[0].free, BTreeMap::from([(titan.clone(), free)]));
    for (tasks, gpus, fits) in [(6, 1, true), (7, 1, false), (1, 3, true), (1, 4, false)] {
        let text = job("asks", tasks, gpus, "true", "");
        let answer = backend.jobs.check(&admin(), &text).await.unwrap().dry_run.unwrap();
        let now = matches!(answer, DryRun::FitsNow { borrowed: false, .. });
        assert_eq!(now, fits, "{tasks} x {gpus}: {answer:?}");
    }

    submit(backend, job("waits", 1, 4, "true", "")).await;
    let why = until_of(backend, &key("waits"), |why| !why.needs.is_empty()).await;
    assert_eq!(why.virtual_cluster, VirtualClusterName::default());
    let [need] = why.needs.as_slice() else { panic!("{:?}", why.needs) };
    assert_eq!((&need.gpu_type, need.tasks, need.each), (&titan, 1, 4.into()));
    let [held] = why.held_by.as_slice() else { panic!("{:?}", why.held_by) };
    assert_eq!((held.user.as_str(), held.jobs, held.gpus), ("admin", 2, 10.into()));
    let split = |tasks, gpus| {
        let instead = Instead::Split { tasks, gpus };
        Alternative { instead, borrowed: false, before: None }
    };
    assert_eq!(why.alternatives, [split(2, 2), split(4, 1)]);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn where_a_job_would_start_instead_is_where_its_owner_may_have_it() {
    let house = House::new(1);
    let open_to = |name: &str, users: &[&str]| {
        let users = users.iter().map(|user| user.parse().unwrap()).collect();
        VirtualClusterSettings { users, ..VirtualClusterSettings::new(name.parse().unwrap()) }
    };
    let user_limit = Limit { running_gpus: Some(4), ..Limit::default() };
    let limits = Limits { user: user_limit, ..Limits::default() };
    let default = VirtualClusterSettings { limits, ..open_to("default", &[]) };
    let hers = open_to("hers", &["ada"]);
    let virtual_clusters =
        vec![default, open_to("his", &["bob"]), hers, open_to("stopped", &["ada"])];
    let options = house.options(house.database().await);
    let control = control::start(Options { virtual_clusters, ..options }).await.unwrap();
    let backend = &control.backend;
    let (ada, bob) = (user(backend, "ada").await, user(backend, "bob").await);
    let stopped = "stopped".parse().unwrap();
    backend.virtual_clusters.set_stopped(&admin(), &stopped, true).await.unwrap();
    let mut keys = Vec::new();
    for name in ["runs", "waits"] {
        let text = job(name, 1, 3, "sleep 1000", "");
        let submission = Submission { text, cloned_from: None, expected_name: None };
        keys.push(backend.jobs.submit(&ada, submission).await.unwrap().key);
    }
    let waits = &keys[1];
    until_of(backend, waits, |why| matches!(why.reason, WaitReason::UserLimit { .. })).await;
    for (reader, offered) in [(&ada, vec!["vc:hers"]), (&admin(), vec!["vc:hers"]), (&bob, vec![])]
    {
        let why = backend.queue.explain(reader, waits).await.unwrap().unwrap();
        let told: Vec<_> = why.alternatives.iter().map(|told| told.instead.to_string()).collect();
        assert_eq!(told, offered, "to {}", reader.user);
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_limit_that_ends_before_who_is_ahead_starts_is_offered_and_does_start() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let limited = |name: &str, gpus, limit: &str| {
        let limit = format!(r#""extras": {{"berth": {{"timeLimit": "{limit}"}}}},"#);
        job(name, 1, gpus, "sleep 1000", &limit)
    };
    submit(backend, limited("runs", 6, "3h")).await;
    until_state(backend, "runs", State::Running).await;
    submit(backend, limited("ahead", 8, "30m")).await;
    until_of(backend, &key("ahead"), |why| !why.needs.is_empty()).await;

    let text = job("asks", 1, 2, "sleep 1000", "");
    let answer = backend.jobs.check(&admin(), &text).await.unwrap().dry_run.unwrap();
    let DryRun::Waits(why) = answer else { panic!("it does not wait") };
    assert_eq!(why.reason, WaitReason::Behind { ahead: 1 });
    let instead = Instead::TimeLimit { time_limit: "2h".parse().unwrap() };
    let offered = Alternative { instead, borrowed: true, before: Some(key("ahead")) };
    assert_eq!(why.alternatives, [offered]);

    let text = limited("asks", 2, "2h");
    let answer = backend.jobs.check(&admin(), &text).await.unwrap().dry_run.unwrap();
    assert!(matches!(answer, DryRun::FitsNow { borrowed: true, .. }), "{answer:?}");
    submit(backend, text).await;
    until_state(backend, "asks", State::Running).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn how_long_others_waited_is_a_range_for_the_next_one_after_a_restart_too() {
    let house = House::new(1);
    let mut control = house.start().await;
    for turn in 1..=9 {
        submit(&control.backend, job(&format!("turn-{turn}"), 1, 8, "sleep 1.2", "")).await;
    }
    until_state(&control.backend, "turn-9", State::Succeeded).await;
    for restarted in [false, true] {
        if restarted {
            close(&control).await;
            drop(control);
            control = house.start().await;
        }
        let backend = &control.backend;
        let (holds, next) = (format!("holds-{restarted}"), format!("next-{restarted}"));
        submit(backend, job(&holds, 1, 8, "sleep 1000", "")).await;
        until_state(backend, &holds, State::Running).await;
        submit(backend, job(&next, 1, 8, "true", "")).await;
        let why = until_of(backend, &key(&next), |why| why.expected.is_some()).await;
        let expected = why.expected.unwrap();
        assert!(expected.latest.is_some_and(|latest| latest > expected.earliest), "{expected:?}");
        let like = matches!(expected.ground, Ground::PastWaits { like: Likeness::Owner, .. });
        assert!(like, "{expected:?} after a restart: {restarted}");
        let query = JobQuery { states: vec![State::Waiting], ..JobQuery::default() };
        let listed = backend.jobs.list(&admin(), &query).await.unwrap();
        assert!(listed.jobs[0].expected.is_some(), "the list says it as well");
        for name in [&next, &holds] {
            backend.jobs.stop(&admin(), &key(name)).await.unwrap();
            until_state(backend, name, State::Stopped).await;
        }
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_users_have_had_is_said_and_outlives_a_restart() {
    let house = House::new(1);
    let control = house.start().await;
    // Of a week's mean, what runs for less than a tenth of a second is nothing.
    submit(&control.backend, job("ran", 1, 8, "sleep 1", "")).await;
    until_state(&control.backend, "ran", State::Succeeded).await;
    close(&control).await;
    drop(control);

    let control = house.start().await;
    let backend = &control.backend;
    let default = VirtualClusterName::default();
    let users = async || {
        let view = backend.virtual_clusters.get(&admin(), &default).await.unwrap();
        let users = view.users.into_iter().map(|of| (of.user, of.percent));
        users.collect::<Vec<_>>()
    };
    assert_eq!(users().await, [(admin().user, 100)], "it is in the records");
    let ada = user(backend, "ada").await;
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    let waiting = waits(backend, &ada, "a1").await;
    let why = until_of(backend, &waiting, |why| why.owner_use.is_some()).await;
    let said = why.owner_use.map(|of| (of.user, of.percent));
    assert_eq!(said, Some((ada.user.clone(), 0)), "she has had nothing");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn groups_share_a_virtual_cluster_by_their_weights() {
    let house = House::new(1);
    let (vision, nlp): (GroupName, GroupName) = ("vision".parse().unwrap(), "nlp".parse().unwrap());
    let group_shares = BTreeMap::from([(vision.clone(), 3), (nlp.clone(), 1)]);
    let default = VirtualClusterSettings::new(VirtualClusterName::default());
    let virtual_clusters = vec![VirtualClusterSettings { group_shares, ..default }];
    let options = house.options(house.database().await);
    let control = control::start(Options { virtual_clusters, ..options }).await.unwrap();
    let backend = &control.backend;
    let (ada, bob) = (user(backend, "ada").await, user(backend, "bob").await);
    for (who, group) in [(&admin(), &vision), (&ada, &vision), (&bob, &nlp)] {
        backend.groups.set(&admin(), &who.user, vec![group.clone()]).await.unwrap();
    }
    submit(backend, job("ran", 1, 8, "sleep 1", "")).await;
    until_state(backend, "ran", State::Succeeded).await;
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    // The first of those who wait is promised the next start.
    let first = waits(backend, &bob, "b1").await;
    placed_at(backend, &first, 1).await;
    let hers = waits(backend, &ada, "a1").await;
    let his = waits(backend, &bob, "b2").await;
    placed_at(backend, &his, 2).await;
    let why = until_of(backend, &hers, |why| why.position == 3).await;
    assert_eq!(why.owner_use.map(|of| of.percent), Some(0), "she herself has had nothing");
    let said = why.group_use.map(|of| (of.is_beyond(), of.group, of.percent, of.share));
    assert_eq!(said, Some((true, vision.clone(), 100, 75)));
    let name = VirtualClusterName::default();
    let view = backend.virtual_clusters.get(&admin(), &name).await.unwrap();
    let shown: Vec<_> =
        view.groups.into_iter().map(|of| (of.group, of.percent, of.share)).collect();
    assert_eq!(shown, [(vision, 100, 75), (nlp.clone(), 0, 25)]);
    backend.groups.set(&admin(), &ada.user, vec![nlp]).await.unwrap();
    placed_at(backend, &hers, 2).await;
    close(&control).await;
}

/// A node of each of two types, with these weights.
async fn of_two_types(house: &House, weights: &[(&str, u64)]) -> Control {
    let mut options = house.options(house.database().await);
    let dearer = GpuCount { gpu_type: "V100".parse().unwrap(), count: 8 };
    options.nodes[1].gpus = Some(vec![dearer]);
    let each = weights.iter().map(|(of, weight)| ((*of).to_owned(), Amount::whole(*weight)));
    let weights = GpuWeights::try_from(each.collect::<BTreeMap<_, _>>()).unwrap();
    let gpus = GpuOptions { weights, ..options.gpus };
    control::start(Options { gpus, ..options }).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_users_have_had_counts_as_its_type_did_then() {
    let house = House::new(2);
    let control = of_two_types(&house, &[("V*", 100)]).await;
    let ada = user(&control.backend, "ada").await;
    for (actor, gpu_type) in [(&admin(), "TITANX"), (&ada, "V100")] {
        let extras = format!(r#""extras": {{"berth": {{"gpuType": "{gpu_type}"}}}},"#);
        let text = job("ran", 1, 8, "sleep 1", &extras);
        let submission = Submission { text, cloned_from: None, expected_name: None };
        control.backend.jobs.submit(actor, submission).await.unwrap();
    }
    let hers = JobKey { user: ada.user.clone(), ..key("ran") };
    for of in [&key("ran"), &hers] {
        let deadline = tokio::time::Instant::now() + crate::house::PATIENCE;
        let ended = async || control.backend.jobs.get(&admin(), of).await.unwrap().summary.state;
        while ended().await != State::Succeeded {
            assert!(tokio::time::Instant::now() < deadline, "{of} does not end");
            tokio::time::sleep(std::time::Duration::from_millis(20)).await;
        }
    }
    let default = VirtualClusterName::default();
    // Both had as many for about as long: were they not weighed, nobody would have had nine tenths.
    let had_all = |users: &[api::cluster::UserUse]| {
        users.first().is_some_and(|first| first.user == ada.user && first.percent >= 90)
    };
    let view = control.backend.virtual_clusters.get(&admin(), &default).await.unwrap();
    assert!(had_all(&view.users), "{:?}", view.users);
    let said = BTreeMap::from([("V100".parse::<GpuType>().unwrap(), Amount::whole(100))]);
    assert_eq!(view.weights, said);
    close(&control).await;
    drop(control);

    let control = of_two_types(&house, &[]).await;
    let view = control.backend.virtual_clusters.get(&admin(), &default).await.unwrap();
    assert!(had_all(&view.users), "it is in the records: {:?}", view.users);
    assert_eq!(view.weights, BTreeMap::new());
    close(&control).await;
}
