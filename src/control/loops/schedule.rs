//! Gives waiting jobs their place.

mod leave;
mod snapshot;

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use api::changes::Change;
use database::attempts::Attempt;
use database::events::NewEvent;
use database::jobs::{Hold, JobUpdate};
use database::tasks::Task;
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, TaskKey};
use protocol::state::State;
use protocol::time::Timestamp;
use protocol::wait::WaitReason;
use scheduler::model::{Placement, Plan, Standing};
use tokio_util::sync::CancellationToken;

use snapshot::{after, running, snapshot};
pub(crate) use snapshot::{request, wanted};

use crate::active::{self, Active};
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
    let news = store(shared, &waiting, &plan).await?;
    let mut leaving = leave::preempted(&placed, &waiting, &plan);
    leaving.extend(leave::moved(&shared.cluster(), &snapshot.running));
    let ending = leave::leave(shared, &placed, leaving).await?;
    let jobs = waiting.into_iter().chain(placed).map(|job| (job.row.id, (job.row.key, job.spec)));
    let snapshot = after(snapshot, &plan, &ending);
    shared.set_queue(Queue { jobs: jobs.collect(), snapshot, state: Mutex::new(state) });
    // Who is told of a change and asks why gets the answer of this pass.
    news.into_iter().for_each(|change| shared.tell(change));
    if !plan.placements.is_empty() || !ending.is_empty() {
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

/// Stores the plan; a job that changed meanwhile keeps its change and is looked at again.
/// Says what is to be told.
async fn store(
    shared: &Shared,
    waiting: &[Active],
    plan: &Plan,
) -> Result<Vec<Change>, database::Error> {
    let jobs: HashMap<JobId, &Active> = waiting.iter().map(|job| (job.row.id, job)).collect();
    let at = now();
    let news: Vec<_> = plan
        .waiting
        .iter()
        .filter(|(id, why)| jobs.get(id).is_some_and(|job| job.row.waiting.as_ref() != Some(*why)))
        .map(|(id, why)| (*id, why.clone()))
        .collect();
    if news.is_empty() && plan.placements.is_empty() {
        return Ok(Vec::new());
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
    let of = |job: &Active, state| {
        let (id, key) = (job.row.id, job.row.key.clone());
        Change::Job { id, key, state }
    };
    let mut told: Vec<Change> =
        placed.iter().map(|(job, _, _)| of(job, State::Preparing)).collect();
    let waits = news.iter().filter_map(|(id, _)| jobs.get(id));
    told.extend(waits.map(|job| of(job, State::Waiting)));
    if !placed.is_empty() {
        told.push(Change::Cluster);
    }
    Ok(told)
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
