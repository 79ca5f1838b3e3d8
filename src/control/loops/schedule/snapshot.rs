//! Cluster and queue as the scheduler is told them.

use std::collections::{BTreeMap, HashMap, HashSet};

use database::attempts::Attempt;
use database::tasks::Task;
use protocol::ids::{JobId, PortLabel, UserName};
use protocol::spec::{JobSpec, PortRequest, TimeLimit};
use protocol::time::Timestamp;
use scheduler::Like;
use scheduler::model::{
    Demand, Plan, Request, RoleRequest, Running, Snapshot, Standing, VirtualCluster,
};

use crate::active::Active;
use crate::cluster::scheduler_node;
use crate::runs;
use crate::shared::{Shared, lock};
use crate::wake::now;

/// The jobs that hold something. By what right and since when is known from the last pass, and only
/// of those that are new to this server asked of the records.
pub(super) async fn running(
    shared: &Shared,
    placed: &[Active],
    holding: Vec<Task>,
) -> Result<Vec<Running>, database::Error> {
    let queue = shared.queue();
    let known: HashMap<JobId, &Running> =
        queue.snapshot.running.iter().map(|running| (running.job, running)).collect();
    let new: Vec<JobId> =
        placed.iter().map(|job| job.row.id).filter(|id| !known.contains_key(id)).collect();
    // By number, so that of a job's attempts the last one stays.
    let attempts: HashMap<JobId, Attempt> =
        database::attempts::of_jobs(shared.database.read(), &new)
            .await?
            .into_iter()
            .map(|attempt| (attempt.job, attempt))
            .collect();
    let begun = begun(placed, &holding);
    let at = now();
    let mut tasks: HashMap<JobId, Vec<_>> = HashMap::new();
    for task in holding.into_iter().filter(|task| !task.state.is_final()) {
        let demand = Demand::from(task.resources);
        tasks.entry(task.key.job).or_default().push((task.placement, demand));
    }
    let running = placed.iter().map(|job| {
        let id = job.row.id;
        let (known, attempt) = (known.get(&id), attempts.get(&id));
        let borrowed = attempt.is_some_and(|attempt| attempt.borrowed);
        let placed_at = attempt.map_or(job.row.submitted_at, |attempt| attempt.placed_at);
        let ending = known.is_some_and(|known| known.stopping)
            || attempt.is_some_and(|attempt| attempt.exit.is_some());
        let started_at = known.map_or(placed_at, |known| known.started_at);
        // The limit counts from the first container, for which the images have to come first.
        let since = begun.get(&id).copied().unwrap_or(at);
        let limit = job.spec.time_limit.map(|limit| limit.millis() + since.since(started_at));
        Running {
            job: id,
            virtual_cluster: job.row.virtual_cluster.clone(),
            tasks: tasks.remove(&id).unwrap_or_default(),
            standing: known.map_or_else(|| standing(borrowed), |known| known.standing),
            opportunistic: job.row.priority.0 < 0,
            started_at,
            limit_ms: limit,
            expected_ms: lock(&shared.past).expect(runs::like(&job.row), limit),
            stopping: ending || job.row.stop.is_some(),
        }
    });
    Ok(running.collect())
}

/// When the first container of each job's current attempt ran.
fn begun(placed: &[Active], holding: &[Task]) -> HashMap<JobId, Timestamp> {
    let current: HashMap<JobId, Option<u32>> =
        placed.iter().map(|job| (job.row.id, job.row.attempt)).collect();
    let mut begun = HashMap::new();
    for task in holding {
        let of_now = current.get(&task.key.job) == Some(&Some(task.key.attempt));
        if let Some(at) = task.started_at.filter(|_| of_now) {
            let first = begun.entry(task.key.job).or_insert(at);
            *first = at.min(*first);
        }
    }
    begun
}

/// By what right an attempt runs.
fn standing(borrowed: bool) -> Standing {
    if borrowed { Standing::Borrowed } else { Standing::Guaranteed }
}

