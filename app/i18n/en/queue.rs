use api::cluster::{GroupUse, Promised};
use api::queue::{Alternative, Instead};
use protocol::wait::{Ground, Likeness, ResourceKind};

use crate::i18n::en::pages::plural;
use crate::i18n::en::spans::rough;
use crate::i18n::words_queue::{Effects, Queue};
use crate::number::{amount, count};
use crate::time::Span;

pub(super) const QUEUE: Queue = Queue {
    table: "What it needs and what there is",
    resource: word,
    needs: "Needs",
    needs_of: |tasks, each| format!("{tasks} × {each}"),
    each_task: |amount| format!("{amount} a task"),
    free_now: "Free now",
    free_of: |gpus, borrowed| match borrowed {
        0 => gpus.to_string(),
        borrowed => format!("{gpus} ({borrowed} borrowed)"),
    },
    on_one_node: "Largest on one node",
    holders: "In use by",
    held: |jobs, gpus| {
        let jobs = plural(jobs.into(), "job", "jobs");
        match gpus.milli() {
            0 => jobs,
            1000 => format!("{jobs}, 1 GPU"),
            _ => format!("{jobs}, {} GPUs", amount(gpus)),
        }
    },
    ends_first: "First to end",
    uses: "Use by user",
    uses_text: "Who has had least goes first. The longer ago something was, the less it counts; \
                a job without GPU counts as one GPU.",
    user: "User",
    uses_of_groups: "Use by group",
    uses_of_groups_text: "Whose group has had least for its share goes first, and within a group who has had least.",
    group: "Group",
    group_share: "Share",
    use_of_group: "Group's share of use",
    group_use: |of| {
        let GroupUse { group, mean, percent, share } = of;
        let gpus = if mean.milli() == 1000 { "GPU" } else { "GPUs" };
        let lately = format!("{percent}\u{202f}% lately ({} {gpus} on average)", amount(*mean));
        match of.is_beyond() {
            true => format!("{group} has had more than its share of {share}\u{202f}%: {lately}"),
            false => format!("{group} has had {lately}, its share is {share}\u{202f}%"),
        }
    },
    mean_gpus: "GPUs on average",
    part_of_use: "Share of use",
    percent: |percent| format!("{percent}\u{202f}%"),
    owner_use: |percent, mean| {
        let gpus = if mean.milli() == 1000 { "GPU" } else { "GPUs" };
        format!("{percent}\u{202f}% lately ({} {gpus} on average)", amount(mean))
    },
    weights: "One GPU counts as",
    ahead: "Ahead of it",
    more: |n| format!("and {n} more"),
    more_users: |n| format!("and {}", plural(n, "more user", "more users")),
    starts: "Expected to start",
    starts_now: "It would start now",
    instead: |Alternative { instead, borrowed, before }| {
        let change = match instead {
            Instead::Split { tasks, gpus } => {
                format!("as {tasks} × {}", plural((*gpus).into(), "GPU", "GPUs"))
            }
            Instead::GpuType { gpu_type } => format!("on {gpu_type}"),
            Instead::VirtualCluster { virtual_cluster } => format!("in {virtual_cluster}"),
            Instead::TimeLimit { time_limit } => {
                format!("with a limit of {}", rough(Span::of_millis(time_limit.millis())))
            }
        };
        let change = match before {
            Some(job) => format!("{change}, before {job} starts"),
            None => change,
        };
        if *borrowed { format!("{change}, borrowed") } else { change }
    },
    between: |from, to| format!("in {} to {}", rough(from), rough(to)),
    about: |at| format!("in about {}", rough(at)),
    not_before: |from| format!("in {} or later", rough(from)),
    soon: "at any moment",
    starts_then: |when| format!("starts {when}"),
    ground: |ground, cluster| match ground {
        Ground::Limits => ", from time limits".to_owned(),
        Ground::PastRuns => ", from how long like jobs have run".to_owned(),
        Ground::Elapsed => ", only from how long those ahead have run so far".to_owned(),
        Ground::PastWaits { like, runs } => {
            let runs = plural(runs.into(), "past run", "past runs");
            match like {
                Likeness::Name => format!(", from {runs} of this name"),
                Likeness::Owner => format!(", from {runs} of its owner in {cluster}"),
                Likeness::Size => format!(", from {runs} of this size in {cluster}"),
                Likeness::VirtualCluster => format!(", from {runs} in {cluster}"),
                Likeness::Everything => format!(", from {runs} in all virtual clusters"),
            }
        }
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
        named: |sentence, names, more| match (names.join(", "), more) {
            (names, 0) => format!("{sentence} ({names})"),
            (names, more) => format!("{sentence} ({names} and {more} more)"),
        },
    },
    save_named: |name| format!("Save {name}"),
    save_text: "The new settings hold at once.",
    drain_title: |name| format!("Drain {name}"),
    empty_title: |name| format!("Empty {name} now"),
    undrain_title: |name| format!("Let {name} take tasks again"),
    undrain_text: "It takes tasks as soon as it is saved.",
    was_held: "held a job",
    was_released: "released a job",
    was_prioritised: "changed a priority",
    was_limited: "changed a time limit",
    was_moved: "moved a job in the queue",
    was_drained: "drained a node",
    node_was_saved: "saved a node",
    node_was_removed: "removed a node",
    node_was_tried: "tried a node",
    cluster_was_saved: "saved a virtual cluster",
    cluster_was_removed: "removed a virtual cluster",
};

fn word(resource: ResourceKind) -> &'static str {
    match resource {
        ResourceKind::Cpu => "CPU cores",
        ResourceKind::Memory => "Memory",
        ResourceKind::Disk => "Disk",
        ResourceKind::Gpu => "GPUs",
        ResourceKind::Port => "Ports",
    }
}
