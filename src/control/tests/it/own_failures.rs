//! What fails of the server's own is nobody's fault: it ends no job and counts no try.

use std::time::Duration;

use api::jobs::JobDetail;
use control::Control;
use database::ConnectionTrait;
use protocol::state::State;

use crate::house::{House, PATIENCE, close, job, submit, until, until_state};

const TASKS: u32 = 8;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// Has the database do something that no operation asks for.
async fn tamper(control: &Control, sql: &str) {
    let transaction = control.database().begin().await.unwrap();
    transaction.execute_unprepared(sql).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Until it was noted that the database has failed.
async fn until_noted(control: &Control) {
    let noted = async {
        while control.own_failures().records == 0 {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(PATIENCE, noted).await.unwrap();
}

fn waits_for_the_database(detail: &JobDetail) -> bool {
    let tasks = detail.attempts.iter().flat_map(|attempt| &attempt.tasks);
    let mut said = tasks.filter_map(|task| task.progress.as_ref());
    said.any(|said| said.starts_with("waiting, since this server's database"))
}

/// It was launched once, whatever failed before.
fn assert_untroubled(house: &House, detail: &JobDetail) {
    assert_eq!((detail.summary.retries.user, detail.summary.retries.platform), (0, 0));
    assert_eq!(detail.attempts.len(), 1, "{detail:#?}");
    assert_eq!((house.node(0).starts(), house.node(0).most_made()), (u64::from(TASKS), 1));
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_launch_waits_for_records_that_cannot_be_read() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    tamper(&control, "ALTER TABLE public_keys RENAME TO public_keys_away").await;
    submit(backend, job("waits", TASKS, 1, "exit 0", r#""retryCount": 0,"#)).await;
    let waits = until(backend, "waits", waits_for_the_database).await;
    assert_eq!((waits.summary.state, waits.summary.exit), (State::Preparing, None));
    until_noted(&control).await;
    assert!(house.node(0).containers().is_empty());
    tamper(&control, "ALTER TABLE public_keys_away RENAME TO public_keys").await;
    assert_untroubled(&house, &until_state(backend, "waits", State::Succeeded).await);
    close(&control).await;
}

/// What carries jobs on begins anew when it panics, and they go on.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_run_after_a_panic() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    house.node(0).panic_next_create();
    house.node(0).panic_next_list();
    submit(backend, job("runs", TASKS, 1, "exit 0", r#""retryCount": 0,"#)).await;
    assert_untroubled(&house, &until_state(backend, "runs", State::Succeeded).await);
    assert_eq!(control.own_failures().panics, 2);
    close(&control).await;
}

/// What is about to be done is stored before it is done: where it cannot be, nothing is done.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_is_begun_that_cannot_be_recorded() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let refuse = "CREATE TRIGGER refuse BEFORE UPDATE ON tasks \
        BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    tamper(&control, refuse).await;
    submit(backend, job("waits", TASKS, 1, "exit 0", r#""retryCount": 0,"#)).await;
    until_noted(&control).await;
    let waits = until(backend, "waits", |_| true).await;
    assert_eq!((waits.summary.state, waits.summary.exit), (State::Preparing, None));
    assert!(house.node(0).containers().is_empty());
    tamper(&control, "DROP TRIGGER refuse").await;
    assert_untroubled(&house, &until_state(backend, "waits", State::Succeeded).await);
    close(&control).await;
}
