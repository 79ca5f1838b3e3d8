//! Reasons and causes in plain English: what is so, and what to do about it. The pages have their
//! own sentences in every language; these are for REST, the command line and logs.

use std::fmt::{self, Display, Formatter};

use crate::amount::Amount;
use crate::exit::Cause;
use crate::ids::GpuType;
use crate::wait::{Limited, ResourceKind, WaitReason};

/// A number with its noun: `1 GPU`, `3 GPUs`.
#[must_use]
pub fn counted(count: impl Into<u64>, noun: &str) -> String {
    let count = count.into();
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}

/// A sentence's verb for a number.
fn is_are(count: impl Into<u64>) -> &'static str {
    if count.into() == 1 { "is" } else { "are" }
}

fn listed<T: Display>(items: &[T]) -> String {
    items.iter().map(ToString::to_string).collect::<Vec<_>>().join(", ")
}

/// Of which of some types a GPU is; nothing where any will do.
fn of_types(types: &[GpuType]) -> String {
    let types: Vec<String> = types.iter().map(ToString::to_string).collect();
    if types.is_empty() { String::new() } else { format!(" of type {}", types.join(" or ")) }
}

/// An amount in the unit that people use for it.
fn amount(resource: ResourceKind, amount: Amount) -> String {
    if resource == ResourceKind::Gpu && amount.is_part() {
        return format!("{amount} GPU");
    }
    let gpus = amount;
    let amount = amount.ceil();
    match resource {
        ResourceKind::Cpu => counted(amount, "CPU core"),
        ResourceKind::Gpu if gpus == Amount::whole(1) => "1 GPU".to_owned(),
        ResourceKind::Gpu => format!("{gpus} GPUs"),
        ResourceKind::Port => counted(amount, "port"),
        ResourceKind::Disk => format!("{amount} GB of disk"),
        ResourceKind::Memory if amount >= 1024 && amount.is_multiple_of(1024) => {
            format!("{} GB of memory", amount / 1024)
        }
        ResourceKind::Memory => format!("{amount} MB of memory"),
    }
}

impl Display for ResourceKind {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Cpu => "CPU cores",
            Self::Memory => "memory",
            Self::Disk => "disk",
            Self::Gpu => "GPUs",
            Self::Port => "ports",
        })
    }
}

