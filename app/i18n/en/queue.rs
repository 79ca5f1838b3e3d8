use api::cluster::Promised;
use protocol::wait::{Ground, ResourceKind, Scarce};

use crate::i18n::en::spans::span;
use crate::i18n::waits::amount;
use crate::i18n::words_queue::{Effects, Queue};
use crate::number::count;

pub(super) const QUEUE: Queue = Queue {
    scarce: |scarce| {
        let of = |value| amount(scarce.resource, value);
        if scarce.resource == ResourceKind::Gpu && scarce.needs.is_part() {
            let Scarce { needs, free, best_node, .. } = scarce;
            return format!(
                "A task needs {needs} of one GPU; {free} free in all, at most {best_node} of one"
            );
        }
        format!(
            "A task needs {} {}; {} free in all, at most {} on one node",
            of(scarce.needs),
            word(scarce.resource),
            of(scarce.free),
            of(scarce.best_node),
        )
    },
    holders: "Held by",
    between: |from, to| format!("Expected to start in {} to {},", span(from), span(to)),
    not_before: |from| format!("Expected to start in {} or later,", span(from)),
    soon: "Expected to start at any moment,",
    ground: |ground| match ground {
        Ground::Limits => "from time limits",
        Ground::PastRuns => "from how long like jobs have run",
        Ground::Elapsed => "only from how long those ahead have run so far",
    },
    turn: "Its turn",
    hold: "Hold",
    hold_text: "It does not start until it is released.",
    release: "Release",
    release_text: "It starts as soon as it is its turn.",
    first: "To the front",
    earlier: "Earlier",
    later: "Later",
    last: "To the end",
    move_own: "Your jobs change places with each other; nobody else waits longer.",
    move_any: "It goes past the jobs of others.",
    set_priority: "Set priority",
    priority_text: "Jobs of a higher priority go first.",
    done: "Its turn was changed.",
    thinking: "What this does is being found out…",
    effect: Effects {
        nothing: "No job starts, waits or gives way at once because of this.",
        jobs_of: |n, cluster| {
            if n == 1 { format!("1 job of {cluster}") } else { format!("{n} jobs of {cluster}") }
        },
        and: " and ",
        comma: ", ",
        start: |jobs| format!("Would start: {jobs}"),
        wait: |jobs| format!("Would wait: {jobs}"),
        preempted: |jobs| format!("Would give way and wait again: {jobs}"),
        loses_guarantee: |jobs| format!("Would go on, but on borrowed resources: {jobs}"),
        displaced: |jobs| format!("Goes on there until its end: {jobs}"),
        moved: |jobs| format!("Starts anew on another node: {jobs}"),
        impossible: |jobs| format!("Could never start any more: {jobs}"),
        promise: |promise| {
            let of = format!("promised {} of {}", count(promise.promised), count(promise.there));
            match &promise.resource {
                Promised::Gpus(gpu_type) => format!("{gpu_type}: {of}"),
                Promised::Cpus => format!("CPU cores: {of}"),
                Promised::MemoryMb => format!("Memory, MB: {of}"),
            }
        },
        overpromised: |promises| format!("More is guaranteed than there is: {promises}"),
        named: |sentence, names, more| match more {
            0 => format!("{sentence} ({names})"),
            more => format!("{sentence} ({names} and {more} more)"),
        },
    },
    save_named: |name| format!("Save {name}"),
    drain_title: |name| format!("Drain {name}"),
    empty_title: |name| format!("Empty {name} now"),
    undrain_title: |name| format!("Let {name} take tasks again"),
    undrain_text: "It takes tasks as soon as it is saved.",
    was_held: "held a job",
    was_released: "released a job",
    was_prioritised: "changed a priority",
    was_moved: "moved a job in the queue",
    was_drained: "drained a node",
    node_was_saved: "saved a node",
    node_was_removed: "removed a node",
    cluster_was_saved: "saved a virtual cluster",
    cluster_was_removed: "removed a virtual cluster",
};

fn word(resource: ResourceKind) -> &'static str {
    match resource {
        ResourceKind::Cpu => "CPU cores",
        ResourceKind::Memory => "of memory",
        ResourceKind::Disk => "of disk",
        ResourceKind::Gpu => "GPUs",
        ResourceKind::Port => "ports",
    }
}
