use std::collections::BTreeMap;
use std::fmt;
use std::net::IpAddr;
use std::pin::Pin;
use std::sync::Arc;

use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::architecture::Architecture;
use protocol::cluster::GpuRuntime;
use protocol::epoch::Epoch;
use protocol::ids::TaskKey;
use protocol::resources::{Capacity, Gpu};
use protocol::time::Timestamp;
use tokio::io::AsyncWrite;

/// What every call answers.
pub type Result<T> = std::result::Result<T, EngineError>;

/// Why a call to an engine failed.
#[derive(Debug, Clone, thiserror::Error)]
pub enum EngineError {
    /// The engine does not answer: not started, cut off, or it hangs.
    #[error("the engine does not answer: {0}")]
    Unreachable(String),
    /// There is no such container.
    #[error("no container {0}")]
    NoContainer(String),
    /// There is no such image, or it may not be pulled without credentials.
    #[error("image {image} not found: {message}")]
    NoImage {
        /// The image.
        image: String,
        /// The engine's words.
        message: String,
    },
    /// Somebody else has a port that the container is to have.
    #[error("a port is taken: {0}")]
    PortTaken(String),
    /// The registry refused the credentials.
    #[error("the registry refused access to {0}")]
    Denied(String),
    /// The engine refuses what is asked for: asking again will not help.
    #[error("{0}")]
    Refused(String),
    /// What was to be put into a container could not be read; the engine is well.
    #[error("{0}")]
    Content(String),
    /// The engine failed; asking again may help.
    #[error("the engine failed: {0}")]
    Failed(String),
    /// The node lacks something, such as a driver or room on its disk: asking it again will not help
    /// soon, another node may do it.
    #[error("the node cannot do it: {0}")]
    Broken(String),
    /// The endpoint is not understood, or its certificates cannot be read.
    #[error("endpoint {endpoint}: {message}")]
    Endpoint {
        /// As configured.
        endpoint: String,
        /// What is wrong and what is allowed.
        message: String,
    },
}

impl EngineError {
    /// Whether the engine itself failed, and not what was asked of it.
    #[must_use]
    pub fn is_of_engine(&self) -> bool {
        match self {
            Self::Unreachable(_) | Self::Failed(_) | Self::Broken(_) => true,
            Self::NoContainer(_)
            | Self::NoImage { .. }
            | Self::PortTaken(_)
            | Self::Denied(_)
            | Self::Refused(_)
            | Self::Content(_)
            | Self::Endpoint { .. } => false,
        }
    }
}

/// What an engine is and what its machine has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct EngineInfo {
    /// By which it is told from all others, where it says so. Some say another one each time.
    pub id: Option<String>,
    /// Kind and version, as `Docker 28.2.2`.
    pub version: String,
    /// CPU cores.
    pub cpus: u32,
    /// Memory in MiB.
    pub memory_mb: u64,
    /// Disk of the engine's data folder in GiB, where it can be told.
    pub disk_gb: Option<u64>,
    /// Its GPUs, where they can be told without asking their drivers.
    pub gpus: Vec<Gpu>,
    /// What its processors are, where it tells.
    pub architecture: Option<Architecture>,
    /// Where the ports of tasks are published that have a network of their own, where they do.
    pub tasks_address: Option<IpAddr>,
    /// What its clock says, where it tells.
    pub clock: Option<Timestamp>,
}

impl EngineInfo {
    /// Kind and version, and what its machine has.
    #[must_use]
    pub fn into_parts(self) -> (String, Capacity) {
        let Self { version, cpus, memory_mb, disk_gb, gpus, architecture, .. } = self;
        let disk_gb = disk_gb.unwrap_or_default();
        (version, Capacity { cpus, memory_mb, disk_gb, gpus, architecture })
    }
}

/// How much room there is where an engine has the files of containers, in bytes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct DiskRoom {
    /// Left for everybody.
    pub free: u64,
    /// Of the whole file system; `u64::MAX` where that is not known.
    pub all: u64,
}

