//! Gives waiting jobs their place.

mod leave;

use std::collections::BTreeSet;
use std::ops::RangeInclusive;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use database::attempts::Attempt;
use database::events::NewEvent;
use database::jobs::JobUpdate;
use database::tasks::Task;
use protocol::epoch::Epoch;
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::notifications::Occasion;
use protocol::state::State;
use protocol::time::Timestamp;
use scheduler::model::{Placement, QosClass};
use tokio_util::sync::CancellationToken;

use crate::container::held::Held;
use crate::known::active::Active;
use crate::known::cluster::Cluster;
use crate::known::jobs::KnownJobs;
use crate::known::live::Live;
use crate::known::nodes::KnownNodes;
use crate::known::passes::{Passes, Rhythm};
use crate::known::queue::{Decided, News, Queue, Unanswered};
use crate::records::{happened, notices};
use crate::shared::Shared;
use crate::wake::{now, rest_after};
use leave::Leaving;

/// The queue is looked at so often even when nothing wakes the loop.
const PATIENCE: Duration = Duration::from_secs(2);

/// So often what is known is compared with what is stored, whatever was told, and what is expected of jobs
/// is looked at anew: it changes with every run. Where very many wait it is done more seldom,
const COMPARED: RangeInclusive<Duration> = Duration::from_secs(30)..=Duration::from_secs(300);
/// so that it takes one part of the time in so many.
const COMPARING: u32 = 100;

/// Without it no job starts.
pub(crate) const RHYTHM: Rhythm = Rhythm::needed(Duration::from_secs(30));

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let (mut compared, mut rest) = (Instant::now(), *COMPARED.start());
    // It begins after a panic, too, and nobody knows what that pass had come to.
    doubt(&shared.live, &shared.jobs).await;
    loop {
        let began = Instant::now();
        let compare = compared.elapsed() >= rest;
        let moved = match pass(&shared, compare).await {
            Ok(moved) => {
                passes.ended(began);
                if compare {
                    let took = began.elapsed();
                    (compared, rest) =
                        (began, (took * COMPARING).clamp(*COMPARED.start(), *COMPARED.end()));
                }
                moved
            }
            Err(error) => {
                doubt(&shared.live, &shared.jobs).await;
                if let Failed::Records(error) = &error {
                    shared.jobs.active.look_after(&shared.store.database, error).await;
                }
                tracing::error!(%error, "a pass of the scheduler failed; it is repeated");
                0
            }
        };
        rest_after(began, moved).await;
        if !shared.live.wakeups.schedule.wait(PATIENCE, &shutdown).await {
            return;
        }
    }
}

/// Nothing is taken for granted any more.
async fn doubt(live: &Live, jobs: &KnownJobs) {
    live.doubt_jobs();
    // A scheduler that gives no answer begins anew, and doubts everything by itself.
    let _unanswered = jobs.scheduler.ask(Queue::doubt).await;
}