impl Display for WaitReason {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queued => f.write_str("It was just queued and is placed in a moment."),
            Self::QuotaVc { virtual_cluster, resource, gpu_type, needs, free, share } => {
                let of = gpu_type.as_ref().map_or(String::new(), |of| format!(" of type {of}"));
                let (free, share) = (amount(*resource, *free), amount(*resource, *share));
                let needs = amount(*resource, *needs);
                write!(
                    f,
                    "Virtual cluster {virtual_cluster} has {free}{of} left of its {share}; this job \
                     needs {needs}. It starts when enough of its jobs end, or submit it to another \
                     virtual cluster."
                )
            }
            Self::Fragmented { gpu_types, needs, free, best_node } => write!(
                f,
                "{}{} {} free, but on no single node more than {best_node}; each task needs {needs} \
                 on one node. Fewer GPUs a task would start sooner.",
                counted(*free, "GPU"),
                of_types(gpu_types),
                is_are(*free)
            ),
            Self::TypeAbsent { wanted, existing } => {
                write!(f, "No node it may use has a GPU of type {}.", listed(wanted))?;
                if existing.is_empty() {
                    return f.write_str(" None has a GPU at all.");
                }
                write!(f, " There are: {}.", listed(existing))
            }
            Self::NodesAbsent { wanted } => {
                write!(f, "There is no node {wanted}. Ask for nodes that there are, or for any.")
            }
            Self::StorageAbsent { storage } => write!(
                f,
                "No node that could take it has the storage {storage}. It starts as soon as one has it: \
                 tell an administrator."
            ),
            Self::PortsOutside { first, last, allowed } => write!(
                f,
                "It asks for the ports {first} to {last}, but no node it may use gives these to tasks: \
                 beginAt lies in {} to {}, or is 0 for any ports.",
                allowed.first, allowed.last
            ),
            Self::GpusNotShared { wanted } => {
                f.write_str("It asks for part of a GPU, but no node shares its GPUs")?;
                if !wanted.is_empty() {
                    write!(f, " of type {}", listed(wanted))?;
                }
                f.write_str(". Ask for a whole GPU, or an administrator lets a node share them.")
            }
            Self::Behind { ahead } => write!(
                f,
                "{} of higher or equal priority {} ahead; starting this one now would delay them.",
                counted(*ahead, "job"),
                is_are(*ahead)
            ),
            Self::Gang { tasks, fit } => {
                write!(f, "All {tasks} tasks start together or not at all; {fit} would fit now.")
            }
            Self::Short { resource: ResourceKind::Gpu, gpu_types, needs, best_node }
                if needs.is_part() =>
            {
                write!(
                    f,
                    "A task needs {needs} of one GPU{}, but none has more than {best_node} free.",
                    of_types(gpu_types)
                )
            }
            Self::Short { resource, gpu_types, needs, best_node } => write!(
                f,
                "A task needs {}{}, but the best node has {} free.",
                amount(*resource, *needs),
                of_types(gpu_types),
                amount(*resource, *best_node)
            ),
            Self::NodeDown { nodes } => write!(
                f,
                "{} that could take it {} out of contact, draining or unhealthy.",
                counted(*nodes, "node"),
                is_are(*nodes)
            ),
            Self::Impossible { resource, needs, largest, virtual_cluster } => {
                let (needs, largest) = (amount(*resource, *needs), amount(*resource, *largest));
                f.write_str("This request can never be met: ")?;
                match virtual_cluster {
                    Some(name) => {
                        write!(
                            f,
                            "it asks for {needs}, virtual cluster {name} has {largest} in all"
                        )?;
                    }
                    None => write!(
                        f,
                        "a task asks for {needs}, the largest node it may use has {largest}"
                    )?,
                }
                f.write_str(". Ask for less.")
            }
            Self::ShareElsewhere { virtual_cluster, tasks, fit } => write!(
                f,
                "The share of virtual cluster {virtual_cluster} lies elsewhere: on the nodes it may use \
                 it holds {fit} of its {}, whatever else runs, and jobs of {virtual_cluster} borrow \
                 nothing. Ask for other nodes, or for any.",
                counted(*tasks, "task")
            ),
            Self::LevelFull { level, tasks, fit } => write!(
                f,
                "All {tasks} tasks have to be in one {level}, and the one with most room has it for \
                 {fit} of them now. Fewer tasks, or smaller ones, would start sooner."
            ),
            Self::LevelTooSmall { level, tasks, fit } => write!(
                f,
                "This request can never be met: all {tasks} tasks have to be in one {level}, and the \
                 largest that it may use holds {fit} of them. Ask for less, or for a wider level."
            ),
            Self::Hold { by: Some(by), administrator: false } => write!(f, "{by} holds it."),
            Self::Hold { by: Some(by), administrator: true } => {
                write!(f, "The administrator {by} holds it.")
            }
            Self::Hold { by: None, administrator: _ } => f.write_str("Somebody holds it."),
            Self::Backoff { until: _ } => {
                f.write_str("The last attempt failed; the next one begins after a pause.")
            }
            Self::GaveWay { times, until: _ } => write!(
                f,
                "It gave way {}: for a while, longer each time, it only starts on its virtual \
                 cluster's own share.",
                counted(*times, "time")
            ),
            Self::Preempting { jobs } => write!(
                f,
                "It starts as soon as {} {} given way to it.",
                counted(*jobs, "job"),
                if *jobs == 1 { "has" } else { "have" }
            ),
            Self::UserLimit { virtual_cluster, group, limited, needs, running, most } => {
                let whose = match group {
                    Some(group) => format!("the members of {group} together"),
                    None => "its owner".to_owned(),
                };
                let what = match limited {
                    Limited::Gpus => counted(*most, "GPU"),
                    Limited::Jobs => counted(*most, "job"),
                };
                let run = if *running == Amount::whole(1) { "runs" } else { "run" };
                write!(
                    f,
                    "In virtual cluster {virtual_cluster} {whose} may have {what} running at once: \
                     {running} of them {run}, and this job adds {needs}. It starts when enough of them \
                     end, and delays nobody until then."
                )
            }
            Self::NoNodes => f.write_str("There is no node yet; an administrator must add one."),
        }
    }
}