pub(super) fn snapshot(shared: &Shared, waiting: &[Active], running: Vec<Running>) -> Snapshot {
    let (cluster, before) = (shared.cluster(), shared.queue());
    let mut snapshot = Snapshot {
        nodes: cluster.nodes.iter().map(scheduler_node).collect(),
        virtual_clusters: cluster.virtual_clusters.iter().map(VirtualCluster::from).collect(),
        running,
        waiting: waiting.iter().map(|job| request_of_job(shared, job)).collect(),
        reserved: before.snapshot.reserved.clone(),
    };
    snapshot.reorder_since(&before.snapshot);
    snapshot
}

fn request_of_job(shared: &Shared, job: &Active) -> Request {
    let limit = job.spec.time_limit.map(TimeLimit::millis);
    Request {
        expected_ms: lock(&shared.past).expect(runs::like(&job.row), limit),
        job: job.row.id,
        submitted_at: job.row.submitted_at,
        priority: job.row.priority,
        moved_ms: job.row.moved_ms,
        held: job.row.held.is_some(),
        not_before: job.row.not_before,
        avoid: job.row.avoid.clone(),
        ..request(&job.spec, &job.row.key.user)
    }
}

/// A job that is not stored yet, with what is expected of it.
pub(crate) fn wanted(shared: &Shared, spec: &JobSpec, user: &UserName) -> Request {
    let request = request(spec, user);
    let expected_ms = lock(&shared.past).expect(Like::from(&request), request.limit_ms);
    Request { expected_ms, ..request }
}

/// A spec as the scheduler sees it; for a job that is not stored yet.
pub(crate) fn request(spec: &JobSpec, user: &UserName) -> Request {
    Request {
        job: JobId(i64::MAX),
        user: user.clone(),
        virtual_cluster: spec.virtual_cluster.clone(),
        priority: spec.priority,
        submitted_at: now(),
        moved_ms: 0,
        held: false,
        not_before: None,
        limit_ms: spec.time_limit.map(TimeLimit::millis),
        expected_ms: None,
        avoid: Vec::new(),
        only: Vec::new(),
        labels: BTreeMap::new(),
        roles: spec
            .roles
            .iter()
            .map(|role| RoleRequest {
                count: role.count,
                demand: Demand::from(role.resources),
                gpu_types: if role.gpu_types.is_empty() {
                    spec.gpu_types.clone()
                } else {
                    role.gpu_types.clone()
                },
                ports: ports(&role.ports),
            })
            .collect(),
    }
}

/// The ports of a role's tasks: `http` and `ssh` are always there.
fn ports(asked: &[PortRequest]) -> Vec<PortRequest> {
    let mut ports = asked.to_vec();
    for label in ["http", "ssh"] {
        if !ports.iter().any(|port| port.label.as_str() == label) {
            let label = PortLabel::new(label).expect("http and ssh are valid port labels");
            ports.push(PortRequest { label, begin_at: 0, count: 1 });
        }
    }
    ports
}

/// The snapshot with the plan carried out: what the next dry run is asked against.
pub(super) fn after(mut snapshot: Snapshot, plan: &Plan, preempted: &HashSet<JobId>) -> Snapshot {
    for running in snapshot.running.iter_mut().filter(|job| preempted.contains(&job.job)) {
        running.stopping = true;
    }
    snapshot.reserved.clone_from(&plan.reserved);
    for placement in &plan.placements {
        let Some(at) = snapshot.waiting.iter().position(|job| job.job == placement.job) else {
            continue;
        };
        let request = snapshot.waiting.swap_remove(at);
        let tasks = placement
            .tasks
            .iter()
            .filter_map(|task| Some((task.clone(), request.roles.get(task.role as usize)?.demand)));
        snapshot.running.push(Running {
            job: placement.job,
            virtual_cluster: request.virtual_cluster.clone(),
            tasks: tasks.collect(),
            standing: placement.standing,
            opportunistic: request.priority.0 < 0,
            started_at: now(),
            limit_ms: request.limit_ms,
            expected_ms: request.expected_ms,
            stopping: false,
        });
    }
    snapshot
}
