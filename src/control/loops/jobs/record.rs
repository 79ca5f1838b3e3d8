//! Writes decisions down, all of a pass in one transaction.

use database::attempts::AttemptUpdate;
use database::events::NewEvent;
use database::jobs::JobUpdate;
use database::tasks::{Change, Intent, Task, TaskUpdate};
use lifecycle::model::{Action, AttemptChange, Decision, JobChange, TaskChange};
use protocol::ids::{JobId, TaskKey};
use protocol::jobs::Retries;
use protocol::state::State;
use protocol::time::Timestamp;

use super::Case;
use crate::known::runs;
use crate::records::happened;
use crate::shared::Shared;

/// Stores the decisions and tells the pages. Guarded by the states they were made from: what a
/// person changed meanwhile is decided anew in the next pass.
pub(super) async fn record(
    shared: &Shared,
    decided: &[(&Case, Decision)],
    at: Timestamp,
) -> Result<(), database::Error> {
    if decided.iter().all(|(case, decision)| nothing_to_write(case, decision)) {
        return Ok(());
    }
    let transaction = shared.database.begin().await?;
    let mut writes = Writes::default();
    let mut events = Vec::new();
    for (case, decision) in decided {
        writes.note(shared, case, decision);
        note_events(case, decision, at, &mut events);
    }
    writes.store(&transaction).await?;
    database::events::insert_many(&transaction, &events).await?;
    transaction.commit().await?;
    remember_runs(shared, decided);
    tell(shared, decided);
    Ok(())
}

fn nothing_to_write(case: &Case, decision: &Decision) -> bool {
    decision.tasks.is_empty()
        && decision.again.is_empty()
        && decision.attempt.is_none()
        && decision.job.is_none()
        && newly_launched(case, decision).next().is_none()
}

/// Tasks whose first launch is about to begin: that intent is stored before anything is done.
fn newly_launched<'a>(
    case: &'a Case,
    decision: &'a Decision,
) -> impl Iterator<Item = &'a Task> + 'a {
    decision.actions.iter().filter_map(|action| {
        let key = match action {
            Action::Launch(key) => key,
            Action::Stop(_) | Action::Explain(_) => return None,
        };
        case.task(key).filter(|task| task.key == *key && task.intent.is_none())
    })
}

/// What a pass writes, by table.
#[derive(Default)]
struct Writes {
    intents: Vec<(TaskKey, State, TaskUpdate)>,
    tasks: Vec<(TaskKey, State, TaskUpdate)>,
    again: Vec<Task>,
    attempts: Vec<(JobId, u32, State, AttemptUpdate)>,
    jobs: Vec<(JobId, State, JobUpdate)>,
}

impl Writes {
    fn note(&mut self, shared: &Shared, case: &Case, decision: &Decision) {
        let id = case.job.row.id;
        self.intents.extend(newly_launched(case, decision).map(|task| {
            let intent = Change::Set(Intent::Launch);
            (task.key, task.state, TaskUpdate { intent, ..TaskUpdate::to(task.state) })
        }));
        self.tasks.extend(
            decision
                .tasks
                .iter()
                .map(|change| (change.key, change.from, task_update(shared, case, change))),
        );
        self.again.extend(decision.again.iter().filter_map(|key| run_again(case, key)));
        if let Some(change) = &decision.attempt {
            let AttemptChange { to, started_at, exit, completed_at } = change.clone();
            let update = AttemptUpdate { state: to, started_at, completed_at, exit };
            self.attempts.push((id, case.attempt.number, case.attempt.state, update));
        }
        if let Some(change) = &decision.job {
            self.jobs.push((id, case.job.row.state, job_update(case, change)));
        }
    }

    async fn store(&self, transaction: &database::Transaction) -> Result<(), database::Error> {
        database::tasks::update_many(transaction, &self.intents).await?;
        database::tasks::update_many(transaction, &self.tasks).await?;
        database::tasks::insert_many(transaction, &self.again).await?;
        database::attempts::update_many(transaction, &self.attempts).await?;
        database::jobs::update_many(transaction, &self.jobs).await?;
        Ok(())
    }
}

