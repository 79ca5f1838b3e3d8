//! A container of ours that does nothing, to see whether a node starts containers like those of tasks. It
//! is none of the installation's: no loop takes it for a task's.
//!
//! One that a server left behind when it ended in the midst of it goes when the next one meets its node.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::time::Duration;

use database::nodes::NodeRecord;
use engine::{Container, ContainerSpec, ContainerStatus, Engine, EngineError, GpuDevice, Network};
use protocol::cluster::NodeNetwork;
use protocol::epoch::Epoch;
use protocol::guest::GuestConfig;
use protocol::ids::{JobId, NodeName, TaskKey};

use crate::container::endpoint;
use crate::container::held::Held;
use crate::container::storages::Given;
use crate::known::capacity::capacity;
use crate::known::identity::Identity;
use crate::known::nodes::KnownNodes;
use crate::known::settings::Settings;
use crate::shared::Shared;

/// All of it may take so long, or the node is not well.
const PATIENCE: Duration = Duration::from_secs(90);
/// What it may take, in MiB.
const MEMORY: u64 = 64;
/// The role in the names of those that run a check.
pub(super) const CHECK: u32 = 1;

/// Whether a node starts a container of one of these images. What an image alone is to blame for says
/// nothing of the node.
pub(crate) async fn probe(
    shared: &Shared,
    node: &NodeRecord,
    engine: &dyn Engine,
    images: &[String],
) -> engine::Result<()> {
    let tried = tokio::time::timeout(PATIENCE, with_images(shared, node, engine, images)).await;
    tried.unwrap_or_else(|_| Err(silent()))
}

fn silent() -> EngineError {
    EngineError::Unreachable(format!("no answer within {} s", PATIENCE.as_secs()))
}

async fn with_images(
    shared: &Shared,
    node: &NodeRecord,
    engine: &dyn Engine,
    images: &[String],
) -> engine::Result<()> {
    let mut failed = Ok(());
    for image in images {
        match with_image(shared, node, engine, image).await {
            Ok(()) => return Ok(()),
            Err(error) if is_of_image(&error) => {}
            Err(error) => failed = Err(error),
        }
    }
    failed
}

/// Whether a container of ours of this image can have on a node what is given.
pub(crate) async fn gives(
    shared: &Shared,
    node: &NodeRecord,
    engine: &dyn Engine,
    image: &str,
    given: Given,
) -> engine::Result<()> {
    let Given { folders, shares, variables: _ } = given;
    let plain = spec(&shared.identity, &shared.settings, node, image)?;
    let gpus = Vec::new();
    let key = TaskKey { role: 2, ..plain.key };
    let spec = ContainerSpec { key, folders, shares, gpus, ..plain };
    let tried = tokio::time::timeout(PATIENCE, tried(shared, engine, node, spec)).await;
    tried.unwrap_or_else(|_| Err(silent()))
}

/// What the image alone is to blame for.
pub(crate) fn is_of_image(error: &EngineError) -> bool {
    match error {
        EngineError::NoImage { .. }
        | EngineError::Refused(_)
        | EngineError::Denied(_)
        | EngineError::Content(_)
        | EngineError::PortTaken(_) => true,
        EngineError::Unreachable(_)
        | EngineError::NoContainer(_)
        | EngineError::Failed(_)
        | EngineError::Broken(_)
        | EngineError::Endpoint { .. } => false,
    }
}

async fn with_image(
    shared: &Shared,
    node: &NodeRecord,
    engine: &dyn Engine,
    image: &str,
) -> engine::Result<()> {
    let spec = spec(&shared.identity, &shared.settings, node, image)?;
    tried(shared, engine, node, spec).await
}

/// Makes it anew, starts it and removes it.
async fn tried(
    shared: &Shared,
    engine: &dyn Engine,
    node: &NodeRecord,
    spec: ContainerSpec,
) -> engine::Result<()> {
    let name = spec.name();
    engine.remove(&name).await?;
    let started = start(&shared.nodes, &shared.containers, engine, &node.settings.name, spec).await;
    if let Err(error) = engine.remove(&name).await {
        tracing::warn!(node = %node.settings.name, %error, "a container of ours stays there");
    }
    started
}

async fn start(
    nodes: &KnownNodes,
    containers: &Held,
    engine: &dyn Engine,
    node: &NodeName,
    mut spec: ContainerSpec,
) -> engine::Result<()> {
    if let Some(guest) = containers.guest_on(&nodes.cluster(), node) {
        let volume = engine.provide(&guest.volume, &spec.image, &guest.archive).await?;
        let config = config(spec.network != Network::Host);
        spec.guest = Some(engine::Guest { volume, config });
    }
    engine.create(&spec).await?;
    engine.start(&spec.name()).await
}