impl Display for Cause {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.what(f)?;
        let remedy = self.remedy();
        if remedy.is_empty() { Ok(()) } else { write!(f, " {remedy}") }
    }
}

/// What happened, without what to do about it.
struct What<'a>(&'a Cause);

impl Display for What<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        self.0.what(f)
    }
}

impl Cause {
    /// What happened, one sentence.
    #[must_use]
    pub fn sentence(&self) -> String {
        What(self).to_string()
    }

    fn what(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match self {
            Self::Succeeded => f.write_str("It succeeded."),
            Self::CommandFailed => f.write_str("The command failed."),
            Self::CommandNotFound => f.write_str("The command was not found in the image."),
            Self::CommandNotExecutable => f.write_str("The command cannot be executed."),
            Self::OutOfMemory { limit_mb } => {
                write!(f, "It used more memory than the {limit_mb} MB it asked for and was killed.")
            }
            Self::SharedMemory { shm_mb } => {
                write!(f, "The shared memory (/dev/shm) of {shm_mb} MB was too small.")
            }
            Self::GpuOutOfMemory => f.write_str("The GPU ran out of memory."),
            Self::CudaVersion => {
                f.write_str("CUDA, cuDNN and the driver's versions do not fit together.")
            }
            Self::CudaError => f.write_str("CUDA reported an error."),
            Self::GpuHardware => f.write_str("A GPU has uncorrectable memory errors."),
            Self::NcclError => f.write_str("NCCL could not connect, or timed out."),
            Self::DiskFull => f.write_str("No space was left on the disk."),
            Self::ModuleMissing => f.write_str("A Python module is missing."),
            Self::FileMissing => f.write_str("A file is missing."),
            Self::ProgramError => f.write_str("The program has a syntax or name error."),
            Self::Signal { signal } => write!(f, "It was killed by signal {signal}."),
            Self::ImageNotFound { image, message } => {
                write!(f, "The image {image} could not be pulled: {message}.")
            }
            Self::ImageUnavailable { node, image, message } => {
                write!(f, "The image {image} could not be brought to {node}: {message}.")
            }
            Self::RegistryDenied { image } => {
                write!(f, "The registry refused access to {image}.")
            }
            Self::OtherArchitecture { node, image, of_image: Some(made), of_node: Some(has) } => {
                write!(f, "The image {image} is made for {made}, and {node} has {has}.")
            }
            Self::OtherArchitecture { node, image, of_image: None, of_node: Some(has) } => {
                write!(f, "The image {image} has no variant for {has}, which {node} has.")
            }
            Self::OtherArchitecture { node, image, of_image: _, of_node: None } => {
                write!(f, "The image {image} has no variant for the processors of {node}.")
            }
            Self::ContainerRefused { message } => {
                write!(f, "The engine refused to start the container: {message}.")
            }
            Self::PortTaken => f.write_str("One of its ports was taken by another program."),
            Self::ContainerLost { node } => write!(f, "Its container on {node} vanished."),
            Self::NodeLost { node } => write!(f, "Its node {node} was lost."),
            Self::EngineRestarted { node } => {
                write!(f, "The container engine of {node} restarted.")
            }
            Self::NodeOutOfMemory { node } => {
                write!(f, "The memory of {node} ran out; the task was below its own limit.")
            }
            Self::NodeUnwell { node, message } => {
                write!(f, "Its node {node} is not well: {message}.")
            }
            Self::StorageAbsent { node, storage: _, message } => {
                write!(f, "Its node {node} lacks a storage: {message}.")
            }
            Self::EngineFailed { node, message } => {
                write!(f, "The container engine of {node} could not start it: {message}.")
            }
            Self::NodeDrained { node } => write!(f, "Its node {node} was emptied."),
            Self::Preempted => f.write_str("Its place was needed for guaranteed work."),
            Self::StopRequested { by } => write!(f, "It was stopped by {by}."),
            Self::JobEnded { role: Some(role), index: Some(index) } => {
                write!(f, "It was ended with the job: task {role}-{index} decided.")
            }
            Self::JobEnded { role: _, index: _ } => f.write_str("It was ended with the job."),
            Self::TimeLimit => f.write_str("Its time limit was over."),
            Self::Idle { minutes } => {
                write!(f, "Its GPUs did nothing for {}.", counted(*minutes, "minute"))
            }
        }
    }

