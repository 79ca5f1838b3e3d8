//! Gives waiting jobs their place.

mod preempt;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use api::changes::Change;
use database::attempts::Attempt;
use database::events::NewEvent;
use database::jobs::{Hold, JobUpdate};
use database::tasks::Task;
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, PortLabel, TaskKey};
use protocol::spec::{JobSpec, PortRequest};
use protocol::state::State;
use protocol::time::Timestamp;
use protocol::wait::WaitReason;
use scheduler::model::{
    Demand, Placement, Plan, Request, RoleRequest, Running, Snapshot, Standing, VirtualCluster,
};
use tokio_util::sync::CancellationToken;

use crate::active::{self, Active};
use crate::cluster::scheduler_node;
use crate::happened;
use crate::loops::passes::Passes;
use crate::shared::{Queue, Shared};
use crate::wake::{now, rest};

/// The queue is looked at so often even when nothing rings.
const PATIENCE: Duration = Duration::from_secs(2);

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    loop {
        let began = Instant::now();
        match pass(&shared).await {
            Ok(()) => passes.ended(began),
            Err(error) => tracing::error!(%error, "a pass of the scheduler failed; it is repeated"),
        }
        rest(began).await;
        if !shared.bells.schedule.wait(PATIENCE, &shutdown).await {
            return;
        }
    }
}

/// One pass: stops what waits and shall stop, places what fits, says why the rest waits.
async fn pass(shared: &Shared) -> Result<(), database::Error> {
    let (waiting, placed): (Vec<Active>, Vec<Active>) =
        active::jobs(shared).await?.into_iter().partition(|job| job.row.state == State::Waiting);
    let holding = database::tasks::active(shared.database.read()).await?;
    let (stopping, waiting): (Vec<Active>, Vec<Active>) =
        waiting.into_iter().partition(|job| job.row.stop.is_some());
    stop_waiting(shared, &stopping).await?;
    let running = running(shared, &placed, holding).await?;
    let snapshot = snapshot(shared, &waiting, running);
    let mut state = scheduler::State::of(&snapshot);
    let mut plan = state.plan(now());
    tell_who_holds(&waiting, &mut plan);
    store(shared, &waiting, &plan).await?;
    let preempted = preempt::preempt(shared, &placed, &waiting, &plan).await?;
    let jobs = waiting.into_iter().chain(placed).map(|job| (job.row.id, (job.row.key, job.spec)));
    let snapshot = after(snapshot, &plan, &preempted);
    shared.set_queue(Queue { jobs: jobs.collect(), snapshot, state: Mutex::new(state) });
    if !plan.placements.is_empty() || !preempted.is_empty() {
        shared.bells.jobs.ring();
    }
    Ok(())
}

/// The scheduler only knows that a job is held, not by whom.
fn tell_who_holds(waiting: &[Active], plan: &mut Plan) {
    for job in waiting {
        if let (Some(hold), Some(why)) = (&job.row.held, plan.waiting.get_mut(&job.row.id)) {
            why.reason = held(hold);
        }
    }
}

/// Why a held job waits.
pub(crate) fn held(hold: &Hold) -> WaitReason {
    WaitReason::Hold { by: Some(hold.by.clone()), administrator: hold.administrator }
}

/// Jobs that wait and that somebody wants stopped have nothing running: they are stopped now.
async fn stop_waiting(shared: &Shared, jobs: &[Active]) -> Result<(), database::Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    let at = now();
    let transaction = shared.database.begin().await?;
    for job in jobs {
        let by = job.row.stop.as_ref().map(|stop| stop.by.to_string()).unwrap_or_default();
        let exit = Exit { code: None, cause: Cause::StopRequested { by }, evidence: Vec::new() };
        let update =
            JobUpdate { completed_at: Some(at), exit: Some(exit), ..JobUpdate::to(State::Stopped) };
        database::jobs::update(&transaction, job.row.id, State::Waiting, update).await?;
        let event = happened::to_job(job.row.id, at, "stopped", "stopped before it started");
        database::events::insert_many(&transaction, &[event]).await?;
    }
    transaction.commit().await?;
    for job in jobs {
        shared.tell_job(job.row.id, &job.row.key, State::Stopped);
    }
    Ok(())
}

/// The jobs that hold something. By what right and since when is known from the last pass, and only
/// of those that are new to this server asked of the records.
async fn running(
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
        Running {
            job: id,
            virtual_cluster: job.row.virtual_cluster.clone(),
            tasks: tasks.remove(&id).unwrap_or_default(),
            standing: known.map_or_else(|| standing(borrowed), |known| known.standing),
            opportunistic: job.row.priority.0 < 0,
            started_at: known.map_or(placed_at, |known| known.started_at),
            limit_ms: None,
            expected_ms: None,
            stopping: ending || job.row.stop.is_some(),
        }
    });
    Ok(running.collect())
}

/// By what right an attempt runs.
fn standing(borrowed: bool) -> Standing {
    if borrowed { Standing::Borrowed } else { Standing::Guaranteed }
}

