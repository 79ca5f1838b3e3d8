//! Starts everything that is not the web: reads the database, then runs the loops.

use std::path::PathBuf;
use std::sync::Arc;

use api::Backend;
use api::jobs::Jobs;
use bytes::Bytes;
use database::Database;
use database::users::UserRecord;
use protocol::cluster::{NodeSettings, VirtualClusterSettings};
use protocol::health::Check;
use protocol::ids::UserName;
use protocol::person::GroupSettings;
use protocol::storages::StorageSettings;
use storage::Storage;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use crate::accounts::passwords;
use crate::accounts::people::People;
use crate::accounts::sign_in_options::SignInOptions;
use crate::container::guest::program::Guests;
use crate::container::held::Held;
use crate::container::tunnels;
use crate::error::Error;
use crate::known::cluster::Cluster;
use crate::known::counts::Counts;
use crate::known::gpus::GpuOptions;
use crate::known::identity::Identity;
use crate::known::jobs::KnownJobs;
use crate::known::leases::Leases;
use crate::known::live::Live;
use crate::known::nodes::KnownNodes;
use crate::known::outbound::Outbound;
use crate::known::own_engines;
use crate::known::passes::{Passes, Rhythm};
use crate::known::portal::Portal;
use crate::known::posted::Notifying;
use crate::known::promises;
use crate::known::queue::SchedulerHandle;
use crate::known::readings::Readings;
use crate::known::refresh::ClusterHandle;
use crate::known::rules::{ContainerDisk, Rules};
use crate::known::runs;
use crate::known::settings::{OfNodes, Settings};
use crate::logs::spools::held::Spools;
use crate::loops::probe::{Ground, Probe};
use crate::loops::supervised::Loops;
use crate::ops::submit::{Inbox, Submissions};
use crate::records::store::Store;
use crate::shared::Shared;
use crate::terminals::Terminals;
use crate::wake::now;
use crate::{loops, ops};

mod configured;
mod health;
mod identity;
mod sane;

pub use health::{Figures, LoopPass, Part};
pub use identity::{Consent, KeyFile};

/// The name of the first administrator.
const ADMIN: &str = "admin";

/// What control needs.
#[derive(Debug)]
pub struct Options {
    /// The database.
    pub database: Database,
    /// Users' files and kept logs.
    pub storage: Storage,
    /// The data folder; the key that seals secrets lies there, unless another one is given.
    pub data: PathBuf,
    /// The key that is given.
    pub key: Option<PathBuf>,
    /// What an administrator says of database and key.
    pub consent: Consent,
    /// Nodes of the configuration file: they are saved at every start.
    pub nodes: Vec<NodeSettings>,
    /// The node of an installation that has none yet.
    pub first_node: Option<NodeSettings>,
    /// Virtual clusters of the configuration file, likewise.
    pub virtual_clusters: Vec<VirtualClusterSettings>,
    /// Storages of the configuration file, likewise.
    pub storages: Vec<StorageSettings>,
    /// Groups of the configuration file, likewise.
    pub groups: Vec<GroupSettings>,
    /// Folder with client certificates of `tcp://` nodes, or with one such folder a node.
    pub certificates: Option<PathBuf>,
    /// The program that runs the tasks' commands and lets people enter, once for each kind of processor;
    /// without any a shell runs them.
    pub guests: Vec<Bytes>,
    /// Where the nodes have the storage's root as a folder of theirs, if they do; a node's label
    /// `storage` says so for that one.
    pub storage_mount: Option<String>,
    /// The most bytes that one user's saved images may take on the nodes.
    pub images_quota: u64,
    /// The registries that the nodes' engines ask for images, as [`protocol::image::registry`] says
    /// them; none is named: any.
    pub registries: Vec<String>,
    /// What tasks may write into their containers.
    pub container_disk: ContainerDisk,
    /// Where the portal is, of which tasks are to be kept apart.
    pub portal: Portal,
    /// How GPUs of nodes are found and named.
    pub gpus: GpuOptions,
    /// Other servers may lead this cluster as well: nodes have engines that all of them reach.
    pub several_servers: bool,
    /// The checks that nodes go through.
    pub checks: Vec<Check>,
    /// The administrator's first password; without one it is generated.
    pub admin_password: Option<String>,
    /// What this installation decides.
    pub rules: Rules,
    /// How people sign in beside that.
    pub sign_in: SignInOptions,
    /// How they are told what they do not see.
    pub notifying: Notifying,
}

