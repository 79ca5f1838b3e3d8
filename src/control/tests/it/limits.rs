//! Time limits, deadlines, and what is expected of jobs.

use api::jobs::Submission;
use api::{Actor, ErrorCode};
use protocol::cluster::VirtualClusterSettings;
use protocol::exit::Cause;
use protocol::spec::{Deadline, GraceSignal};
use protocol::state::State;
use protocol::time::Timestamp;
use protocol::wait::{Ground, WaitReason};

use crate::house::{House, admin, close, job, key, submit, until, until_state};

fn limited(seconds: u32) -> String {
    format!(r#""extras": {{"berth": {{"timeLimit": {seconds}}}}},"#)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_stopped_when_its_time_is_over() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let more = format!(r#""retryCount": 2, {}"#, limited(1));
    submit(backend, job("long", 2, 1, "sleep 1000", &more)).await;
    let ended = until_state(backend, "long", State::Stopped).await;
    assert_eq!(ended.summary.exit.unwrap().cause, Cause::TimeLimit);
    assert_eq!(ended.attempts.len(), 1, "it is not tried again");
    let [attempt] = ended.attempts.as_slice() else { panic!("{:?}", ended.attempts) };
    assert!(attempt.tasks.iter().all(|t| t.exit.as_ref().unwrap().cause == Cause::TimeLimit));
    assert!(attempt.completed_at.unwrap().since(attempt.started_at.unwrap()) >= 1_000);
    assert_eq!(ended.time_limit.unwrap().to_string(), "1s");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_with_a_grace_is_sent_its_signal_and_no_other_where_it_ends_in_time() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let more = r#""extras": {"berth": {"timeLimit": 3601,
        "grace": {"signal": "SIGUSR1", "seconds": 3600}}},"#;
    submit(backend, job("saves", 2, 0, "sleep 1000", more)).await;
    let ended = until_state(backend, "saves", State::Stopped).await;
    let [attempt] = ended.attempts.as_slice() else { panic!("{:?}", ended.attempts) };
    assert!(attempt.tasks.iter().all(|t| t.exit.as_ref().unwrap().cause == Cause::TimeLimit));
    let sent = std::collections::BTreeMap::from([(GraceSignal::Usr1, 2)]);
    assert_eq!(house.node(0).signals(), sent);
    assert_eq!(house.node(0).stops(), 0, "both ended by themselves");
    let events = backend.jobs.events(&admin(), &key("saves")).await.unwrap();
    let told: Vec<_> = events.iter().filter(|event| event.kind == "grace").collect();
    assert_eq!(told.len(), 1);
    assert_eq!(told[0].message, "is sent SIGUSR1, and has 3600 s to finish");

    // Who stops it does not wait: the program would go on for an hour.
    submit(backend, job("stays", 1, 0, "trap '' USR1; sleep 1000", more)).await;
    until_state(backend, "stays", State::Running).await;
    let told = |detail: &api::jobs::JobDetail| {
        detail.attempts.last().is_some_and(|attempt| attempt.state == State::Stopping)
    };
    until(backend, "stays", told).await;
    backend.jobs.stop(&admin(), &key("stays")).await.unwrap();
    while house.node(0).stops() == 0 {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ends_in_time_goes_before_a_reserved_job_and_does_not_delay_it() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("runs", 1, 4, "sleep 1000", &limited(600))).await;
    until_state(backend, "runs", State::Running).await;
    submit(backend, job("big", 1, 8, "true", "")).await;
    let waits = |detail: &api::jobs::JobDetail| detail.explanation.is_some();
    let big = until(backend, "big", waits).await.explanation.unwrap();
    let before = big.expected.unwrap();
    assert_eq!((before.ground, big.holders.as_slice()), (Ground::Limits, [key("runs")].as_slice()));
    assert_eq!(before.latest, Some(before.earliest));

    submit(backend, job("endless", 1, 4, "true", "")).await;
    let endless = until(backend, "endless", waits).await.explanation.unwrap();
    assert!(matches!(endless.reason, WaitReason::Behind { .. }), "{endless:?}");
    submit(backend, job("short", 1, 4, "sleep 2", &limited(5))).await;
    until_state(backend, "short", State::Running).await;
    assert_eq!(until(backend, "endless", waits).await.summary.state, State::Waiting);
    until_state(backend, "short", State::Succeeded).await;
    let after = until(backend, "big", waits).await.explanation.unwrap().expected.unwrap();
    // Earlier than thought it may start: how long `short` ran says something of `runs`, too.
    assert_eq!(after.latest, before.latest, "nothing has delayed it");
    close(&control).await;
}

