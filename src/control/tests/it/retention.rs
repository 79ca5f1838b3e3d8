//! What is older than it is kept for goes, little by little; and jobs are deleted by who may.

use std::path::PathBuf;
use std::time::Duration;

use api::audit::AuditAction;
use api::cluster::Drain;
use api::jobs::{JobQuery, Submission};
use api::logs::{TaskRef, TogetherAsk, TogetherPlace};
use api::queue::QueueChange;
use api::usage::{Day, UsageQuery};
use api::users::NewUser;
use api::{Actor, Backend, ErrorCode};
use control::{Control, Kept, Retention, SweptCounts};
use database::jobs::{JobUpdate, NewJob};
use database::{ConnectionTrait, Database};
use engine::simulated::Call;
use futures::StreamExt;
use protocol::cluster::NodeCondition;
use protocol::document::Syntax;
use protocol::ids::JobKey;
use protocol::spec::{Dialect, JobSpec};
use protocol::state::State;
use protocol::time::Timestamp;

use crate::house::{House, PATIENCE, admin, close, job, key, submit, until, until_state};

const BETWEEN_LOOKS: Duration = Duration::from_millis(20);

async fn until_true(mut wanted: impl FnMut() -> bool) {
    let waiting = async {
        while !wanted() {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap();
}

/// Has the database do something that no operation asks for.
async fn tamper(database: &Database, sql: &str) {
    let transaction = database.begin().await.unwrap();
    transaction.execute_unprepared(sql).await.unwrap();
    transaction.commit().await.unwrap();
}

/// The same while no server runs: what one is told of while it runs, its own sweep may come to before the
/// test looks.
async fn tamper_at_rest(house: &House, statements: &[&str]) {
    let database = house.database().await;
    for sql in statements {
        tamper(&database, sql).await;
    }
    database.close().await.unwrap();
}

/// All jobs that ended did so long ago.
const JOBS_ARE_OLD: &str = "UPDATE jobs SET submitted_at = 0, completed_at = 1";
const EVENTS_ARE_OLD: &str = "UPDATE events SET at = 1";

/// The logs that are kept of the first thousand jobs.
fn logs(house: &House) -> Vec<String> {
    let Ok(entries) = std::fs::read_dir(log_folder(house)) else { return Vec::new() };
    let names = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap());
    let mut names: Vec<String> = names.filter(|name| !name.ends_with(".metrics")).collect();
    names.sort();
    names
}

fn log_folder(house: &House) -> PathBuf {
    house.path().join("storage/.berth/logs/0")
}

async fn names(backend: &Backend) -> Vec<String> {
    let all = JobQuery { limit: 1_000, ascending: true, ..JobQuery::default() };
    let page = backend.jobs.list(&admin(), &all).await.unwrap();
    let names: Vec<String> = page.jobs.iter().map(|job| job.key.name.to_string()).collect();
    assert_eq!(names.len() as u64, page.total);
    names
}

/// How many jobs are said to have ended on the first two days there were.
async fn counted(backend: &Backend) -> u64 {
    let query = UsageQuery { from: Some(Day(0)), until: Some(Day(1)), username: None };
    let used = backend.jobs.usage(&admin(), &query).await.unwrap();
    used.iter().map(|used| used.jobs).sum()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_leaves_what_is_new_or_runs_or_is_held() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    for name in ["old", "new"] {
        submit(backend, job(name, 1, 1, "exit 0", "")).await;
        until_state(backend, name, State::Succeeded).await;
    }
    submit(backend, job("runs", 1, 8, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    submit(backend, job("held", 1, 8, "sleep 1000", "")).await;
    backend.queue.change(&admin(), &key("held"), QueueChange::Hold).await.unwrap();
    until_true(|| house.node(0).containers().len() == 1).await;
    assert_eq!(logs(&house), ["1-a0-r0-t0-n0.log", "2-a0-r0-t0-n0.log"]);
    close(&control).await;
    drop(control);
    // Time passes. What has not ended is as old as what has.
    let older = [
        "UPDATE jobs SET submitted_at = 0 WHERE name <> 'new'",
        "UPDATE jobs SET completed_at = 1 WHERE name = 'old'",
        // A first sweep may have counted it already.
        "DELETE FROM usage_days",
        "UPDATE jobs SET counted = FALSE",
        EVENTS_ARE_OLD,
        "UPDATE audit SET at = 1",
    ];
    tamper_at_rest(&house, &older).await;

    let control = house.start().await;
    let backend = &control.backend;
    until_true(|| {
        let SweptCounts { jobs, logs, events, audit } = control.swept();
        jobs == 1 && logs == 1 && events > 0 && audit > 0
    })
    .await;
    assert_eq!(names(backend).await, ["runs", "held", "new"], "by their times");
    let gone = backend.jobs.get(&admin(), &key("old")).await.unwrap_err();
    assert_eq!(gone.code, ErrorCode::NoJobError);
    assert_eq!(logs(&house), ["2-a0-r0-t0-n0.log"]);
    until_state(backend, "runs", State::Running).await;
    until(backend, "held", |detail| detail.summary.held.is_some()).await;
    for (name, some) in [("new", false), ("runs", true), ("held", true)] {
        let events = backend.jobs.events(&admin(), &key(name)).await.unwrap();
        assert_eq!(!events.is_empty(), some, "{name}: those of jobs that go on are kept");
    }
    assert_eq!(counted(backend).await, 1, "what it used is not forgotten");
    submit(backend, job("old", 1, 0, "exit 0", "")).await;
    until_state(backend, "old", State::Succeeded).await;
    close(&control).await;
}

/// Starts a server that keeps logs for a day, and what was measured for so many.
async fn start_with(house: &House, days: u32) -> Control {
    let mut options = house.options(house.database().await);
    let (logs, metrics) = (Kept::Days(1), Kept::Days(days));
    options.rules.retention = Retention { logs, metrics, ..Retention::default() };
    control::start(options).await.unwrap()
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_was_measured_and_logs_go_each_at_its_own_age() {
    let house = House::new(1);
    let control = house.start().await;
    submit(&control.backend, job("old", 1, 0, "exit 0", "")).await;
    until_state(&control.backend, "old", State::Succeeded).await;
    until_true(|| !logs(&house).is_empty()).await;
    close(&control).await;
    drop(control);
    let ten_days = 10 * 86_400_000;
    for table in ["jobs", "tasks"] {
        let older = format!("UPDATE {table} SET completed_at = completed_at - {ten_days}");
        tamper_at_rest(&house, &[&older]).await;
    }
    let measured = log_folder(&house).join("1-a0-r0-t0-n0.metrics");
    std::fs::write(&measured, "measured").unwrap();

    let control = start_with(&house, 30).await;
    until_true(|| control.swept().logs == 1).await;
    // It is shown neither as one in which nothing stands nor as one that is lost.
    let ask = TogetherAsk { place: TogetherPlace::End, count: 1, after: None };
    let all = control.backend.logs.together(&admin(), &key("old"), None, &ask).await;
    let removed = all.unwrap_err();
    assert!(removed.message.starts_with("this log is removed"), "{removed}");
    close(&control).await;
    drop(control);
    assert!(logs(&house).is_empty() && measured.exists(), "it is not as old as that");

    let control = start_with(&house, 5).await;
    until_true(|| !measured.exists()).await;
    assert_eq!(names(&control.backend).await, ["old"], "the job is known for longer");
    close(&control).await;
}

/// Stores jobs that ended long ago, and one that has just ended.
async fn seed(house: &House, old: usize) {
    let database = house.database().await;
    let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH).unwrap();
    let now = i64::try_from(now.as_millis()).unwrap();
    let new_job = |number: usize| {
        let key = key(&format!("job-{number:03}"));
        let spec = JobSpec::plain(key.name.clone(), Dialect::Pai, Vec::new());
        let (text, syntax) = ("{}".to_owned(), Syntax::Json);
        NewJob { key, spec, text, syntax, submitted_at: Timestamp(0) }
    };
    let transaction = database.begin().await.unwrap();
    let jobs: Vec<NewJob> = (0..=old).map(new_job).collect();
    let stored = database::jobs::insert_many(&transaction, &jobs).await.unwrap();
    let ended = stored.into_iter().zip(0..).map(|(id, number)| {
        let at = Timestamp(if number == old { now } else { 1 });
        let update = JobUpdate { completed_at: Some(at), ..JobUpdate::to(State::Failed) };
        (id.unwrap(), State::Waiting, update)
    });
    let ended: Vec<_> = ended.collect();
    database::jobs::update_many(&transaction, &ended).await.unwrap();
    transaction.commit().await.unwrap();
    database.close().await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_sweep_that_was_broken_off_goes_on() {
    let house = House::new(1);
    seed(&house, 250).await;
    let refuse = "CREATE TRIGGER refuse BEFORE DELETE ON jobs WHEN OLD.id >= 150 \
        BEGIN SELECT RAISE(ABORT, 'the disk is full'); END";
    let database = house.database().await;
    tamper(&database, refuse).await;
    let control = control::start(house.options(database)).await.unwrap();
    until_true(|| control.swept().jobs == 149).await;
    assert_eq!(names(&control.backend).await.len(), 102, "what goes, goes whole");
    close(&control).await;
    drop(control);
    // A log of one that was removed, kept when it was being removed.
    std::fs::create_dir_all(log_folder(&house)).unwrap();
    for job in [7, 251, 1_000] {
        std::fs::write(log_folder(&house).join(format!("{job}-a0-r0-t0-n0.log")), "").unwrap();
    }
    // What was measured goes with it, and is no log.
    let measured = log_folder(&house).join("7-a0-r0-t0-n0.metrics");
    std::fs::write(&measured, "").unwrap();

    let database = house.database().await;
    tamper(&database, "DROP TRIGGER refuse").await;
    let control = control::start(house.options(database)).await.unwrap();
    until_true(|| control.swept().jobs == 101 && control.swept().logs == 1).await;
    assert_eq!(names(&control.backend).await, ["job-250"]);
    assert_eq!(counted(&control.backend).await, 250, "each once");
    assert_eq!(
        logs(&house),
        ["1000-a0-r0-t0-n0.log", "251-a0-r0-t0-n0.log"],
        "nobody knows of 1000"
    );
    until_true(|| !measured.exists()).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_cannot_be_forgotten_holds_up_nothing_else() {
    let house = House::new(1);
    // More than are looked for at once.
    seed(&house, 1_100).await;
    let refuse = "CREATE TRIGGER refuse BEFORE DELETE ON jobs WHEN OLD.id IN (1, 600) \
        BEGIN SELECT RAISE(ABORT, 'it is damaged'); END";
    let database = house.database().await;
    tamper(&database, refuse).await;
    let later = house.path().join("storage/.berth/logs/1");
    // What has the name of a log and is none cannot be removed as one.
    std::fs::create_dir_all(log_folder(&house).join("3-a0-r0-t0-n0.log/stays")).unwrap();
    std::fs::create_dir_all(&later).unwrap();
    let logs = [log_folder(&house).join("9-a0-r0-t0-n0.log"), later.join("1005-a0-r0-t0-n0.log")];
    for log in &logs {
        std::fs::write(log, "").unwrap();
    }
    let control = control::start(house.options(database)).await.unwrap();
    until_true(|| control.swept().jobs == 1_098 && control.swept().logs == 2).await;
    assert_eq!(names(&control.backend).await, ["job-000", "job-599", "job-1100"]);
    assert!(logs.iter().all(|log| !log.exists()));
    control.shutdown().await;
}

/// A container without a record would be nobody's after the next start.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_not_forgotten_before_its_containers_are_gone() {
    let house = House::new(1);
    let node = house.node(0);
    node.refuse(Call::Remove, true);
    let control = house.start().await;
    submit(&control.backend, job("stays", 1, 1, "exit 0", "")).await;
    until_state(&control.backend, "stays", State::Succeeded).await;
    close(&control).await;
    drop(control);
    tamper_at_rest(&house, &[JOBS_ARE_OLD, EVENTS_ARE_OLD]).await;

    let control = house.start().await;
    let backend = &control.backend;
    // What comes after the jobs in a sweep.
    until_true(|| control.swept().events > 0).await;
    assert_eq!((control.swept().jobs, names(backend).await), (0, vec!["stays".to_owned()]));
    let is_there = async {
        backend.jobs.get(&admin(), &key("stays")).await.unwrap();
        node.refuse(Call::Remove, false);
    };
    let stays = key("stays");
    let deleting = async { backend.jobs.delete(&admin(), &stays).await };
    let (deleted, ()) = tokio::join!(deleting, is_there);
    deleted.unwrap();
    assert!(node.containers().is_empty() && names(backend).await.is_empty());
    assert_eq!(backend.quarantine.list(&admin(), None).await.unwrap(), []);
    close(&control).await;
}

/// Whoever leaves a node for dead knows nothing of the containers there: one without a record would be
/// nobody's when the node comes back, and keep its GPUs.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_is_kept_while_a_node_is_silent_where_its_container_may_be() {
    let house = House::new(2);
    let control = house.start().await;
    let backend = &control.backend;
    submit(backend, job("moves", 1, 1, "sleep 1000", "")).await;
    let first = until_state(backend, "moves", State::Running).await;
    let name = first.attempts[0].tasks[0].node.clone();
    let node = house.node(house.index_of(&name));
    node.set_unreachable(true);
    until_state(backend, "moves", State::Unknown).await;
    backend.nodes.drain(&admin(), &name, Drain::Now).await.unwrap();
    until(backend, "moves", |detail| {
        detail.attempts.len() == 2 && detail.summary.state == State::Running
    })
    .await;
    backend.jobs.stop(&admin(), &key("moves")).await.unwrap();
    until_state(backend, "moves", State::Stopped).await;
    let refused = backend.jobs.delete(&admin(), &key("moves")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ConflictJobError);
    assert!(refused.message.contains(name.as_str()), "{refused}");
    control.shutdown().await;
    drop(control);
    tamper_at_rest(&house, &[JOBS_ARE_OLD, EVENTS_ARE_OLD]).await;

    let control = house.start().await;
    let backend = &control.backend;
    until_true(|| control.swept().events > 0).await;
    assert_eq!((control.swept().jobs, names(backend).await), (0, vec!["moves".to_owned()]));
    assert_eq!(node.containers().len(), 1);
    node.set_unreachable(false);
    tokio::time::timeout(PATIENCE, node.until_empty()).await.unwrap();
    backend.jobs.delete(&admin(), &key("moves")).await.unwrap();
    assert_eq!(backend.quarantine.list(&admin(), None).await.unwrap(), []);
    control.shutdown().await;
}

/// What it kept at the first try would be there for an hour more.
#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_node_that_answers_a_moment_late_keeps_nothing() {
    let house = House::new(1);
    let control = house.start().await;
    submit(&control.backend, job("old", 1, 1, "exit 0", "")).await;
    until_state(&control.backend, "old", State::Succeeded).await;
    let node = house.node(0);
    tokio::time::timeout(PATIENCE, node.until_empty()).await.unwrap();
    close(&control).await;
    drop(control);
    tamper_at_rest(&house, &[JOBS_ARE_OLD]).await;

    node.set_unreachable(true);
    let control = house.start().await;
    let is_silent = async || {
        let nodes = control.backend.nodes.list(&admin()).await.unwrap();
        nodes[0].condition == NodeCondition::Unreachable
    };
    let silent = async {
        while !is_silent().await {
            tokio::time::sleep(BETWEEN_LOOKS).await;
        }
    };
    tokio::time::timeout(PATIENCE, silent).await.unwrap();
    node.set_unreachable(false);
    until_true(|| control.swept().jobs == 1).await;
    close(&control).await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_ended_long_before_its_node_fell_silent_is_deleted() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    for name in ["early", "late"] {
        submit(backend, job(name, 1, 1, "exit 0", "")).await;
        until_state(backend, name, State::Succeeded).await;
    }
    tokio::time::timeout(PATIENCE, house.node(0).until_empty()).await.unwrap();
    let of_early = "(SELECT id FROM jobs WHERE name = 'early')";
    let sql = format!("UPDATE tasks SET completed_at = 1 WHERE job = {of_early}");
    tamper(control.database(), &sql).await;
    submit(backend, job("runs", 1, 1, "sleep 1000", "")).await;
    until_state(backend, "runs", State::Running).await;
    house.node(0).set_unreachable(true);
    until_state(backend, "runs", State::Unknown).await;
    let refused = backend.jobs.delete(&admin(), &key("late")).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ConflictJobError);
    backend.jobs.delete(&admin(), &key("early")).await.unwrap();
    control.shutdown().await;
}

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

async fn submit_as(backend: &Backend, actor: &Actor, command: &str) -> JobKey {
    let text = job("train", 1, 1, command, "");
    let submission = Submission { text, cloned_from: None, expected_name: None };
    backend.jobs.submit(actor, submission).await.unwrap().key
}

async fn until_ended(backend: &Backend, key: &JobKey) {
    let mut changes = backend.changes.subscribe(&admin());
    let ended = async {
        while !backend.jobs.get(&admin(), key).await.unwrap().summary.state.is_final() {
            changes.next().await;
        }
    };
    tokio::time::timeout(PATIENCE, ended).await.unwrap();
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_job_that_has_ended_is_deleted_by_who_may() {
    let house = House::new(1);
    let control = house.start().await;
    let backend = &control.backend;
    let (alice, bob) = (user(backend, "alice").await, user(backend, "bob").await);
    let key = submit_as(backend, &alice, "sleep 1000").await;
    let goes_on = backend.jobs.delete(&alice, &key).await.unwrap_err();
    assert_eq!(goes_on.code, ErrorCode::ConflictJobError);
    assert!(goes_on.message.contains("stop it"), "{goes_on}");
    backend.jobs.stop(&alice, &key).await.unwrap();
    until_ended(backend, &key).await;
    until_true(|| house.node(0).containers().is_empty()).await;
    let refused = backend.jobs.delete(&bob, &key).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);
    backend.jobs.get(&alice, &key).await.unwrap();
    backend.jobs.delete(&alice, &key).await.unwrap();

    let worker = "worker".parse().unwrap();
    let task = TaskRef { job: key.clone(), attempt: None, role: worker, index: 0 };
    let missing = [
        backend.jobs.get(&alice, &key).await.err(),
        backend.jobs.events(&alice, &key).await.err(),
        backend.jobs.delete(&alice, &key).await.err(),
        backend.jobs.stop(&alice, &key).await.err(),
        backend.logs.tail(&alice, &task, 10).await.err(),
    ];
    for refused in missing {
        assert_eq!(refused.unwrap().code, ErrorCode::NoJobError);
    }
    assert!(names(backend).await.is_empty() && logs(&house).is_empty());
    let audit = backend.audit.list(&admin(), None, 500).await.unwrap();
    let deleted = audit.iter().filter(|entry| entry.action == AuditAction::JobDeleted);
    let deleted: Vec<_> =
        deleted.map(|entry| (entry.actor.as_str(), entry.object.as_str())).collect();
    assert_eq!(deleted, [("alice", "alice~train")]);
    let own = UsageQuery::default();
    let used = backend.jobs.usage(&alice, &own).await.unwrap();
    assert_eq!(used.iter().map(|used| used.jobs).sum::<u64>(), 1);
    assert!(backend.jobs.usage(&bob, &own).await.unwrap().is_empty());
    let hers = UsageQuery { username: Some(alice.user.clone()), ..own };
    let refused = backend.jobs.usage(&bob, &hers).await.unwrap_err();
    assert_eq!(refused.code, ErrorCode::ForbiddenUserError);

    // Its name is free; an administrator deletes it as well.
    assert_eq!(submit_as(backend, &alice, "exit 0").await, key);
    until_ended(backend, &key).await;
    backend.jobs.delete(&admin(), &key).await.unwrap();
    assert!(names(backend).await.is_empty());
    close(&control).await;
}
