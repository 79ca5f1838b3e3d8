//! Jobs that come and go.

use std::time::Duration;

use api::jobs::{JobQuery, Submission};
use api::{Actor, Backend};
use protocol::state::State;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use tokio_util::sync::CancellationToken;

use crate::cast::{self, PEOPLE, RACKS, SHARED};

/// How many jobs there are at once before no more are added.
const ACTIVE_JOBS: u64 = 120;
/// The longest time between two submissions.
const PAUSE: Duration = Duration::from_secs(4);

/// Submits jobs until the server stops.
pub async fn run(backend: Backend, shutdown: CancellationToken) {
    let people = PEOPLE.map(|name| Actor { user: cast::user(name), admin: false });
    let mut random = StdRng::from_os_rng();
    loop {
        if let Err(error) = add_job(&backend, &people, &mut random).await {
            tracing::warn!(%error, "the demonstration could not add a job");
        }
        let pause = PAUSE.mul_f64(random.random_range(0.1..1.0));
        tokio::select! {
            () = shutdown.cancelled() => return,
            () = tokio::time::sleep(pause) => {}
        }
    }
}

async fn add_job(backend: &Backend, people: &[Actor], random: &mut StdRng) -> api::Result<()> {
    let active = JobQuery {
        users: people.iter().map(|actor| actor.user.clone()).collect(),
        states: State::ALL.into_iter().filter(|state| !state.is_final()).collect(),
        limit: 1,
        ..JobQuery::default()
    };
    let Some(actor) = people.choose(random) else { return Ok(()) };
    if backend.jobs.list(actor, &active).await?.total >= ACTIVE_JOBS {
        return Ok(());
    }
    let submission = Submission { text: job_file(random), cloned_from: None, expected_name: None };
    backend.jobs.submit(actor, submission).await.map(|_| ())
}

/// A job of a random kind and size. One in eight fails.
fn job_file(random: &mut StdRng) -> String {
    let kinds = ["resnet50", "bert-base", "gpt2-small", "unet", "yolo", "whisper"];
    let kind = kinds.choose(random).expect("the list is not empty");
    let rack = RACKS.choose(random).expect("the list is not empty");
    let gpus = [1, 1, 2, 4, rack.gpus].choose(random).copied().expect("the list is not empty");
    let part = rack.gpu_type == SHARED && gpus == 1 && random.random_ratio(1, 2);
    let tasks = [1, 1, 1, 2, 4].choose(random).copied().expect("the list is not empty");
    let seconds = random.random_range(20..600);
    let end = if random.random_ratio(1, 8) { "exit 1" } else { "exit 0" };
    let number: u32 = random.random();
    serde_json::json!({
        "jobName": format!("{kind}-{number:08x}"),
        "image": "demo/simulated",
        "gpuType": rack.gpu_type,
        "taskRoles": [{
            "name": "worker",
            "taskNumber": tasks,
            "cpuNumber": gpus * 4,
            "memoryMB": gpus * 8192,
            "gpuNumber": if part { serde_json::json!(0.25) } else { gpus.into() },
            "command": format!("echo training {kind}; sleep {seconds}; {end}"),
        }],
    })
    .to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn job_files_fit_a_node() {
        let mut random = StdRng::seed_from_u64(7);
        for _ in 0..200 {
            let job: serde_json::Value = serde_json::from_str(&job_file(&mut random)).unwrap();
            let role = &job["taskRoles"][0];
            assert!(role["gpuNumber"].as_f64().unwrap() <= 8.0);
            assert!(role["cpuNumber"].as_u64().unwrap() <= 32);
        }
    }
}
