//! For how long a job that runs may go on.

use std::collections::HashMap;
use std::sync::Arc;

use api::audit::AuditAction;
use api::{Actor, Error, ErrorCode, Result};
use database::jobs::{Job, JobRow};
use protocol::ids::JobId;
use protocol::spec::TimeLimit;
use protocol::state::State;
use protocol::time::Timestamp;

use crate::accounts::rights::owner_only;
use crate::records::audit::Note;
use crate::records::happened;
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

/// When those of these jobs that run and have a limit end at the latest.
pub(super) async fn ends(store: &Store, rows: &[JobRow]) -> Result<HashMap<JobId, Timestamp>> {
    let runs = |row: &&JobRow| row.state == State::Running && row.time_limit.is_some();
    let limited: Vec<&JobRow> = rows.iter().filter(runs).collect();
    // The first attempt began when its job did; when another one began, the records of attempts say.
    let again = limited.iter().filter(|row| row.attempt != Some(0)).map(|row| row.id);
    let again: Vec<JobId> = again.collect();
    let attempts = match again.is_empty() {
        true => Vec::new(),
        false => database::attempts::of_jobs(store.database.read(), &again).await?,
    };
    let began = attempts.into_iter().map(|one| ((one.job, Some(one.number)), one.started_at));
    let began: HashMap<_, _> = began.collect();
    let end = |row: &&JobRow| {
        let first = || row.started_at.filter(|_| row.attempt == Some(0));
        let began = began.get(&(row.id, row.attempt)).copied().flatten().or_else(first)?;
        Some((row.id, began.plus_millis(row.time_limit?.millis())))
    };
    Ok(limited.iter().filter_map(end).collect())
}

/// Gives a job that runs another time limit.
pub(super) async fn set(
    shared: &Arc<Shared>,
    actor: &Actor,
    job: &Job,
    limit: TimeLimit,
) -> Result<()> {
    let Job { row, spec } = job;
    owner_only(actor, &row.key.user, "change how long it may run")?;
    if TimeLimit::of_seconds(limit.seconds()).is_none() {
        let (seconds, most) = (limit.seconds(), TimeLimit::LONGEST.seconds());
        let message = format!("{seconds} is no time limit: 1 to {most} seconds");
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    may_take(shared, row, limit).await?;
    if spec.time_limit == Some(limit) {
        return Ok(());
    }
    // Who has no limit yet takes nobody's time by one.
    if !actor.admin && spec.time_limit.is_some_and(|before| limit > before) {
        nobody_waits(shared, row)?;
    }
    let done = shared.store.write(async |transaction| {
        let done = database::jobs::set_time_limit(transaction, row.id, limit).await?;
        if done {
            record(transaction, actor, job, limit).await?;
        }
        Ok(done)
    });
    if !done.await? {
        return Err(runs_no_more(row));
    }
    shared.live.tell_job(row.id, &row.key, row.state);
    shared.live.wakeups.schedule.wake();
    shared.live.wakeups.jobs.wake();
    Ok(())
}

/// It runs, its end has not begun, and it has not run for so long yet.
async fn may_take(shared: &Shared, row: &JobRow, limit: TimeLimit) -> Result<()> {
    let attempts = database::attempts::of_job(shared.store.database.read(), row.id).await?;
    let current = attempts.into_iter().find(|attempt| Some(attempt.number) == row.attempt);
    let has_place = !row.state.is_final() && row.state != State::Waiting && row.stop.is_none();
    let Some(current) = current.filter(|one| has_place && one.exit.is_none()) else {
        return Err(runs_no_more(row));
    };
    let ran = current.started_at.map_or(0, |since| now().since(since));
    if limit.millis() <= ran {
        let seconds = u32::try_from(ran / 1_000).ok().and_then(TimeLimit::of_seconds);
        let ran = seconds.map_or_else(|| limit.to_string(), |ran| ran.to_string());
        let message = format!("{} has run for {ran}: a limit of {limit} is over already", row.key);
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    Ok(())
}

fn runs_no_more(row: &JobRow) -> Error {
    let message = format!("{} does not run: only a job that runs gets another time limit", row.key);
    Error::new(ErrorCode::ConflictJobError, message)
}

/// A short limit lets a job go first where others wait; who made it longer then would have gained by
/// what was not true.
fn nobody_waits(shared: &Shared, row: &JobRow) -> Result<()> {
    let waiting = shared.jobs.seen().waiting_in(&row.virtual_cluster);
    if waiting == 0 {
        return Ok(());
    }
    let message = format!(
        "as long as jobs wait in {} (now {waiting}), only an administrator makes a time limit longer",
        row.virtual_cluster
    );
    Err(Error::new(ErrorCode::ForbiddenUserError, message))
}

async fn record(
    transaction: &database::Transaction,
    actor: &Actor,
    job: &Job,
    limit: TimeLimit,
) -> std::result::Result<(), database::Error> {
    let Job { row, spec } = job;
    let by = &actor.user;
    let (detail, words) = match spec.time_limit {
        Some(before) => (
            format!("{before} → {limit}"),
            format!("{by} changed its time limit from {before} to {limit}"),
        ),
        None => (limit.to_string(), format!("{by} gave it a time limit of {limit}")),
    };
    let event = happened::to_job(row.id, now(), "time limit changed", words);
    let event = happened::by_person(event, by);
    database::events::insert_many(transaction, &[event]).await?;
    let (action, object) = (AuditAction::JobTimeLimit, row.key.to_string());
    let note = Note { action, object, detail, address: None };
    database::audit::insert(transaction, &note.by(actor)).await
}
