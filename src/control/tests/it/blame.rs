//! Blame is decided by who could have done otherwise: what an engine, a machine or a clock ends is no
//! failure of the job, and what fails for everybody is closed.

use std::time::Duration;

use api::Backend;
use api::audit::AuditAction;
use api::cluster::Drain;
use api::jobs::JobDetail;
use control::{ClosedNodes, Control, Options, Rules};
use engine::EngineError;
use engine::simulated::Call;
use protocol::cluster::{ClosedCause, NodeCondition};
use protocol::exit::Cause;
use protocol::ids::NodeName;
use protocol::state::State;

use crate::house::{
    House, PATIENCE, admin, close, job, key, submit, until, until_node, until_state,
};

const HOUR: i64 = 3_600_000;
const BETWEEN_LOOKS: Duration = Duration::from_millis(20);
const ONCE: &str = r#""retryCount": 0,"#;

/// Asserts that the first attempt ended with its engine, that nothing was counted, and that a second one
/// runs.
async fn runs_again_uncounted(backend: &Backend, name: &str) {
    let runs_again =
        |detail: &JobDetail| detail.attempts.len() == 2 && detail.summary.state == State::Running;
    let again = until(backend, name, runs_again).await;
    assert_eq!((again.summary.retries.user, again.summary.retries.platform), (0, 1));
    let cause = &again.attempts[0].exit.as_ref().unwrap().cause;
    assert!(matches!(cause, Cause::EngineRestarted { .. }), "{cause:?}");
}

