//! Jobs of very many tasks, and what their launch takes.

use std::process::Command;
use std::time::{Duration, Instant};

use api::Backend;
use api::jobs::JobDetail;
use protocol::state::State;

use crate::house::{House, PATIENCE, admin, close, job, key, submit};

/// Set where the test runs in a process of its own: what it takes at most is a process's.
const ALONE: &str = "BERTH_TEST_ALONE";
const TASKS: u32 = 1_000;
/// Of them two jobs have room on as many nodes of 16 cores.
const NODES: usize = 126;
/// What the server takes at most meanwhile. With a copy of all places for each task it took gigabytes.
const MOST_MB: u64 = 512;
const BETWEEN_LOOKS: Duration = Duration::from_millis(200);

#[test]
fn two_large_jobs_take_little_memory_and_others_are_answered() {
    if std::env::var_os(ALONE).is_some() {
        let runtime = tokio::runtime::Builder::new_multi_thread()
            .worker_threads(2)
            .enable_all()
            .build()
            .unwrap();
        return runtime.block_on(two_large_jobs());
    }
    let name = "large::two_large_jobs_take_little_memory_and_others_are_answered";
    let alone = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", name, "--nocapture"])
        .env(ALONE, "1")
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&alone.stdout);
    let failed = String::from_utf8_lossy(&alone.stderr);
    assert!(alone.status.success() && said.contains("1 passed"), "{said}\n{failed}");
}

async fn two_large_jobs() {
    let house = House::new(NODES);
    let control = house.start().await;
    let backend = &control.backend;
    for name in ["large-1", "large-2"] {
        submit(backend, job(name, TASKS, 0, "sleep 100000", "")).await;
    }
    // Whoever comes later waits neither for their launch nor for an answer.
    submit(backend, job("small", 1, 0, "exit 0", "")).await;
    until_seen(backend, "small", |detail| detail.summary.state == State::Succeeded).await;
    let all_run = |detail: &JobDetail| {
        let tasks = detail.attempts.iter().flat_map(|attempt| &attempt.tasks);
        tasks.filter(|task| task.state == State::Running).count() == TASKS as usize
    };
    for name in ["large-1", "large-2"] {
        until_seen(backend, name, all_run).await;
    }
    for name in ["large-1", "large-2"] {
        backend.jobs.stop(&admin(), &key(name)).await.unwrap();
        until_seen(backend, name, |detail| detail.summary.state == State::Stopped).await;
    }
    close(&control).await;
    let peak = peak_mb();
    println!("at most {peak} MB");
    assert!(peak <= MOST_MB, "two jobs of {TASKS} tasks took {peak} MB");
}

/// Looks now and then: there are thousands of changes, and each look reads all tasks.
async fn until_seen(backend: &Backend, name: &str, wanted: impl Fn(&JobDetail) -> bool) {
    let began = Instant::now();
    while !wanted(&backend.jobs.get(&admin(), &key(name)).await.unwrap()) {
        assert!(began.elapsed() < 10 * PATIENCE, "{name} is not as wanted");
        tokio::time::sleep(BETWEEN_LOOKS).await;
    }
}

/// The most memory that this process has had.
fn peak_mb() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    line.split_whitespace().next().unwrap().parse::<u64>().unwrap() / 1024
}
