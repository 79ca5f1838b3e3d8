//! Single jobs, from submission to their end.

use api::ErrorCode;
use api::jobs::{DryRun, Submission};
use api::logs::{LogPlace, TaskRef, TogetherAsk, TogetherPlace, WindowAsk};
use futures::{StreamExt, TryStreamExt};
use protocol::architecture::Architecture;
use protocol::exit::{Blame, Cause};
use protocol::state::State;
use protocol::wait::WaitReason;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until, until_state};

fn worker(name: &str) -> TaskRef {
    TaskRef { job: key(name), attempt: None, role: "worker".parse().unwrap(), index: 0 }
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_runs_and_its_log_outlives_its_container() {
    let house = House::new(2);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("hello", 2, 1, "echo hello; exit 0", "")).await;
    let follow = backend.logs.follow(&admin(), &worker("none"), 0).await;
    assert_eq!(follow.err().unwrap().code, ErrorCode::NoJobError);
    let done = until_state(backend, "hello", State::Succeeded).await;
    let attempt = done.attempts.last().unwrap();
    assert_eq!(attempt.tasks.len(), 2);
    assert!(attempt.tasks.iter().all(|task| task.state == State::Succeeded));
    assert!(attempt.tasks.iter().all(|task| task.gpus.len() == 1 && task.ports.len() == 2));
    assert!(done.summary.started_at.is_some() && done.summary.completed_at.is_some());
    let passes = control.schedule_passes();
    assert!(passes.count > 0 && passes.total >= passes.last && !passes.last.is_zero());
    let log = backend.logs.follow(&admin(), &worker("hello"), 0).await.unwrap();
    let log: Vec<bytes::Bytes> = log.try_collect().await.unwrap();
    assert!(String::from_utf8(log.concat()).unwrap().contains("echo hello"));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_failure_says_why_and_is_tried_again_as_often_as_asked() {
    let house = House::new(1);
    let control = house.start().await;
    submit(&control.backend, job("fails", 1, 0, "exit 3", r#""retryCount": 2,"#)).await;
    let failed = until_state(&control.backend, "fails", State::Failed).await;
    assert_eq!(failed.attempts.len(), 3);
    assert_eq!(failed.summary.retries.user, 2);
    let exit = failed.summary.exit.unwrap();
    assert_eq!((exit.code, exit.cause), (Some(3), Cause::CommandFailed));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_running_and_a_waiting_job_are_stopped() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    submit(backend, job("waits", 1, 8, "sleep 1000", "")).await;
    let waits = |detail: &api::jobs::JobDetail| {
        detail.summary.waiting.as_ref().is_some_and(|why| why.reason != WaitReason::Queued)
    };
    until(backend, "waits", waits).await;
    for name in ["waits", "runs"] {
        backend.jobs.stop(&admin(), &key(name)).await.unwrap();
        backend.jobs.stop(&admin(), &key(name)).await.unwrap();
        let stopped = until_state(backend, name, State::Stopped).await;
        let exit = stopped.summary.exit.unwrap();
        assert_eq!(exit.cause, Cause::StopRequested { by: "admin".into() });
    }
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_let_past_a_waiting_job_does_not_come_to_stand_in_its_way() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let waits = |detail: &api::jobs::JobDetail| {
        let waiting = detail.summary.waiting.as_ref();
        waiting.is_some_and(|why| why.reason != WaitReason::Queued)
    };
    submit(backend, job("runs", 2, 2, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    submit(backend, job("head", 1, 5, "sleep 1000", "")).await;
    until(backend, "head", waits).await;
    submit(backend, job("past", 1, 2, "sleep 1000", "")).await;
    until_state(backend, "past", State::Running).await;
    submit(backend, job("behind", 1, 2, "sleep 1000", "")).await;
    let behind = until(backend, "behind", waits).await.summary.waiting.unwrap();
    assert_eq!(behind.reason, WaitReason::Behind { ahead: 1 });
    backend.jobs.stop(&admin(), &key("runs")).await.unwrap();
    until_state(backend, "head", State::Running).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_is_asked_once_to_stop() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("runs", 4, 1, "sleep 1000", "")).await;
    let all_run = |detail: &api::jobs::JobDetail| {
        let tasks = detail.attempts.iter().flat_map(|attempt| &attempt.tasks);
        tasks.filter(|task| task.state == State::Running).count() == 4
    };
    until(backend, "runs", all_run).await;
    // The stop is done long before anybody sees it.
    house.node(0).set_list_time(std::time::Duration::from_millis(200));
    backend.jobs.stop(&admin(), &key("runs")).await.unwrap();
    until_state(backend, "runs", State::Stopped).await;
    assert_eq!(house.node(0).stops(), 4);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_can_never_start_is_refused_at_the_door() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let refuse = async |text: String| {
        let submission = Submission { text, cloned_from: None, expected_name: None };
        backend.jobs.submit(&admin(), submission).await.unwrap_err()
    };
    let large = job("large", 1, 9, "true", "");
    assert_eq!(refuse(large.clone()).await.code, ErrorCode::ImpossibleRequestError);
    let report = backend.jobs.check(&admin(), &large).await.unwrap();
    assert!(matches!(report.dry_run, Some(DryRun::Never { .. })));
    let nowhere = job("nowhere", 1, 1, "true", r#""virtualCluster": "nowhere","#);
    assert_eq!(refuse(nowhere).await.code, ErrorCode::NoVirtualClusterError);
    let data = job("data", 1, 1, "true", r#""dataDir": "$PAI_DEFAULT_FS_URI/none","#);
    assert_eq!(refuse(data).await.code, ErrorCode::InvalidParametersError);
    submit(backend, job("twice", 1, 0, "true", "")).await;
    assert_eq!(refuse(job("twice", 1, 0, "true", "")).await.code, ErrorCode::ConflictJobError);
    let page = backend.jobs.list(&admin(), &api::jobs::JobQuery::default()).await.unwrap();
    assert_eq!(page.total, 1, "nothing that was refused is stored");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_refused_for_ever_before_its_nodes_have_answered() {
    let house = House::new(1);
    house.node(0).set_unreachable(true);
    let mut options = house.options(house.database().await);
    let node = &mut options.nodes[0];
    (node.cpus, node.memory_mb, node.gpus) = (None, None, None);
    let control = control::start(options).await.unwrap();
    submit(&control.backend, job("early", 1, 9, "true", "")).await;
    let early = control.backend.jobs.get(&admin(), &key("early")).await.unwrap();
    assert_eq!(early.summary.state, State::Waiting);
    let other = job("other", 1, 9, "true", "");
    let report = control.backend.jobs.check(&admin(), &other).await.unwrap();
    assert!(matches!(report.dry_run, Some(DryRun::Waits(_))), "{report:?}");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_that_is_not_there_fails_the_job_with_its_name() {
    let house = House::new(1);
    let control = house.start().await;
    let text = job("image", 1, 0, "true", "").replace("berth/base", "no/missing");
    submit(&control.backend, text).await;
    let failed = until_state(&control.backend, "image", State::Failed).await;
    let cause = failed.summary.exit.unwrap().cause;
    assert!(matches!(cause, Cause::ImageNotFound { image, .. } if image == "no/missing"));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_image_for_other_processors_fails_the_job_with_both() {
    let house = House::new(1);
    let [intel, arm] = ["x86_64", "arm64"].map(Architecture::new);
    house.node(0).set_architecture(intel.clone());
    house.node(0).set_image_architecture("team/arm", arm.clone().unwrap());
    let control = house.start().await;
    for (name, image) in [("foreign", "team/arm"), ("own", "berth/base")] {
        // The log of a simulated container has its command.
        let text = job(name, 1, 0, "echo exec format error; exit 126", r#""retryCount": 0,"#);
        submit(&control.backend, text.replace("berth/base", image)).await;
    }
    let foreign = until_state(&control.backend, "foreign", State::Failed).await;
    let cause = foreign.summary.exit.unwrap().cause;
    let Cause::OtherArchitecture { image, of_image, of_node, .. } = &cause else {
        panic!("{cause:?}")
    };
    assert_eq!((image.as_str(), of_image, of_node), ("team/arm", &arm, &intel));
    assert_eq!(cause.blame(), Blame::User);
    let own = until_state(&control.backend, "own", State::Failed).await;
    assert_eq!(own.summary.exit.unwrap().cause, Cause::CommandNotExecutable, "a file of the job's");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn secrets_that_cannot_be_opened_are_not_the_jobs_fault() {
    let house = House::new(1);
    let text = format!(
        "protocolVersion: 2\nname: sealed\ntype: job\nsecrets:\n  token: s3cret\n{}",
        "prerequisites:\n  - {type: dockerimage, uri: berth/base, name: image}\n\
         taskRoles:\n  main:\n    dockerImage: image\n    \
         resourcePerInstance: {gpu: 0, cpu: 1, memoryMB: 128}\n    \
         commands: ['echo <% $secrets.token %>; exit 0']\n"
    );
    house.node(0).set_unreachable(true);
    let control = house.start().await;
    submit(&control.backend, text).await;
    close(&control).await;
    drop(control);
    // Somebody mixed up the installation's keys.
    let key_file = house.path().join("secret.key");
    let right = std::fs::read(&key_file).unwrap();
    std::fs::remove_file(&key_file).unwrap();
    house.node(0).set_unreachable(false);
    let anew = async || {
        let consent = control::Consent { begin_anew: true, ..control::Consent::default() };
        let options = control::Options { consent, ..house.options(house.database().await) };
        control::start(options).await.unwrap()
    };
    let control = anew().await;
    let waits = |detail: &api::jobs::JobDetail| {
        let tasks = detail.attempts.iter().flat_map(|attempt| &attempt.tasks);
        tasks.filter_map(|task| task.progress.as_ref()).any(|said| said.contains("waiting"))
    };
    let waits = until(&control.backend, "sealed", waits).await;
    assert_eq!((waits.summary.state, waits.attempts.len()), (State::Preparing, 1));
    close(&control).await;
    drop(control);
    std::fs::write(&key_file, right).unwrap();
    let control = anew().await;
    let done = until_state(&control.backend, "sealed", State::Succeeded).await;
    assert_eq!((done.summary.retries.user, done.summary.retries.platform), (0, 0));
    assert_eq!(done.attempts.len(), 1);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_out_of_contact_makes_its_job_unknown_until_it_is_back() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("far", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "far", State::Running).await;
    house.node(0).set_unreachable(true);
    until_state(backend, "far", State::Unknown).await;
    house.node(0).set_unreachable(false);
    let back = until_state(backend, "far", State::Running).await;
    assert_eq!(back.attempts.len(), 1, "it was not started twice");
    backend.jobs.stop(&admin(), &key("far")).await.unwrap();
    until_state(backend, "far", State::Stopped).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_container_that_vanishes_is_the_platforms_failure_and_is_started_anew() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("lost", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "lost", State::Running).await;
    house.node(0).lose_containers();
    let again = |detail: &api::jobs::JobDetail| {
        detail.attempts.len() == 2 && detail.summary.state == State::Running
    };
    let again = until(backend, "lost", again).await;
    assert_eq!((again.summary.retries.user, again.summary.retries.platform), (0, 1));
    let cause = &again.attempts[0].exit.as_ref().unwrap().cause;
    assert!(matches!(cause, Cause::ContainerLost { .. }));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_log_that_is_lost_with_its_container_ends() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("lost", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "lost", State::Running).await;
    let first = TaskRef { attempt: Some(0), ..worker("lost") };
    let mut followed = backend.logs.follow(&admin(), &first, 0).await.unwrap();
    assert!(followed.next().await.unwrap().is_ok(), "it is being read");
    house.node(0).lose_containers();
    let to_its_end = async {
        followed.try_collect::<Vec<_>>().await.unwrap();
        let afterwards = backend.logs.follow(&admin(), &first, 0).await.unwrap();
        afterwards.try_collect::<Vec<_>>().await.unwrap()
    };
    let afterwards = tokio::time::timeout(PATIENCE, to_its_end).await.expect("the log ends");
    assert!(afterwards.is_empty());
    // Nobody is told that nothing was written.
    let ask = WindowAsk { place: LogPlace::End, count: 10, after: None };
    let window = backend.logs.window(&admin(), &first, &ask).await.unwrap();
    assert!(window.lost && window.complete && window.lines.is_empty(), "{window:?}");
    let tail = backend.logs.tail(&admin(), &first, 100).await.unwrap();
    assert!(tail.lost && tail.text.is_empty(), "{tail:?}");
    let ask = TogetherAsk { place: TogetherPlace::End, count: 10, after: None };
    let all = backend.logs.together(&admin(), &key("lost"), Some(0), &ask).await.unwrap();
    assert_eq!((all.lost, all.complete), (1, true));
    let refused = backend.logs.whole(&admin(), &first).await.err().unwrap();
    assert_eq!(refused.code, ErrorCode::NoTaskLogError);
    let second = TaskRef { attempt: Some(1), ..first };
    until(backend, "lost", |detail| {
        detail.attempts.len() == 2 && detail.summary.state == State::Running
    })
    .await;
    let ask = WindowAsk { place: LogPlace::End, count: 10, after: None };
    assert!(!backend.logs.window(&admin(), &second, &ask).await.unwrap().lost, "it is there");
    close(&control).await;
}