fn task_update(shared: &Shared, case: &Case, change: &TaskChange) -> TaskUpdate {
    let node = case.task(&change.key).map(|task| &task.placement.node);
    TaskUpdate {
        container: node.and_then(|node| container_id(shared, node, &change.key)),
        started_at: change.started_at,
        completed_at: change.completed_at,
        exit: change.exit.clone(),
        ..TaskUpdate::to(change.to)
    }
}

fn container_id(shared: &Shared, node: &protocol::ids::NodeName, key: &TaskKey) -> Option<String> {
    match shared.observations().get(node)? {
        crate::known::cluster::Observation::Answers { containers, .. } => {
            containers.get(key).map(|container| container.id.clone())
        }
        crate::known::cluster::Observation::Silent => None,
    }
}

/// A further run of a task: the same place, nothing done yet.
fn run_again(case: &Case, key: &TaskKey) -> Option<Task> {
    let last = case.task(key)?;
    Some(Task {
        key: *key,
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

fn note_events(case: &Case, decision: &Decision, at: Timestamp, events: &mut Vec<NewEvent>) {
    let (id, attempt) = (case.job.row.id, case.attempt.number);
    let mut note = |kind: &str, message: String, warning: bool| {
        let event = happened::to_job(id, at, kind, message);
        events.push(NewEvent { attempt: Some(attempt), warning, ..event });
    };
    for change in &decision.tasks {
        let name = task_name(case, &change.key);
        match (change.to, &change.exit) {
            (State::Running, _) => note("task started", format!("{name} started"), false),
            (State::Unknown, _) => {
                note("task unknown", format!("the node of {name} is out of contact"), true);
            }
            (State::Failed, Some(exit)) => {
                note("task failed", format!("{name}: {}", exit.cause), true);
            }
            (to, Some(_)) => note("task ended", format!("{name} is {to:?}"), false),
            (_, None) => {}
        }
    }
    let Some(change) = &decision.job else { return };
    match (change.to, &change.exit) {
        (State::Waiting, Some(exit)) => {
            note("retried", format!("another attempt follows: {}", exit.cause), true);
        }
        (to, Some(exit)) if to.is_final() => {
            note("completed", format!("{to:?}: {}", exit.cause), to == State::Failed);
        }
        (_, Some(_) | None) => {}
    }
}

fn task_name(case: &Case, key: &TaskKey) -> String {
    let role = case.job.spec.roles.get(key.role as usize);
    let role = role.map_or("task", |role| role.name.as_str());
    format!("{role}-{}", key.index)
}

/// How long those ran that have ended.
fn remember_runs(shared: &Shared, decided: &[(&Case, Decision)]) {
    for (case, decision) in decided {
        let ended = decision.job.as_ref().filter(|change| change.to.is_final());
        let ran = ended.and_then(|change| Some((change.exit.as_ref()?, change.completed_at?)));
        if let Some(((exit, at), started_at)) = ran.zip(case.attempt.started_at) {
            runs::note(shared, &case.job.row, exit, at.since(started_at));
        }
    }
}

fn tell(shared: &Shared, decided: &[(&Case, Decision)]) {
    let mut freed = false;
    for (case, decision) in decided {
        let row = &case.job.row;
        let to = decision.job.as_ref().map_or(row.state, |change| change.to);
        if decision.job.is_some() || !decision.tasks.is_empty() {
            shared.tell_job(row.id, &row.key, to);
        }
        freed |= decision.tasks.iter().any(|change| change.to.is_final());
    }
    if freed {
        shared.tell(api::changes::Change::Cluster);
        shared.bells.schedule.ring();
        // An ending is decided in steps: the next one can be taken at once.
        shared.bells.jobs.ring();
    }
}