impl Options {
    /// An empty cluster on these, of which nothing is decided yet.
    #[must_use]
    pub fn new(database: Database, storage: Storage, data: PathBuf) -> Self {
        Self {
            database,
            storage,
            data,
            key: None,
            consent: Consent::default(),
            nodes: Vec::new(),
            first_node: None,
            virtual_clusters: Vec::new(),
            storages: Vec::new(),
            groups: Vec::new(),
            certificates: None,
            guests: Vec::new(),
            storage_mount: None,
            images_quota: u64::MAX,
            registries: Vec::new(),
            container_disk: ContainerDisk::default(),
            portal: Portal::default(),
            gpus: GpuOptions::default(),
            several_servers: false,
            checks: Vec::new(),
            admin_password: None,
            rules: Rules::default(),
            sign_in: SignInOptions::default(),
            notifying: Notifying::default(),
        }
    }
}

/// The running control.
#[derive(Debug)]
pub struct Control {
    /// All operations.
    pub backend: Backend,
    /// The administrator's password when it was generated just now: to be told once.
    pub first_password: Option<String>,
    shared: Arc<Shared>,
    loops: Loops,
    schedule: Arc<Passes>,
    probes: Probes,
    tasks: TaskTracker,
    shutdown: CancellationToken,
}

/// What asks what the server stands on how it is.
#[derive(Debug, Clone)]
struct Probes {
    database: Arc<Probe>,
    storage: Arc<Probe>,
}

/// What an installation has from its very first start.
#[derive(Debug)]
pub struct Founded {
    /// The label of its containers.
    pub installation: String,
    /// The administrator's password when it was generated just now.
    pub first_password: Option<String>,
}

/// Makes what an empty database and its data folder lack; [`start`] does so as well.
///
/// # Errors
/// See [`Error`].
pub async fn found(
    database: &Database,
    (key, consent): (&KeyFile, Consent),
    admin_password: Option<String>,
) -> Result<Founded, Error> {
    let installation = identity::establish(database, key, consent).await?;
    let first_password = first_administrator(database, admin_password).await?;
    Ok(Founded { installation, first_password })
}

/// Starts the loops.
///
/// # Errors
/// See [`Error`].
pub async fn start(options: Options) -> Result<Control, Error> {
    let Options { database, storage, data, consent, guests, admin_password, rules, .. } = options;
    let key = KeyFile::new(&data, options.key);
    let founded = found(&database, (&key, consent), admin_password).await?;
    let Founded { installation, first_password } = founded;
    let (seal, epoch) = (identity::seal(&key)?, identity::begin_life(&database).await?);
    let (nodes, first_node) = (&options.nodes, options.first_node.as_ref());
    // Before they are saved: who corrects the file starts from what was there before.
    keep_apart(&options.portal, nodes.iter().chain(first_node))?;
    let shares = (options.virtual_clusters.as_slice(), options.groups.as_slice());
    configured::save(&database, (nodes, first_node), shares).await?;
    configured::save_storages(&database, &seal, &options.storages).await?;
    end_tokens(&database, rules).await?;
    let cluster = Cluster::read(&database, &options.portal).await?;
    keep_apart(&options.portal, cluster.nodes.iter().map(|node| &node.settings))?;
    if options.several_servers {
        share_engines(&cluster)?;
    }
    warn(&options.portal, &cluster);
    promises::warn(&cluster);
    let guests = Guests::new((installation.as_str(), epoch), &guests).map_err(Error::Guest)?;
    let of_nodes = OfNodes {
        storage_mount: options.storage_mount,
        certificates: options.certificates,
        images_quota: options.images_quota,
        registries: options.registries,
        container_disk: options.container_disk,
        portal: options.portal,
        gpus: options.gpus,
        several_servers: options.several_servers,
        checks: options.checks,
    };
    let (tasks, shutdown) = (TaskTracker::new(), CancellationToken::new());
    let spools = Spools::new(data.join("logs"), tasks.clone(), shutdown.clone());
    let past = runs::remember(&database, rules.half_life, of_nodes.gpus.weights.clone()).await?;
    let counts = Counts::default();
    let own_failures = Arc::clone(&counts.own_failures);
    let scheduler = SchedulerHandle::start(past, own_failures).map_err(Error::Thread)?;
    let leases = Leases::new(database.fencing_token().waits());
    let shared = Arc::new(Shared {
        nodes: KnownNodes::new(ClusterHandle::new(cluster, of_nodes.portal.clone())),
        identity: Identity { installation, epoch },
        seal,
        settings: Settings { rules, of_nodes },
        store: Store::new(database, storage),
        spools,
        people: People::new(options.sign_in),
        outbound: Outbound::new(options.notifying),
        live: Live::default(),
        jobs: KnownJobs::new(scheduler, leases),
        containers: Held::new(guests),
        readings: Readings::default(),
        counts,
    });
    shared.jobs.active.start(&shared.store.database).await?;
    loops::images::hold(&shared.store, &shared.containers).await?;
    shared.outbound.posted.know(database::notifications::list(shared.store.database.read()).await?);
    let (submissions, inbox) = Submissions::new();
    let mut loops = Loops::new(Arc::clone(&shared), tasks.clone(), shutdown.clone());
    let jobs = ops::jobs::Ops { shared: Arc::clone(&shared), submissions: submissions.clone() };
    let schedule = start_loops(&mut loops, inbox, Arc::new(jobs), &shared);
    let probes = start_probes(&mut loops);
    tasks.spawn(loops::first_look::run(Arc::clone(&shared), shutdown.clone()));
    tasks.close();
    let terminals = Terminals::new(tasks.clone(), shutdown.clone());
    let backend = backend(&shared, submissions, terminals);
    Ok(Control { backend, first_password, shared, loops, schedule, probes, tasks, shutdown })
}

