//! One job that holds a place: its current attempt, its tasks, and what is decided of them.

use std::collections::{BTreeMap, HashMap};

use database::attempts::Attempt;
use database::tasks::Task;
use lifecycle::model::{self, Decision, Observed};
use lifecycle::retry::is_ahead;
use protocol::ids::{JobId, TaskKey};
use protocol::state::State;
use protocol::time::Timestamp;

use super::observe::{self, Beside, Seen, Until};
use super::pauses;
use crate::known::active::Active;

/// Who looks at a task that is run again in some seconds is told in how many: so often, in
/// milliseconds.
const TOLD_EVERY: i64 = 1_000;

/// A job with its current attempt and tasks.
#[derive(Debug, Clone)]
pub(super) struct Case {
    pub(super) job: Active,
    pub(super) attempt: Attempt,
    /// The latest run of each, by role and index.
    pub(super) tasks: Vec<Task>,
    /// Attempts before this one that ended soon, one after the other.
    pub(super) in_a_row: u32,
    /// When tasks may run again that have run before.
    pub(super) again: HashMap<TaskKey, Timestamp>,
}

impl Case {
    /// The cases of these jobs: those of them that hold a place.
    pub(super) fn all(jobs: Vec<Active>, attempts: Vec<Attempt>, tasks: Vec<Task>) -> Vec<Self> {
        let attempts = attempts.into_iter();
        let mut attempts: HashMap<(JobId, u32), Attempt> =
            attempts.map(|attempt| ((attempt.job, attempt.number), attempt)).collect();
        let mut of_jobs: HashMap<JobId, Vec<Task>> = HashMap::new();
        for task in tasks {
            of_jobs.entry(task.key.job).or_default().push(task);
        }
        let cases = jobs.into_iter().filter_map(|job| {
            let number = job.row.attempt?;
            let attempt = attempts.remove(&(job.row.id, number))?;
            let in_a_row = pauses::attempts_in_a_row(&attempts, job.row.id, number);
            let tasks = of_jobs.remove(&job.row.id)?;
            let again = pauses::of_tasks(&tasks, number);
            let tasks = latest_runs(tasks, number);
            Some(Self { job, attempt, tasks, in_a_row, again })
        });
        cases.collect()
    }

    pub(super) fn id(&self) -> JobId {
        self.job.row.id
    }

    /// One of its tasks, which are in the order of role and index.
    pub(super) fn task(&self, key: &TaskKey) -> Option<&Task> {
        self.tasks.get(self.place(key)?)
    }

    /// The same to be changed, if that run of it is its latest one.
    pub(super) fn task_mut(&mut self, key: &TaskKey) -> Option<&mut Task> {
        let place = self.place(key)?;
        self.tasks.get_mut(place).filter(|task| task.key == *key)
    }

    fn place(&self, key: &TaskKey) -> Option<usize> {
        let place = |task: &Task| (task.key.role, task.key.index);
        self.tasks.binary_search_by_key(&(key.role, key.index), place).ok()
    }

    /// Whether it is a run of one of its tasks that has not ended.
    pub(super) fn is_active(&self, key: &TaskKey) -> bool {
        self.task(key).is_some_and(|task| task.key == *key && !task.state.is_final())
    }

    /// Its tasks that have not ended.
    pub(super) fn active(&self) -> impl Iterator<Item = &Task> {
        self.tasks.iter().filter(|task| !task.state.is_final())
    }

    /// What is to be done now, and until when nothing else is.
    pub(super) fn decide(&self, seen: &Seen, beside: Beside<'_>) -> (Decision, Until) {
        let mut until = self.until(beside.now);
        let tasks = self.tasks.iter().map(|task| self.facts(task, seen, beside, &mut until));
        let tasks = tasks.collect();
        let Self { job, attempt, in_a_row, .. } = self;
        let facts = model::Job {
            spec: &job.spec,
            state: job.row.state,
            stop_requested_by: job.row.stop.as_ref().map(|stop| stop.by.as_str()),
            user_retries: job.row.retries.user,
            platform_retries: job.row.retries.platform,
            in_a_row: *in_a_row,
            started_at: job.row.started_at,
            attempt: model::Attempt {
                state: attempt.state,
                started_at: attempt.started_at,
                ending: attempt.exit.as_deref().cloned(),
            },
            tasks,
        };
        (lifecycle::decide(&facts, beside.now), until)
    }

    fn facts(
        &self,
        task: &Task,
        seen: &Seen,
        beside: Beside<'_>,
        until: &mut Until,
    ) -> model::Task {
        // Of what has ended nothing is to be seen any more.
        let (observed, excess) = match task.state.is_final() {
            true => (Observed::Pending, None),
            false => (
                observe::observed(task, seen, beside, until),
                observe::excess(&self.job.spec, &task.key, beside),
            ),
        };
        model::Task {
            key: task.key,
            node: task.placement.node.clone(),
            state: task.state,
            launched: task.intent.is_some(),
            seen: task.container.is_some(),
            started_at: task.started_at,
            completed_at: task.completed_at,
            exit: task.exit.as_deref().cloned(),
            not_before: self.again.get(&task.key).copied().filter(|at| is_ahead(*at, beside.now)),
            observed,
            excess,
        }
    }

    /// When time alone makes something of it.
    fn until(&self, now: Timestamp) -> Until {
        let mut until = Until::default();
        if let Some(limit) = self.job.spec.told_after() {
            let first = self.tasks.iter().filter_map(|task| task.started_at).min();
            let over = self.attempt.started_at.or(first);
            let over = over.map(|since| since.plus_millis(limit));
            if let Some(over) = over.filter(|over| now < *over) {
                until.at(over);
            }
        }
        for (_, at) in self.run_again(now) {
            until.at(at.min(now.plus_millis(TOLD_EVERY)));
        }
        until
    }

    /// Its tasks that wait for their next run, and when that may begin.
    pub(super) fn run_again(&self, now: Timestamp) -> impl Iterator<Item = (&Task, Timestamp)> {
        self.again.iter().filter_map(move |(key, at)| {
            let task = self.task(key).filter(|task| task.key == *key)?;
            let waits = task.state == State::Preparing && task.intent.is_none();
            (waits && is_ahead(*at, now)).then_some((task, *at))
        })
    }
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
