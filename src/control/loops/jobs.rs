//! Carries placed jobs through their life: compares what is recorded with what is seen, has
//! `lifecycle` decide, records the decision and then acts.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use database::tasks::Task;
use lifecycle::model::{Action, Decision};
use protocol::ids::{JobId, TaskKey};
use protocol::time::Timestamp;
use tokio_util::sync::CancellationToken;

use crate::container::launch::put_off;
use crate::known::active::{self, Active};
use crate::known::own_failures::Ours;
use crate::loops::passes::Passes;
use crate::shared::Shared;
use crate::wake::{now, rest};

mod act;
mod observe;
mod pauses;
mod record;
mod tidy;

use act::Acts;

/// Jobs are looked at so often even when nothing rings.
const PATIENCE: Duration = Duration::from_secs(1);
/// The longest pause after a pass that failed, whatever rings meanwhile.
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// Runs until shutdown; actions under way are given up, the next server goes on with them.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    let acts = Acts::new(Arc::clone(&shared), shutdown.child_token());
    let mut failures = 0;
    loop {
        let began = Instant::now();
        match pass(&shared, &acts).await {
            Ok(()) => {
                failures = 0;
                passes.ended(began);
            }
            Err(error) => {
                failures += 1;
                failed(&shared, &error, failures, &shutdown).await;
            }
        }
        rest(began).await;
        if !shared.bells.jobs.wait(PATIENCE, &shutdown).await {
            break;
        }
    }
    acts.end().await;
}

/// The records failed: that is noted, and they are left alone for a while.
async fn failed(
    shared: &Shared,
    error: &database::Error,
    failures: u32,
    shutdown: &CancellationToken,
) {
    shared.own_failures.note(Ours::Records);
    let pause = put_off::backoff(failures).min(LONGEST_PAUSE);
    tracing::error!(%error, failures, ?pause, "a pass over the jobs failed; it is repeated");
    tokio::select! {
        biased;
        () = shutdown.cancelled() => {}
        () = tokio::time::sleep(pause) => {}
    }
}

/// A job with its current attempt and tasks.
struct Case {
    job: Active,
    attempt: database::attempts::Attempt,
    tasks: Vec<Task>,
    /// Attempts before this one that ended soon, one after the other.
    in_a_row: u32,
    /// When tasks may run again that have run before.
    again: HashMap<TaskKey, Timestamp>,
}

impl Case {
    /// One of its tasks, which are in the order of role and index.
    fn task(&self, key: &TaskKey) -> Option<&Task> {
        let place = |task: &Task| (task.key.role, task.key.index);
        let at = self.tasks.binary_search_by_key(&(key.role, key.index), place).ok()?;
        self.tasks.get(at)
    }
}

async fn pass(shared: &Arc<Shared>, acts: &Acts) -> Result<(), database::Error> {
    // What is observed is read before what is recorded: a container of a task that is not in the
    // records then cannot be one whose placement was stored in between.
    let observations = shared.observations().clone();
    let cases = cases(shared).await?;
    let recorded: HashSet<TaskKey> = cases
        .iter()
        .flat_map(|case| &case.tasks)
        .filter(|task| !task.state.is_final())
        .map(|task| task.key)
        .collect();
    acts.forget_all_but(&recorded);
    let at = now();
    let mut decided = Vec::new();
    for case in &cases {
        pauses::tell(shared, case, at);
        let decision = decide(shared, acts, case, &observations, at);
        if decision != Decision::default() {
            decided.push((case, decision));
        }
    }
    record::record(shared, &decided, at).await?;
    for (case, decision) in &decided {
        for action in &decision.actions {
            perform(acts, case, action);
        }
    }
    tidy::tidy(shared, acts, &observations, &recorded).await
}

async fn cases(shared: &Shared) -> Result<Vec<Case>, database::Error> {
    let database = &shared.database;
    let jobs = active::placed(shared).await?;
    let ids: Vec<JobId> = jobs.iter().map(|job| job.row.id).collect();
    let attempts = database::attempts::of_jobs(database.read(), &ids).await?;
    let mut attempts: HashMap<(JobId, u32), _> =
        attempts.into_iter().map(|attempt| ((attempt.job, attempt.number), attempt)).collect();
    let mut tasks: HashMap<JobId, Vec<Task>> = HashMap::new();
    for task in database::tasks::active(database.read()).await? {
        tasks.entry(task.key.job).or_default().push(task);
    }
    let cases = jobs.into_iter().filter_map(|job| {
        let number = job.row.attempt?;
        let attempt = attempts.remove(&(job.row.id, number))?;
        let in_a_row = pauses::attempts_in_a_row(&attempts, job.row.id, number);
        let tasks = tasks.remove(&job.row.id)?;
        let again = pauses::of_tasks(&tasks, number);
        let tasks = latest_runs(tasks, number);
        Some(Case { job, attempt, tasks, in_a_row, again })
    });
    Ok(cases.collect())
}

/// Of each task of the attempt its latest run.
fn latest_runs(tasks: Vec<Task>, attempt: u32) -> Vec<Task> {
    let mut latest: BTreeMap<(u32, u32), Task> = BTreeMap::new();
    for task in tasks.into_iter().filter(|task| task.key.attempt == attempt) {
        let place = (task.key.role, task.key.index);
        if latest.get(&place).is_none_or(|other| other.key.retry < task.key.retry) {
            latest.insert(place, task);
        }
    }
    latest.into_values().collect()
}

fn decide(
    shared: &Shared,
    acts: &Acts,
    case: &Case,
    observations: &HashMap<protocol::ids::NodeName, crate::known::cluster::Observation>,
    at: Timestamp,
) -> Decision {
    let Case { job, attempt, tasks, in_a_row, again } = case;
    let tasks = tasks.iter().map(|task| lifecycle::model::Task {
        key: task.key,
        node: task.placement.node.clone(),
        state: task.state,
        launched: task.intent.is_some(),
        seen: task.container.is_some(),
        started_at: task.started_at,
        completed_at: task.completed_at,
        exit: task.exit.clone(),
        not_before: again.get(&task.key).copied(),
        observed: observe::observed(shared, acts, task, observations, at),
        excess: observe::excess(shared, &job.spec, &task.key),
    });
    let facts = lifecycle::model::Job {
        spec: &job.spec,
        state: job.row.state,
        stop_requested_by: job.row.stop.as_ref().map(|stop| stop.by.as_str()),
        user_retries: job.row.retries.user,
        platform_retries: job.row.retries.platform,
        in_a_row: *in_a_row,
        started_at: job.row.started_at,
        attempt: lifecycle::model::Attempt {
            state: attempt.state,
            started_at: attempt.started_at,
            ending: attempt.exit.clone(),
        },
        tasks: tasks.collect(),
    };
    lifecycle::decide(&facts, at)
}

fn perform(acts: &Acts, case: &Case, action: &Action) {
    let (Action::Launch(key) | Action::Stop(key) | Action::Explain(key)) = action;
    let Some(task) = case.task(key).filter(|task| task.key == *key) else { return };
    match action {
        Action::Launch(_) => acts.launch(&case.job, &case.tasks, task),
        Action::Stop(_) => acts.stop(task),
        Action::Explain(_) => acts.explain(&case.job, task),
    }
}