/// Each of them is begun anew when it panics. Says what is known of the scheduler's passes.
fn start_loops(
    loops: &mut Loops,
    inbox: Inbox,
    jobs: Arc<dyn Jobs>,
    shared: &Shared,
) -> Arc<Passes> {
    // What was sent to a loop that panicked waits for the next one.
    let inbox = Arc::new(tokio::sync::Mutex::new(inbox));
    loops.start("submissions", ops::submit::RHYTHM, move |shared, passes, stop| {
        ops::submit::run(shared, Arc::clone(&inbox), passes, stop)
    });
    loops.start("trials", ops::trials::RHYTHM, move |shared, passes, stop| {
        ops::trials::run(shared, Arc::clone(&jobs), passes, stop)
    });
    loops.start("nodes", loops::nodes::RHYTHM, loops::nodes::run);
    loops.start("heartbeats", loops::heartbeats::RHYTHM, loops::heartbeats::run);
    loops.start("jobs", loops::jobs::RHYTHM, loops::jobs::run);
    loops.start("leases", loops::leases::RHYTHM, loops::leases::run);
    loops.start("lists", loops::lists::RHYTHM, loops::lists::run);
    loops.start("images", loops::images::RHYTHM, loops::images::run);
    loops.start("kept", loops::kept::RHYTHM, loops::kept::run);
    loops.start("disks", loops::disks::rhythm(&shared.settings), loops::disks::run);
    loops.start("metrics", loops::metrics::rhythm(&shared.settings), loops::metrics::run);
    loops.start("checks", loops::checks::RHYTHM, loops::checks::run);
    loops.start("closing", loops::closing::RHYTHM, loops::closing::run);
    loops.start("lacks", loops::lacks::RHYTHM, loops::lacks::run);
    loops.start("directories", loops::directories::rhythm(&shared.people), loops::directories::run);
    loops.start("notifications", loops::notifications::RHYTHM, loops::notifications::run);
    loops.start("retention", loops::retention::RHYTHM, loops::retention::run);
    loops.start("tunnels", tunnels::RHYTHM, tunnels::run);
    loops.start("sweep", loops::sweep::RHYTHM, loops::sweep::run);
    loops.start("schedule", loops::schedule::RHYTHM, loops::schedule::run)
}

/// They look when somebody asks.
fn start_probes(loops: &mut Loops) -> Probes {
    let mut start = |name, ground| {
        let probe = Arc::new(Probe::of(ground));
        let looks = Arc::clone(&probe);
        loops.start(name, Rhythm::when_asked(), move |shared, passes, stop| {
            loops::probe::run(shared, Arc::clone(&looks), passes, stop)
        });
        probe
    };
    Probes {
        database: start("database probe", Ground::Database),
        storage: start("storage probe", Ground::Storage),
    }
}

/// A key of the cluster whose key this is: the same that [`Control::derive_key`] gives,
/// for a server that does not lead.
///
/// # Errors
/// When there is no key, or it cannot be read.
pub fn derive_key(key: &KeyFile, usage: &str) -> Result<[u8; 32], Error> {
    Ok(identity::shared_seal(key)?.derive(usage))
}

impl Control {
    /// The database, for what is not control's: sessions.
    #[must_use]
    pub fn database(&self) -> &Database {
        &self.shared.store.database
    }

    /// A key for what the server signs: the same for a use at each start, of nobody else known.
    #[must_use]
    pub fn derive_key(&self, usage: &str) -> [u8; 32] {
        self.shared.seal.derive(usage)
    }

    /// Ends the loops and waits for them. Containers go on running.
    pub async fn shutdown(&self) {
        self.shutdown.cancel();
        self.tasks.wait().await;
    }
}