fn snapshot(shared: &Shared, waiting: &[Active], running: Vec<Running>) -> Snapshot {
    let (cluster, before) = (shared.cluster(), shared.queue());
    let mut snapshot = Snapshot {
        nodes: cluster.nodes.iter().map(scheduler_node).collect(),
        virtual_clusters: cluster.virtual_clusters.iter().map(VirtualCluster::from).collect(),
        running,
        waiting: waiting.iter().map(request_of_job).collect(),
        reserved: before.snapshot.reserved.clone(),
    };
    snapshot.reorder_since(&before.snapshot);
    snapshot
}

fn request_of_job(job: &Active) -> Request {
    Request {
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

/// A spec as the scheduler sees it; for a job that is not stored yet.
pub(crate) fn request(spec: &JobSpec, user: &protocol::ids::UserName) -> Request {
    Request {
        job: JobId(i64::MAX),
        user: user.clone(),
        virtual_cluster: spec.virtual_cluster.clone(),
        priority: spec.priority,
        submitted_at: now(),
        moved_ms: 0,
        held: false,
        not_before: None,
        limit_ms: None,
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

/// Stores the plan; a job that changed meanwhile keeps its change and is looked at again.
async fn store(shared: &Shared, waiting: &[Active], plan: &Plan) -> Result<(), database::Error> {
    let jobs: HashMap<JobId, &Active> = waiting.iter().map(|job| (job.row.id, job)).collect();
    let at = now();
    let news: Vec<_> = plan
        .waiting
        .iter()
        .filter(|(id, why)| jobs.get(id).is_some_and(|job| job.row.waiting.as_ref() != Some(*why)))
        .map(|(id, why)| (*id, why.clone()))
        .collect();
    if news.is_empty() && plan.placements.is_empty() {
        return Ok(());
    }
    let transaction = shared.database.begin().await?;
    let mut placed: Vec<(&Active, u32, &Placement)> = plan
        .placements
        .iter()
        .filter_map(|placement| jobs.get(&placement.job).map(|job| (*job, placement)))
        .map(|(job, placement)| (job, job.row.attempt.map_or(0, |last| last + 1), placement))
        .collect();
    let updates: Vec<_> = placed
        .iter()
        .map(|(job, number, _)| {
            let update = JobUpdate { attempt: Some(*number), ..JobUpdate::to(State::Preparing) };
            (job.row.id, State::Waiting, update)
        })
        .collect();
    let still_waited = database::jobs::update_many(&transaction, &updates).await?;
    placed.retain(|(job, _, _)| still_waited.contains(&job.row.id));
    insert_placed(&transaction, &placed, at).await?;
    database::jobs::set_waiting(&transaction, &news).await?;
    transaction.commit().await?;
    for (job, _, _) in &placed {
        shared.tell_job(job.row.id, &job.row.key, State::Preparing);
    }
    for (id, _) in &news {
        if let Some(job) = jobs.get(id) {
            shared.tell_job(*id, &job.row.key, State::Waiting);
        }
    }
    if !placed.is_empty() {
        shared.tell(Change::Cluster);
    }
    Ok(())
}

async fn insert_placed(
    transaction: &database::Transaction,
    placed: &[(&Active, u32, &Placement)],
    at: Timestamp,
) -> Result<(), database::Error> {
    let attempts: Vec<Attempt> = placed
        .iter()
        .map(|(job, number, placement)| Attempt {
            job: job.row.id,
            number: *number,
            state: State::Preparing,
            borrowed: placement.standing == Standing::Borrowed,
            placed_at: at,
            started_at: None,
            completed_at: None,
            exit: None,
        })
        .collect();
    let tasks: Vec<Task> = placed
        .iter()
        .flat_map(|(job, number, placement)| {
            placement.tasks.iter().filter_map(|place| task(job, *number, place))
        })
        .collect();
    let events: Vec<NewEvent> = placed
        .iter()
        .map(|(job, number, placement)| {
            let nodes: std::collections::BTreeSet<&str> =
                placement.tasks.iter().map(|task| task.node.as_str()).collect();
            let nodes = nodes.into_iter().collect::<Vec<_>>().join(", ");
            let event = happened::to_job(job.row.id, at, "placed", format!("placed on {nodes}"));
            NewEvent { attempt: Some(*number), ..event }
        })
        .collect();
    database::attempts::insert_many(transaction, &attempts).await?;
    database::tasks::insert_many(transaction, &tasks).await?;
    database::events::insert_many(transaction, &events).await
}

fn task(job: &Active, attempt: u32, place: &protocol::placement::TaskPlacement) -> Option<Task> {
    let role = job.spec.roles.get(place.role as usize)?;
    Some(Task {
        key: TaskKey { job: job.row.id, attempt, role: place.role, index: place.index, retry: 0 },
        role_name: role.name.clone(),
        state: State::Preparing,
        placement: place.clone(),
        resources: role.resources,
        container: None,
        progress: None,
        intent: None,
        started_at: None,
        completed_at: None,
        exit: None,
    })
}

/// The snapshot with the plan carried out: what the next dry run is asked against.
fn after(mut snapshot: Snapshot, plan: &Plan, preempted: &HashSet<JobId>) -> Snapshot {
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
