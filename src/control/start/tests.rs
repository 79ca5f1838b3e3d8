use std::path::Path;
use std::time::Duration;

use api::Actor;
use api::jobs::Submission;
use database::ConnectionTrait;
use futures::StreamExt;
use protocol::ids::JobKey;
use protocol::state::State;

use super::*;
use crate::known::queue::Queue;

async fn started(folder: &Path) -> Control {
    let database = format!("sqlite://{}", folder.join("berth.db").display());
    let node = serde_json::json!({
        "name": "panics", "address": "10.0.0.1", "endpoint": "sim://panics",
        "cpus": 2, "memory_mb": 8192,
    });
    let database = Database::open(&database).await.unwrap();
    let storage = Storage::open(folder.join("storage").to_str().unwrap()).unwrap();
    let options = Options {
        nodes: vec![serde_json::from_value(node).unwrap()],
        admin_password: Some("correct horse".into()),
        ..Options::new(database, storage, folder.to_owned())
    };
    start(options).await.unwrap()
}

fn admin() -> Actor {
    Actor { user: ADMIN.parse().unwrap(), admin: true }
}

async fn submit(control: &Control, name: &str, command: &str) {
    let role = serde_json::json!({
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 1024, "gpuNumber": 0,
        "command": command,
    });
    let job = serde_json::json!({ "jobName": name, "image": "berth/base", "taskRoles": [role] });
    let (text, cloned_from, expected_name) = (job.to_string(), None, None);
    let submission = Submission { text, cloned_from, expected_name };
    control.backend.jobs.submit(&admin(), submission).await.unwrap();
}

async fn until(control: &Control, name: &str, state: State) {
    let key = JobKey { user: admin().user, name: name.parse().unwrap() };
    let mut changes = control.backend.changes.subscribe(&admin());
    let reached = async {
        while control.backend.jobs.get(&admin(), &key).await.unwrap().summary.state != state {
            changes.next().await;
        }
    };
    tokio::time::timeout(Duration::from_secs(60), reached).await.unwrap();
}

/// As a pass does: it decides, and what it has decided is lost.
fn panics(queue: &mut Queue) {
    queue.decide(now());
    panic!("in the midst of a pass");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn jobs_run_after_a_panic_of_the_scheduler() {
    let folder = tempfile::tempdir().unwrap();
    let control = started(folder.path()).await;
    submit(&control, "before", "sleep 1000").await;
    until(&control, "before", State::Running).await;
    control.shared.jobs.scheduler.ask(panics).await.unwrap_err();
    submit(&control, "after", "exit 0").await;
    until(&control, "after", State::Succeeded).await;
    until(&control, "before", State::Running).await;
    assert_eq!(control.own_failures().panics, 1);
    let unwell = control.readiness().await.into_iter().filter(|part| part.problem.is_some());
    assert_eq!(unwell.collect::<Vec<_>>(), []);
    control.sanity_check().await;
    control.shutdown().await;
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
#[should_panic(expected = "known than is stored of {\"job 1\"}")]
async fn what_is_stored_and_nobody_was_told_of_is_found() {
    let folder = tempfile::tempdir().unwrap();
    let control = started(folder.path()).await;
    submit(&control, "runs", "sleep 1000").await;
    until(&control, "runs", State::Running).await;
    control.sanity_check().await;
    let transaction = control.database().begin().await.unwrap();
    transaction.execute_unprepared("UPDATE jobs SET moved_ms = 7").await.unwrap();
    transaction.commit().await.unwrap();
    control.sane_within(Duration::from_secs(1)).await;
}