/// Why a pass failed.
#[derive(Debug, thiserror::Error)]
enum Failed {
    #[error(transparent)]
    Records(#[from] database::Error),
    #[error(transparent)]
    Scheduler(#[from] Unanswered),
}

/// The jobs of which something may be stored that nobody has told of. All that costs is two sums: of those that
/// are as they are known none is read.
async fn untold(shared: &Shared) -> Result<BTreeSet<JobId>, Failed> {
    let reader = shared.store.database.read();
    let stored = database::jobs::sums(reader).await?;
    let asked = shared.jobs.scheduler.ask(move |queue| {
        queue.expect_anew();
        let (parts, mut jobs) = queue.differing(&stored);
        jobs.extend(queue.without_a_start());
        (queue.ids(), parts, jobs)
    });
    let (known, parts, mut jobs) = asked.await?;
    shared.jobs.active.keep_specs_of(&known);
    jobs.extend(database::jobs::active_in(reader, &parts).await?);
    let damage = shared.jobs.active.damage();
    jobs.retain(|job| !damage.jobs().contains(job));
    Ok(jobs)
}

/// One pass: takes in what has changed, places what fits, stops what waits and shall stop. Says how many jobs
/// were moved on.
async fn pass(shared: &Arc<Shared>, compare: bool) -> Result<usize, Failed> {
    let anew = shared.jobs.scheduler.ask(|queue| queue.is_doubtful()).await?;
    let untold = if compare && !anew { untold(shared).await? } else { BTreeSet::new() };
    // What changes while it is read is among those of the next pass.
    let mut touched = shared.live.touched();
    touched.changed.extend(untold);
    let news = match anew {
        true => News::whole(&shared.jobs.active, &shared.store.database, &touched).await?,
        false => News::of_jobs(&shared.jobs.active, &shared.store.database, touched).await?,
    };
    let (decided, moved) = decide(&shared.jobs, &shared.nodes, news).await?;
    stop_waiting(shared, &decided.stopped).await?;
    let Stored { told, begun, all } = store(shared, &decided.placed).await?;
    let mut leaving = leave::preempted(&decided.preempted);
    leaving.extend(moved);
    let idle = leave::idle(shared.readings.idle.take_to_stop(), &leaving);
    leaving.extend(idle);
    let wanted = leaving.len();
    let ending = leave::leave(shared, leaving).await?;
    let (none_end, as_decided) = (ending.is_empty(), all && ending.len() >= wanted);
    let end = move |queue: &mut Queue| {
        begun.iter().for_each(|(job, stored)| queue.begins(*job, stored));
        ending.iter().for_each(|job| queue.ends(*job));
        if !as_decided {
            queue.doubt();
        }
    };
    shared.jobs.scheduler.ask(end).await?;
    if !as_decided {
        shared.live.wakeups.schedule.wake();
    }
    // Who is told of a change and asks why gets the answer of this pass. The queue knows it already.
    told.into_iter().for_each(|change| shared.live.tell_pages(change));
    if decided.changed {
        shared.live.tell(Change::Queue);
    }
    if !decided.placed.is_empty() || !none_end {
        shared.live.wakeups.jobs.wake();
    }
    Ok(decided.placed.len() + decided.stopped.len())
}

/// What the scheduler decides once it knows the news, and who leaves nodes that are being emptied.
async fn decide(
    jobs: &KnownJobs,
    nodes: &KnownNodes,
    news: News,
) -> Result<(Decided, Vec<Leaving>), Unanswered> {
    let (cluster, lacks) = (jobs.active.damage().close(nodes.cluster()), nodes.lacking.told());
    let asked = jobs.scheduler.ask(move |queue| {
        // It has panicked since it was asked whether it doubts: some news are not enough then.
        if queue.is_doubtful() && !news.is_whole() {
            return None;
        }
        let changed = queue.set_lacks(lacks) | queue.take_in(news, &cluster) | queue.expect_some();
        let decided = queue.decide(now());
        let moved = leave::moved(&cluster, queue.running());
        Some((Decided { changed: changed || decided.changed, ..decided }, moved))
    });
    asked.await?.ok_or(Unanswered)
}

/// Jobs that wait and that somebody wants stopped have nothing running: they are stopped now.
async fn stop_waiting(shared: &Shared, jobs: &[Active]) -> Result<(), database::Error> {
    if jobs.is_empty() {
        return Ok(());
    }
    let at = now();
    let stop = |job: &Active| {
        let by = job.row.stop.as_ref().map(|stop| stop.by.to_string()).unwrap_or_default();
        let exit = Exit { code: None, cause: Cause::StopRequested { by }, evidence: Vec::new() };
        let update =
            JobUpdate { completed_at: Some(at), exit: Some(exit), ..JobUpdate::to(State::Stopped) };
        (job.row.id, State::Waiting, update)
    };
    let updates: Vec<_> = jobs.iter().map(stop).collect();
    let transaction = shared.store.database.begin().await?;
    let stopped = database::jobs::update_many(&transaction, &updates).await?;
    let events: Vec<NewEvent> = stopped
        .iter()
        .map(|job| happened::to_job(*job, at, "stopped", "stopped before it started"))
        .collect();
    database::events::insert_many(&transaction, &events).await?;
    let ended = jobs.iter().filter(|job| stopped.contains(&job.row.id));
    let told = ended.flat_map(|Active { row, spec }| {
        let told = (Occasion::Stopped, "stopped before it started".to_owned());
        notices::of_job(&shared.outbound, (&row.key, Some(&spec.extras)), told, at)
    });
    database::notifications::put(&transaction, &told.collect::<Vec<_>>()).await?;
    transaction.commit().await?;
    for Active { row, .. } in jobs {
        // One that did not wait any more is read again.
        let state = if stopped.contains(&row.id) { State::Stopped } else { row.state };
        shared.live.tell_job(row.id, &row.key, state);
    }
    Ok(())
}

/// What came of those who were to be given a place.
struct Stored {
    /// What is to be told.
    told: Vec<Change>,
    /// Who has it, and what that changed of each.
    begun: Vec<(JobId, JobUpdate)>,
    /// All of them still waited, and all their nodes were still there.
    all: bool,
}

/// Stores who has been given a place.
async fn store(
    shared: &Shared,
    decided: &[(Active, Placement)],
) -> Result<Stored, database::Error> {
    if decided.is_empty() {
        return Ok(Stored { told: Vec::new(), begun: Vec::new(), all: true });
    }
    let at = now();
    let transaction = shared.store.database.begin().await?;
    let nodes = decided.iter().flat_map(|(_, placement)| &placement.tasks).map(|task| &task.node);
    let there = database::nodes::keep(&transaction, &nodes.collect()).await?;
    let stands = |placement: &Placement| placement.tasks.iter().all(|t| there.contains(&t.node));
    let mut placed: Vec<(&Active, u32, &Placement)> = decided
        .iter()
        .filter(|(_, placement)| stands(placement))
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
    let (given, cluster) = ((at, shared.identity.epoch), shared.nodes.cluster());
    insert_placed(&transaction, &placed, given, |job| lease(&shared.containers, &cluster, job))
        .await?;
    transaction.commit().await?;
    shared.live.note_stored(placed.iter().map(|(job, _, _)| job.row.id));
    let first = placed.iter().filter(|(job, _, _)| job.row.attempt.is_none());
    shared.jobs.scheduler.note_waited(first.map(|(job, _, _)| &*job.row), at);
    let mut told: Vec<Change> = placed
        .iter()
        .map(|(job, _, _)| {
            let (id, key) = (job.row.id, job.row.key.clone());
            Change::Job { id, key, state: State::Preparing }
        })
        .collect();
    if !placed.is_empty() {
        told.push(Change::Cluster);
    }
    let begun = updates.into_iter().filter(|(job, _, _)| still_waited.contains(job));
    let begun = begun.map(|(job, _, update)| (job, update)).collect();
    Ok(Stored { told, begun, all: placed.len() == decided.len() })
}

async fn insert_placed(
    transaction: &database::Transaction,
    placed: &[(&Active, u32, &Placement)],
    (at, epoch): (Timestamp, Epoch),
    lease: impl Fn(&Active) -> Option<u32>,
) -> Result<(), database::Error> {
    let attempts: Vec<Attempt> = placed
        .iter()
        .map(|(job, number, placement)| Attempt {
            job: job.row.id,
            number: *number,
            state: State::Preparing,
            borrowed: placement.qos_class == QosClass::Borrowed,
            placed_at: at,
            started_at: None,
            completed_at: None,
            exit: None,
            lease: lease(job),
            weighed_milli: u64::try_from(placement.weighed_milli).ok(),
        })
        .collect();
    let tasks: Vec<Task> = placed
        .iter()
        .flat_map(|(job, number, placement)| {
            placement.tasks.iter().filter_map(move |place| task(job, (*number, epoch), place))
        })
        .collect();
    let events: Vec<NewEvent> = placed
        .iter()
        .map(|(job, number, placement)| {
            let nodes: BTreeSet<_> = placement.tasks.iter().map(|task| &task.node).collect();
            let nodes = nodes.into_iter().map(NodeName::as_str).collect::<Vec<_>>().join(", ");
            let event = happened::to_job(job.row.id, at, "placed", format!("placed on {nodes}"));
            NewEvent { attempt: Some(*number), ..event }
        })
        .collect();
    database::attempts::insert_many(transaction, &attempts).await?;
    database::tasks::insert_many(transaction, &tasks).await?;
    database::events::insert_many(transaction, &events).await
}

/// For how many seconds the tasks of a job run on without a word from this server: as its virtual cluster
/// is set now, if there is a guest to see to it.
fn lease(containers: &Held, cluster: &Cluster, job: &Active) -> Option<u32> {
    let settings = cluster.virtual_cluster(&job.row.virtual_cluster);
    let settings = settings.filter(|_| containers.guests.are_there())?;
    settings.lease.map(|minutes| minutes.saturating_mul(60))
}

fn task(
    job: &Active,
    (attempt, epoch): (u32, Epoch),
    place: &protocol::placement::TaskPlacement,
) -> Option<Task> {
    let role = job.spec.roles.get(place.role as usize)?;
    Some(Task {
        key: TaskKey { job: job.row.id, attempt, role: place.role, index: place.index, retry: 0 },
        epoch,
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
