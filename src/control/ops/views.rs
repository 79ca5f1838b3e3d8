//! What the database and the scheduler know, as the views of `api`: the one place where the one
//! becomes the other.

use std::borrow::Cow;
use std::collections::BTreeMap;

use api::Actor;
use api::cluster::{
    FreeGpus, GpuHolder, GpuView, GroupUse, NodeView, Usage, UserUse, VirtualClusterView,
};
use api::jobs::{AttemptView, EventView, JobSummary, RoleView, TaskView};
use api::metrics::{GpuNow, Lately};
use database::attempts::Attempt;
use database::events::Event;
use database::jobs::JobRow;
use database::nodes::NodeRecord;
use database::tasks::Task;
use protocol::amount::Amount;
use protocol::cluster::{Closed, NodeCondition, VirtualClusterSettings};
use protocol::health::Health;
use protocol::ids::{GpuType, Tag};
use protocol::placement::TaskPlacement;
use protocol::resources::Gpu;
use protocol::spec::TaskRole;
use protocol::state::State;
use protocol::time::Timestamp;
use protocol::wait::{Expected, Waiting};

use crate::known::capacity::capacity;
use crate::known::cluster::condition;
use crate::known::queue::Holding;
use crate::known::readings::Readings;
use crate::known::settings::Settings;
use crate::ops::uses::{self, InUse, Uses, add};
use crate::shared::Shared;
use crate::wake::now;

pub(super) fn summary(
    row: JobRow,
    tags: Vec<Tag>,
    (waiting, expected): (Option<Waiting>, Option<Expected>),
) -> JobSummary {
    JobSummary {
        id: row.id,
        key: row.key,
        state: row.state,
        stop_requested: row.stop.is_some(),
        virtual_cluster: row.virtual_cluster,
        priority: row.priority,
        tasks: row.tasks,
        roles: row.roles,
        gpus: row.gpus,
        gpu_types: row.gpu_types,
        retries: row.retries,
        submitted_at: row.submitted_at,
        started_at: row.started_at,
        completed_at: row.completed_at,
        waiting,
        expected,
        held: row.held.map(|held| *held),
        tags,
        // These are known beside the row.
        ends_by: None,
        lately: Lately::default(),
        exit: row.exit.map(|exit| *exit),
    }
}

/// How busy a job's GPUs are, for whoever may read what it does.
pub(super) fn lately(
    settings: &Settings,
    readings: &Readings,
    actor: &Actor,
    row: &JobRow,
    at: Timestamp,
) -> Lately {
    let hidden = settings.rules.private_jobs && !actor.admin && actor.user != row.key.user;
    match row.state {
        State::Running if !hidden => readings.lately.of_jobs.of(&row.id, at),
        State::Running
        | State::Waiting
        | State::Preparing
        | State::Stopping
        | State::Succeeded
        | State::Failed
        | State::Stopped
        | State::Unknown => Lately::default(),
    }
}

pub(super) fn role(role: &TaskRole) -> RoleView {
    RoleView {
        name: role.name.clone(),
        count: role.count,
        resources: role.resources,
        shm_mb: role.shm_mb,
        image: role.image.clone(),
        command: role.command.clone(),
        completion: role.completion,
    }
}

pub(super) fn attempt(attempt: Attempt, tasks: Vec<TaskView>) -> AttemptView {
    AttemptView {
        number: attempt.number,
        state: attempt.state,
        placed_at: attempt.placed_at,
        started_at: attempt.started_at,
        completed_at: attempt.completed_at,
        exit: attempt.exit.map(|exit| *exit),
        tasks,
    }
}

pub(super) fn task(task: Task, progress: Option<String>) -> TaskView {
    let TaskPlacement { index, node, address, gpus, ports, role: _ } = task.placement;
    TaskView {
        role: task.role_name,
        index,
        retry: task.key.retry,
        state: task.state,
        progress: progress.or(task.progress),
        node,
        address,
        gpus,
        gpu_part: task.resources.gpu_part(),
        idle: Vec::new(),
        ports: ports.into(),
        container: task.container,
        started_at: task.started_at,
        completed_at: task.completed_at,
        exit: task.exit.map(|exit| *exit),
    }
}

pub(super) fn event(Event { id: _, event }: Event) -> EventView {
    EventView {
        at: event.at,
        kind: event.kind,
        message: event.message,
        attempt: event.attempt,
        warning: event.warning,
    }
}