/// May run for an hour and is to have ended then.
fn due(deadline: &str) -> String {
    format!(r#""extras": {{"berth": {{"timeLimit": 3600, "deadline": "{deadline}"}}}},"#)
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn whose_deadline_is_near_goes_before_others_where_that_counts() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let default =
        backend.virtual_clusters.get(&admin(), &"default".parse().unwrap()).await.unwrap();
    let heeds = VirtualClusterSettings { deadlines: true, ..default.settings };
    backend.virtual_clusters.save(&admin(), heeds).await.unwrap();
    submit(backend, job("runs", 1, 8, "sleep 1000", &limited(3600))).await;
    until_state(backend, "runs", State::Running).await;
    // It is promised the next start.
    submit(backend, job("first", 1, 8, "true", &limited(3600))).await;
    until(backend, "first", |detail| detail.explanation.is_some()).await;
    submit(backend, job("far", 1, 8, "true", &due("2099-12-31T00:00:00Z"))).await;
    let far = until(backend, "far", |detail| detail.explanation.is_some()).await;
    let said = far.deadline.unwrap();
    assert_eq!(said.at, Timestamp(4_102_358_400_000));
    assert_eq!(said.latest_start, Some(Timestamp(4_102_354_800_000)));
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let soon = i64::try_from(now.as_millis()).unwrap() + 65 * 60_000;
    let soon: Deadline = serde_json::from_value(soon.into()).unwrap();
    submit(backend, job("near", 1, 8, "true", &due(&soon.to_string()))).await;
    let place = |detail: &api::jobs::JobDetail| {
        detail.summary.waiting.as_ref().map(|waiting| waiting.position)
    };
    until(backend, "near", |detail| place(detail) == Some(2)).await;
    until(backend, "far", |detail| place(detail) == Some(3)).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_deadline_that_has_passed_is_refused_where_it_stands() {
    let house = House::new(1);
    let control = house.start().await;
    let jobs = &control.backend.jobs;
    let text = job("old", 1, 0, "true", &due("2001-01-01T00:00:00Z"));
    let report = jobs.check(&admin(), &text).await.unwrap();
    let submission = Submission { text, cloned_from: None, expected_name: None };
    let refused = jobs.submit(&admin(), submission).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidParametersError);
    for problems in [report.problems, refused.problems] {
        let [problem] = problems.as_slice() else { panic!("{problems:?}") };
        assert_eq!(problem.path, "extras.berth.deadline");
        let message = "the deadline 2001-01-01T00:00:00Z has passed: name a later one, or none";
        assert_eq!(problem.message, message);
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_like_jobs_ran_is_expected_of_the_next_one_after_a_restart_too() {
    let house = House::new(1);
    let control = house.start().await;
    submit(&control.backend, job("past", 1, 8, "sleep 2", "")).await;
    until_state(&control.backend, "past", State::Succeeded).await;
    close(&control).await;
    drop(control);
    for restarts in 0..2 {
        let control = house.start().await;
        let backend = &control.backend;
        let (runs, waits) = (format!("runs{restarts}"), format!("waits{restarts}"));
        submit(backend, job(&runs, 1, 8, "sleep 1000", "")).await;
        until_state(backend, &runs, State::Running).await;
        submit(backend, job(&waits, 1, 8, "true", "")).await;
        let why = until(backend, &waits, |detail| detail.explanation.is_some()).await;
        assert_eq!(why.explanation.unwrap().expected.unwrap().ground, Ground::PastRuns);
        for name in [&waits, &runs] {
            backend.jobs.stop(&admin(), &key(name)).await.unwrap();
            until_state(backend, name, State::Stopped).await;
        }
        close(&control).await;
    }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_writes_only_so_much_into_its_container() {
    let house = House::new(1);
    let container_disk = control::ContainerDisk {
        most: 1_000_000,
        measured_every: std::time::Duration::from_millis(100),
    };
    let options = control::Options { container_disk, ..house.options(house.database().await) };
    let control = control::start(options).await.unwrap();
    let backend = &control.backend;
    let modest = job("modest", 1, 0, "sleep 1000", "");
    let modest = modest.replace("\"gpuNumber\"", "\"storageGB\": 2, \"gpuNumber\"");
    submit(backend, modest).await;
    until_state(backend, "modest", State::Running).await;
    submit(backend, job("greedy", 1, 0, "sleep 1000", "")).await;
    let ended = until_state(backend, "greedy", State::Failed).await;
    let exit = ended.summary.exit.unwrap();
    assert_eq!(exit.cause, Cause::DiskFull);
    assert!(exit.evidence[0].contains("where 0.0 GB are allowed"), "{exit:?}");
    let modest = until(backend, "modest", |_| true).await;
    assert_eq!(modest.summary.state, State::Running, "it asked for disk");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_kept_by_its_owner_and_administrators_see_who_holds_idle_gpus() {
    let house = House::new(1);
    let control = house.start().await;
    let jobs = &control.backend.jobs;
    submit(&control.backend, job("holds", 1, 1, "sleep 1000", "")).await;
    let bob = Actor { user: "bob".parse().unwrap(), admin: false };
    let kept = |actor: Actor, hours| async move { jobs.keep(&actor, &key("holds"), hours).await };
    let code = |refused: api::Result<()>| refused.unwrap_err().code;
    assert_eq!(code(kept(bob.clone(), 4).await), ErrorCode::ForbiddenUserError);
    for hours in [0, 169] {
        assert_eq!(code(kept(admin(), hours).await), ErrorCode::InvalidParametersError);
    }
    kept(admin(), 24).await.unwrap();
    kept(admin(), 168).await.unwrap();
    let events = jobs.events(&admin(), &key("holds")).await.unwrap();
    let said: Vec<_> = events.iter().filter(|event| event.kind == "kept").collect();
    assert_eq!(said.len(), 2);
    assert_eq!(said[0].message, "admin keeps it for 168 h, though its GPUs may do nothing");
    for of in [None, Some(&admin().user)] {
        assert_eq!(jobs.idle(&bob, of).await.unwrap_err().code, ErrorCode::ForbiddenUserError);
        assert_eq!(jobs.idle(&admin(), of).await.unwrap(), []);
    }
    assert_eq!(jobs.idle(&bob, Some(&bob.user)).await.unwrap(), []);
    jobs.stop(&admin(), &key("holds")).await.unwrap();
    until_state(&control.backend, "holds", State::Stopped).await;
    assert_eq!(code(kept(admin(), 4).await), ErrorCode::ConflictJobError);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_time_limit_is_changed_while_its_job_runs() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let set = async |name: &str, text: &str| {
        let limit = text.parse().unwrap();
        backend.jobs.set_time_limit(&admin(), &key(name), limit).await
    };
    let code = |answer: api::Result<()>| answer.unwrap_err().code;
    submit(backend, job("goes-on", 1, 8, "sleep 1000", &limited(4))).await;
    until_state(backend, "goes-on", State::Running).await;
    set("goes-on", "1h").await.unwrap();
    // One that began later, with the limit that it had, is over before it.
    submit(backend, job("over", 1, 0, "sleep 1000", &limited(4))).await;
    until_state(backend, "over", State::Stopped).await;
    let runs = backend.jobs.get(&admin(), &key("goes-on")).await.unwrap();
    assert_eq!(runs.summary.state, State::Running);
    assert_eq!(runs.time_limit.unwrap().to_string(), "1h");
    let listed = backend.jobs.list(&admin(), &api::jobs::JobQuery::default()).await.unwrap();
    let began = runs.attempts[0].started_at.unwrap();
    let listed = listed.jobs.iter().find(|job| job.key == key("goes-on")).unwrap();
    assert_eq!(listed.ends_by, Some(began.plus_millis(3_600_000)));
    let refused = set("goes-on", "2s").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::InvalidParametersError);
    assert!(refused.message.contains("has run for"), "{}", refused.message);

    // What others are told of their start is by the limit of now.
    submit(backend, job("waits", 1, 8, "true", "")).await;
    let explained = |detail: &api::jobs::JobDetail| detail.explanation.is_some();
    let before = until(backend, "waits", explained).await.explanation.unwrap();
    assert_eq!(code(set("waits", "1h").await), ErrorCode::ConflictJobError);
    set("goes-on", "3h").await.unwrap();
    let later = |detail: &api::jobs::JobDetail| {
        let expected = detail.explanation.as_ref().and_then(|said| said.expected);
        let latest = expected.and_then(|expected| expected.latest);
        let was = before.expected.and_then(|expected| expected.latest);
        latest.zip(was).is_some_and(|(latest, was)| latest.since(was) >= 7_000_000)
    };
    until(backend, "waits", later).await;

    // Of somebody who is no administrator nobody's turn comes later for it; a shorter one is his to take.
    let owner = Actor { admin: false, ..admin() };
    let by_owner = async |text: &str| {
        backend.jobs.set_time_limit(&owner, &key("goes-on"), text.parse().unwrap()).await
    };
    let refused = by_owner("4h").await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    assert!(refused.message.contains("wait in default (now 1)"), "{}", refused.message);
    by_owner("2h").await.unwrap();
    backend.jobs.stop(&admin(), &key("waits")).await.unwrap();
    until_state(backend, "waits", State::Stopped).await;
    // The queue hears of it a moment later.
    while by_owner("4h").await.is_err() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let events = backend.jobs.events(&admin(), &key("goes-on")).await.unwrap();
    let told: Vec<_> = events.iter().filter(|event| event.kind == "time limit changed").collect();
    assert_eq!(told.len(), 4);
    assert!(told[0].message.ends_with("changed its time limit from 2h to 4h"), "{told:?}");
    close(&control).await;
    drop(control);

    // It is kept, and ends the job.
    let control = house.start().await;
    let backend = &control.backend;
    let runs = until_state(backend, "goes-on", State::Running).await;
    assert_eq!(runs.time_limit.unwrap().to_string(), "4h");
    let began = runs.attempts[0].started_at.unwrap();
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let ran = now.as_secs() as i64 - began.0 / 1_000;
    let soon = format!("{}s", ran + 3).parse().unwrap();
    backend.jobs.set_time_limit(&admin(), &key("goes-on"), soon).await.unwrap();
    let ended = until_state(backend, "goes-on", State::Stopped).await;
    assert_eq!(ended.summary.exit.unwrap().cause, Cause::TimeLimit);
    let over = backend.jobs.set_time_limit(&admin(), &key("goes-on"), soon).await;
    assert_eq!(over.unwrap_err().code, ErrorCode::ConflictJobError);
    close(&control).await;
}
