//! Tells jobs on borrowed resources to give way.

use std::collections::{HashMap, HashSet};

use database::attempts::{Attempt, AttemptUpdate};
use database::events::NewEvent;
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, JobKey};
use protocol::state::State;
use scheduler::model::{Plan, Preemption};

use crate::active::Active;
use crate::happened;
use crate::shared::Shared;
use crate::wake::now;

/// Records that the attempts of these jobs end, for the other loop to stop their containers: the
/// jobs then wait again, in their old place. Says which jobs are ending; what has changed in the
/// meantime is not among them and is decided anew in the next pass.
pub(super) async fn preempt(
    shared: &Shared,
    placed: &[Active],
    waiting: &[Active],
    plan: &Plan,
) -> Result<HashSet<JobId>, database::Error> {
    let mut ending = HashSet::new();
    if plan.preemptions.is_empty() {
        return Ok(ending);
    }
    let keys: HashMap<JobId, &JobKey> =
        placed.iter().chain(waiting).map(|job| (job.row.id, &job.row.key)).collect();
    let victims: Vec<JobId> = plan.preemptions.iter().map(|victim| victim.job).collect();
    let attempts = database::attempts::of_jobs(shared.database.read(), &victims).await?;
    // By number, so that of a job's attempts the last one stays.
    let current: HashMap<JobId, Attempt> =
        attempts.into_iter().map(|attempt| (attempt.job, attempt)).collect();
    let transaction = shared.database.begin().await?;
    let mut events = Vec::new();
    for victim in &plan.preemptions {
        let Some(attempt) = current.get(&victim.job) else { continue };
        if attempt.exit.is_some() {
            ending.insert(victim.job);
            continue;
        }
        let Attempt { job, number, state, .. } = *attempt;
        if database::attempts::update(&transaction, job, number, state, gives_way()).await? {
            ending.insert(job);
            events.push(told(victim, number, keys.get(&victim.taken_by).copied()));
        }
    }
    database::events::insert_many(&transaction, &events).await?;
    transaction.commit().await?;
    for job in placed.iter().filter(|job| ending.contains(&job.row.id)) {
        shared.tell_job(job.row.id, &job.row.key, job.row.state);
    }
    Ok(ending)
}

fn gives_way() -> AttemptUpdate {
    let exit = Exit { code: None, cause: Cause::Preempted, evidence: Vec::new() };
    AttemptUpdate { exit: Some(exit), ..AttemptUpdate::to(State::Stopping) }
}

fn told(victim: &Preemption, attempt: u32, taken_by: Option<&JobKey>) -> NewEvent {
    let taken_by = taken_by.map_or("another job", |key| key.name.as_str());
    let words = format!(
        "gives way to {taken_by}, whose virtual cluster {} is guaranteed its place",
        victim.virtual_cluster
    );
    let event = happened::to_job(victim.job, now(), "preempted", words);
    NewEvent { attempt: Some(attempt), warning: true, ..event }
}
