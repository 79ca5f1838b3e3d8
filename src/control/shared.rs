//! What operations and loops share.

use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard};

use api::changes::Change;
use database::{Database, Transaction};
use protocol::cluster::NodeSettings;
use protocol::epoch::Epoch;
use protocol::health::Check;
use protocol::ids::{JobId, JobKey, NodeName, TaskKey};
use protocol::state::State;
use storage::Storage;
use tokio::sync::broadcast;

use crate::accounts::passwords::Passwords;
use crate::accounts::sign_in_options::SignInOptions;
use crate::container::guest::program::{Guest, Guests};
use crate::container::images::doings::Doings;
use crate::container::tunnels::idle::Tunnels;
use crate::known::active::ActiveJobs;
use crate::known::asked_gpus::AskedGpus;
use crate::known::checks::Checks;
use crate::known::cluster::{Cluster, architecture};
use crate::known::damage::Damage;
use crate::known::engine_calls::EngineCalls;
use crate::known::faults::Faults;
use crate::known::gpus::GpuOptions;
use crate::known::idling::IdleJobs;
use crate::known::lately::ListLoads;
use crate::known::leases::Leases;
use crate::known::loads::Loads;
use crate::known::metrics::Measured;
use crate::known::observations::Observations;
use crate::known::own_engines;
use crate::known::own_failures::OwnFailures;
use crate::known::portal::Portal;
use crate::known::posted::{Notifying, Posted};
use crate::known::quarantine::Quarantine;
use crate::known::queue::{Queue, SchedulerHandle};
use crate::known::refresh::ClusterHandle;
use crate::known::rules::{ContainerDisk, Rules};
use crate::known::runs::Past;
use crate::known::sightings::Sightings;
use crate::known::swept::Swept;
use crate::known::told::{Told, Touched};
use crate::known::unkilled::Unkilled;
use crate::lock::lock;
use crate::logs::spools::held::Spools;
use crate::records::bursts::Bursts;
use crate::secrets::sealing::Seal;
use crate::wake::{Bells, Moments};

/// How many changes a slow listener may lag behind before it is told that it missed some.
const CHANGES_KEPT: usize = 4_096;

/// What operations and loops share. Locks are held for moments only, never over an await.
#[derive(Debug)]
pub(crate) struct Shared {
    /// Label of this installation's containers.
    pub(crate) installation: String,
    /// In which life of the database what is given now is given.
    pub(crate) epoch: Epoch,
    pub(crate) database: Database,
    pub(crate) storage: Storage,
    /// Logs of containers as far as they were read.
    pub(crate) spools: Spools,
    pub(crate) seal: Seal,
    /// What runs the tasks' commands; without it a shell does, and nobody can enter.
    pub(crate) guests: Guests,
    pub(crate) of_nodes: OfNodes,
    pub(crate) rules: Rules,
    pub(crate) passwords: Passwords,
    /// What was written to the audit log of late, of what comes in bursts.
    pub(crate) bursts: Mutex<Bursts>,
    /// How people sign in.
    pub(crate) sign_in: SignInOptions,
    /// How people are told what they do not see.
    pub(crate) notifying: Notifying,
    /// What they want to be told, and what was sent.
    pub(crate) posted: Posted,
    pub(crate) bells: Bells,
    pub(crate) moments: Moments,
    /// How often what is this server's own has failed.
    pub(crate) own_failures: Arc<OwnFailures>,
    /// How nodes' engines answer.
    pub(crate) engine_calls: Arc<EngineCalls>,
    /// How long tasks run on without a word from this server.
    pub(crate) leases: Leases,
    /// What nodes have failed to start.
    pub(crate) faults: Faults,
    /// What does not end on nodes, though it is told to.
    pub(crate) unkilled: Unkilled,
    /// What is known of the checks that nodes go through.
    pub(crate) checks: Checks,
    /// How much was forgotten, since it was older than it is kept for.
    pub(crate) swept: Swept,
    /// Counts the changes of users' public keys.
    pub(crate) key_changes: Moments,
    changes: broadcast::Sender<Change>,
    /// Nodes and virtual clusters.
    pub(crate) cluster: ClusterHandle,
    /// Jobs that have not ended.
    pub(crate) active: ActiveJobs,
    /// The owner of the queue.
    pub(crate) scheduler: SchedulerHandle,
    /// Jobs that have changed since the scheduler took them in.
    touched: Mutex<Touched>,
    /// What the jobs' loop has not taken in yet.
    told: Mutex<Told>,
    /// What is seen of each node's engine, until it is stored.
    pub(crate) sightings: Sightings,
    /// What the loops see of each node's engine.
    observations: Mutex<Observations>,
    /// What is on them that is not to be touched.
    pub(crate) quarantine: Quarantine,
    /// What is being done with images.
    pub(crate) images: Doings,
    /// Ways into tasks that wait for their next use.
    pub(crate) tunnels: Tunnels,
    /// What running tasks use.
    pub(crate) measured: Measured,
    /// What nodes do with all that runs there.
    pub(crate) measured_nodes: Measured<NodeName>,
    /// What drivers have said that GPUs do.
    pub(crate) asked_gpus: AskedGpus,
    /// What GPUs do at the moment.
    pub(crate) loads: Loads,
    /// How busy the GPUs of jobs and nodes were in the last hour.
    pub(crate) lately: ListLoads,
    /// Jobs that hold GPUs and do not use them.
    pub(crate) idle: IdleJobs,
    /// What running tasks have written into their containers, in bytes.
    written: Mutex<HashMap<TaskKey, u64>>,
    /// What preparing tasks are doing, for people to read.
    progress: Mutex<HashMap<TaskKey, String>>,
}

