//! Launches a task: gets its image if it is not there, makes its container and starts it.

use std::collections::BTreeMap;
use std::sync::Arc;

use database::tasks::Task;
use engine::{ContainerSpec, Engine, EngineError, GpuDevice, Network};
use futures::StreamExt;
use protocol::cluster::NodeNetwork;
use protocol::environment::{self, JobFacts};
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, JobKey, TaskKey};
use protocol::image::SavedImage;
use protocol::placement::TaskPlacement;
use protocol::secrets::Secrets;
use protocol::spec::{JobSpec, RegistryAuth};
use tokio::sync::Semaphore;
use tokio_util::sync::CancellationToken;

use super::act::Outcome;
use crate::active::Active;
use crate::cluster::capacity;
use crate::code::{self, Code};
use crate::folders;
use crate::images;
use crate::loops;
use crate::public_keys;
use crate::registry;
use crate::shared::Shared;

/// Everything a launch needs, taken from the records.
pub(super) struct Launch {
    shared: Arc<Shared>,
    spec: Arc<JobSpec>,
    key: JobKey,
    id: JobId,
    task: TaskKey,
    place: TaskPlacement,
    places: Vec<TaskPlacement>,
}

impl Launch {
    pub(super) fn new(shared: &Arc<Shared>, job: &Active, tasks: &[Task], task: &Task) -> Self {
        Self {
            shared: Arc::clone(shared),
            spec: Arc::clone(&job.spec),
            key: job.row.key.clone(),
            id: job.row.id,
            task: task.key,
            place: task.placement.clone(),
            places: tasks.iter().map(|task| task.placement.clone()).collect(),
        }
    }

    fn say(&self, progress: impl Into<String>) {
        self.shared.progress().insert(self.task, progress.into());
        self.shared.tell_job(self.id, &self.key, protocol::state::State::Preparing);
    }
}

pub(super) async fn launch(
    launch: Launch,
    engine: Arc<dyn Engine>,
    permits: Arc<Semaphore>,
    cancel: CancellationToken,
) -> Outcome {
    let secrets = match secrets(&launch).await {
        Ok(secrets) => secrets,
        Err(message) => return Outcome::NotLaunched(message),
    };
    let role = launch.spec.roles.get(launch.task.role as usize);
    let of_job = role.map(|role| public_keys::of_job(&launch.spec, &role.name)).unwrap_or_default();
    let of_user = match public_keys::lines(&launch.shared, &launch.key.user).await {
        Ok(lines) => lines,
        Err(error) => return Outcome::NotLaunched(error.to_string()),
    };
    let admitted = [of_user.as_slice(), &of_job].concat();
    let network = match network(&launch) {
        Ok(network) => network,
        Err(outcome) => return outcome,
    };
    let Some(mut spec) = container(&launch, &secrets, admitted, network) else {
        return Outcome::NotLaunched("the job has no such role".into());
    };
    if let Some(node) = launch.shared.cluster().node(&launch.place.node) {
        match folders::shown(&launch.shared, node, &facts(&launch)).await {
            Ok(shown) => {
                spec.folders = shown.folders;
                spec.env.extend(shown.variables);
            }
            Err(error) => return failed(&spec.image, error),
        }
    }
    let made = make(&launch, engine.as_ref(), &spec, &secrets, &permits, &cancel).await;
    launch.shared.progress().remove(&launch.task);
    match made {
        Ok(()) => {
            public_keys::tell_if_changed(&launch.shared, &launch.key.user, &of_user).await;
            Outcome::Done
        }
        Err(error) => failed(&spec.image, error),
    }
}

/// Makes and starts the container; only when its image is missing the image is pulled.
async fn make(
    launch: &Launch,
    engine: &dyn Engine,
    spec: &ContainerSpec,
    secrets: &Secrets,
    permits: &Semaphore,
    cancel: &CancellationToken,
) -> engine::Result<()> {
    match create(launch, engine, spec, permits, cancel).await {
        Ok(()) => {}
        Err(EngineError::NoImage { .. }) => {
            let pulled = pull(launch, engine, spec, secrets);
            tokio::select! {
                biased;
                () = cancel.cancelled() => return Ok(()),
                pulled = pulled => pulled?,
            }
            create(launch, engine, spec, permits, cancel).await?;
        }
        Err(error) => return Err(error),
    }
    if cancel.is_cancelled() {
        return Ok(());
    }
    let _permit = permits.acquire().await;
    engine.start(&spec.name()).await
}

