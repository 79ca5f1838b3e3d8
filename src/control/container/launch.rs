//! Launches a task: gets its image if it is not there, makes its container and starts it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Instant;

use api::changes::Change;
use engine::{Engine, EngineError};
use futures::StreamExt;
use protocol::cluster::StartFailure;
use protocol::epoch::Epoch;
use protocol::exit::{Cause, Exit};
use protocol::ids::TaskKey;
use protocol::image::SavedImage;
use protocol::placement::TaskPlacement;
use protocol::spec::{RegistryAuth, TaskRole};
use protocol::state::State;
use tokio::sync::OwnedRwLockReadGuard;
use tokio_util::sync::CancellationToken;

use crate::container::checks;
use crate::container::code::{self, Code};
use crate::container::images;
use crate::container::public_keys;
use crate::container::storages;
use crate::known::lacks::{Asking, Part};
use crate::known::own_failures::Ours;
use crate::shared::Shared;
use crate::wake::now;

mod attempt;
pub(crate) mod backoff;
mod container;
mod error;
mod once;
mod rights;
pub(crate) mod semaphore;

pub(crate) use attempt::Attempts;
use attempt::{Admitted, Attempt};
use backoff::Backoffs;
use error::{Consequence, LaunchError};
use semaphore::{FairSemaphore, Permit};

/// Everything a launch needs. While it waits for its turn, this is all it takes.
pub(crate) struct Launch {
    pub(crate) shared: Arc<Shared>,
    pub(crate) attempt: Arc<Attempt>,
    pub(crate) task: TaskKey,
    /// In which life of the database it was given.
    pub(crate) epoch: Epoch,
    /// The door of the whole server.
    pub(crate) semaphore: Arc<FairSemaphore>,
    /// The door of the task's node.
    pub(crate) of_node: Arc<FairSemaphore>,
    /// The jobs whose launch is put off.
    pub(crate) backoffs: Arc<Backoffs>,
}

impl Launch {
    fn say(&self, progress: impl Into<String>) {
        self.shared.jobs.progress().insert(self.task, progress.into());
        self.tell();
    }

    /// Tells who looks at the job of what is being done; nothing of that is stored.
    fn tell(&self) {
        let (id, key) = (self.attempt.job, self.attempt.key.clone());
        self.shared.live.tell_pages(Change::Job { id, key, state: State::Preparing });
    }

    fn role(&self) -> Result<&TaskRole, LaunchError> {
        let role = self.attempt.role(self.task.role);
        role.ok_or_else(|| LaunchError::Records("the job has no such role".to_owned()))
    }

    fn place(&self) -> Result<&TaskPlacement, LaunchError> {
        let place = self.attempt.place(self.task.role, self.task.index);
        place.ok_or_else(|| LaunchError::Records("the task has no place".to_owned()))
    }

    /// What is in quarantine is not touched, and nothing is put beside it onto what it has.
    fn not_in_quarantine(&self) -> Result<(), LaunchError> {
        let place = self.place()?;
        let in_the_way = self.shared.nodes.quarantine.in_the_way(place, &self.task);
        in_the_way.map_or(Ok(()), |name| Err(LaunchError::Quarantined(name)))
    }

    /// Has the node go through what comes before each attempt, then waits for a turn: a check takes its
    /// time, and others are launched meanwhile.
    async fn checked_turn(&self, engine: &dyn Engine) -> Result<Turn, LaunchError> {
        let (place, attempt) = (self.place()?, self.attempt.id());
        let checked = checks::before(&self.shared, engine, place, attempt).await;
        checked.map_err(LaunchError::Unwell)?;
        self.turn().await
    }

    /// Waits until its image is what it is to everybody, and until there is room for another launch,
    /// on its node and in this server. Nothing is read before: thousands of tasks wait here.
    async fn turn(&self) -> Result<Turn, LaunchError> {
        let (image, node) = (&self.role()?.image, &self.place()?.node);
        let kept_free = self.shared.containers.images.on(node).unless_pushed(image).await;
        let job = self.attempt.job;
        let of_node = self.of_node.acquire(job, 1).await;
        let of_server = self.semaphore.acquire(job, self.attempt.units()).await;
        // Another task of the job may have found meanwhile that something of ours fails.
        match self.backoffs.waits(self.attempt.id(), Instant::now()) {
            Some(ours) => Err(LaunchError::PutOff(ours)),
            None => Ok(Turn { _kept_free: kept_free, _of_node: of_node, _of_server: of_server }),
        }
    }

    /// Waits for a little room in this server, for what is stored outside of a turn.
    async fn room(&self) -> Permit {
        self.semaphore.acquire(self.attempt.job, 1).await
    }
}

/// What is held while a container is made and started.
struct Turn {
    _kept_free: OwnedRwLockReadGuard<HashSet<String>>,
    _of_node: Permit,
    _of_server: Permit,
}