/// A container to be made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ContainerSpec {
    /// Installation it belongs to, label `berth.cluster`.
    pub cluster: String,
    /// The task; gives the name and the labels `berth.job`, `berth.attempt`, `berth.role`,
    /// `berth.index`, `berth.retry`.
    pub key: TaskKey,
    /// In which life of the database the task was given, label `berth.epoch`.
    pub epoch: Epoch,
    /// Further labels, `berth.user` and `berth.name` among them.
    pub labels: BTreeMap<String, String>,
    /// The image.
    pub image: String,
    /// The command, a shell text: run by `bash` where the image has it, else by `sh`, in the
    /// image's working directory. All tasks of a role share it.
    pub command: Arc<str>,
    /// The program that runs the command in the shell's place.
    pub guest: Option<Guest>,
    /// The volume with the job's code, as [`crate::Engine::provide`] has named it: read-only, as
    /// `code` in the folder that the image starts in.
    pub code: Option<String>,
    /// Folders of the node that the container has as well.
    pub folders: Vec<Folder>,
    /// Folders of file servers that it has as well.
    pub shares: Vec<Share>,
    /// What the environments of all tasks of the job have alike, sorted by name: it grows with their
    /// number, so they share it.
    pub job_env: Arc<[(String, String)]>,
    /// The rest of the environment, `NAME` and value, sorted by name; it goes before `job_env`.
    pub env: Vec<(String, String)>,
    /// CPU cores, a hard limit.
    pub cpus: u32,
    /// Memory in MiB, a hard limit, swap included.
    pub memory_mb: u64,
    /// `/dev/shm` in MiB.
    pub shm_mb: u64,
    /// Exactly these GPUs.
    pub gpus: Vec<GpuDevice>,
    /// How the GPUs get in.
    pub gpu_runtime: GpuRuntime,
    /// InfiniBand devices are wanted.
    pub infiniband: bool,
    /// The network it has.
    pub network: Network,
}

impl ContainerSpec {
    /// The container's name.
    #[must_use]
    pub fn name(&self) -> String {
        self.key.container_name(&self.cluster)
    }

    /// The volumes that were filled for it.
    pub fn volumes(&self) -> impl Iterator<Item = &str> {
        let guest = self.guest.iter().map(|guest| guest.volume.as_str());
        guest.chain(self.code.as_deref())
    }
}

/// Which network a container has.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Network {
    /// The node's own.
    Host,
    /// One that containers of this cluster share.
    Bridge {
        /// Its name; see [`crate::EndpointOptions::network`].
        name: String,
        /// The node's address in it, [`EngineInfo::tasks_address`].
        address: IpAddr,
        /// The container's ports that are reached there, by the same numbers.
        ports: Vec<u16>,
    },
}

/// A network that a node's engine has for a cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnNetwork {
    /// Its name.
    pub name: String,
    /// The cluster, its label `berth.cluster`.
    pub cluster: String,
}

/// A folder of the node in a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Folder {
    /// Where it is on the node.
    pub source: String,
    /// Where the container has it.
    pub target: String,
    /// Nothing in it can be changed through the container.
    pub read_only: bool,
}

/// A folder of a file server in a container: the node's engine mounts it for that container.
#[derive(Clone, PartialEq, Eq)]
pub struct Share {
    /// What speaks to the server, in the kernel's words: `nfs` or `cifs`.
    pub kind: &'static str,
    /// What is mounted: `:/export/data`, `//files/team`.
    pub device: String,
    /// How, separated by commas.
    pub options: String,
    /// Where the container has it.
    pub target: String,
    /// Nothing in it can be changed through the container.
    pub read_only: bool,
}

/// Its options may have a password in them.
impl fmt::Debug for Share {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { kind, device, target, read_only, options: _ } = self;
        let mut told = f.debug_struct("Share");
        told.field("kind", kind).field("device", device).field("target", target);
        told.field("read_only", read_only).finish_non_exhaustive()
    }
}

