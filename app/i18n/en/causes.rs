use protocol::exit::Cause;

use crate::i18n::causes::signal;
use crate::i18n::en::pages::plural;
use crate::number;

pub(super) fn cause(cause: &Cause) -> String {
    let fixed = match cause {
        Cause::Succeeded => "The command ended with exit code 0",
        Cause::CommandFailed => "The command ended with an error",
        Cause::CommandNotFound => "The command was not found in the image",
        Cause::CommandNotExecutable => "The command is not executable",
        Cause::GpuOutOfMemory => "The GPU ran out of memory",
        Cause::CudaVersion => "CUDA, cuDNN or driver versions do not fit together",
        Cause::CudaError => "A CUDA error",
        Cause::GpuHardware => "A GPU has uncorrectable memory errors",
        Cause::NcclError => "NCCL could not connect or timed out",
        Cause::DiskFull => "No space was left on the disk",
        Cause::ModuleMissing => "A Python module is missing",
        Cause::FileMissing => "A file is missing",
        Cause::ProgramError => "An error in the program",
        Cause::PortTaken => "A port was taken by something else",
        Cause::Preempted => "Its place was needed for guaranteed work",
        Cause::TimeLimit => "The job's time limit is over",
        Cause::OutOfMemory { limit_mb } => {
            let limit = number::memory(*limit_mb);
            return format!("Killed: it used more memory than the {limit} it asked for");
        }
        Cause::SharedMemory { shm_mb } => {
            return format!("Shared memory of {} was too small", number::memory(*shm_mb));
        }
        Cause::Signal { signal: number } => return format!("Killed by signal {}", signal(*number)),
        Cause::ImageNotFound { image, message } => {
            return format!("Image {image} cannot be pulled: {message}");
        }
        Cause::ImageUnavailable { node, image, message } => {
            return format!("Image {image} could not be brought to node {node}: {message}");
        }
        Cause::RegistryDenied { image } => {
            return format!("The registry refused access to image {image}");
        }
        Cause::OtherArchitecture { node, image, of_image: Some(made), of_node: Some(has) } => {
            return format!("Image {image} is made for {made}, and node {node} has {has}");
        }
        Cause::OtherArchitecture { node, image, of_node: Some(has), of_image: None } => {
            return format!("Image {image} has no variant for {has}, which node {node} has");
        }
        Cause::OtherArchitecture { node, image, of_node: None, of_image: _ } => {
            return format!("Image {image} has no variant for the processors of node {node}");
        }
        Cause::ContainerRefused { message } => {
            return format!("The container could not be started: {message}");
        }
        Cause::ContainerLost { node } => return format!("The container vanished from node {node}"),
        Cause::NodeDrained { node } => return format!("Node {node} was emptied"),
        Cause::NodeLost { node } => return format!("Node {node} was lost"),
        Cause::EngineRestarted { node } => {
            return format!("The container engine of node {node} was restarted");
        }
        Cause::NodeOutOfMemory { node } => {
            return format!("The memory of node {node} ran out; the task was below its own limit");
        }
        Cause::NodeUnwell { node, message } => {
            return format!("Node {node} is not well: {message}");
        }
        Cause::StorageAbsent { node, storage: _, message } => {
            return format!("Node {node} lacks a storage that it asks for: {message}");
        }
        Cause::EngineFailed { node, message } => {
            return format!("The container engine of node {node} could not start it: {message}");
        }
        Cause::Idle { minutes } => {
            let minutes = plural((*minutes).into(), "minute", "minutes");
            return format!("Its GPUs did nothing for {minutes}");
        }
        Cause::StopRequested { by } => return format!("Stopped by {by}"),
        Cause::JobEnded { role: Some(role), index: Some(index) } => {
            return format!("The job ended when {role}-{index} did");
        }
        Cause::JobEnded { role: Some(role), index: None } => {
            return format!("The job ended by the rule of role {role}");
        }
        Cause::JobEnded { role: None, index: _ } => "The job ended by its own rule",
    };
    fixed.to_owned()
}

pub(super) fn remedy(cause: &Cause) -> &'static str {
    match cause {
        Cause::Signal { signal: 9 } => {
            "It was below its memory limit: something killed it, or the node ran out of memory."
        }
        Cause::Signal { signal: 15 } => {
            "Something in the container asked it to end: a timeout, a kill, another program."
        }
        Cause::Signal { signal: 4 | 6 | 7 | 8 | 11 } => {
            "Native code crashed: check that its libraries fit each other and the CPU. In Python, \
             PYTHONFAULTHANDLER=1 names the line."
        }
        Cause::CommandFailed | Cause::Signal { .. } => {
            "The end of the log says what the program was doing."
        }
        Cause::CommandNotFound => "Check its spelling and that the image contains it.",
        Cause::CommandNotExecutable => {
            "Start a script by its interpreter (bash run.sh) or make it executable. Where the log \
             says “exec format error”, it was built for another processor: take an image for the \
             node's, or ask for nodes by label."
        }
        Cause::OutOfMemory { .. } => {
            "Ask for more memory, or use smaller batches or fewer loader processes."
        }
        Cause::SharedMemory { .. } => "Raise shared memory (shmMB): data loaders need it.",
        Cause::GpuOutOfMemory => "Use smaller batches, or a GPU type with more memory.",
        Cause::CudaVersion => "Use an image built for the driver of the nodes.",
        Cause::CudaError => "Run with CUDA_LAUNCH_BLOCKING=1 to find the line.",
        Cause::NcclError => "Run with NCCL_DEBUG=INFO and check that all tasks were alive.",
        Cause::DiskFull => "Write less into the container, or ask for more disk.",
        Cause::ModuleMissing => "Install it in the image, or in the command before the program.",
        Cause::FileMissing => "Check the path: it is looked for inside the container.",
        Cause::ProgramError => "The log names the file and the line.",
        Cause::ImageNotFound { .. } => {
            "Check its name and tag, and that the nodes reach its registry."
        }
        Cause::RegistryDenied { .. } => "Check the credentials in authFile.",
        Cause::OtherArchitecture { .. } => {
            "Take an image that has a variant for the node's processors (docker buildx builds such \
             images), or ask for nodes with those that it is made for by label."
        }
        Cause::ContainerRefused { .. } => "Check the image and the command.",
        Cause::TimeLimit => "Raise the limit, or save checkpoints and go on from them.",
        Cause::Idle { .. } => {
            "Its virtual cluster stops what does not use its GPUs. Start it when there is work for them, \
             or keep it on its page in time."
        }
        Cause::GpuHardware
        | Cause::PortTaken
        | Cause::ContainerLost { .. }
        | Cause::NodeLost { .. }
        | Cause::EngineRestarted { .. }
        | Cause::NodeOutOfMemory { .. }
        | Cause::NodeUnwell { .. }
        | Cause::EngineFailed { .. }
        | Cause::ImageUnavailable { .. } => {
            "The platform is to blame: it is tried again and does not count as a retry."
        }
        Cause::StorageAbsent { .. } => {
            "It goes to nodes that have the storage, and waits where none has. This does not count as a \
             retry."
        }
        Cause::NodeDrained { .. } | Cause::Preempted => {
            "It starts again by itself, in its old place in the queue. This does not count as a retry."
        }
        Cause::Succeeded | Cause::StopRequested { .. } | Cause::JobEnded { .. } => "",
    }
}