/// What holds for all nodes.
#[derive(Debug)]
pub(crate) struct OfNodes {
    /// Where they have the storage as a folder of theirs, unless their labels say otherwise.
    pub(crate) storage_mount: Option<String>,
    /// Folder with their client certificates.
    pub(crate) certificates: Option<PathBuf>,
    /// The most bytes that one user's saved images may take on them.
    pub(crate) images_quota: u64,
    /// The registries that their engines ask for images; none is named: any.
    pub(crate) registries: Vec<String>,
    /// What tasks may write into their containers.
    pub(crate) container_disk: ContainerDisk,
    /// Where tasks of theirs must not be.
    pub(crate) portal: Portal,
    /// How their GPUs are found.
    pub(crate) gpus: GpuOptions,
    /// Other servers may lead this cluster as well.
    pub(crate) several_servers: bool,
    /// The checks that they go through.
    pub(crate) checks: Vec<Check>,
}

impl OfNodes {
    /// Why a node may not be as it is described, and what helps.
    pub(crate) fn refusal(&self, node: &NodeSettings) -> Option<String> {
        let own_engine = || own_engines::refusal(node).filter(|_| self.several_servers);
        self.portal.refusal(node).or_else(own_engine)
    }
}

impl Shared {
    pub(crate) fn new(
        (installation, epoch): (String, Epoch),
        database: Database,
        storage: Storage,
        (seal, guests): (Seal, Guests),
        (of_nodes, rules, sign_in): (OfNodes, Rules, SignInOptions),
        (notifying, spools): (Notifying, Spools),
        (cluster, past): (Cluster, Past),
    ) -> std::io::Result<Self> {
        let own_failures = Arc::<OwnFailures>::default();
        let scheduler = SchedulerHandle::start(past, Arc::clone(&own_failures))?;
        let leases = Leases::new(database.mandate().waits());
        let cluster = ClusterHandle::new(cluster, of_nodes.portal.clone());
        Ok(Self {
            installation,
            epoch,
            database,
            storage,
            spools,
            seal,
            guests,
            of_nodes,
            rules,
            passwords: Passwords::default(),
            bursts: Mutex::default(),
            sign_in,
            notifying,
            posted: Posted::default(),
            bells: Bells::default(),
            moments: Moments::default(),
            own_failures,
            engine_calls: Arc::default(),
            leases,
            faults: Faults::default(),
            unkilled: Unkilled::default(),
            checks: Checks::default(),
            swept: Swept::default(),
            key_changes: Moments::default(),
            changes: broadcast::channel(CHANGES_KEPT).0,
            cluster,
            active: ActiveJobs::default(),
            scheduler,
            touched: Mutex::default(),
            told: Mutex::default(),
            sightings: Sightings::default(),
            observations: Mutex::default(),
            quarantine: Quarantine::default(),
            images: Doings::default(),
            tunnels: Tunnels::default(),
            measured: Measured::default(),
            measured_nodes: Measured::default(),
            asked_gpus: AskedGpus::default(),
            loads: Loads::default(),
            lately: ListLoads::default(),
            idle: IdleJobs::default(),
            written: Mutex::default(),
            progress: Mutex::default(),
        })
    }

