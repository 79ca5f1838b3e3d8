//! `--demo`: simulated nodes, and users whose jobs come and go, so that the pages have something to
//! show. Every node says that it is simulated, and every user's name begins with `demo-`.

use std::collections::BTreeMap;
use std::time::Duration;

use api::jobs::{JobQuery, Submission};
use api::users::NewUser;
use api::{Actor, Backend, ErrorCode};
use protocol::cluster::{GpuCount, GpuRuntime, NodeSettings};
use protocol::ids::{GpuType, NodeName, UserName};
use protocol::resources::PortRange;
use protocol::state::State;
use rand::rngs::StdRng;
use rand::seq::IndexedRandom;
use rand::{Rng, SeedableRng};
use tokio_util::sync::CancellationToken;

use crate::auth::system_actor;

/// Node types: prefix, how many, GPU type, GPUs a node, cores, memory in GiB.
const RACKS: [(&str, u32, &str, u32, u32, u64); 3] = [
    ("sim-titanx", 32, "TITANX", 4, 32, 128),
    ("sim-v100", 20, "V100", 8, 64, 512),
    ("sim-a100", 12, "A100", 8, 128, 1024),
];
/// The type of the GPUs that are shared.
const SHARED: &str = "TITANX";
/// Whose jobs come and go.
const PEOPLE: [&str; 5] = ["demo-ada", "demo-bo", "demo-chen", "demo-dana", "demo-eli"];
/// How many jobs there are at once before no more are added.
const ACTIVE_JOBS: u64 = 120;
/// The longest time between two submissions.
const PAUSE: Duration = Duration::from_secs(4);

/// The simulated nodes.
#[must_use]
pub fn nodes() -> Vec<NodeSettings> {
    let mut nodes = Vec::new();
    for (rack, (prefix, count, gpu_type, gpus, cpus, memory_gb)) in RACKS.into_iter().enumerate() {
        for number in 1..=count {
            nodes.push(NodeSettings {
                name: NodeName::new(format!("{prefix}-{number:02}"))
                    .expect("letters, digits and hyphens are a valid node name"),
                address: format!("10.{}.0.{number}", rack + 1),
                endpoint: format!("sim://{prefix}-{number:02}"),
                cpus: Some(cpus),
                memory_mb: Some(memory_gb * 1024),
                disk_gb: Some(2000),
                gpus: Some(vec![GpuCount {
                    gpu_type: GpuType::new(gpu_type).expect("a word is a valid GPU type"),
                    count: gpus,
                }]),
                gpu_runtime: GpuRuntime::None,
                ports: PortRange::default(),
                labels: BTreeMap::from([("simulated".to_owned(), "true".to_owned())]),
                links: Vec::new(),
                shares_gpus: gpu_type == SHARED,
                network: None,
            });
        }
    }
    nodes
}

/// Submits jobs until the server stops.
pub async fn run(backend: Backend, shutdown: CancellationToken) {
    let people = match people(&backend).await {
        Ok(people) => people,
        Err(error) => {
            tracing::warn!(%error, "the demonstration has no users and adds no jobs");
            return;
        }
    };
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

/// The users, made where they are missing. Nobody knows their passwords.
async fn people(backend: &Backend) -> api::Result<Vec<Actor>> {
    let mut actors = Vec::new();
    for name in PEOPLE {
        let name = UserName::new(name).expect("letters and hyphens are a valid user name");
        let password = hex::encode(rand::rng().random::<[u8; 16]>());
        let user = NewUser { name: name.clone(), password, admin: false };
        match backend.users.create(&system_actor(), user).await {
            Ok(()) => {}
            Err(error) if error.code == ErrorCode::ConflictUserError => {}
            Err(error) => return Err(error),
        }
        actors.push(Actor { user: name, admin: false });
    }
    Ok(actors)
}

async fn add_job(backend: &Backend, people: &[Actor], random: &mut StdRng) -> api::Result<()> {
    let active = JobQuery {
        users: people.iter().map(|actor| actor.user.clone()).collect(),
        states: State::ALL.into_iter().filter(|state| !state.is_final()).collect(),
        limit: 1,
        ..JobQuery::default()
    };
    let system = system_actor();
    if backend.jobs.list(&system, &active).await?.total >= ACTIVE_JOBS {
        return Ok(());
    }
    let Some(actor) = people.choose(random) else { return Ok(()) };
    let submission = Submission { text: job_file(random), cloned_from: None, expected_name: None };
    backend.jobs.submit(actor, submission).await.map(|_| ())
}

/// A job of a random kind and size. One in eight fails.
fn job_file(random: &mut StdRng) -> String {
    let kinds = ["resnet50", "bert-base", "gpt2-small", "unet", "yolo", "whisper"];
    let kind = kinds.choose(random).expect("the list is not empty");
    let (_, _, gpu_type, most, ..) = RACKS.choose(random).expect("the list is not empty");
    let gpus = [1, 1, 2, 4, *most].choose(random).copied().expect("the list is not empty");
    let part = *gpu_type == SHARED && gpus == 1 && random.random_ratio(1, 2);
    let tasks = [1, 1, 1, 2, 4, 8].choose(random).copied().expect("the list is not empty");
    let seconds = random.random_range(20..600);
    let end = if random.random_ratio(1, 8) { "exit 1" } else { "exit 0" };
    let number: u32 = random.random();
    serde_json::json!({
        "jobName": format!("{kind}-{number:08x}"),
        "image": "demo/simulated",
        "gpuType": gpu_type,
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
    fn there_are_64_nodes_of_three_types() {
        let nodes = nodes();
        assert_eq!(nodes.len(), 64);
        let types: std::collections::BTreeSet<_> = nodes
            .iter()
            .flat_map(|node| node.gpus.iter().flatten())
            .map(|gpus| gpus.gpu_type.as_str())
            .collect();
        assert_eq!(types.len(), 3);
        assert!(nodes.iter().all(|node| node.endpoint.starts_with("sim://")));
    }

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
