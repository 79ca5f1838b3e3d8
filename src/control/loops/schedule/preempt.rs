//! Tells jobs on borrowed resources to give way.

use std::collections::{HashMap, HashSet};

use database::attempts::AttemptUpdate;
use database::events::NewEvent;
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, JobKey};
use protocol::state::State;
use scheduler::model::Plan;

use crate::active::Active;
use crate::happened;
use crate::shared::Shared;
use crate::wake::now;

/// Records that the attempts of these jobs end, for the other loop to stop their containers: the
/// jobs then wait again, in their old place. Says which jobs are ending. What has changed in the
/// meantime is decided anew in the next pass.
pub(super) async fn preempt(
    shared: &Shared,
    placed: &[Active],
    waiting: &[Active],
    plan: &Plan,
) -> Result<HashSet<JobId>, database::Error> {
    if plan.preemptions.is_empty() {
        return Ok(HashSet::new());
    }
    let keys: HashMap<JobId, &JobKey> =
        placed.iter().chain(waiting).map(|job| (job.row.id, &job.row.key)).collect();
    let victims: Vec<JobId> = plan.preemptions.iter().map(|victim| victim.job).collect();
    let attempts = database::attempts::of_jobs(shared.database.read(), &victims).await?;
    let current: HashMap<JobId, _> =
        attempts.into_iter().map(|attempt| (attempt.job, attempt)).collect();
    let (mut updates, mut events) = (Vec::new(), Vec::new());
    for victim in &plan.preemptions {
        let Some(attempt) = current.get(&victim.job).filter(|attempt| attempt.exit.is_none())
        else {
            continue;
        };
        let exit = Exit { code: None, cause: Cause::Preempted, evidence: Vec::new() };
        let update = AttemptUpdate { exit: Some(exit), ..AttemptUpdate::to(State::Stopping) };
        updates.push((victim.job, attempt.number, attempt.state, update));
        let taken_by = keys.get(&victim.taken_by).map_or("another job", |key| key.name.as_str());
        let words = format!(
            "gives way to {taken_by}, whose virtual cluster {} is guaranteed its place",
            victim.virtual_cluster
        );
        let event = happened::to_job(victim.job, now(), "preempted", words);
        events.push(NewEvent { attempt: Some(attempt.number), warning: true, ..event });
    }
    let transaction = shared.database.begin().await?;
    database::attempts::update_many(&transaction, &updates).await?;
    database::events::insert_many(&transaction, &events).await?;
    transaction.commit().await?;
    for job in placed.iter().filter(|job| victims.contains(&job.row.id)) {
        shared.tell_job(job.row.id, &job.row.key, job.row.state);
    }
    Ok(victims.into_iter().collect())
}