async fn create(
    launch: &Launch,
    engine: &dyn Engine,
    spec: &ContainerSpec,
    permits: &Semaphore,
    cancel: &CancellationToken,
) -> engine::Result<()> {
    let on_node = launch.shared.images.on(&launch.place.node);
    let _kept_free = tokio::select! {
        biased;
        () = cancel.cancelled() => return Ok(()),
        free = on_node.unless_pushed(&spec.image) => free,
    };
    let _permit = permits.acquire().await;
    if let Some(guest) = &launch.shared.guest {
        engine.provide(&guest.volume, &spec.image, &guest.archive).await?;
    }
    if let Some(code) = code(launch) {
        let volume = code::volume(&launch.shared.installation, launch.id, launch.task.attempt);
        launch.say(format!("putting {} into place", code.path));
        engine.provide(&volume, &spec.image, &code).await?;
    }
    engine.create(spec).await.map(|_id| ())
}

fn code(launch: &Launch) -> Option<Code> {
    let path = launch.spec.code_dir.as_deref()?;
    Some(Code {
        shared: Arc::clone(&launch.shared),
        owner: launch.key.user.clone(),
        path: environment::substitute(path, &facts(launch)),
        starts_inside: code::starts_inside(&launch.spec),
    })
}

async fn pull(
    launch: &Launch,
    engine: &dyn Engine,
    spec: &ContainerSpec,
    secrets: &Secrets,
) -> engine::Result<()> {
    // Whoever had that folder in a registry would have his images run by everybody.
    if let Some(saved) = SavedImage::read(&spec.image) {
        let saved = saved.map_err(|error| EngineError::Refused(error.to_string()))?;
        let to = (&launch.place.node, engine);
        return images::copy(&launch.shared, &saved, to, |line| launch.say(line)).await;
    }
    launch.say(format!("pulling {}", spec.image));
    let auth = registry_auth(launch, secrets).await?;
    let mut progress = engine.pull(&spec.image, auth.as_ref()).await?;
    while let Some(line) = progress.next().await {
        launch.say(format!("pulling {}: {}", spec.image, line?));
    }
    Ok(())
}

/// Credentials of the image's registry: the role's own, else those of `authFile`.
async fn registry_auth(launch: &Launch, secrets: &Secrets) -> engine::Result<Option<RegistryAuth>> {
    let role = launch.spec.roles.get(launch.task.role as usize);
    if let Some(auth) = role.and_then(|role| role.registry.clone()) {
        let password = protocol::secrets::fill(&auth.password, secrets);
        return Ok(Some(RegistryAuth { password, ..auth }));
    }
    match &launch.spec.auth_file {
        Some(file) => {
            let file = environment::substitute(file, &facts(launch));
            registry::auth(&launch.shared, &launch.key.user, &file).await.map(Some)
        }
        None => Ok(None),
    }
}

async fn secrets(launch: &Launch) -> Result<Secrets, String> {
    if launch.spec.secrets.is_empty() {
        return Ok(Secrets::default());
    }
    let database = launch.shared.database.read();
    let sealed = database::secrets::of_job(database, launch.id).await.map_err(|e| e.to_string())?;
    let opened = sealed.into_iter().map(|(name, bytes)| {
        let text =
            launch.shared.seal.unseal(&crate::ops::jobs::context(&launch.key, &name), &bytes);
        text.map(|text| (name, text)).ok_or("a secret cannot be opened: the key has changed")
    });
    opened.collect::<Result<Secrets, _>>().map_err(str::to_owned)
}

fn facts(launch: &Launch) -> JobFacts<'_> {
    JobFacts {
        key: &launch.key,
        spec: &launch.spec,
        job_id: launch.id,
        attempt: launch.task.attempt,
        file_system_uri: launch.shared.storage.uri(),
    }
}