    /// Does `work` in one write transaction: all of it is stored, or nothing.
    pub(crate) async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, database::Error>,
    ) -> Result<T, database::Error> {
        let transaction = self.database.begin().await?;
        let done = work(&transaction).await?;
        transaction.commit().await?;
        Ok(done)
    }

    /// Tells the pages and, of a job of which something was stored, the loops.
    pub(crate) fn tell(&self, change: Change) {
        if let Change::Job { id, .. } = change {
            self.note_stored([id]);
        }
        self.tell_queue(change);
    }

    /// Tells the pages and, of a job, the scheduler's loop: the one over the jobs knows it already, or
    /// has nothing to do with it.
    pub(crate) fn tell_queue(&self, change: Change) {
        if let Change::Job { id, state, .. } = change {
            lock(&self.touched).note(id, state);
        }
        self.tell_pages(change);
    }

    /// Tells the pages of what is not stored. Nobody listening is no error.
    pub(crate) fn tell_pages(&self, change: Change) {
        let _nobody_listens = self.changes.send(change);
    }

    /// Tells of a job's change, once it is stored.
    pub(crate) fn tell_job(&self, id: JobId, key: &JobKey, state: State) {
        self.tell(Change::Job { id, key: key.clone(), state });
    }

    /// Tells the loop over the jobs alone that something was stored of these.
    pub(crate) fn note_stored(&self, jobs: impl IntoIterator<Item = JobId>) {
        lock(&self.told).stored.extend(jobs);
    }

    /// Tells it to look at a task again, though nothing was stored of it.
    pub(crate) fn look_at(&self, task: TaskKey) {
        lock(&self.told).look.insert(task);
    }

    /// Tells it that something may have been stored of which nobody has told.
    pub(crate) fn doubt_jobs(&self) {
        lock(&self.told).doubt = true;
    }

    /// What it was told since this was asked last.
    pub(crate) fn told(&self) -> Told {
        std::mem::take(&mut lock(&self.told))
    }

    pub(crate) fn listen(&self) -> broadcast::Receiver<Change> {
        self.changes.subscribe()
    }

    /// The program for containers of a node, if there is one.
    pub(crate) fn guest_on(&self, node: &NodeName) -> Option<&Guest> {
        let cluster = self.cluster();
        self.guests.on(cluster.node(node).and_then(architecture))
    }

    /// Nodes and virtual clusters as they were last read.
    pub(crate) fn cluster(&self) -> Arc<Cluster> {
        self.cluster.current()
    }

    pub(crate) fn damage(&self) -> MutexGuard<'_, Damage> {
        self.active.damage()
    }

    /// Asks the scheduler for somebody.
    pub(crate) async fn ask<T: Send + 'static>(
        &self,
        question: impl FnOnce(&mut Queue) -> T + Send + 'static,
    ) -> api::Result<T> {
        self.scheduler.ask(question).await.map_err(crate::error::internal)
    }

    /// The jobs that have changed since this was asked last.
    pub(crate) fn touched(&self) -> Touched {
        std::mem::take(&mut lock(&self.touched))
    }

    pub(crate) fn observations(&self) -> MutexGuard<'_, Observations> {
        lock(&self.observations)
    }

    /// What a running task has written into its container when that was measured last.
    pub(crate) fn written(&self, task: &TaskKey) -> Option<u64> {
        lock(&self.written).get(task).copied()
    }

    /// Notes what was measured; what is not measured any more is kept until its task is forgotten.
    pub(crate) fn note_written(&self, measured: HashMap<TaskKey, u64>) {
        let most = self.of_nodes.container_disk.most;
        let too_much = measured.iter().filter(|(_, bytes)| **bytes > most).map(|(task, _)| *task);
        let too_much: Vec<TaskKey> = too_much.collect();
        lock(&self.written).extend(measured);
        lock(&self.told).look.extend(too_much);
    }

    /// What running tasks have written.
    pub(crate) fn all_written(&self) -> MutexGuard<'_, HashMap<TaskKey, u64>> {
        lock(&self.written)
    }

    pub(crate) fn progress(&self) -> MutexGuard<'_, HashMap<TaskKey, String>> {
        lock(&self.progress)
    }
}
