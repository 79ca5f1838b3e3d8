//! Jobs that give up their places: most of them wait again, in their old place in the queue.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use database::attempts::{Attempt, AttemptUpdate};
use database::events::NewEvent;
use database::jobs::JobRow;
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, JobKey, NodeName};
use protocol::notifications::Occasion;
use protocol::spec::Grace;
use protocol::state::State;
use protocol::words::counted;
use scheduler::model::{Preemption, Running};

use super::Failed;
use crate::known::cluster::Cluster;
use crate::records::{happened, notices};
use crate::shared::Shared;
use crate::wake::now;

/// A job that is to give up its place.
pub(super) struct Leaving {
    job: JobId,
    cause: Cause,
    /// The kind of event, and its words.
    event: (&'static str, String),
}

/// Those that have to make room for work that has more right to it.
pub(super) fn preempted(preempted: &[(Preemption, Option<JobKey>)]) -> Vec<Leaving> {
    let leaving = |(victim, by): &(Preemption, Option<JobKey>)| {
        let taken_by = by.as_ref().map_or("another job", |key| key.name.as_str());
        let within = &victim.virtual_cluster;
        let words = match victim.outranked {
            true => format!(
                "gives way to {taken_by}, which is of a higher class in virtual cluster {within}"
            ),
            false => format!(
                "gives way to {taken_by}, whose virtual cluster {within} is guaranteed its place"
            ),
        };
        Leaving { job: victim.job, cause: Cause::Preempted, event: ("preempted", words) }
    };
    preempted.iter().map(leaving).collect()
}

/// Those with tasks on nodes that are to be empty at once. What is on one that does not answer is
/// the other loop's: nothing can be stopped there.
pub(super) fn moved<'a>(
    cluster: &Cluster,
    running: impl Iterator<Item = &'a Running>,
) -> Vec<Leaving> {
    let emptied = cluster.nodes.iter().filter(|node| {
        node.emptied && node.observed.as_ref().is_some_and(|observed| observed.reachable)
    });
    let emptied: HashSet<&NodeName> = emptied.map(|node| &node.settings.name).collect();
    if emptied.is_empty() {
        return Vec::new();
    }
    let leaving = running.filter(|job| !job.stopping).filter_map(|job| {
        let (there, _) = job.tasks.iter().find(|(task, _)| emptied.contains(&task.node))?;
        let words = format!("leaves {}, which is being emptied", there.node);
        let cause = Cause::NodeDrained { node: there.node.clone() };
        Some(Leaving { job: job.job, cause, event: ("moved", words) })
    });
    leaving.collect()
}

/// Those that hold GPUs and do not use them, with how many minutes that has lasted, unless they leave anyway.
pub(super) fn idle(to_stop: BTreeMap<JobId, u32>, leaving: &[Leaving]) -> Vec<Leaving> {
    let others = to_stop.into_iter().filter(|(job, _)| leaving.iter().all(|it| it.job != *job));
    let leaving = others.map(|(job, minutes)| {
        let idle = counted(minutes, "minute");
        let words = format!("is stopped: its GPUs did nothing for {idle}");
        Leaving { job, cause: Cause::Idle { minutes }, event: ("stopped", words) }
    });
    leaving.collect()
}

/// Records that their attempts end, for the other loop to stop their containers. Says which jobs
/// are ending; what has changed in the meantime is not among them and is decided anew in the next
/// pass.
pub(super) async fn leave(
    shared: &Shared,
    leaving: Vec<Leaving>,
) -> Result<HashSet<JobId>, Failed> {
    let mut ending = HashSet::new();
    if leaving.is_empty() {
        return Ok(ending);
    }
    let jobs: Vec<JobId> = leaving.iter().map(|leaving| leaving.job).collect();
    let attempts = database::attempts::of_jobs(shared.store.database.read(), &jobs).await?;
    // By number, so that of a job's attempts the last one stays.
    let current: HashMap<JobId, Attempt> =
        attempts.into_iter().map(|attempt| (attempt.job, attempt)).collect();
    let asked = shared.jobs.scheduler.ask(move |queue| {
        let known = jobs.into_iter().filter_map(|id| queue.job(id));
        known.map(|job| (job.row.id, (job.row.clone(), job.spec.grace))).collect::<HashMap<_, _>>()
    });
    let known: HashMap<JobId, (Arc<JobRow>, Option<Grace>)> = asked.await?;
    let transaction = shared.store.database.begin().await?;
    let (mut told, mut events, mut outbox) = (HashSet::new(), Vec::new(), Vec::new());
    for Leaving { job, cause, event: (kind, words) } in leaving {
        let Some(attempt) = current.get(&job) else { continue };
        if attempt.exit.is_some() {
            ending.insert(job);
            continue;
        }
        let preempted = cause == Cause::Preempted;
        let exit = Exit { code: None, cause, evidence: Vec::new() };
        let update =
            AttemptUpdate { exit: Some(exit.into()), ..AttemptUpdate::to(State::Stopping) };
        let Attempt { number, state, .. } = *attempt;
        if database::attempts::update(&transaction, job, number, state, update).await? {
            told.insert(job);
            let grace = known.get(&job).and_then(|(_, grace)| *grace);
            let at = now();
            if let Some((row, _)) = known.get(&job).filter(|_| preempted) {
                let told = (Occasion::Preempted, words.clone());
                outbox.extend(notices::of_job(&shared.outbound, (&row.key, None), told, at));
            }
            let event = happened::to_job(job, at, kind, words);
            events.push(NewEvent { attempt: Some(number), warning: true, ..event });
            events.extend(grace.map(|grace| happened::grace(job, number, grace, at)));
        }
    }
    database::events::insert_many(&transaction, &events).await?;
    database::notifications::put(&transaction, &outbox).await?;
    transaction.commit().await?;
    shared.live.note_stored(told.iter().copied());
    let rows = told.iter().filter_map(|id| known.get(id));
    rows.for_each(|(row, _)| shared.live.tell_job(row.id, &row.key, row.state));
    ending.extend(told);
    Ok(ending)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn who_leaves_anyway_is_not_stopped_for_idleness() {
        let gives_way =
            Leaving { job: JobId(1), cause: Cause::Preempted, event: ("preempted", String::new()) };
        let to_stop = BTreeMap::from([(JobId(1), 45), (JobId(2), 50)]);
        let stopped = idle(to_stop, &[gives_way]);
        let causes: Vec<_> = stopped.iter().map(|it| (it.job, it.cause.clone())).collect();
        assert_eq!(causes, [(JobId(2), Cause::Idle { minutes: 50 })]);
    }
}