/// Looks again and again until something is so of which nobody tells.
async fn until_so(is_so: impl Fn() -> bool) {
    let waiting = async {
        while !is_so() {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_reboot_is_not_the_jobs_failure() {
    let house = House::new(1);
    let control = house.start().await;
    submit(&control.backend, job("runs", 1, 1, "sleep 1000", ONCE)).await;
    until_state(&control.backend, "runs", State::Running).await;
    close(&control).await;
    drop(control);
    house.node(0).reboot();
    let control = house.start().await;
    runs_again_uncounted(&control.backend, "runs").await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn no_clock_says_whose_fault_it_was() {
    let house = House::new(1);
    house.node(0).set_clock_ahead(HOUR);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("runs", 1, 1, "sleep 1000", ONCE)).await;
    until_state(backend, "runs", State::Running).await;
    house.node(0).set_unreachable(true);
    until_state(backend, "runs", State::Unknown).await;
    house.node(0).reboot();
    house.node(0).set_unreachable(false);
    runs_again_uncounted(backend, "runs").await;
    close(&control).await;
}

/// An engine that was killed may have lost how its containers ended, and says that they ended well.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_an_engine_has_lost_has_ended_as_it_says_itself() {
    let house = House::new(1);
    let control = house.start().await;
    let (backend, node) = (&control.backend, house.node(0));
    let away = async |names: &[&str], ends: &dyn Fn()| {
        for name in names {
            until_state(backend, name, State::Running).await;
        }
        node.set_unreachable(true);
        for name in names {
            until_state(backend, name, State::Unknown).await;
        }
        ends();
        node.lose_exits();
        node.set_unreachable(false);
    };
    submit(backend, job("well", 1, 1, "sleep 1000", ONCE)).await;
    submit(backend, job("fails", 1, 1, "sleep 1000; exit 3", ONCE)).await;
    away(&["well", "fails"], &|| node.finish()).await;
    let well = until_state(backend, "well", State::Succeeded).await;
    let fails = until_state(backend, "fails", State::Failed).await;
    let code = |detail: &JobDetail| detail.attempts[0].exit.as_ref().unwrap().code;
    assert_eq!((code(&well), code(&fails)), (Some(0), Some(3)));
    assert_eq!((well.attempts.len(), fails.attempts.len()), (1, 1));

    submit(backend, job("killed", 1, 1, "sleep 1000", ONCE)).await;
    away(&["killed"], &|| node.cut_power()).await;
    runs_again_uncounted(backend, "killed").await;
    close(&control).await;
}

/// It ends its containers first, and they are seen to end.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_engine_that_goes_down_is_waited_for() {
    let house = House::new(1);
    let control = house.start().await;
    let (backend, node) = (&control.backend, house.node(0));
    submit(backend, job("runs", 1, 1, "sleep 1000", ONCE)).await;
    until_state(backend, "runs", State::Running).await;
    node.set_inspect_error(Some(EngineError::Unreachable("it goes down".to_owned())));
    let read = node.log_bytes();
    node.reboot();
    until_so(|| node.log_bytes() > read).await;
    node.set_unreachable(true);
    until_state(backend, "runs", State::Unknown).await;
    node.set_inspect_error(None);
    node.set_unreachable(false);
    runs_again_uncounted(backend, "runs").await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_start_that_fails_once_is_tried_again() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    house.node(0).fail_next_start(EngineError::Failed("the driver is busy".to_owned()));
    submit(backend, job("starts", 1, 1, "exit 0", ONCE)).await;
    let done = until_state(backend, "starts", State::Succeeded).await;
    assert_eq!((done.summary.retries.user, done.summary.retries.platform), (0, 0));
    assert_eq!((done.attempts.len(), house.node(0).starts()), (1, 1));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_with_a_wrong_clock_stops_no_job() {
    let house = House::new(1);
    house.node(0).set_clock_ahead(-HOUR);
    let control = house.start().await;
    let backend = &control.backend;
    let limited = r#""extras": {"berth": {"timeLimit": 600}},"#;
    submit(backend, job("limited", 1, 1, "sleep 1000", limited)).await;
    until_state(backend, "limited", State::Running).await;
    submit(backend, job("other", 1, 0, "exit 0", "")).await;
    until_state(backend, "other", State::Succeeded).await;
    let limited = until(backend, "limited", |_| true).await;
    assert_eq!(limited.summary.state, State::Running);
    let attempt = &limited.attempts[0];
    let began = attempt.started_at.unwrap().0 - attempt.placed_at.0;
    assert!(began.abs() < HOUR / 2, "it is told in the server's time: {began}");
    close(&control).await;
}

/// A house in which closed nodes are tried again soon.
async fn started(house: &House) -> (Control, NodeName) {
    let (tried_after, unkilled_after) = (Duration::from_millis(50), Duration::ZERO);
    let closed_nodes = ClosedNodes { tried_after, unkilled_after };
    let options = house.options(house.database().await);
    let name = options.nodes[0].name.clone();
    let rules = Rules { closed_nodes, ..Rules::default() };
    (control::start(Options { rules, ..options }).await.unwrap(), name)
}

/// Submits jobs that only this node can run.
async fn submit_to(backend: &Backend, node: &NodeName, names: &[&str], image: &str) {
    let only = format!(r#""extras": {{"berth": {{"nodes": ["{node}"]}}}}, {ONCE}"#);
    for name in names {
        let text = job(name, 1, 0, "exit 0", &only);
        submit(backend, text.replace("berth/base", image)).await;
    }
}

/// The newest entry of the audit log.
async fn last_entry(backend: &Backend) -> (AuditAction, String) {
    let log = backend.audit.list(&admin(), None, 1).await.unwrap();
    (log[0].action, log[0].detail.clone())
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_starts_nothing_is_closed_until_it_can() {
    let house = House::new(2);
    let (control, name) = started(&house).await;
    let (backend, node) = (&control.backend, house.node(0));
    node.set_start_error(Some(EngineError::Broken("no driver".to_owned())));
    submit_to(backend, &name, &["a", "b", "c"], "berth/base").await;
    let view = until_node(backend, &name, |view| view.closed.is_some()).await;
    let closed = view.closed.unwrap();
    assert_eq!((view.condition, view.emptied), (NodeCondition::Draining, false));
    assert!(closed.message.contains("no driver"), "{closed:?}");
    let mut jobs: Vec<_> = closed.failures.iter().map(|of| of.job.name.to_string()).collect();
    jobs.sort();
    assert_eq!(jobs, ["a", "b", "c"]);
    assert!(closed.failures.iter().all(|of| of.message == "no driver"), "{closed:?}");

    let somebody = api::Actor { user: "ann".parse().unwrap(), admin: false };
    let seen = backend.nodes.get(&somebody, &name).await.unwrap().closed.unwrap();
    assert!(seen.failures.is_empty(), "whose jobs they are is not everybody's business");
    let silent = backend.nodes.silent(&somebody).await.unwrap();
    assert_eq!((silent.count, silent.closed, silent.closed_names), (0, 1, vec![name.clone()]));
    let (action, detail) = last_entry(backend).await;
    assert_eq!(action, AuditAction::NodeDrained);
    assert!(detail.starts_with("closed by itself: "), "{detail}");
    let events = backend.jobs.events(&admin(), &key("a")).await.unwrap();
    assert!(events.iter().any(|event| event.kind == "node closed"), "{events:?}");

    submit(backend, job("elsewhere", 1, 8, "sleep 1000", "")).await;
    let elsewhere = until_state(backend, "elsewhere", State::Running).await;
    assert_ne!(elsewhere.attempts[0].tasks[0].node, name, "it attracts nothing");
    node.set_start_error(None);
    until_node(backend, &name, |view| view.closed.is_none()).await;
    for job in ["a", "b", "c"] {
        let done = until_state(backend, job, State::Succeeded).await;
        assert_eq!(done.summary.retries.user, 0);
    }
    let opened = (AuditAction::NodeDrained, "opened again by itself".to_owned());
    assert_eq!(last_entry(backend).await, opened);
    assert!(node.containers().iter().all(|name| !name.contains("probe")), "nothing is left");
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_stays_closed_over_a_restart() {
    let house = House::new(1);
    let (control, name) = started(&house).await;
    house.node(0).set_start_error(Some(EngineError::Broken("no driver".to_owned())));
    submit_to(&control.backend, &name, &["a", "b", "c"], "berth/base").await;
    until_node(&control.backend, &name, |view| view.closed.is_some()).await;
    for job in ["a", "b", "c"] {
        control.backend.jobs.stop(&admin(), &key(job)).await.unwrap();
        until_state(&control.backend, job, State::Stopped).await;
    }
    close(&control).await;
    drop(control);
    let (control, _) = started(&house).await;
    let backend = &control.backend;
    let closed = until_node(backend, &name, |view| view.last_seen.is_some()).await.closed;
    assert_eq!(closed.map(|closed| closed.failures.len()), Some(3));
    // Who knows better says so.
    backend.nodes.drain(&admin(), &name, Drain::Off).await.unwrap();
    assert_eq!(backend.nodes.get(&admin(), &name).await.unwrap().closed, None);
    let detail = "takes tasks again".to_owned();
    assert_eq!(last_entry(backend).await, (AuditAction::NodeDrained, detail));
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_that_cannot_start_close_no_node() {
    let house = House::new(1);
    let (control, name) = started(&house).await;
    let (backend, node) = (&control.backend, house.node(0));
    submit(backend, job("well", 1, 0, "exit 0", "")).await;
    until_state(backend, "well", State::Succeeded).await;
    assert_eq!(node.starts(), 1);
    submit_to(backend, &name, &["a", "b", "c"], "berth/unfit").await;
    until_so(|| node.starts() > 1).await;
    submit(backend, job("after", 1, 0, "exit 0", "")).await;
    until_state(backend, "after", State::Succeeded).await;
    assert_eq!(backend.nodes.get(&admin(), &name).await.unwrap().closed, None);
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_task_that_cannot_be_killed_closes_its_node_until_it_is_gone() {
    let house = House::new(1);
    let (control, name) = started(&house).await;
    let node = house.node(0);
    submit(&control.backend, job("stuck", 1, 2, "sleep 1000", "")).await;
    until_state(&control.backend, "stuck", State::Running).await;
    node.refuse(Call::Stop, true);
    control.backend.jobs.stop(&admin(), &key("stuck")).await.unwrap();
    let view = until_node(&control.backend, &name, |view| view.closed.is_some()).await;
    let closed = view.closed.unwrap();
    assert_eq!((closed.cause, closed.containers.len()), (ClosedCause::Unkilled, 1));
    assert_eq!(closed.message, format!("{} cannot be killed", closed.containers[0]));
    let held = view.gpus.iter().filter(|gpu| gpu.job == Some(key("stuck")));
    assert_eq!((view.condition, held.count()), (NodeCondition::Draining, 2));
    until_so(|| node.calls(Call::Stop) > 3).await;
    close(&control).await;
    drop(control);

    let (control, _) = started(&house).await;
    let backend = &control.backend;
    let events = backend.jobs.events(&admin(), &key("stuck")).await.unwrap();
    assert!(events.iter().any(|event| event.kind == "node closed"), "{events:?}");
    let before = node.calls(Call::Stop);
    until_so(|| node.calls(Call::Stop) > before).await;
    let view = backend.nodes.get(&admin(), &name).await.unwrap();
    assert_eq!(view.closed, Some(closed), "it is there as before");
    assert_eq!(until(backend, "stuck", |_| true).await.summary.state, State::Stopping);
    node.refuse(Call::Stop, false);
    until_state(backend, "stuck", State::Stopped).await;
    until_node(backend, &name, |view| view.closed.is_none()).await;
    submit(backend, job("after", 1, 8, "exit 0", "")).await;
    until_state(backend, "after", State::Succeeded).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn an_administrator_may_open_a_node_though_a_task_cannot_be_killed_there() {
    let house = House::new(1);
    let (control, name) = started(&house).await;
    let (backend, node) = (&control.backend, house.node(0));
    submit(backend, job("stuck", 1, 2, "sleep 1000", "")).await;
    until_state(backend, "stuck", State::Running).await;
    node.refuse(Call::Stop, true);
    backend.jobs.stop(&admin(), &key("stuck")).await.unwrap();
    until_node(backend, &name, |view| view.closed.is_some()).await;
    backend.nodes.drain(&admin(), &name, Drain::Off).await.unwrap();
    submit(backend, job("beside", 1, 6, "exit 0", "")).await;
    until_state(backend, "beside", State::Succeeded).await;
    let before = node.calls(Call::Stop);
    until_so(|| node.calls(Call::Stop) > before).await;
    assert_eq!(backend.nodes.get(&admin(), &name).await.unwrap().closed, None);
    node.refuse(Call::Stop, false);
    until_state(backend, "stuck", State::Stopped).await;
    close(&control).await;
}