fn backend(shared: &Arc<Shared>, submissions: Submissions, terminals: Terminals) -> Backend {
    Backend {
        jobs: Arc::new(ops::jobs::Ops { shared: Arc::clone(shared), submissions }),
        queue: Arc::new(ops::queue::Ops(Arc::clone(shared))),
        logs: Arc::new(ops::logs::Ops::new(Arc::clone(shared))),
        metrics: Arc::new(ops::metrics::Ops(Arc::clone(shared))),
        nodes: Arc::new(ops::nodes::Ops(Arc::clone(shared))),
        quarantine: Arc::new(ops::quarantine::Ops(Arc::clone(shared))),
        servers: Arc::new(ops::servers::Ops(Arc::clone(shared))),
        virtual_clusters: Arc::new(ops::virtual_clusters::Ops(Arc::clone(shared))),
        proxy: Arc::new(ops::proxy::Ops(Arc::clone(shared))),
        ssh: Arc::new(ops::ssh::Ops(Arc::clone(shared))),
        terminals: Arc::new(ops::terminals::Ops { shared: Arc::clone(shared), terminals }),
        task_files: Arc::new(ops::task_files::Ops(Arc::clone(shared))),
        audit: Arc::new(ops::audit::Ops(Arc::clone(shared))),
        users: Arc::new(ops::users::Ops(Arc::clone(shared))),
        groups: Arc::new(ops::groups::Ops(Arc::clone(shared))),
        sign_ins: Arc::new(ops::sign_ins::Ops(Arc::clone(shared))),
        notifications: Arc::new(ops::notifications::Ops(Arc::clone(shared))),
        files: Arc::new(ops::files::Ops::new(Arc::clone(shared))),
        storages: Arc::new(ops::storages::Ops(Arc::clone(shared))),
        saved_views: Arc::new(ops::saved_views::Ops(Arc::clone(shared))),
        templates: Arc::new(ops::templates::Ops(Arc::clone(shared))),
        images: Arc::new(ops::images::Ops(Arc::clone(shared))),
        changes: Arc::new(ops::changes::Ops(Arc::clone(shared))),
    }
}

/// The first port that Linux gives to those who connect without asking for one.
const EPHEMERAL: u16 = 32_768;

/// Refuses nodes whose tasks would be at the portal's host.
fn keep_apart<'a>(
    portal: &Portal,
    nodes: impl Iterator<Item = &'a NodeSettings>,
) -> Result<(), Error> {
    let refused: Vec<_> = nodes.filter_map(|node| portal.refusal(node)).collect();
    if refused.is_empty() { Ok(()) } else { Err(Error::TasksAtPortal(refused)) }
}

/// Refuses nodes that would be others for other servers.
fn share_engines(cluster: &Cluster) -> Result<(), Error> {
    let nodes = cluster.nodes.iter();
    let refused: Vec<_> = nodes.filter_map(|node| own_engines::refusal(&node.settings)).collect();
    if refused.is_empty() { Ok(()) } else { Err(Error::OwnEngines(refused)) }
}

/// Warns of nodes that are as somebody insists on.
fn warn(portal: &Portal, cluster: &Cluster) {
    let nodes = || cluster.nodes.iter().map(|node| &node.settings);
    for node in nodes().filter(|node| !node.is_simulated() && node.ports.last >= EPHEMERAL) {
        tracing::warn!(
            node = %node.name,
            "ports {}: Linux gives those from {EPHEMERAL} on to whoever connects, so that \
             tasks may find them taken",
            node.ports
        );
    }
    for node in nodes().filter(|node| portal.is_exposed_to(node)) {
        tracing::warn!(
            node = %node.name,
            address = node.address,
            "tasks of this node are at the portal's host (allow_tasks_at_portal): what they serve is \
             sent the sessions of those who open it"
        );
    }
}

/// The first start makes the administrator.
async fn first_administrator(
    database: &Database,
    given: Option<String>,
) -> Result<Option<String>, Error> {
    if database::users::count(database.read()).await? > 0 {
        return Ok(None);
    }
    let generated = given.is_none().then(passwords::generate);
    let password = given.or_else(|| generated.clone()).unwrap_or_default();
    let refused = |error: api::Error| Error::Password(error.message);
    let name = UserName::new(ADMIN).expect("admin is a valid user name");
    passwords::check_new(&name, &password).map_err(refused)?;
    let at = now();
    let administrator = UserRecord {
        name,
        password_hash: passwords::hash(password).await.map_err(refused)?,
        admin: true,
        created_at: at,
        password_changed_at: at,
        password_temporary: false,
    };
    let transaction = database.begin().await?;
    database::users::insert(&transaction, &administrator).await?;
    transaction.commit().await?;
    Ok(generated)
}

/// Tokens that were made under other rules end when these say so.
async fn end_tokens(database: &Database, rules: Rules) -> Result<(), Error> {
    let Some(latest) = rules.tokens.latest(now()) else { return Ok(()) };
    let transaction = database.begin().await?;
    database::tokens::end_by(&transaction, latest).await?;
    transaction.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests;
