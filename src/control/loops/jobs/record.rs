//! Writes decisions down, all of a pass in one transaction.

use api::changes::Change;
use database::events::NewEvent;
use database::notifications::NewEntry;
use lifecycle::model::Decision;
use protocol::exit::Cause;
use protocol::ids::TaskKey;
use protocol::notifications::Occasion;
use protocol::state::State;
use protocol::time::Timestamp;

use super::case::Case;
use super::writes::Writes;
use crate::known::jobs::KnownJobs;
use crate::known::live::Live;
use crate::known::outbound::Outbound;
use crate::records::{happened, notices};
use crate::shared::Shared;

/// Stores the decisions and tells of them. Says whether all jobs were still as they were thought to
/// be: what somebody else has changed meanwhile is decided anew in the next pass.
pub(super) async fn record(
    shared: &Shared,
    decided: &[(&Case, Decision)],
    writes: &Writes,
    at: Timestamp,
) -> Result<bool, database::Error> {
    if writes.is_empty() {
        return Ok(true);
    }
    let mut events = Vec::new();
    for (case, decision) in decided {
        note_events(case, decision, at, &mut events);
    }
    let transaction = shared.store.database.begin().await?;
    let (as_known, changed) = writes.store(&transaction).await?;
    database::events::insert_many(&transaction, &events).await?;
    // Of what was not stored its owner is told once it is.
    let stored = decided.iter().filter(|(case, _)| changed.contains(&case.job.row.id));
    let told = stored.flat_map(|(case, decision)| notice(&shared.outbound, case, decision, at));
    database::notifications::put(&transaction, &told.collect::<Vec<_>>()).await?;
    transaction.commit().await?;
    remember_runs(&shared.jobs, decided);
    tell(&shared.live, decided, as_known);
    Ok(as_known)
}

fn note_events(case: &Case, decision: &Decision, at: Timestamp, events: &mut Vec<NewEvent>) {
    let (id, attempt) = (case.job.row.id, case.attempt.number);
    let begins = decision.attempt.as_ref().filter(|_| case.attempt.exit.is_none());
    let cause = begins.and_then(|change| change.exit.as_ref()).map(|exit| &exit.cause);
    let grace = cause.and_then(|cause| case.job.spec.grace_before(cause));
    events.extend(grace.map(|grace| happened::grace(id, attempt, grace, at)));
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

/// What the owner is told of it.
fn notice(outbound: &Outbound, case: &Case, decision: &Decision, at: Timestamp) -> Vec<NewEntry> {
    let Some(change) = &decision.job else { return Vec::new() };
    let row = &case.job.row;
    let cause = change.exit.as_ref().map(|exit| &exit.cause);
    let occasion = match (change.to, cause) {
        // One whose node is back runs on.
        (State::Running, _) if row.state == State::Preparing => Occasion::Started,
        (State::Succeeded, _) => Occasion::Succeeded,
        (State::Failed, _) => Occasion::Failed,
        (State::Stopped, _) => Occasion::Stopped,
        // Of one that gives way that was told already.
        (State::Waiting, Some(cause)) if *cause != Cause::Preempted => Occasion::Retried,
        (
            State::Running | State::Waiting | State::Preparing | State::Stopping | State::Unknown,
            _,
        ) => return Vec::new(),
    };
    let detail = cause.map(ToString::to_string).unwrap_or_default();
    let extras = Some(&case.job.spec.extras);
    notices::of_job(outbound, (&row.key, extras), (occasion, detail), at)
}

fn task_name(case: &Case, key: &TaskKey) -> String {
    let role = case.job.spec.roles.get(key.role as usize);
    let role = role.map_or("task", |role| role.name.as_str());
    format!("{role}-{}", key.index)
}

/// How long those ran that have ended.
fn remember_runs(jobs: &KnownJobs, decided: &[(&Case, Decision)]) {
    let ended = decided.iter().filter_map(|(case, decision)| {
        let change = decision.job.as_ref().filter(|change| change.to.is_final())?;
        let (exit, at) = (change.exit.as_ref()?, change.completed_at?);
        Some((&case.job, exit, at.since(case.attempt.started_at?)))
    });
    jobs.scheduler.note_ended(ended);
}

/// Where some were not as they were thought to be (`as_known`), nobody knows which: no job is said to be what
/// it was to become, least of all to have ended, and who wants to know reads it.
fn tell(live: &Live, decided: &[(&Case, Decision)], as_known: bool) {
    let mut freed = false;
    for (case, decision) in decided {
        let row = &case.job.row;
        let stored = decision.job.as_ref().filter(|_| as_known);
        let to = stored.map_or(row.state, |change| change.to);
        let news = decision.job.is_some() || decision.attempt.is_some();
        if news || !decision.tasks.is_empty() {
            let (id, key) = (row.id, row.key.clone());
            live.tell_queue(Change::Job { id, key, state: to });
        }
        freed |= decision.tasks.iter().any(|change| change.to.is_final());
    }
    if freed {
        live.tell(Change::Cluster);
        live.wakeups.schedule.wake();
        // An ending is decided in steps: the next one can be taken at once.
        live.wakeups.jobs.wake();
    }
}
