use protocol::amount::Amount;
use protocol::ids::GpuType;
use protocol::wait::{Limited, ResourceKind, WaitReason};

use crate::i18n::en::pages::plural;
use crate::i18n::waits::{amount, list};

pub(super) fn wait(reason: &WaitReason) -> String {
    match reason {
        WaitReason::Queued => "In the queue; the scheduler looks at it next".to_owned(),
        WaitReason::QuotaVc { virtual_cluster, resource, gpu_type, needs, free, share } => {
            let what = gpu_type.as_ref().map_or_else(String::new, |kind| format!("{kind} "));
            let (free, needs) = (amount(*resource, *free), amount(*resource, *needs));
            let share = amount(*resource, *share);
            let name = word(*resource);
            format!(
                "Virtual cluster {virtual_cluster} has {free} of its {share} {what}{name} free; \
                 this job needs {needs}"
            )
        }
        WaitReason::Fragmented { gpu_types, needs, free, best_node } => format!(
            "{free} {}{} free, but on no single node more than {best_node}; this task needs {needs} on \
             one node",
            spaced(gpu_types),
            if *free == 1 { "GPU is" } else { "GPUs are" },
        ),
        WaitReason::TypeAbsent { wanted, existing } => {
            let there = if existing.is_empty() { "none".to_owned() } else { list(existing, ", ") };
            format!("No node it may use has GPU type {}; there is: {there}", list(wanted, " or "))
        }
        WaitReason::NodesAbsent { wanted } => format!("There is no node {wanted}"),
        WaitReason::StorageAbsent { storage } => {
            format!("No node that could take it has the storage {storage}")
        }
        WaitReason::PortsOutside { first, last, allowed } => format!(
            "It asks for the ports {first}–{last}; nodes it may use give {}–{}",
            allowed.first, allowed.last
        ),
        WaitReason::GpusNotShared { wanted } => {
            let of = if wanted.is_empty() { "" } else { " of type " };
            let wanted = list(wanted, " or ");
            format!("It asks for part of a GPU, but no node shares its GPUs{of}{wanted}")
        }
        WaitReason::Behind { ahead: 1 } => "1 job of higher or equal priority is ahead".to_owned(),
        WaitReason::Behind { ahead } => {
            format!("{ahead} jobs of higher or equal priority are ahead")
        }
        WaitReason::Gang { tasks, fit } => {
            let verb = if *fit == 1 { "fits" } else { "fit" };
            format!("Waiting until all {tasks} tasks can start together ({fit} {verb} now)")
        }
        WaitReason::Short { resource: ResourceKind::Gpu, gpu_types, needs, best_node }
            if needs.is_part() =>
        {
            let of = spaced(gpu_types);
            format!("A task needs {needs} of one {of}GPU, none has more than {best_node} free")
        }
        WaitReason::Short { resource, gpu_types, needs, best_node } => format!(
            "No node has enough {}{}: a task needs {}, the best node has {} free",
            spaced(gpu_types),
            word(*resource),
            amount(*resource, *needs),
            amount(*resource, *best_node),
        ),
        WaitReason::NodeDown { nodes: 1 } => {
            "1 node that could take it does not answer, is draining or is unhealthy".to_owned()
        }
        WaitReason::NodeDown { nodes } => {
            format!("{nodes} nodes that could take it do not answer, are draining or are unhealthy")
        }
        WaitReason::Impossible { resource, needs, largest, virtual_cluster } => {
            let (needs, largest) = (amount(*resource, *needs), amount(*resource, *largest));
            let name = word(*resource);
            match virtual_cluster {
                Some(cluster) => format!(
                    "This request can never be met: it asks {needs} {name}, the share of virtual \
                     cluster {cluster} is {largest}"
                ),
                None => format!(
                    "This request can never be met: it asks {needs} {name} per task, the largest \
                     node it may use has {largest}"
                ),
            }
        }
        WaitReason::ShareElsewhere { virtual_cluster, tasks, fit } => {
            let tasks = if *tasks == 1 { "1 task".to_owned() } else { format!("{tasks} tasks") };
            format!(
                "The share of virtual cluster {virtual_cluster} lies elsewhere: on the nodes it may use \
                 it holds {fit} of its {tasks}, whatever else runs, and its jobs borrow nothing"
            )
        }
        WaitReason::LevelFull { level, tasks, fit } => format!(
            "Waiting until one {level} has room for all {tasks} tasks (the one with most room has it \
             for {fit} now)"
        ),
        WaitReason::LevelTooSmall { level, tasks, fit } => format!(
            "This request can never be met: all {tasks} tasks have to be in one {level}, the largest \
             it may use holds {fit}"
        ),
        WaitReason::Hold { by: Some(by), administrator: true } => {
            format!("Held by the administrator {by}")
        }
        WaitReason::Hold { by: Some(by), administrator: false } => format!("Held by {by}"),
        WaitReason::Hold { by: None, administrator: _ } => "Held".to_owned(),
        WaitReason::Backoff { .. } => {
            "The last attempt failed; the next one begins after a pause, which grows with each failure".to_owned()
        }
        WaitReason::GaveWay { times: 1, .. } => {
            "It gave way once, and is likely to again before it ends: for a while it only starts on its own \
             virtual cluster's share"
                .to_owned()
        }
        WaitReason::GaveWay { times, .. } => format!(
            "It gave way {}: for a while, longer each time, it only starts on its own virtual \
             cluster's share",
            plural((*times).into(), "time", "times")
        ),
        WaitReason::Preempting { jobs: 1 } => {
            "Starts as soon as 1 job has given way to it".to_owned()
        }
        WaitReason::Preempting { jobs } => {
            format!("Starts as soon as {jobs} jobs have given way to it")
        }
        WaitReason::UserLimit { virtual_cluster, group, limited, needs, running, most } => {
            let whose = match group {
                Some(group) => format!("the members of {group} together"),
                None => "its owner".to_owned(),
            };
            let what = match limited {
                Limited::Gpus => plural((*most).into(), "GPU", "GPUs"),
                Limited::Jobs => plural((*most).into(), "job", "jobs"),
            };
            let run = if *running == Amount::whole(1) { "runs" } else { "run" };
            format!(
                "In virtual cluster {virtual_cluster} {whose} may have {what} running at once: \
                 {running} {run}, and it adds {needs}"
            )
        }
        WaitReason::NoNodes => "There is no node yet".to_owned(),
    }
}

