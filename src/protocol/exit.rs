//! How a task ended and why, as data: exit code, cause, remedy, evidence.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::architecture::Architecture;
use crate::ids::{NodeName, RoleName, StorageName};

/// How a task, an attempt or a job ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Exit {
    /// The process's exit code, where there was a process. A signal N is 128 + N.
    pub code: Option<i32>,
    /// What it comes from.
    pub cause: Cause,
    /// Log lines that show it, oldest first, at most five.
    pub evidence: Vec<String>,
}

/// Where a failure comes from, and so whether it counts against `retryCount`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Blame {
    /// Nobody: it succeeded.
    None,
    /// The user's program or request: counts.
    User,
    /// The platform: tried again, never counted.
    Platform,
    /// A person or the job's own rules ended it: never tried again.
    Stop,
}

crate::tagged! {
    "code" "Cause"
    /// Why something ended. The pages have a sentence and a remedy for each, in every language.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize, JsonSchema)]
    pub enum Cause {
        /// Exit code 0.
        Succeeded,
        /// A non-zero exit code that nothing better explains.
        CommandFailed,
        /// The command was not found (127).
        CommandNotFound,
        /// The command cannot be executed (126).
        CommandNotExecutable,
        /// The kernel killed it for using more memory than it asked for.
        OutOfMemory {
            /// The limit in MiB.
            limit_mb: u64,
        },
        /// `/dev/shm` was too small (bus error).
        SharedMemory {
            /// Its size in MiB.
            shm_mb: u64,
        },
        /// The GPU ran out of memory.
        GpuOutOfMemory,
        /// CUDA, cuDNN or driver versions do not fit together.
        CudaVersion,
        /// Another CUDA error.
        CudaError,
        /// A GPU has uncorrectable memory errors.
        GpuHardware,
        /// NCCL could not connect or timed out.
        NcclError,
        /// No space left on the device.
        DiskFull,
        /// A Python module is missing.
        ModuleMissing,
        /// A file is missing.
        FileMissing,
        /// The program has a syntax or name error.
        ProgramError,
        /// Killed by a signal that nothing better explains.
        Signal {
            /// Its number.
            signal: i32,
        },
        /// The image does not exist or may not be pulled.
        ImageNotFound {
            /// The image.
            image: String,
            /// The engine's words.
            message: String,
        },
        /// The image did not come to the node, again and again: its registry, or who else has it, does
        /// not answer as it should.
        ImageUnavailable {
            /// Where it was to come.
            node: NodeName,
            /// The image.
            image: String,
            /// The engine's words.
            message: String,
        },
        /// The registry refused the credentials.
        RegistryDenied {
            /// The image.
            image: String,
        },
        /// The image is made for other processors than its node's.
        OtherArchitecture {
            /// Where it was to run.
            node: NodeName,
            /// The image.
            image: String,
            /// What it is made for, where that is known.
            #[serde(default)]
            of_image: Option<Architecture>,
            /// What the node has, where that is known.
            #[serde(default)]
            of_node: Option<Architecture>,
        },
        /// The engine refused to make or start the container.
        ContainerRefused {
            /// The engine's words.
            message: String,
        },
        /// A port was taken by something that is not ours.
        PortTaken,
        /// The container vanished: removed by somebody else, or its engine lost it.
        ContainerLost {
            /// Where.
            node: NodeName,
        },
        /// The node was lost, and the first copy is surely dead.
        NodeLost {
            /// Which.
            node: NodeName,
        },
        /// The engine was restarted, or its machine, and took the container with it.
        EngineRestarted {
            /// Where.
            node: NodeName,
        },
        /// The memory of the node ran out, while the task was below its own limit.
        NodeOutOfMemory {
            /// Where.
            node: NodeName,
        },
        /// The node, or a GPU of the task there, is found not to be well.
        NodeUnwell {
            /// Where.
            node: NodeName,
            /// What is wrong with it.
            message: String,
        },
        /// The node does not have a storage that the job asks for, as its administrator has set it up.
        StorageAbsent {
            /// Where.
            node: NodeName,
            /// The storage.
            storage: StorageName,
            /// What is wrong with it there.
            message: String,
        },
        /// The engine failed again and again to make or start the container.
        EngineFailed {
            /// Where.
            node: NodeName,
            /// The engine's words.
            message: String,
        },
        /// Its place was needed for guaranteed work.
        Preempted,
        /// An administrator emptied its node.
        NodeDrained {
            /// Which.
            node: NodeName,
        },
        /// A person asked to stop the job.
        StopRequested {
            /// Who.
            by: String,
        },
        /// The job's completion rule ended it: another task decided.
        JobEnded {
            /// The role whose task decided.
            role: Option<RoleName>,
            /// The task's index.
            index: Option<u32>,
        },
        /// The job's time limit is over.
        TimeLimit,
        /// It held GPUs and did not use them, for longer than its virtual cluster lets it.
        Idle {
            /// For so many minutes.
            minutes: u32,
        },
    }
}

impl Cause {
    /// Whether what ends for it may be told before: nothing has failed, and nobody is in a hurry.
    #[must_use]
    pub fn leaves_time(&self) -> bool {
        matches!(
            self,
            Self::Preempted | Self::NodeDrained { .. } | Self::TimeLimit | Self::Idle { .. }
        )
    }

    /// Whose fault it is.
    #[must_use]
    pub fn blame(&self) -> Blame {
        match self {
            Cause::Succeeded => Blame::None,
            Cause::CommandFailed
            | Cause::CommandNotFound
            | Cause::CommandNotExecutable
            | Cause::OutOfMemory { .. }
            | Cause::SharedMemory { .. }
            | Cause::GpuOutOfMemory
            | Cause::CudaVersion
            | Cause::CudaError
            | Cause::NcclError
            | Cause::DiskFull
            | Cause::ModuleMissing
            | Cause::FileMissing
            | Cause::ProgramError
            | Cause::Signal { .. }
            | Cause::ImageNotFound { .. }
            | Cause::RegistryDenied { .. }
            | Cause::OtherArchitecture { .. }
            | Cause::ContainerRefused { .. } => Blame::User,
            Cause::GpuHardware
            | Cause::PortTaken
            | Cause::ContainerLost { .. }
            | Cause::NodeLost { .. }
            | Cause::EngineRestarted { .. }
            | Cause::NodeOutOfMemory { .. }
            | Cause::NodeUnwell { .. }
            | Cause::StorageAbsent { .. }
            | Cause::EngineFailed { .. }
            | Cause::ImageUnavailable { .. }
            | Cause::NodeDrained { .. }
            | Cause::Preempted => Blame::Platform,
            Cause::StopRequested { .. }
            | Cause::JobEnded { .. }
            | Cause::TimeLimit
            | Cause::Idle { .. } => Blame::Stop,
        }
    }
}