    /// What to do about it; empty where there is nothing to do.
    #[must_use]
    pub fn remedy(&self) -> &'static str {
        match self {
            Self::Succeeded | Self::StopRequested { .. } | Self::JobEnded { .. } => "",
            Self::CommandFailed => "The end of the log says more.",
            Self::CommandNotFound => "Check its spelling, and that the image has it on the PATH.",
            Self::CommandNotExecutable => {
                "Make the file executable, or call its interpreter. Where the log says \"exec format \
                 error\", take an image for the node's processor."
            }
            Self::OutOfMemory { .. } => "Raise memoryMB, or load less at once.",
            Self::SharedMemory { .. } => "Raise shmMB, or use fewer data-loading workers.",
            Self::GpuOutOfMemory => "Use a smaller batch, or a GPU with more memory.",
            Self::CudaVersion => "Use an image whose CUDA the driver of the node supports.",
            Self::CudaError => {
                "The log names the call; a smaller example shows whether it is yours."
            }
            Self::GpuHardware => "It is tried again elsewhere; tell the administrator.",
            Self::NcclError => "Check hosts and ports of the tasks; NCCL_DEBUG=INFO tells more.",
            Self::DiskFull => "Ask for more storage, or write results to the output directory.",
            Self::ModuleMissing => {
                "Install it in the image, or by pip at the start of the command."
            }
            Self::FileMissing => "Check the path, and that codeDir or dataDir holds the file.",
            Self::ProgramError => "The log shows the line.",
            Self::Signal { .. } => "If the program does not send it itself, see the log.",
            Self::ImageNotFound { .. } => {
                "Check its name and tag; a private one needs credentials."
            }
            Self::RegistryDenied { .. } => {
                "Check registry, user name and password in authFile or auth."
            }
            Self::OtherArchitecture { .. } => {
                "Take an image that has a variant for the node's processors, or ask for other \
                 nodes by label."
            }
            Self::ContainerRefused { .. } => "The engine's words say what to change.",
            Self::PortTaken => "It is tried again with other ports.",
            Self::ContainerLost { .. }
            | Self::NodeLost { .. }
            | Self::EngineRestarted { .. }
            | Self::NodeOutOfMemory { .. }
            | Self::NodeUnwell { .. }
            | Self::EngineFailed { .. }
            | Self::ImageUnavailable { .. } => "It is tried again; this does not count as a retry.",
            Self::StorageAbsent { .. } => {
                "It is tried on nodes that have the storage; this does not count as a retry."
            }
            Self::NodeDrained { .. } | Self::Preempted => {
                "It is queued again; this does not count as a retry."
            }
            Self::TimeLimit => "Raise the limit, or save checkpoints and go on from there.",
            Self::Idle { .. } => {
                "Ask for GPUs when there is work for them, or keep the job in time."
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reasons_are_sentences_with_their_numbers() {
        for (types, of) in [(vec![], ""), (vec!["A100".parse().unwrap()], " of type A100")] {
            let reason =
                WaitReason::Fragmented { gpu_types: types, needs: 8, free: 12, best_node: 3 };
            let said = format!(
                "12 GPUs{of} are free, but on no single node more than 3; each task needs 8 on one \
                 node. Fewer GPUs a task would start sooner."
            );
            assert_eq!(reason.to_string(), said);
        }
        let impossible = WaitReason::Impossible {
            resource: ResourceKind::Gpu,
            needs: 16.into(),
            largest: 8.into(),
            virtual_cluster: None,
        };
        assert_eq!(
            impossible.to_string(),
            "This request can never be met: a task asks for 16 GPUs, the largest node it may use \
             has 8 GPUs. Ask for less."
        );
        let short = |resource, types: &[&str], needs, best_node| {
            let gpu_types = types.iter().map(|of| of.parse().unwrap()).collect();
            WaitReason::Short { resource, gpu_types, needs, best_node }
        };
        let memory = short(ResourceKind::Memory, &[], 262_144.into(), 1000.into());
        assert_eq!(
            memory.to_string(),
            "A task needs 256 GB of memory, but the best node has 1000 MB of memory free."
        );
        let milli = Amount::from_milli;
        let part = |types: &[&str]| short(ResourceKind::Gpu, types, milli(500), milli(250));
        assert_eq!(
            part(&[]).to_string(),
            "A task needs 0.5 of one GPU, but none has more than 0.25 free."
        );
        assert_eq!(
            part(&["A100"]).to_string(),
            "A task needs 0.5 of one GPU of type A100, but none has more than 0.25 free."
        );
        assert_eq!(
            short(ResourceKind::Gpu, &["A100", "V100"], 8.into(), 3.into()).to_string(),
            "A task needs 8 GPUs of type A100 or V100, but the best node has 3 GPUs free."
        );
        let limit = |group: Option<&str>, limited, (running, most): (u64, u32), needs: u64| {
            WaitReason::UserLimit {
                virtual_cluster: "lab".parse().unwrap(),
                group: group.map(|group| group.parse().unwrap()),
                limited,
                needs: needs.into(),
                running: running.into(),
                most,
            }
        };
        assert_eq!(
            limit(None, Limited::Gpus, (6, 8), 4).to_string(),
            "In virtual cluster lab its owner may have 8 GPUs running at once: 6 of them run, and this \
             job adds 4. It starts when enough of them end, and delays nobody until then."
        );
        let vision = limit(Some("vision"), Limited::Jobs, (8, 8), 1).to_string();
        assert!(vision.contains("the members of vision together may have 8 jobs"), "{vision}");
        let alone = limit(None, Limited::Jobs, (1, 1), 1).to_string();
        assert!(alone.contains("may have 1 job running at once: 1 of them runs"), "{alone}");
        let wanted = vec!["A100".parse().unwrap()];
        assert!(
            WaitReason::GpusNotShared { wanted }.to_string().starts_with(
                "It asks for part of a GPU, but no node shares its GPUs of type A100."
            )
        );
        assert!(WaitReason::Behind { ahead: 1 }.to_string().starts_with("1 job of higher or"));
        let gives_way = |jobs| WaitReason::Preempting { jobs }.to_string();
        assert_eq!(gives_way(1), "It starts as soon as 1 job has given way to it.");
        assert_eq!(gives_way(5), "It starts as soon as 5 jobs have given way to it.");
        let virtual_cluster = "vision".parse().unwrap();
        assert_eq!(
            WaitReason::ShareElsewhere { virtual_cluster, tasks: 2, fit: 1 }.to_string(),
            "The share of virtual cluster vision lies elsewhere: on the nodes it may use it holds 1 of \
             its 2 tasks, whatever else runs, and jobs of vision borrow nothing. Ask for other nodes, \
             or for any."
        );
        let level = crate::spec::TopologyLevel::Rack;
        assert_eq!(
            WaitReason::LevelFull { level, tasks: 16, fit: 12 }.to_string(),
            "All 16 tasks have to be in one rack, and the one with most room has it for 12 of them now. \
             Fewer tasks, or smaller ones, would start sooner."
        );
        let never = WaitReason::LevelTooSmall { level, tasks: 16, fit: 8 }.to_string();
        assert!(never.starts_with("This request can never be met: all 16 tasks"), "{never}");
    }

    #[test]
    fn causes_have_a_remedy_where_something_can_be_done() {
        let cause = Cause::OutOfMemory { limit_mb: 512 };
        assert_eq!(
            cause.to_string(),
            "It used more memory than the 512 MB it asked for and was killed. Raise memoryMB, or \
             load less at once."
        );
        assert_eq!(Cause::Succeeded.to_string(), "It succeeded.");
        for (minutes, said) in [(1, "for 1 minute."), (45, "for 45 minutes.")] {
            let idle = Cause::Idle { minutes }.to_string();
            assert!(idle.starts_with(&format!("Its GPUs did nothing {said}")), "{idle}");
        }
    }
}
