//! What a pass writes down, by table.

use std::collections::HashSet;

use database::attempts::AttemptUpdate;
use database::jobs::JobUpdate;
use database::tasks::{Change, Intent, Task, TaskUpdate};
use lifecycle::model::{Action, AttemptChange, Decision, JobChange, TaskChange};
use protocol::epoch::Epoch;
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::jobs::Retries;
use protocol::state::State;

use super::case::Case;
use super::observe::Seen;
use crate::known::cluster::Observation;

/// What a pass writes, each change with the state from which it is made.
#[derive(Debug, Default)]
pub(super) struct Writes {
    /// Tasks whose first launch is about to begin: that is stored before anything is done.
    pub(super) intents: Vec<(TaskKey, State, TaskUpdate)>,
    pub(super) tasks: Vec<(TaskKey, State, TaskUpdate)>,
    pub(super) again: Vec<Task>,
    pub(super) attempts: Vec<(JobId, u32, State, AttemptUpdate)>,
    pub(super) jobs: Vec<(JobId, State, JobUpdate)>,
}

impl Writes {
    /// What is written when this is decided upon what is seen, in this life of the database.
    pub(super) fn of(decided: &[(&Case, Decision)], seen: &Seen, epoch: Epoch) -> Self {
        let mut writes = Self::default();
        for (case, decision) in decided {
            writes.note(case, decision, seen);
            let again = decision.again.iter().filter_map(|key| run_again(case, key, epoch));
            writes.again.extend(again);
        }
        writes
    }

    pub(super) fn is_empty(&self) -> bool {
        let Self { intents, tasks, again, attempts, jobs } = self;
        intents.is_empty()
            && tasks.is_empty()
            && again.is_empty()
            && attempts.is_empty()
            && jobs.is_empty()
    }

    fn note(&mut self, case: &Case, decision: &Decision, seen: &Seen) {
        self.intents.extend(newly_launched(case, decision).map(|task| {
            let intent = Change::Set(Intent::Launch);
            (task.key, task.state, TaskUpdate { intent, ..TaskUpdate::to(task.state) })
        }));
        self.tasks.extend(
            decision
                .tasks
                .iter()
                .map(|change| (change.key, change.from, task_update(case, change, seen))),
        );
        if let Some(change) = &decision.attempt {
            let AttemptChange { to, started_at, exit, completed_at } = change.clone();
            let exit = exit.map(Box::new);
            let update = AttemptUpdate { state: to, started_at, completed_at, exit };
            self.attempts.push((case.id(), case.attempt.number, case.attempt.state, update));
        }
        if let Some(change) = &decision.job {
            self.jobs.push((case.id(), case.job.row.state, job_update(case, change)));
        }
    }

    /// Stores it. Guarded by the states from which it was decided: says whether all of it was in
    /// them, and was changed, and which jobs were. What was not is decided anew once it is read.
    pub(super) async fn store(
        &self,
        transaction: &database::Transaction,
    ) -> Result<(bool, HashSet<JobId>), database::Error> {
        let Self { intents, tasks, again, attempts, jobs } = self;
        let begun = database::tasks::update_many(transaction, intents).await?;
        let changed = database::tasks::update_many(transaction, tasks).await?;
        database::tasks::insert_many(transaction, again).await?;
        let of_attempts = database::attempts::update_many(transaction, attempts).await?;
        let of_jobs = database::jobs::update_many(transaction, jobs).await?;
        let all = begun == intents.len() as u64
            && changed == tasks.len() as u64
            && of_attempts == attempts.len() as u64
            && of_jobs.len() == jobs.len();
        Ok((all, of_jobs))
    }
}

fn newly_launched<'a>(
    case: &'a Case,
    decision: &'a Decision,
) -> impl Iterator<Item = &'a Task> + 'a {
    decision.actions.iter().filter_map(|action| {
        let key = match action {
            Action::Launch(key) => key,
            Action::Stop(_) | Action::LetFinish(..) | Action::Discard(_) | Action::Explain(_) => {
                return None;
            }
        };
        case.task(key).filter(|task| task.key == *key && task.intent.is_none())
    })
}

fn task_update(case: &Case, change: &TaskChange, seen: &Seen) -> TaskUpdate {
    let node = case.task(&change.key).map(|task| &task.placement.node);
    TaskUpdate {
        container: node.and_then(|node| container_id(seen, node, &change.key)),
        started_at: change.started_at,
        completed_at: change.completed_at,
        exit: change.exit.clone().map(Box::new),
        ..TaskUpdate::to(change.to)
    }
}

fn container_id(seen: &Seen, node: &NodeName, key: &TaskKey) -> Option<String> {
    match seen.get(node)? {
        Observation::Answers { containers, .. } => {
            containers.get(key).map(|container| container.id.clone())
        }
        Observation::Silent => None,
    }
}

/// A further run of a task: the same place, nothing done yet.
fn run_again(case: &Case, key: &TaskKey, epoch: Epoch) -> Option<Task> {
    let last = case.task(key)?;
    Some(Task {
        key: *key,
        epoch,
        state: State::Preparing,
        container: None,
        progress: None,
        intent: None,
        started_at: None,
        completed_at: None,
        exit: None,
        ..last.clone()
    })
}

fn job_update(case: &Case, change: &JobChange) -> JobUpdate {
    let row = &case.job.row;
    let mut avoid = row.avoid.clone();
    if let Some(node) = change.avoid.as_ref().filter(|node| !avoid.contains(node)) {
        avoid.push(node.clone());
    }
    JobUpdate {
        started_at: change.started_at,
        completed_at: change.completed_at,
        exit: change.exit.clone(),
        retries: (change.user_retry || change.platform_retry).then_some(Retries {
            user: row.retries.user + u32::from(change.user_retry),
            platform: row.retries.platform + u32::from(change.platform_retry),
        }),
        not_before: change.not_before,
        avoid: change.avoid.is_some().then_some(avoid),
        ..JobUpdate::to(change.to)
    }
}