pub(super) fn remedy(reason: &WaitReason) -> &'static str {
    match reason {
        WaitReason::QuotaVc { .. } => {
            "Starts when jobs of this virtual cluster end; or ask for less, or use another one."
        }
        WaitReason::Fragmented { .. } => "Ask for fewer GPUs per task, or wait for a whole node.",
        WaitReason::TypeAbsent { .. } => "Ask for a GPU type that exists.",
        WaitReason::NodesAbsent { .. } => "Ask for nodes that there are, or for any.",
        WaitReason::StorageAbsent { .. } => {
            "It starts as soon as a node has the storage: tell an administrator."
        }
        WaitReason::PortsOutside { .. } => "Ask for ports of that range, or for any (beginAt 0).",
        WaitReason::GpusNotShared { .. } => {
            "Ask for a whole GPU, or an administrator to let a node share its GPUs."
        }
        WaitReason::LevelFull { .. } => "Fewer tasks, or a wider level, would start sooner.",
        WaitReason::LevelTooSmall { .. } => {
            "Stop the job and submit it again asking for less, or for a wider level."
        }
        WaitReason::Gang { .. } => "Fewer tasks, or smaller ones, would start sooner.",
        WaitReason::Short { resource, best_node, .. } if *best_node == Amount::default() => {
            match resource {
                ResourceKind::Gpu => {
                    "Starts when jobs that hold them end, or with another GPU type."
                }
                ResourceKind::Cpu
                | ResourceKind::Memory
                | ResourceKind::Disk
                | ResourceKind::Port => "Starts when jobs that hold it end.",
            }
        }
        WaitReason::Short { .. } => "Asking for less of it would start the job sooner.",
        WaitReason::Impossible { .. } => "Stop the job and submit it again asking for less.",
        WaitReason::ShareElsewhere { .. } => {
            "Ask for other nodes or for any; or an administrator lets its virtual cluster borrow."
        }
        WaitReason::NodeDown { .. } => "An administrator can see on the nodes page what is wrong.",
        WaitReason::NoNodes => "An administrator adds one under Administration.",
        WaitReason::Hold { by: _, administrator: true } => "Only an administrator releases it.",
        WaitReason::Hold { by: _, administrator: false } => "It waits until it is released.",
        WaitReason::UserLimit { .. } => {
            "Starts when enough of them end; until then it delays nobody."
        }
        WaitReason::Queued | WaitReason::Behind { .. } => "",
        WaitReason::GaveWay { .. } => "After that it may borrow again what others leave idle.",
        WaitReason::Backoff { .. } | WaitReason::Preempting { .. } => "",
    }
}

/// Types before what is of them, if there are any.
fn spaced(types: &[GpuType]) -> String {
    if types.is_empty() { String::new() } else { format!("{} ", list(types, " or ")) }
}

fn word(resource: ResourceKind) -> &'static str {
    match resource {
        ResourceKind::Cpu => "CPU cores",
        ResourceKind::Memory => "memory",
        ResourceKind::Disk => "disk",
        ResourceKind::Gpu => "GPUs",
        ResourceKind::Port => "ports",
    }
}