/// How a launch went.
pub(crate) enum Launched {
    /// It is done, or given up since somebody wants that: look again.
    Done,
    /// It cannot succeed.
    GivenUp(Exit),
    /// The engine or the image's registry failed: try again later, but not for ever on this node; this
    /// is why then.
    Failed(Cause),
    /// Something of ours failed: nothing is counted, and the whole job is put off.
    PutOff,
}

/// Launches a task. Thousands wait for their turn at the same time: what a launch takes when it has
/// its turn is made then.
pub(crate) async fn launch(
    launch: Launch,
    engine: Arc<dyn Engine>,
    cancel: CancellationToken,
) -> Launched {
    let done = tokio::select! {
        biased;
        () = cancel.cancelled() => return Launched::Done,
        turn = launch.checked_turn(engine.as_ref()) => match turn {
            Ok(turn) => Box::pin(begin(&launch, engine.as_ref(), turn, &cancel)).await,
            Err(error) => Err(error),
        },
    };
    let done = match done {
        Err(LaunchError::Engine(EngineError::NoImage { .. })) => tokio::select! {
            biased;
            () = cancel.cancelled() => Ok(()),
            // What begins is not broken off: a start on its way would come when nobody waits for it.
            turn = Box::pin(pulled_turn(&launch, engine.as_ref())) => match turn {
                Ok(turn) => Box::pin(begin(&launch, engine.as_ref(), turn, &cancel)).await,
                Err(error) => Err(error),
            },
        },
        done => done,
    };
    launch.shared.jobs.progress().remove(&launch.task);
    match done {
        Ok(()) => {
            launch.backoffs.succeeded(launch.attempt.id(), Instant::now());
            Launched::Done
        }
        Err(error) => failed(&launch, error),
    }
}

/// Makes the container and starts it, within its turn.
async fn begin(
    launch: &Launch,
    engine: &dyn Engine,
    _turn: Turn,
    cancel: &CancellationToken,
) -> Result<(), LaunchError> {
    launch.not_in_quarantine()?;
    let provided = provide(launch, engine).await?;
    let admitted = launch.attempt.admitted(&launch.shared.store, &launch.shared.containers).await?;
    let spec = container::spec(launch, &admitted, provided).await?;
    if let Err(error) = engine.create(&spec).await {
        return Err(explained(launch, error, LaunchError::Engine).await);
    }
    let name = spec.name();
    drop(spec);
    if cancel.is_cancelled() {
        return Ok(());
    }
    let allowed = rights::check(launch, engine, &launch.role()?.image).await;
    if let Err(LaunchError::Engine(EngineError::Denied(_))) = &allowed {
        engine.remove(&name).await?;
    }
    allowed?;
    if let Err(error) = engine.start(&name).await {
        return Err(explained(launch, error, LaunchError::Start).await);
    }
    launch.shared.nodes.faults.started(&launch.place()?.node, &launch.role()?.image);
    tell_if_changed(launch, &admitted).await;
    Ok(())
}

/// Why a container could not be made or started. That its node lacks a storage is no failure of the engine,
/// and nowhere else otherwise.
async fn explained(
    launch: &Launch,
    error: EngineError,
    other: fn(EngineError) -> LaunchError,
) -> LaunchError {
    let (EngineError::Broken(words) | EngineError::Failed(words)) = &error else {
        return other(error);
    };
    let mounted = launch.attempt.storages(&launch.shared.store, &launch.shared.people).await;
    let absent = mounted.ok().and_then(|mounted| storages::absent(&mounted, words));
    absent.map_or_else(|| other(error), Into::into)
}

/// A pull may take hours: it has no turn, and waits for another one afterwards.
async fn pulled_turn(launch: &Launch, engine: &dyn Engine) -> Result<Turn, LaunchError> {
    pull(launch, engine).await?;
    launch.turn().await
}

/// Whose keys were changed while the container was made is told to it as well.
async fn tell_if_changed(launch: &Launch, admitted: &Admitted) {
    if launch.shared.containers.key_changes.last() != admitted.moment {
        let user = &launch.attempt.key.user;
        public_keys::tell_if_changed(&launch.shared, user, &admitted.lines).await;
    }
}

/// Volumes that are whole, by the names by which a container has them.
#[derive(Debug, Default)]
struct Provided {
    guest: Option<String>,
    code: Option<String>,
}

/// Fills what the container is to have, unless it is there.
async fn provide(launch: &Launch, engine: &dyn Engine) -> Result<Provided, LaunchError> {
    let image = &launch.role()?.image;
    let mut provided = Provided::default();
    match launch.shared.containers.guest_on(&launch.shared.nodes.cluster(), &launch.place()?.node) {
        Some(guest) => {
            provided.guest = Some(engine.provide(&guest.volume, image, &guest.archive).await?);
        }
        None if launch.shared.containers.guests.are_there() => {
            let words = "there is no guest for its processors".to_owned();
            return Err(EngineError::Broken(words).into());
        }
        None => {}
    }
    if let Some(code) = code(launch).await? {
        let (job, attempt) = (launch.attempt.job, launch.task.attempt);
        let volume =
            code::volume(&launch.shared.identity.installation, (job, attempt), launch.epoch);
        launch.say(format!("putting {} into place", code.told));
        provided.code = Some(engine.provide(&volume, image, &code).await?);
    }
    Ok(provided)
}

