//! Simulated containers live as long as the server: what runs gets its own again at every start.

use std::collections::BTreeMap;
use std::sync::Arc;

use database::Database;
use database::tasks::Task;
use engine::simulated::Simulated;
use engine::{ContainerSpec, EndpointOptions, GpuDevice, Network};
use protocol::cluster::NodeSettings;
use protocol::ids::JobId;
use protocol::spec::JobSpec;
use protocol::state::State;
use protocol::time::Timestamp;

use crate::{Error, Mode, cast, log};

/// How long what runs goes on where nothing ends by itself, in seconds: for ever.
const FOR_EVER: u64 = 31_000_000;
/// Lines that a container has written by now.
const LINES: u32 = 400;

/// Gives all that runs on simulated nodes its containers, and cuts off the node that does not answer.
///
/// # Errors
/// See [`Error`].
pub async fn revive(
    database: &Database,
    installation: &str,
    mode: Mode,
    now: Timestamp,
) -> Result<(), Error> {
    let nodes = database::nodes::list(database.read()).await?;
    let simulated = nodes.iter().map(|node| &node.settings).filter(|node| node.is_simulated());
    let simulated: BTreeMap<_, _> = simulated.map(|node| (&node.name, node)).collect();
    let tasks = database::tasks::active(database.read()).await?;
    let here = tasks.iter().filter(|task| task.state == State::Running && task.exit.is_none());
    let here: Vec<&Task> = here.collect();
    let ids: Vec<JobId> = here.iter().map(|task| task.key.job).collect();
    let jobs = database::jobs::by_ids(database.read(), &ids).await?;
    let specs: BTreeMap<JobId, JobSpec> =
        jobs.into_iter().map(|job| (job.row.id, job.spec)).collect();
    for task in here {
        let node = simulated.get(&task.placement.node);
        if let Some((node, spec)) = node.copied().zip(specs.get(&task.key.job)) {
            start(node, task, spec, installation, (mode, now)).await?;
        }
    }
    Simulated::handle(cast::CUT_OFF).set_unreachable(true);
    Ok(())
}

async fn start(
    node: &NodeSettings,
    task: &Task,
    spec: &JobSpec,
    installation: &str,
    (mode, now): (Mode, Timestamp),
) -> Result<(), Error> {
    let Some(role) = spec.roles.get(task.key.role as usize) else { return Ok(()) };
    let options = EndpointOptions { endpoint: node.endpoint.clone(), ..EndpointOptions::default() };
    let engine = engine::connect(&options)?;
    let seconds = match mode {
        Mode::Still => FOR_EVER,
        // Between one minute and two hours, another time for each job.
        Mode::Living => 60 + task.key.job.0.unsigned_abs() * 7_919 % 7_200,
    };
    let container = ContainerSpec {
        cluster: installation.to_owned(),
        key: task.key,
        epoch: task.epoch,
        labels: BTreeMap::new(),
        image: role.image.clone(),
        command: format!("{}; sleep {seconds}", role.command).into(),
        guest: None,
        code: None,
        folders: Vec::new(),
        shares: Vec::new(),
        job_env: Arc::default(),
        env: Vec::new(),
        cpus: task.resources.cpus,
        memory_mb: task.resources.memory_mb,
        shm_mb: role.shm_mb,
        gpus: task.placement.gpus.iter().map(|index| gpu(*index)).collect(),
        gpu_runtime: node.gpu_runtime,
        infiniband: false,
        network: Network::Host,
    };
    let name = container.name();
    engine.create(&container).await?;
    engine.start(&name).await?;
    let handle = Simulated::handle(node.name.as_str());
    let since = task.started_at.unwrap_or(now);
    handle.backdate(&name, since);
    for (at, line) in log::training(&role.command, (since, now), LINES) {
        handle.write_log(&name, at, std::iter::once(line));
    }
    Ok(())
}

fn gpu(index: u32) -> GpuDevice {
    GpuDevice { index, uuid: None }
}
