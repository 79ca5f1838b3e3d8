//! Launches a task: gets its image if it is not there, makes its container and starts it.

use std::collections::HashSet;
use std::sync::Arc;

use engine::{ContainerSpec, Engine, EngineError};
use futures::StreamExt;
use protocol::environment;
use protocol::exit::{Cause, Exit};
use protocol::ids::TaskKey;
use protocol::image::SavedImage;
use protocol::placement::TaskPlacement;
use protocol::spec::{RegistryAuth, TaskRole};
use tokio::sync::OwnedRwLockReadGuard;
use tokio_util::sync::CancellationToken;

use super::act::Outcome;
use super::gate::{Gate, Permit};
use crate::code::{self, Code};
use crate::images;
use crate::public_keys;
use crate::shared::Shared;

mod attempt;
mod container;
mod rights;

pub(super) use attempt::Attempts;
use attempt::{Admitted, Attempt};

/// Everything a launch needs. While it waits for its turn, this is all it takes.
pub(super) struct Launch {
    pub(super) shared: Arc<Shared>,
    pub(super) attempt: Arc<Attempt>,
    pub(super) task: TaskKey,
    /// The door of the whole server.
    pub(super) gate: Arc<Gate>,
    /// The door of the task's node.
    pub(super) of_node: Arc<Gate>,
}

/// Why a launch did not come about.
#[derive(Debug)]
enum Failure {
    /// What is ours failed, our database above all: that is nobody's fault.
    Records(String),
    /// The node's engine or the image's registry failed or refused.
    Engine(EngineError),
    /// Nobody can launch this.
    Job(String),
    /// Its node's network is not what all tasks of the job were told that it is.
    Moved,
}

impl From<EngineError> for Failure {
    fn from(error: EngineError) -> Self {
        Self::Engine(error)
    }
}

impl From<database::Error> for Failure {
    fn from(error: database::Error) -> Self {
        Self::Records(error.to_string())
    }
}

impl Launch {
    fn say(&self, progress: impl Into<String>) {
        self.shared.progress().insert(self.task, progress.into());
        let (id, key) = (self.attempt.job, &self.attempt.key);
        self.shared.tell_job(id, key, protocol::state::State::Preparing);
    }

    fn role(&self) -> Result<&TaskRole, Failure> {
        let role = self.attempt.role(self.task.role);
        role.ok_or_else(|| Failure::Job("the job has no such role".to_owned()))
    }

    fn place(&self) -> Result<&TaskPlacement, Failure> {
        let place = self.attempt.place(self.task.role, self.task.index);
        place.ok_or_else(|| Failure::Job("the task has no place".to_owned()))
    }

    /// Waits until its image is what it is to everybody, and until there is room for another launch,
    /// on its node and in this server.
    async fn turn(&self) -> Result<Turn, Failure> {
        let (image, node) = (&self.role()?.image, &self.place()?.node);
        let kept_free = self.shared.images.on(node).unless_pushed(image).await;
        let job = self.attempt.job;
        let of_node = self.of_node.enter(job, 1).await;
        let of_server = self.gate.enter(job, self.attempt.units()).await;
        Ok(Turn { _kept_free: kept_free, _of_node: of_node, _of_server: of_server })
    }
}

/// What is held while a container is made and started.
struct Turn {
    _kept_free: OwnedRwLockReadGuard<HashSet<String>>,
    _of_node: Permit,
    _of_server: Permit,
}

/// Launches a task. Thousands wait for their turn at the same time: what a launch takes when it has
/// its turn is made then.
pub(super) async fn launch(
    launch: Launch,
    engine: Arc<dyn Engine>,
    cancel: CancellationToken,
) -> Outcome {
    let done = tokio::select! {
        biased;
        () = cancel.cancelled() => return Outcome::Done,
        turn = launch.turn() => match turn {
            Ok(turn) => Box::pin(begin(&launch, engine.as_ref(), turn, &cancel)).await,
            Err(failure) => Err(failure),
        },
    };
    let done = match done {
        Err(Failure::Engine(EngineError::NoImage { .. })) => tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(()),
            done = Box::pin(pull_and_begin(&launch, engine.as_ref(), &cancel)) => done,
        },
        done => done,
    };
    launch.shared.progress().remove(&launch.task);
    match done {
        Ok(()) => Outcome::Done,
        Err(failure) => failed(&launch, failure),
    }
}

/// Makes the container and starts it, within its turn.
async fn begin(
    launch: &Launch,
    engine: &dyn Engine,
    _turn: Turn,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    let admitted = launch.attempt.admitted(&launch.shared).await?;
    let spec = container::spec(launch, &admitted).await?;
    create(launch, engine, &spec).await?;
    let name = spec.name();
    drop(spec);
    if cancel.is_cancelled() {
        return Ok(());
    }
    let allowed = rights::check(launch, engine, &launch.role()?.image).await;
    if let Err(Failure::Engine(EngineError::Denied(_))) = &allowed {
        engine.remove(&name).await?;
    }
    allowed?;
    engine.start(&name).await?;
    tell_if_changed(launch, &admitted).await;
    Ok(())
}