async fn code(launch: &Launch) -> Result<Option<Code>, LaunchError> {
    let (shared, spec) = (Arc::clone(&launch.shared), &launch.attempt.spec);
    let Some((told, path)) = launch.attempt.code(&shared.store, &shared.people).await? else {
        return Ok(None);
    };
    Ok(Some(Code { shared, told, path, starts_inside: code::starts_inside(spec) }))
}

async fn pull(launch: &Launch, engine: &dyn Engine) -> Result<(), LaunchError> {
    let (role, node) = (launch.role()?, &launch.place()?.node);
    // Whoever had that folder in a registry would have his images run by everybody.
    if let Some(saved) = SavedImage::read(&role.image) {
        let refused = |words: String| LaunchError::Image(EngineError::Refused(words));
        let saved = saved.map_err(|error| refused(error.to_string()))?;
        let say = |line: String| launch.say(line);
        return Ok(images::copy(&launch.shared, &saved, (node, engine), say).await?);
    }
    launch.say(format!("pulling {}", role.image));
    let auth = launch.attempt.registry_auth(&launch.shared, role).await?;
    let on_node = launch.shared.containers.images.on(node);
    let _alone = on_node.pull_alone(&role.image).await;
    // Somebody else's pull may have brought it meanwhile.
    if engine.has_image(&role.image).await? {
        return Ok(());
    }
    if auth.is_none() {
        return fetch(launch, engine, role, None).await.map_err(LaunchError::Image);
    }
    rights::begin(launch, &role.image).await?;
    match fetch(launch, engine, role, auth.as_ref()).await {
        Ok(()) => rights::end(launch, engine, &role.image).await,
        Err(error) => {
            rights::give_up(launch, &role.image).await?;
            Err(LaunchError::Image(error))
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
fn failed(launch: &Launch, error: LaunchError) -> Launched {
    if let LaunchError::Lacks(part, _) = &error {
        note_lack(launch, part);
    }
    let words = error.to_string();
    let consequence = match (launch.place(), launch.role()) {
        (Ok(place), Ok(role)) => error.consequence(&place.node, &role.image),
        // What is recorded of the job does not fit together.
        (Err(_), _) | (_, Err(_)) => Consequence::PutOff(Ours::Records),
    };
    if let Some(words) = consequence.of_node() {
        count(launch, words);
    }
    match consequence {
        Consequence::PutOff(ours) => {
            put_off(launch, ours, &words);
            Launched::PutOff
        }
        Consequence::TriedAgain(cause) => Launched::Failed(cause),
        Consequence::Final(exit) | Consequence::Elsewhere(exit) => Launched::GivenUp(exit),
    }
}

/// What asks for a storage goes to no node that was found to lack it, before it is found there.
fn note_lack(launch: &Launch, part: &Part) {
    let Launch { shared, .. } = launch;
    let (Ok(place), Ok(role)) = (launch.place(), launch.role()) else { return };
    let when = (shared.settings.rules.closed_nodes.tried_after, Instant::now());
    let asked = Asking { user: launch.attempt.key.user.clone(), image: role.image.clone() };
    if shared.nodes.lacking.found((&place.node, part), asked, when) {
        tracing::warn!(node = %place.node, storage = %part.storage, "the node lacks a storage");
        shared.live.wakeups.schedule.wake();
    }
}

/// Counts it against the node that its engine could not start the task.
fn count(launch: &Launch, words: &str) {
    let Launch { shared, attempt, .. } = launch;
    let (Ok(place), Ok(role)) = (launch.place(), launch.role()) else { return };
    let failure = StartFailure {
        at: now(),
        job: attempt.key.clone(),
        image: role.image.clone(),
        message: words.to_owned(),
    };
    if shared.nodes.faults.failed(&place.node, attempt.job, failure, Instant::now()) {
        shared.live.wakeups.closing.wake();
    }
}

/// Puts the whole job off; of thousands of tasks that meet the same failure, one says so.
fn put_off(launch: &Launch, ours: Ours, words: &str) {
    let Launch { shared, attempt, .. } = launch;
    shared.jobs.progress().insert(launch.task, ours.said().to_owned());
    let Some(pause) = launch.backoffs.failed(attempt.id(), ours, Instant::now()) else { return };
    shared.counts.own_failures.note(ours);
    tracing::error!(job = %attempt.key, error = words, ?pause, "a job's launch is put off");
    launch.tell();
}