/// A node and what is held there, by jobs and by what is in quarantine. How an engine is reached says
/// more about the node than others need to know.
pub(super) fn node(
    actor: &Actor,
    node: &NodeRecord,
    held: &[Holding],
    shared: &Shared,
) -> NodeView {
    let capacity = capacity(node);
    let name = &node.settings.name;
    let mut used = Usage::default();
    for Holding { task, demand, .. } in held {
        add(&mut used, &task.gpus, demand, &capacity);
    }
    let observed = node.observed.as_ref();
    let taken = observed.map(|seen| seen.taken.clone()).unwrap_or_default();
    uses::add_taken(&mut used, &taken, &capacity);
    // What nobody is given is shown as such.
    let usable = match taken.gpus.is_empty() {
        true => Cow::Borrowed(&capacity),
        false => Cow::Owned(capacity.clone().without(&taken)),
    };
    let loads = shared.readings.loads.on(name, now());
    let report = observed.and_then(|seen| seen.gpus.as_ref());
    let gpus = usable.gpus.iter().map(|gpu| {
        let found =
            report.and_then(|report| report.gpus.iter().find(|found| found.gpu.index == gpu.index));
        let all_memory_mb = found.map(|found| found.memory_mb).filter(|memory| *memory > 0);
        let does = loads.iter().find(|(index, _)| *index == gpu.index).map(|(_, does)| does);
        let does = does
            .map(|does| GpuNow { all_memory_mb: does.all_memory_mb.or(all_memory_mb), ..*does });
        gpu_view(gpu, held, does)
    });
    let gpus = gpus.collect();
    let answered = shared.nodes.heartbeats.last_answer(name);
    let unread = shared.jobs.active.damage().closes(name);
    NodeView {
        name: name.clone(),
        address: node.settings.address.clone(),
        endpoint: if actor.admin { node.settings.endpoint.clone() } else { String::new() },
        simulated: node.settings.is_simulated(),
        tasks_address: observed.and_then(|seen| seen.tasks_address),
        at_portal: shared.settings.of_nodes.portal.is_exposed_to(&node.settings),
        condition: beside_unread(node, unread.is_some()),
        emptied: node.emptied,
        closed: node.closed.clone().map(|closed| shown(actor, closed)),
        health: Health { ailments: node.health.ailments.clone(), ..Health::default() },
        problem: observed.and_then(|seen| seen.problem.clone()).or(unread),
        last_seen: answered.or(observed.and_then(|seen| seen.last_seen)),
        engine: observed.and_then(|seen| seen.engine.clone()),
        gpus,
        tasks: held.iter().map(|holding| holding.task.clone()).collect(),
        gpu_report: None,
        shares_gpus: node.settings.shares_gpus,
        ports: node.settings.ports,
        labels: node.settings.labels.clone(),
        capacity,
        used,
    }
}

/// Whether a node takes tasks, where something may be held of it that cannot be read, or nothing.
pub(super) fn beside_unread(node: &NodeRecord, unread: bool) -> NodeCondition {
    match condition(node) {
        NodeCondition::Ready if unread => NodeCondition::Draining,
        seen => seen,
    }
}

/// Whose tasks a node failed to start is nobody else's business.
fn shown(actor: &Actor, closed: Closed) -> Closed {
    match actor.admin {
        true => closed,
        false => Closed { failures: Vec::new(), ..closed },
    }
}

fn gpu_view(gpu: &Gpu, held: &[Holding], now: Option<GpuNow>) -> GpuView {
    let has = |holding: &&Holding| holding.task.gpus.contains(&gpu.index);
    let holder = |Holding { task, .. }: &Holding| GpuHolder {
        job: task.job.clone(),
        task: task.task.clone(),
        part: task.of_each_gpu(),
    };
    let holders: Vec<_> = held.iter().filter(has).map(holder).collect();
    GpuView {
        gpu: gpu.clone(),
        job: holders.first().map(|holder| holder.job.clone()),
        used: holders.iter().map(|holder| holder.part).sum(),
        holders,
        now,
    }
}

/// What is shown of a virtual cluster to whoever may use it.
#[derive(Debug, Default)]
pub(super) struct Shown {
    /// What is free of it.
    pub(super) free: BTreeMap<GpuType, FreeGpus>,
    /// What its users have and have had.
    pub(super) users: Vec<UserUse>,
    /// What the groups that share it have and have had.
    pub(super) groups: Vec<GroupUse>,
    /// As how many GPUs one counts in that.
    pub(super) weights: BTreeMap<GpuType, Amount>,
}

/// A virtual cluster and what is shown of it to whoever may use it.
pub(super) fn virtual_cluster(
    (settings, stopped): (VirtualClusterSettings, bool),
    shown: Option<Shown>,
    uses: &Uses,
) -> VirtualClusterView {
    let name = &settings.name;
    let InUse { used, borrowed, running_jobs } = uses.by(name);
    let usable = shown.is_some();
    let Shown { free, users, groups, weights } = shown.unwrap_or_default();
    VirtualClusterView {
        usable,
        stopped,
        free,
        users,
        groups,
        weights,
        used,
        borrowed,
        total: bounded(&settings, uses.ready()),
        running_jobs,
        waiting_jobs: uses.waiting(name),
        settings,
    }
}

/// The share where it is bounded, else all there is. Once a share names a GPU type, types that it
/// does not name have a share of 0.
fn bounded(settings: &VirtualClusterSettings, all: &Usage) -> Usage {
    let share = &settings.share;
    let of_share = share.gpus.iter().map(|(kind, count)| (kind.clone(), Amount::whole(*count)));
    let mut gpus: BTreeMap<GpuType, Amount> = of_share.collect();
    for shape in &settings.shapes {
        *gpus.entry(shape.gpu_type.clone()).or_default() +=
            Amount::whole(shape.gpus.into()).times(shape.count.into());
    }
    if gpus.is_empty() {
        gpus.clone_from(&all.gpus);
    }
    Usage {
        cpus: share.cpus.unwrap_or(all.cpus),
        memory_mb: share.memory_mb.unwrap_or(all.memory_mb),
        disk_gb: all.disk_gb,
        gpus,
    }
}