/// Removes those that nobody will remove any more.
pub(crate) async fn remove_left(identity: &Identity, engine: &dyn Engine) -> engine::Result<()> {
    let remove = async {
        let there = engine.list(&cluster(identity)).await?;
        for left in there.iter().filter(|there| is_left(there, identity.epoch)) {
            engine.remove(&left.name).await?;
        }
        Ok(())
    };
    tokio::time::timeout(PATIENCE, remove).await.unwrap_or_else(|_| Err(silent()))
}

/// Whether it is of a server before this one, which ended in the midst of it, or has ended: the engine was lost
/// before it was removed. How a check ends is waited for.
fn is_left(there: &Container, epoch: Epoch) -> bool {
    let has_ended = matches!(there.status, ContainerStatus::Exited { .. });
    there.epoch != epoch || has_ended && there.key.role != CHECK
}

/// What containers of ours are told apart by from those of tasks.
pub(crate) fn cluster(identity: &Identity) -> String {
    format!("{}-probe", identity.installation)
}

/// With all GPUs that are well: they stay with whoever holds them.
pub(super) fn spec(
    identity: &Identity,
    settings: &Settings,
    node: &NodeRecord,
    image: &str,
) -> engine::Result<ContainerSpec> {
    let gpus = capacity(node).gpus.into_iter().filter(|gpu| gpu.healthy);
    let network = network(identity, settings, node)?;
    Ok(ContainerSpec {
        cluster: cluster(identity),
        key: TaskKey { job: JobId(0), attempt: 0, role: 0, index: 0, retry: 0 },
        epoch: identity.epoch,
        labels: BTreeMap::new(),
        image: image.to_owned(),
        command: "exit 0".into(),
        guest: None,
        code: None,
        folders: Vec::new(),
        shares: Vec::new(),
        job_env: Arc::from([]),
        env: Vec::new(),
        cpus: 1,
        memory_mb: MEMORY,
        shm_mb: MEMORY,
        gpus: gpus.map(|gpu| GpuDevice { index: gpu.index, uuid: gpu.uuid }).collect(),
        gpu_runtime: node.settings.gpu_runtime,
        infiniband: false,
        network,
    })
}

fn network(identity: &Identity, settings: &Settings, node: &NodeRecord) -> engine::Result<Network> {
    match settings.of_nodes.portal.network(&node.settings) {
        NodeNetwork::Host => Ok(Network::Host),
        NodeNetwork::Bridge => {
            let address = node.observed.as_ref().and_then(|observed| observed.tasks_address);
            let none = || EngineError::Failed("its tasks have no address".to_owned());
            let name = endpoint::network(&identity.installation);
            Ok(Network::Bridge { name, address: address.ok_or_else(none)?, ports: Vec::new() })
        }
    }
}

fn config(own_network: bool) -> String {
    let config = GuestConfig {
        command: "exit 0".to_owned(),
        run: None,
        start_in: None,
        code_name: None,
        keep_on_failure_secs: None,
        ports: Vec::new(),
        own_network,
        ssh: None,
        lease: None,
    };
    serde_json::to_string(&config).expect("texts and numbers can always be written")
}

#[cfg(test)]
mod tests {
    use protocol::time::Timestamp;

    use super::*;

    #[test]
    fn what_somebody_still_sees_to_is_not_left() {
        let others = Epoch::default().next(1);
        let ours = others.next(2);
        let exited = || ContainerStatus::Exited {
            started_at: Some(Timestamp(1)),
            finished_at: Timestamp(2),
            code: 0,
            oom_killed: false,
            error: None,
        };
        let running = || ContainerStatus::Running { started_at: Timestamp(1) };
        let is_left = |epoch, role, status| {
            let key = TaskKey { job: JobId(0), attempt: 0, role, index: 0, retry: 0 };
            let (name, id) = ("probe".to_owned(), "1".to_owned());
            super::is_left(&Container { key, epoch, name, id, status }, ours)
        };
        for status in [ContainerStatus::Created, running(), exited()] {
            assert!(is_left(others, 0, status.clone()), "{status:?}: who made it is gone");
            assert!(is_left(others, CHECK, status.clone()), "{status:?}: who made it is gone");
        }
        assert!(is_left(ours, 0, exited()));
        assert!(!is_left(ours, CHECK, exited()), "its code and its words are to be read");
        for status in [ContainerStatus::Created, running()] {
            assert!(!is_left(ours, 0, status.clone()) && !is_left(ours, CHECK, status));
        }
    }
}
