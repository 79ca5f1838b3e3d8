//! What the tasks of one attempt of a job have in common when they are launched: read and made once,
//! however many they are.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, Weak};
use std::time::{Duration, Instant};

use database::attempts;
use database::tasks::Task;
use protocol::environment::{self, JobFacts};
use protocol::guest::GuestPeer;
use protocol::ids::{JobId, JobKey};
use protocol::placement::TaskPlacement;
use protocol::secrets::Secrets;
use protocol::spec::{JobSpec, RegistryAuth, TaskRole};
use storage::StoragePath;

use super::error::LaunchError;
use super::once::Once;
use crate::accounts::people::People;
use crate::container::code;
use crate::container::folders::{self, Wanted};
use crate::container::guest::{self, JobKeys};
use crate::container::held::Held;
use crate::container::storages::{self, Mounted};
use crate::container::{public_keys, registry, secrets};
use crate::known::active::Active;
use crate::lock::lock;
use crate::records::store::Store;
use crate::shared::Shared;

/// Tasks of a job for which a launch takes one more unit of room: what its environment takes on the
/// way to an engine grows with them.
const TASKS_A_UNIT: usize = 500;
/// What the job's owner may reach is looked at anew after so long: a launch may wait for an image
/// for hours, and his rights may be other ones then.
const RECENT: Duration = Duration::from_secs(30);

/// The attempts of which something is being launched.
#[derive(Debug, Default)]
pub(crate) struct Attempts(Mutex<HashMap<(JobId, u32), Weak<Attempt>>>);

/// One attempt of a job.
#[derive(Debug)]
pub(crate) struct Attempt {
    pub(super) job: JobId,
    pub(super) key: JobKey,
    pub(super) spec: Arc<JobSpec>,
    number: u32,
    /// For how many seconds its tasks run on without a word from this server, if not for ever.
    pub(super) lease: Option<u32>,
    /// Of all its tasks, by role and index.
    places: Vec<TaskPlacement>,
    read: Once<Arc<Read>>,
    admitted: Once<Admitted>,
    folders: Once<Arc<Vec<Wanted>>>,
    storages: Once<Arc<Vec<Mounted>>>,
    code: Once<StoragePath>,
    auth_file: Once<RegistryAuth>,
    /// Ids of private images that the job's owner may have.
    proved: Mutex<HashSet<String>>,
}

/// What never changes, read and made once.
#[derive(Debug)]
pub(super) struct Read {
    pub(super) secrets: Secrets,
    pub(super) env: Arc<[(String, String)]>,
    /// The roles' commands, with the secrets in them.
    pub(super) commands: Vec<Arc<str>>,
    /// All tasks, as each one's guest is told of them.
    pub(super) peers: Vec<GuestPeer>,
    pub(super) keys: JobKeys,
}

/// The public keys of the job's owner at some moment.
#[derive(Debug, Clone)]
pub(super) struct Admitted {
    /// See [`Held::key_changes`](crate::container::held::Held::key_changes).
    pub(super) moment: u64,
    pub(super) lines: Arc<Vec<String>>,
}

impl Attempts {
    /// The attempt of which a task is to be launched; all launches of it at the same time have one.
    pub(crate) fn get(
        &self,
        job: &Active,
        tasks: &[Task],
        attempt: &attempts::Attempt,
    ) -> Arc<Attempt> {
        self.get_or_make((job.row.id, attempt.number), || {
            let places = tasks.iter().map(|task| task.placement.clone()).collect();
            let of = (attempt.number, attempt.lease);
            Attempt::new((job.row.id, &job.row.key, &job.spec), places, of)
        })
    }

    fn get_or_make(&self, which: (JobId, u32), make: impl FnOnce() -> Attempt) -> Arc<Attempt> {
        let mut attempts = lock(&self.0);
        if let Some(known) = attempts.get(&which).and_then(Weak::upgrade) {
            return known;
        }
        let attempt = Arc::new(make());
        attempts.retain(|_, attempt| attempt.strong_count() > 0);
        attempts.insert(which, Arc::downgrade(&attempt));
        attempt
    }
}

