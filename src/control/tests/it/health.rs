//! What the server says of itself: which part is not well, and the figures that alarms go by.

use std::time::Duration;

use control::{Control, Figures, Part};
use database::ConnectionTrait;
use engine::EngineError;
use protocol::state::State;

use crate::house::{House, PATIENCE, close, job, submit, until_state};

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

/// What is wrong with a part, if anything is.
fn problem<'a>(parts: &'a [Part], name: &str) -> Option<&'a str> {
    let part = parts.iter().find(|part| part.name == name);
    part.unwrap_or_else(|| panic!("there is no {name}: {parts:?}")).problem.as_deref()
}

/// Asks until the parts are as wanted.
async fn until(control: &Control, wanted: impl Fn(&[Part]) -> bool) {
    let asked = async {
        while !wanted(&control.readiness().await) {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    let asked = tokio::time::timeout(PATIENCE, asked).await;
    assert!(asked.is_ok(), "{:#?}", control.readiness().await);
}

async fn until_well(control: &Control) {
    until(control, |parts| parts.iter().all(|part| part.problem.is_none())).await;
}

/// Asks until the figures are as wanted.
async fn until_figures(control: &Control, wanted: impl Fn(&Figures) -> bool) {
    let asked = async {
        while !wanted(&control.figures().await) {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    let asked = tokio::time::timeout(PATIENCE, asked).await;
    assert!(asked.is_ok(), "{:#?}", control.figures().await);
}

async fn tamper(control: &Control, sql: &str) {
    let transaction = control.database().begin().await.unwrap();
    transaction.execute_unprepared(sql).await.unwrap();
    transaction.commit().await.unwrap();
}

/// Whoever asks is not kept waiting by what hangs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_database_that_hangs_is_named() {
    let house = House::new(1);
    let control = house.start().await;
    until_well(&control).await;
    let held = control.database().begin().await.unwrap();
    let hangs = |parts: &[Part]| problem(parts, "database") == Some("no answer within 1.5 s");
    until(&control, hangs).await;
    assert_eq!(problem(&control.readiness().await, "storage"), None);
    held.rollback().await.unwrap();
    until_well(&control).await;
    close(&control).await;
}

/// A database may say that it has stored what it has not.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn writes_that_are_thrown_away_are_noticed() {
    let house = House::new(1);
    let control = house.start().await;
    until_well(&control).await;
    let forget = "CREATE TRIGGER forget BEFORE UPDATE ON settings BEGIN SELECT RAISE(IGNORE); END";
    tamper(&control, forget).await;
    let thrown_away = "nothing can be written there and read back";
    until(&control, |parts| problem(parts, "database") == Some(thrown_away)).await;
    tamper(&control, "DROP TRIGGER forget").await;
    until_well(&control).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn alarms_have_their_figures() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let busy = EngineError::Failed("the driver is busy".to_owned());
    house.node(0).fail_next_create(busy);
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    submit(backend, job("waits", 1, 8, "exit 0", "")).await;
    until_figures(&control, |figures| {
        figures.oldest_waiting.is_some_and(|waited| !waited.is_zero())
    })
    .await;
    let figures = control.figures().await;
    let create = figures.engine_failures.iter().find(|(_, action, _)| *action == "create");
    assert_eq!(create.map(|(_, _, count)| *count), Some(1));
    let times = &figures.engine_calls["create"];
    assert_eq!((times.count, times.within.len()), (2, 9));
    assert!(figures.database_bytes.is_some_and(|bytes| bytes > 4_096));
    for name in
        ["submissions", "nodes", "heartbeats", "schedule", "jobs", "lists", "images", "sweep"]
    {
        let known = figures.loops.iter().find(|pass| pass.name == name);
        assert!(known.is_some_and(|pass| pass.age <= pass.patience), "{name}: {figures:#?}");
    }
    close(&control).await;
}