/// The program that runs a container's command and lets people enter.
#[derive(Clone, PartialEq, Eq)]
pub struct Guest {
    /// The volume it is in, as [`crate::Engine::provide`] has named it.
    pub volume: String,
    /// What it is told, a [`protocol::guest::GuestConfig`] as JSON.
    pub config: String,
}

/// What it is told has keys in it.
impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest").field("volume", &self.volume).finish_non_exhaustive()
    }
}

/// A GPU to be given to a container.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GpuDevice {
    /// Index on the node.
    pub index: u32,
    /// UUID, where known: it is preferred to the index.
    pub uuid: Option<String>,
}

/// A container as the engine has it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Container {
    /// The task it runs.
    pub key: TaskKey,
    /// In which life of the database that was given, as it says.
    pub epoch: Epoch,
    /// Its name.
    pub name: String,
    /// The engine's id.
    pub id: String,
    /// What it does.
    pub status: ContainerStatus,
}

/// A container of another cluster.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stranger {
    /// Its name.
    pub name: String,
    /// Whose it is.
    pub cluster: String,
    /// Whether it runs.
    pub runs: bool,
}

/// What a container does.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ContainerStatus {
    /// Made, never started.
    Created,
    /// It runs (or is paused by somebody).
    Running {
        /// Since when, by the engine's clock.
        started_at: Timestamp,
    },
    /// It has ended.
    Exited {
        /// Since when it ran; `None`: it never did, the engine could not start it.
        started_at: Option<Timestamp>,
        /// When it ended.
        finished_at: Timestamp,
        /// Exit code; a signal N is 128 + N.
        code: i32,
        /// The kernel killed it for its memory.
        oom_killed: bool,
        /// What the engine says when it could not be started.
        error: Option<String>,
    },
}

impl ContainerStatus {
    /// Whether it runs.
    #[must_use]
    pub fn is_running(&self) -> bool {
        match self {
            Self::Running { .. } => true,
            Self::Created | Self::Exited { .. } => false,
        }
    }

    /// Whether it was ever started.
    #[must_use]
    pub fn has_run(&self) -> bool {
        match self {
            Self::Created | Self::Exited { started_at: None, .. } => false,
            Self::Running { .. } | Self::Exited { started_at: Some(_), .. } => true,
        }
    }
}

/// Which part of the log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct LogRequest {
    /// Go on until the container ends.
    pub follow: bool,
    /// Only what was written since then.
    pub since: Option<Timestamp>,
    /// Only so many last lines; the engine finds them without sending the others.
    pub tail_lines: Option<u32>,
    /// Each piece says when it was written.
    pub stamped: bool,
}

/// A piece of the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LogChunk {
    /// Where the program wrote it.
    pub stream: Stream,
    /// What it wrote.
    pub bytes: Bytes,
    /// When, where that was asked for.
    pub at: Option<Timestamp>,
}

/// Standard output or standard error.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Stream {
    /// Standard output.
    Out,
    /// Standard error.
    Err,
}

/// What a container uses.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct Stats {
    /// Cores in use, averaged since the last sample.
    pub cpus: f64,
    /// Memory in bytes, caches left out.
    pub memory_bytes: u64,
    /// Bytes received.
    pub network_in: u64,
    /// Bytes sent.
    pub network_out: u64,
    /// Bytes read from disks.
    pub disk_read: u64,
    /// Bytes written to disks.
    pub disk_written: u64,
}

/// A command running in a container.
pub struct Exec {
    /// Its standard input.
    pub input: Pin<Box<dyn AsyncWrite + Send>>,
    /// What it writes.
    pub output: BoxStream<'static, Result<LogChunk>>,
    /// The engine's id of it, to resize its terminal and ask its exit code.
    pub id: String,
}

impl fmt::Debug for Exec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Exec").field("id", &self.id).finish_non_exhaustive()
    }
}
