//! The container of a task to be launched.

use std::sync::Arc;

use database::nodes::NodeRecord;
use engine::{ContainerSpec, GpuDevice, Network};
use protocol::cluster::NodeNetwork;
use protocol::environment;
use protocol::placement::TaskPlacement;
use protocol::resources::Gpu;
use protocol::spec::TaskRole;

use super::attempt::{Admitted, Read};
use super::error::LaunchError;
use super::{Launch, Provided};
use crate::container::{endpoint, folders, guest, lease, public_keys, storages};
use crate::known::capacity::capacity;
use crate::known::quarantine::labels;

/// Makes the spec of a task's container. It grows with the number of tasks: it is made when there is
/// room for it, and not kept.
pub(super) async fn spec(
    launch: &Launch,
    admitted: &Admitted,
    provided: Provided,
) -> Result<ContainerSpec, LaunchError> {
    let read = launch.attempt.read(&launch.shared).await?;
    let (role, place) = (launch.role()?, launch.place()?);
    let cluster = launch.shared.nodes.cluster();
    let node = cluster.node(&place.node);
    let none = || LaunchError::Records(format!("there is no node {}", place.node));
    let node = node.ok_or_else(none)?;
    let network = network(launch, node, place)?;
    let mut spec = ContainerSpec {
        gpus: devices(place, &capacity(node).gpus),
        gpu_runtime: node.settings.gpu_runtime,
        ..plain(launch, &read, (role, place, network), (admitted, provided))
    };
    let mount = folders::mount(&launch.shared.settings, node);
    if let Some(mount) = mount {
        let wanted = launch.attempt.folders(&launch.shared.store, &launch.shared.people).await?;
        let shown = folders::shown(mount, &wanted);
        spec.folders = shown.folders;
        spec.env.extend(shown.variables);
    }
    let mounted = launch.attempt.storages(&launch.shared.store, &launch.shared.people).await?;
    let given = storages::given(&launch.shared.seal, mount, &mounted)?;
    spec.folders.extend(given.folders);
    spec.shares = given.shares;
    spec.env.extend(given.variables);
    spec.env.sort();
    Ok(spec)
}

fn plain(
    launch: &Launch,
    read: &Read,
    (role, place, network): (&TaskRole, &TaskPlacement, Network),
    (admitted, provided): (&Admitted, Provided),
) -> ContainerSpec {
    let (attempt, task, shared) = (&launch.attempt, launch.task, &launch.shared);
    let command = read.commands.get(task.role as usize).map(Arc::clone).unwrap_or_default();
    let name = format!("{}-{}", role.name, task.index);
    let facts = attempt.facts(&shared.store);
    let Provided { guest, code } = provided;
    let own_network = network != Network::Host;
    let tell = |volume| told(launch, read, (role, place, own_network), (admitted, volume));
    ContainerSpec {
        cluster: shared.identity.installation.clone(),
        key: task,
        epoch: launch.epoch,
        labels: labels::of(&attempt.key, name, (&role.resources, place)),
        image: role.image.clone(),
        guest: guest.and_then(tell),
        command,
        job_env: Arc::clone(&read.env),
        env: environment::of_task(&facts, &read.env, Some(place), (task.role, task.index)),
        cpus: role.resources.cpus,
        memory_mb: role.resources.memory_mb,
        shm_mb: role.shm_mb,
        code,
        folders: Vec::new(),
        shares: Vec::new(),
        gpus: Vec::new(),
        gpu_runtime: protocol::cluster::GpuRuntime::None,
        infiniband: role.infiniband,
        network,
    }
}

/// The network of a task. Its ports are published only where all tasks of the job were told that
/// they are: a node whose network has changed since then is as good as another one.
fn network(
    launch: &Launch,
    node: &NodeRecord,
    place: &TaskPlacement,
) -> Result<Network, LaunchError> {
    let shared = &launch.shared;
    match shared.settings.of_nodes.portal.network(&node.settings) {
        NodeNetwork::Host => Ok(Network::Host),
        NodeNetwork::Bridge => {
            let there = node.observed.as_ref().and_then(|observed| observed.tasks_address);
            let there = there.filter(|address| address.to_string() == place.address);
            Ok(Network::Bridge {
                name: endpoint::network(&shared.identity.installation),
                address: there.ok_or(LaunchError::Moved)?,
                ports: place.ports.values().flatten().copied().collect(),
            })
        }
    }
}

fn told(
    launch: &Launch,
    read: &Read,
    (role, place, own_network): (&TaskRole, &TaskPlacement, bool),
    (admitted, volume): (&Admitted, String),
) -> Option<engine::Guest> {
    let attempt = &launch.attempt;
    let job = (attempt.spec.as_ref(), &read.keys);
    let command = read.commands.get(launch.task.role as usize)?.to_string();
    let of_job = public_keys::of_job(&attempt.spec, &role.name, &read.secrets);
    let admitted = [admitted.lines.as_slice(), &of_job].concat();
    let (seal, installation) = (&launch.shared.seal, launch.shared.identity.installation.as_str());
    let run = (&launch.task, launch.epoch);
    let lease = attempt.lease.map(|seconds| lease::told((seal, installation), run, seconds));
    let place = (place, read.peers.as_slice(), own_network);
    let name = launch.task.container_name(installation);
    let config = guest::told(job, place, (name, command), (admitted, lease));
    Some(engine::Guest { volume, config })
}

fn devices(place: &TaskPlacement, known: &[Gpu]) -> Vec<GpuDevice> {
    let device = |index: &u32| {
        let uuid = known.iter().find(|gpu| gpu.index == *index).and_then(|gpu| gpu.uuid.clone());
        GpuDevice { index: *index, uuid }
    };
    place.gpus.iter().map(device).collect()
}