/// A pull may take hours: it has no turn, and waits for another one afterwards.
async fn pull_and_begin(
    launch: &Launch,
    engine: &dyn Engine,
    cancel: &CancellationToken,
) -> Result<(), Failure> {
    pull(launch, engine).await?;
    let turn = launch.turn().await?;
    begin(launch, engine, turn, cancel).await
}

/// Whose keys were changed while the container was made is told to it as well.
async fn tell_if_changed(launch: &Launch, admitted: &Admitted) {
    if launch.shared.key_changes.last() != admitted.moment {
        let user = &launch.attempt.key.user;
        public_keys::tell_if_changed(&launch.shared, user, &admitted.lines).await;
    }
}

async fn create(launch: &Launch, engine: &dyn Engine, spec: &ContainerSpec) -> Result<(), Failure> {
    if let Some(guest) = &launch.shared.guest {
        engine.provide(&guest.volume, &spec.image, &guest.archive).await?;
    }
    if let Some(code) = code(launch) {
        let (job, attempt) = (launch.attempt.job, launch.task.attempt);
        let volume = code::volume(&launch.shared.installation, job, attempt);
        launch.say(format!("putting {} into place", code.path));
        engine.provide(&volume, &spec.image, &code).await?;
    }
    engine.create(spec).await?;
    Ok(())
}

fn code(launch: &Launch) -> Option<Code> {
    let spec = &launch.attempt.spec;
    let path = spec.code_dir.as_deref()?;
    Some(Code {
        shared: Arc::clone(&launch.shared),
        owner: launch.attempt.key.user.clone(),
        path: environment::substitute(path, &launch.attempt.facts(&launch.shared)),
        starts_inside: code::starts_inside(spec),
    })
}

async fn pull(launch: &Launch, engine: &dyn Engine) -> Result<(), Failure> {
    let role = launch.role()?;
    // Whoever had that folder in a registry would have his images run by everybody.
    if let Some(saved) = SavedImage::read(&role.image) {
        let saved = saved.map_err(|error| EngineError::Refused(error.to_string()))?;
        let to = (&launch.place()?.node, engine);
        return Ok(images::copy(&launch.shared, &saved, to, |line| launch.say(line)).await?);
    }
    launch.say(format!("pulling {}", role.image));
    let auth = launch.attempt.registry_auth(&launch.shared, role).await?;
    let on_node = launch.shared.images.on(&launch.place()?.node);
    let _alone = on_node.pull_alone(&role.image).await;
    // Somebody else's pull may have brought it meanwhile.
    if engine.has_image(&role.image).await? {
        return Ok(());
    }
    if auth.is_none() {
        return Ok(fetch(launch, engine, role, None).await?);
    }
    rights::begin(launch, &role.image).await?;
    match fetch(launch, engine, role, auth.as_ref()).await {
        Ok(()) => rights::end(launch, engine, &role.image).await,
        Err(error) => {
            rights::give_up(launch, &role.image).await?;
            Err(error.into())
        }
    }
}

async fn fetch(
    launch: &Launch,
    engine: &dyn Engine,
    role: &TaskRole,
    auth: Option<&RegistryAuth>,
) -> engine::Result<()> {
    let mut progress = engine.pull(&role.image, auth).await?;
    while let Some(line) = progress.next().await {
        launch.say(format!("pulling {}: {}", role.image, line?));
    }
    Ok(())
}

/// What follows from a failure: some are final, after the others the next pass repeats.
fn failed(launch: &Launch, failure: Failure) -> Outcome {
    let image = || launch.role().map(|role| role.image.clone()).unwrap_or_default();
    let cause = match failure {
        Failure::Engine(EngineError::NoImage { message, .. }) => {
            Cause::ImageNotFound { image: image(), message }
        }
        Failure::Engine(EngineError::Denied(_)) => Cause::RegistryDenied { image: image() },
        Failure::Engine(EngineError::PortTaken(_)) => Cause::PortTaken,
        Failure::Moved => match launch.place() {
            Ok(place) => Cause::NodeLost { node: place.node.clone() },
            Err(_) => return Outcome::Failed("the task has no place".to_owned()),
        },
        Failure::Engine(EngineError::Refused(message)) | Failure::Job(message) => {
            Cause::ContainerRefused { message }
        }
        Failure::Records(message) | Failure::Engine(EngineError::Content(message)) => {
            launch.say(format!("waiting, since this server's own records failed: {message}"));
            return Outcome::Failed(message);
        }
        Failure::Engine(
            error @ (EngineError::Unreachable(_)
            | EngineError::NoContainer(_)
            | EngineError::Failed(_)
            | EngineError::Endpoint { .. }),
        ) => {
            let Ok(place) = launch.place() else { return Outcome::Failed(error.to_string()) };
            return Outcome::NotLaunched { node: place.node.clone(), message: error.to_string() };
        }
    };
    Outcome::GivenUp(Exit { code: None, cause, evidence: Vec::new() })
}
