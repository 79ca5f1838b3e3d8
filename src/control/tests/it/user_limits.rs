//! What virtual clusters let users and groups have at once.

use api::jobs::{DryRun, JobDetail, Submission, Submitted};
use api::{Actor, Backend, ErrorCode, Result};
use control::{Control, Options};
use protocol::cluster::VirtualClusterSettings;
use protocol::ids::VirtualClusterName;
use protocol::limits::{Limit, Limits};
use protocol::state::State;
use protocol::wait::{Limited, WaitReason};

use crate::house::{House, admin, close, job, key, submit, until, until_state};

async fn start(house: &House, limits: Limits) -> Control {
    let default = VirtualClusterSettings::new(VirtualClusterName::default());
    let virtual_clusters = vec![VirtualClusterSettings { limits, ..default }];
    let options = house.options(house.database().await);
    control::start(Options { virtual_clusters, ..options }).await.unwrap()
}

fn of_each_user(user: Limit) -> Limits {
    Limits { user, ..Limits::default() }
}

async fn tried(backend: &Backend, actor: &Actor, name: &str, gpus: u32) -> Result<Submitted> {
    let text = job(name, 1, gpus, "sleep 1000", "");
    let submission = Submission { text, cloned_from: None, expected_name: None };
    backend.jobs.submit(actor, submission).await
}

fn is_limited(detail: &JobDetail, limited: Limited) -> bool {
    let reason = detail.summary.waiting.as_ref().map(|waiting| &waiting.reason);
    matches!(reason, Some(WaitReason::UserLimit { limited: of, .. }) if *of == limited)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_would_run_beyond_a_limit_waits_until_something_ends() {
    let house = House::new(1);
    let limit = Limit { running_gpus: Some(4), running_jobs: Some(2), ..Limit::default() };
    let control = start(&house, of_each_user(limit)).await;
    let backend = &control.backend;
    let (asleep, over) = ("sleep 1000", "true");
    submit(backend, job("first", 1, 3, asleep, "")).await;
    until_state(backend, "first", State::Running).await;
    submit(backend, job("large", 1, 2, over, "")).await;
    until(backend, "large", |detail| is_limited(detail, Limited::Gpus)).await;
    let asked = backend.jobs.check(&admin(), &job("asked", 1, 2, over, "")).await.unwrap();
    let Some(DryRun::Waits(explanation)) = asked.dry_run else {
        panic!("two more than four are not to run")
    };
    assert!(matches!(explanation.reason, WaitReason::UserLimit { most: 4, .. }));
    let default = VirtualClusterName::default();
    let view = backend.virtual_clusters.get(&admin(), &default).await.unwrap();
    let free: Vec<u32> = view.free.values().map(|free| free.gpus).collect();
    assert_eq!(free, [1], "of the five that nobody has");
    submit(backend, job("small", 1, 1, asleep, "")).await;
    until_state(backend, "small", State::Running).await;
    submit(backend, job("plain", 1, 0, over, "")).await;
    until(backend, "plain", |detail| is_limited(detail, Limited::Jobs)).await;
    backend.jobs.stop(&admin(), &key("first")).await.unwrap();
    for name in ["large", "plain"] {
        until_state(backend, name, State::Succeeded).await;
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn many_at_once_are_let_in_up_to_the_limit() {
    let house = House::new(0);
    let limit = Limit { waiting_jobs: Some(3), ..Limit::default() };
    let control = start(&house, of_each_user(limit)).await;
    let backend = &control.backend;
    let actor = admin();
    let names: Vec<String> = (0..8).map(|number| format!("job-{number}")).collect();
    let all = names.iter().map(|name| tried(backend, &actor, name, 0));
    let all = futures::future::join_all(all).await;
    let refused: Vec<_> = all.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 5);
    for error in refused {
        assert_eq!(error.code, ErrorCode::LimitReachedError);
        assert!(error.message.contains("admin has 3 jobs waiting in"), "{}", error.message);
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_not_stored_since_its_name_is_taken_counts_against_nobody() {
    let house = House::new(0);
    let limit = Limit { waiting_jobs: Some(2), ..Limit::default() };
    let control = start(&house, of_each_user(limit)).await;
    let (backend, actor) = (&control.backend, admin());
    // They wait to be stored until all have come, as long as others write.
    let held = control.database().begin().await.unwrap();
    let same = (0..20).map(|_| tried(backend, &actor, "same", 0));
    let all = futures::future::join_all(same.chain([tried(backend, &actor, "other", 0)]));
    let written = async {
        for _ in 0..20 {
            backend.jobs.check(&actor, &job("asked", 1, 0, "true", "")).await.unwrap();
        }
        held.commit().await.unwrap();
    };
    let (mut all, ()) = tokio::join!(all, written);
    let other = all.pop().unwrap();
    assert!(other.is_ok(), "one waits and two may: {other:?}");
    let refused: Vec<_> = all.into_iter().filter_map(Result::err).collect();
    assert_eq!(refused.len(), 19);
    for error in refused {
        assert_eq!(error.code, ErrorCode::ConflictJobError, "{error}");
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn submissions_count_for_a_minute_whatever_becomes_of_them() {
    let house = House::new(0);
    let limit = Limit { submissions_per_minute: Some(2), ..Limit::default() };
    let control = start(&house, of_each_user(limit)).await;
    let backend = &control.backend;
    for name in ["one", "two"] {
        tried(backend, &admin(), name, 0).await.unwrap();
        backend.jobs.stop(&admin(), &key(name)).await.unwrap();
        until_state(backend, name, State::Stopped).await;
    }
    let refused = tried(backend, &admin(), "three", 0).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::LimitReachedError);
    assert!(refused.message.contains("within a minute, of 2 allowed"), "{refused}");
    let asked = backend.jobs.check(&admin(), &job("three", 1, 0, "true", "")).await.unwrap();
    assert!(asked.problems[0].message.contains("within a minute"), "{:?}", asked.problems);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn the_members_of_a_group_share_its_limits() {
    let house = House::new(1);
    let group = Limit { running_jobs: Some(1), waiting_jobs: Some(1), ..Limit::default() };
    let control = start(&house, Limits { group, ..Limits::default() }).await;
    let backend = &control.backend;
    submit(backend, job("before", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "before", State::Running).await;
    let vision = vec!["vision".parse().unwrap()];
    backend.groups.set(&admin(), &admin().user, vision).await.unwrap();
    submit(backend, job("second", 1, 1, "true", "")).await;
    let waits = until(backend, "second", |detail| is_limited(detail, Limited::Jobs)).await;
    let reason = waits.summary.waiting.unwrap().reason;
    assert!(matches!(reason, WaitReason::UserLimit { group: Some(_), most: 1, .. }), "{reason:?}");
    let refused = tried(backend, &admin(), "third", 0).await.unwrap_err();
    assert!(refused.message.starts_with("the members of vision have 1 job waiting"), "{refused}");
    backend.groups.set(&admin(), &admin().user, Vec::new()).await.unwrap();
    until_state(backend, "second", State::Succeeded).await;
    close(&control).await;
}
