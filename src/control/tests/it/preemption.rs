//! Idle shares are lent, and taken back; a share is its higher classes'.

use protocol::cluster::{Share, VirtualClusterSettings};
use protocol::exit::Cause;
use protocol::ids::GpuType;
use protocol::state::State;

use crate::house::{House, admin, close, job, submit, until, until_state};

/// One node of eight GPUs, all of them guaranteed to `vision`.
fn vision() -> VirtualClusterSettings {
    let gpus = [(GpuType::new("TITANX").unwrap(), 8)].into();
    let share = Share { gpus, ..Share::default() };
    VirtualClusterSettings { share, ..VirtualClusterSettings::new("vision".parse().unwrap()) }
}

async fn start(house: &House) -> control::Control {
    let options = control::Options {
        virtual_clusters: vec![vision()],
        ..house.options(house.database().await)
    };
    control::start(options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn borrowed_work_gives_way_and_comes_back() {
    let house = House::new(1);
    let control = start(&house).await;
    let backend = &control.backend;
    submit(backend, job("borrows", 2, 4, "sleep 1000", "")).await;
    let first = until_state(backend, "borrows", State::Running).await;
    submit(backend, job("owns", 1, 8, "sleep 1000", r#""virtualCluster": "vision","#)).await;
    until_state(backend, "owns", State::Running).await;
    let gave = until_state(backend, "borrows", State::Waiting).await;
    let ended = gave.attempts.first().unwrap();
    assert_eq!(ended.exit.as_ref().unwrap().cause, Cause::Preempted);
    assert!(ended.tasks.iter().all(|task| task.state == State::Stopped), "a gang as a whole");
    assert_eq!((gave.summary.retries.user, gave.summary.retries.platform), (0, 0));
    assert_eq!(gave.summary.submitted_at, first.summary.submitted_at);
    let events = backend.jobs.events(&admin(), &gave.summary.key).await.unwrap();
    let told = events.iter().find(|event| event.kind == "preempted").unwrap();
    assert!(told.message.contains("owns") && told.message.contains("vision"), "{told:?}");

    backend.jobs.stop(&admin(), &crate::house::key("owns")).await.unwrap();
    until(backend, "borrows", |detail| {
        detail.summary.state == State::Running && detail.attempts.len() == 2
    })
    .await;
    close(&control).await;
    drop(control);
    // The next server knows by what right it runs.
    let control = start(&house).await;
    let backend = &control.backend;
    submit(backend, job("owns-too", 1, 8, "sleep 1000", r#""virtualCluster": "vision","#)).await;
    until_state(backend, "owns-too", State::Running).await;
    let gave = until_state(backend, "borrows", State::Waiting).await;
    assert_eq!(gave.attempts.len(), 2);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn borrowed_work_with_a_grace_keeps_its_place_until_it_is_over() {
    let house = House::new(1);
    let control = start(&house).await;
    let backend = &control.backend;
    let grace = r#""extras": {"berth": {"grace": {"signal": "SIGUSR1", "seconds": 3600}}},"#;
    submit(backend, job("saves", 1, 8, "trap '' USR1; sleep 1000", grace)).await;
    until_state(backend, "saves", State::Running).await;
    submit(backend, job("owns", 1, 8, "sleep 1000", r#""virtualCluster": "vision","#)).await;
    let leaves = |detail: &api::jobs::JobDetail| detail.attempts[0].state == State::Stopping;
    let told = until(backend, "saves", leaves).await;
    assert_eq!(told.attempts[0].exit.as_ref().unwrap().cause, Cause::Preempted);
    while house.node(0).signals().is_empty() {
        tokio::time::sleep(std::time::Duration::from_millis(10)).await;
    }
    let events = backend.jobs.events(&admin(), &told.summary.key).await.unwrap();
    assert_eq!(events.iter().filter(|event| event.kind == "grace").count(), 1);
    let waits = until(backend, "owns", |detail| detail.explanation.is_some()).await;
    assert_eq!(waits.summary.state, State::Waiting, "nobody is given what is still held");
    assert_eq!(house.node(0).stops(), 0);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_higher_class_takes_the_place_of_a_lower_one_of_its_virtual_cluster() {
    let house = House::new(1);
    let control = start(&house).await;
    let backend = &control.backend;
    let within = r#""virtualCluster": "vision","#;
    submit(backend, job("tries", 1, 8, "sleep 1000", within)).await;
    until_state(backend, "tries", State::Running).await;
    let production = r#""extras": {"hivedScheduler": {"jobPriorityClass": "prod"}},"#;
    let production = format!("{within} {production}");
    submit(backend, job("serves", 1, 8, "sleep 1000", &production)).await;
    until_state(backend, "serves", State::Running).await;
    let gave = until_state(backend, "tries", State::Waiting).await;
    let ended = gave.attempts.first().unwrap();
    assert_eq!(ended.exit.as_ref().unwrap().cause, Cause::Preempted);
    let events = backend.jobs.events(&admin(), &gave.summary.key).await.unwrap();
    let told = events.iter().find(|event| event.kind == "preempted").unwrap();
    assert!(told.message.contains("serves, which is of a higher class"), "{told:?}");
    close(&control).await;
}