impl Attempt {
    fn new(
        (job, key, spec): (JobId, &JobKey, &Arc<JobSpec>),
        mut places: Vec<TaskPlacement>,
        (number, lease): (u32, Option<u32>),
    ) -> Self {
        places.sort_by_key(|place| (place.role, place.index));
        Self {
            job,
            key: key.clone(),
            spec: Arc::clone(spec),
            number,
            lease,
            places,
            read: Once::default(),
            admitted: Once::default(),
            folders: Once::default(),
            storages: Once::default(),
            code: Once::default(),
            auth_file: Once::default(),
            proved: Mutex::default(),
        }
    }

    /// Which it is.
    pub(super) fn id(&self) -> (JobId, u32) {
        (self.job, self.number)
    }

    /// How much room the launch of one of its tasks takes.
    pub(super) fn units(&self) -> u32 {
        u32::try_from(1 + self.places.len() / TASKS_A_UNIT).unwrap_or(u32::MAX)
    }

    pub(super) fn role(&self, role: u32) -> Option<&TaskRole> {
        self.spec.roles.get(role as usize)
    }

    pub(super) fn place(&self, role: u32, index: u32) -> Option<&TaskPlacement> {
        let at =
            self.places.binary_search_by_key(&(role, index), |place| (place.role, place.index));
        self.places.get(at.ok()?)
    }

    pub(super) fn facts<'a>(&'a self, store: &'a Store) -> JobFacts<'a> {
        JobFacts {
            key: &self.key,
            spec: &self.spec,
            job_id: self.job,
            attempt: self.number,
            file_system_uri: store.storage.uri(),
        }
    }

    /// What never changes.
    pub(super) async fn read(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
    ) -> Result<Arc<Read>, LaunchError> {
        self.read.get(|_, _| true, self.read_now(shared)).await
    }

    async fn read_now(self: &Arc<Self>, shared: &Arc<Shared>) -> Result<Arc<Read>, LaunchError> {
        let of = (self.job, &self.key);
        let secrets = secrets::of_job(&shared.seal, &shared.store, &self.spec, of).await?;
        let secrets = secrets.ok_or(LaunchError::Sealed)?;
        if self.places.len() <= TASKS_A_UNIT {
            return Ok(Arc::new(self.make(secrets, shared)));
        }
        // For thousands of tasks it takes its time: off the runtime's threads.
        let (attempt, shared) = (Arc::clone(self), Arc::clone(shared));
        let made = tokio::task::spawn_blocking(move || attempt.make(secrets, &shared)).await;
        made.map(Arc::new).map_err(|error| LaunchError::Records(error.to_string()))
    }

    fn make(&self, secrets: Secrets, shared: &Shared) -> Read {
        let command = |role: &TaskRole| protocol::secrets::fill(&role.command, &secrets);
        let commands = self.spec.roles.iter().map(|role| command(role).into()).collect();
        let env = environment::of_job(&self.facts(&shared.store), &self.places).into();
        let peers = guest::peers(&self.spec, &self.places);
        let keys = JobKeys::of(&shared.seal, self.job, &self.key);
        Read { secrets, env, commands, peers, keys }
    }

    /// The owner's public keys, read anew when any have changed.
    pub(super) async fn admitted(
        &self,
        store: &Store,
        containers: &Held,
    ) -> Result<Admitted, LaunchError> {
        let last = containers.key_changes.last();
        self.admitted
            .get(|known, _| known.moment >= last, self.admitted_now(store, containers))
            .await
    }

    async fn admitted_now(
        &self,
        store: &Store,
        containers: &Held,
    ) -> Result<Admitted, LaunchError> {
        // Noted before they are read: what changes meanwhile then shows as a change.
        let (moment, at) = (containers.key_changes.last(), Instant::now());
        let user = &self.key.user;
        if let Some(lines) = containers.known_keys.of(user, moment, at) {
            return Ok(Admitted { moment, lines });
        }
        let lines = Arc::new(public_keys::lines(store, user).await?);
        containers.known_keys.note(user, (moment, at), &lines);
        Ok(Admitted { moment, lines })
    }

    /// What its tasks see of the storage, on nodes that have it.
    pub(super) async fn folders(
        &self,
        store: &Store,
        people: &People,
    ) -> Result<Arc<Vec<Wanted>>, LaunchError> {
        self.folders.get(is_recent, self.folders_now(store, people)).await
    }

    async fn folders_now(
        &self,
        store: &Store,
        people: &People,
    ) -> Result<Arc<Vec<Wanted>>, LaunchError> {
        let wanted = folders::wanted(store, people, &self.facts(store)).await;
        Ok(Arc::new(wanted?))
    }