fn container(
    launch: &Launch,
    secrets: &Secrets,
    admitted: Vec<String>,
    network: Network,
) -> Option<ContainerSpec> {
    let role = launch.spec.roles.get(launch.task.role as usize)?;
    let cluster = launch.shared.cluster();
    let node = cluster.node(&launch.place.node)?;
    let known = capacity(node).gpus;
    let command = protocol::secrets::fill(&role.command, secrets);
    let task = (launch.task.role, launch.task.index);
    let labels = BTreeMap::from([
        ("berth.user".to_owned(), launch.key.user.to_string()),
        ("berth.name".to_owned(), launch.key.name.to_string()),
        ("berth.task".to_owned(), format!("{}-{}", role.name, launch.task.index)),
    ]);
    Some(ContainerSpec {
        cluster: launch.shared.installation.clone(),
        key: launch.task,
        labels,
        image: role.image.clone(),
        guest: guest(launch, &command, admitted, network != Network::Host),
        command,
        env: environment::environment(&facts(launch), &launch.places, task),
        cpus: role.resources.cpus,
        memory_mb: role.resources.memory_mb,
        shm_mb: role.shm_mb,
        code: launch.spec.code_dir.is_some().then(|| {
            code::volume(&launch.shared.installation, launch.id, launch.task.attempt).name
        }),
        folders: Vec::new(),
        gpus: launch.place.gpus.iter().map(|index| device(*index, &known)).collect(),
        gpu_runtime: node.settings.gpu_runtime,
        infiniband: role.infiniband,
        network,
    })
}

/// The network of a task. Its ports are published only where all tasks of the job were told that
/// they are: a node whose network has changed since then is as good as another one.
fn network(launch: &Launch) -> Result<Network, Outcome> {
    let (shared, place) = (&launch.shared, &launch.place);
    let cluster = shared.cluster();
    let Some(node) = cluster.node(&place.node) else { return Ok(Network::Host) };
    match shared.of_nodes.portal.network(&node.settings) {
        NodeNetwork::Host => Ok(Network::Host),
        NodeNetwork::Bridge => {
            let there = node.observed.as_ref().and_then(|observed| observed.tasks_address);
            let there = there.filter(|address| address.to_string() == place.address);
            let lost = || {
                let cause = Cause::NodeLost { node: place.node.clone() };
                Outcome::GivenUp(Exit { code: None, cause, evidence: Vec::new() })
            };
            Ok(Network::Bridge {
                name: loops::nodes::network(&shared.installation),
                address: there.ok_or_else(lost)?,
                ports: place.ports.values().flatten().copied().collect(),
            })
        }
    }
}

fn guest(
    launch: &Launch,
    command: &str,
    admitted: Vec<String>,
    own_network: bool,
) -> Option<engine::Guest> {
    let guest = launch.shared.guest.as_ref()?;
    let job = (launch.id, &launch.key, launch.spec.as_ref());
    let seal = &launch.shared.seal;
    let place = (&launch.task, launch.places.as_slice(), own_network);
    let config = crate::guest::told(seal, job, place, command.to_owned(), admitted);
    Some(engine::Guest { volume: guest.volume.name.clone(), config })
}

fn device(index: u32, known: &[protocol::resources::Gpu]) -> GpuDevice {
    let uuid = known.iter().find(|gpu| gpu.index == index).and_then(|gpu| gpu.uuid.clone());
    GpuDevice { index, uuid }
}

/// What follows from an engine's refusal: some are final, after the others the next pass repeats.
fn failed(image: &str, error: EngineError) -> Outcome {
    let image = image.to_owned();
    let cause = match error {
        EngineError::NoImage { message, .. } => Cause::ImageNotFound { image, message },
        EngineError::Denied(_) => Cause::RegistryDenied { image },
        EngineError::PortTaken(_) => Cause::PortTaken,
        EngineError::Refused(message) => Cause::ContainerRefused { message },
        error @ (EngineError::Unreachable(_)
        | EngineError::NoContainer(_)
        | EngineError::Failed(_)
        | EngineError::Endpoint { .. }) => return Outcome::NotLaunched(error.to_string()),
    };
    Outcome::GivenUp(Exit { code: None, cause, evidence: Vec::new() })
}