    /// The storages that its tasks have, if its owner may still have them.
    pub(super) async fn storages(
        &self,
        store: &Store,
        people: &People,
    ) -> Result<Arc<Vec<Mounted>>, LaunchError> {
        self.storages.get(is_recent, self.storages_now(store, people)).await
    }

    async fn storages_now(
        &self,
        store: &Store,
        people: &People,
    ) -> Result<Arc<Vec<Mounted>>, LaunchError> {
        let mounted = storages::of_owner(store, people, &self.key.user, &self.spec).await;
        Ok(Arc::new(mounted?))
    }

    /// The folder of its code, as the job file has it and as its owner may read it.
    pub(super) async fn code(
        &self,
        store: &Store,
        people: &People,
    ) -> Result<Option<(String, StoragePath)>, LaunchError> {
        let Some(told) = &self.spec.code_dir else { return Ok(None) };
        let told = environment::substitute(told, &self.facts(store));
        let path = self.code.get(is_recent, self.code_now(store, people, &told)).await?;
        Ok(Some((told, path)))
    }

    async fn code_now(
        &self,
        store: &Store,
        people: &People,
        told: &str,
    ) -> Result<StoragePath, LaunchError> {
        let path = code::readable_whole(store, people, &self.key.user, told).await;
        Ok(path?)
    }

    /// Credentials of a role's registry: its own, else those of `authFile`.
    pub(super) async fn registry_auth(
        self: &Arc<Self>,
        shared: &Arc<Shared>,
        role: &TaskRole,
    ) -> Result<Option<RegistryAuth>, LaunchError> {
        if let Some(auth) = role.registry.clone() {
            let read = self.read(shared).await?;
            let password = protocol::secrets::fill(&auth.password, &read.secrets);
            return Ok(Some(RegistryAuth { password, ..*auth }));
        }
        let Some(file) = &self.spec.auth_file else { return Ok(None) };
        self.auth_file
            .get(is_recent, self.auth_file_now(&shared.store, &shared.people, file))
            .await
            .map(Some)
    }

    async fn auth_file_now(
        &self,
        store: &Store,
        people: &People,
        file: &str,
    ) -> Result<RegistryAuth, LaunchError> {
        let file = environment::substitute(file, &self.facts(store));
        Ok(registry::auth(store, people, &self.key.user, &file).await?)
    }

    /// Whether its owner has been found to have the right to the private image of this id.
    pub(super) fn has_proved(&self, image: &str) -> bool {
        lock(&self.proved).contains(image)
    }

    pub(super) fn note_proved(&self, image: &str) {
        lock(&self.proved).insert(image.to_owned());
    }
}

fn is_recent<T>(_: &T, age: Duration) -> bool {
    age < RECENT
}

#[cfg(test)]
mod tests {
    use super::*;

    const TASKS: u32 = 2_500;

    fn place(index: u32) -> TaskPlacement {
        TaskPlacement {
            role: 0,
            index,
            node: "node-1".parse().unwrap(),
            address: "10.0.0.1".to_owned(),
            gpus: Vec::new(),
            ports: protocol::placement::TaskPorts::default(),
        }
    }

    fn attempt() -> Attempt {
        let spec = Arc::new(guest::tests::spec(TASKS));
        let key = "alice~big".parse().unwrap();
        // In whatever order they are read.
        Attempt::new((JobId(1), &key, &spec), (0..TASKS).rev().map(place).collect(), (0, None))
    }

    #[test]
    fn tasks_that_are_launched_together_share_what_their_job_has() {
        let attempts = Attempts::default();
        let get = || attempts.get_or_make((JobId(1), 0), attempt);
        let first = get();
        assert!((0..TASKS).all(|_| Arc::ptr_eq(&first, &get())), "the places are copied once");
        let ours = attempts.get_or_make((JobId(1), 1), attempt);
        assert!(!Arc::ptr_eq(&first, &ours), "another attempt has other places");
        assert_eq!(first.place(0, 1_234).map(|place| place.index), Some(1_234));
        assert!(first.place(0, TASKS).is_none() && first.place(1, 0).is_none());
        assert_eq!(first.units(), 6, "a large job's launches take more room");
        drop((first, ours));
        attempts.get_or_make((JobId(2), 0), attempt);
        assert_eq!(lock(&attempts.0).len(), 1, "nothing is kept when nothing is launched");
    }
}
