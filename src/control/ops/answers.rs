//! What the scheduler says of a job that waits or would, with the names of people and jobs, and with
//! what past jobs say of its start.

use std::collections::BTreeMap;

use api::jobs::DryRun;
use api::queue::{Explanation, HeldBy, Need};
use api::{Actor, Result};
use protocol::amount::Amount;
use protocol::ids::{JobId, JobKey, UserName, VirtualClusterName};
use protocol::spec::JobSpec;
use protocol::time::Timestamp;
use protocol::wait::{WaitReason, Waiting};
use scheduler::Like;
use scheduler::model::{self, Answer, QosClass, Request, RoleRequest};

use super::alternatives;
use crate::accounts::rights::{self, Usable};
use crate::known::queue::{Queue, Reader};
use crate::known::runs;
use crate::shared::Shared;

/// Jobs that are named.
const NAMED: usize = 8;
/// Users who hold something, of whom it is told how much.
const OWNERS: usize = 200;
/// GPU types that are named where a task would take any.
const TYPES: usize = 4;

/// A job as the answers are about it.
pub(super) struct Asked<'a> {
    pub(super) request: &'a Request,
    pub(super) spec: &'a JobSpec,
    /// Where else it could be had.
    pub(super) usable: &'a [VirtualClusterName],
    /// Since when it waits.
    pub(super) since: Timestamp,
}

/// The virtual clusters that take jobs of an owner, of those that whoever asks may use: the job is the
/// owner's, and of others what is free is not told.
pub(super) async fn usable(
    shared: &Shared,
    actor: &Actor,
    owner: &UserName,
) -> Result<Vec<VirtualClusterName>> {
    let usable = Usable::by(&shared.store, &shared.people, actor).await?;
    let owner = if *owner == actor.user {
        None
    } else {
        match standing_of(shared, owner).await? {
            Some(owner) => Some(owner),
            // He is gone, and may use none.
            None => return Ok(Vec::new()),
        }
    };
    let cluster = shared.nodes.cluster();
    let open = cluster.virtual_clusters.iter().filter(|settings| {
        usable.admits(settings)
            && owner.as_ref().is_none_or(|owner| owner.may_use(settings))
            && !cluster.stopped.contains(&settings.name)
    });
    Ok(open.map(|settings| settings.name.clone()).collect())
}

/// What is known of a user, if he is there.
async fn standing_of(shared: &Shared, user: &UserName) -> Result<Option<rights::Standing>> {
    let Some(user) = database::users::get(shared.store.database.read(), user).await? else {
        return Ok(None);
    };
    Ok(rights::standing(&shared.store, &shared.people, &user).await?)
}

/// What the scheduler would do with a job that is not submitted.
pub(super) fn dry_run(
    answer: Answer,
    asked: &Asked<'_>,
    queue: &mut Reader<'_>,
    now: Timestamp,
) -> DryRun {
    let why = match answer {
        Answer::Fits(tasks, qos_class) => {
            let mut nodes: Vec<_> = tasks.into_iter().map(|task| task.node).collect();
            nodes.sort_unstable();
            nodes.dedup();
            let place = (nodes.len() > 1).then(|| queue.place_of(&nodes)).flatten();
            return DryRun::FitsNow { nodes, borrowed: qos_class == QosClass::Borrowed, place };
        }
        Answer::Never(reason) => return DryRun::Never { reason },
        Answer::Waits(why) => why,
        Answer::Preempts(holders) => {
            let jobs = u32::try_from(holders.len()).unwrap_or(u32::MAX);
            let reason = WaitReason::Preempting { jobs };
            let waiting = Waiting { reason, position: 1, expected_start: Some(now) };
            let ahead = Vec::new();
            model::Explanation { waiting, scarce: None, holders, ahead, expected: None }
        }
    };
    DryRun::Waits(Box::new(explanation(why, asked, queue, now)))
}

/// All that can be said of why a job waits.
pub(super) fn explanation(
    why: model::Explanation,
    asked: &Asked<'_>,
    queue: &mut Reader<'_>,
    now: Timestamp,
) -> Explanation {
    let model::Explanation { waiting, scarce, holders, ahead, expected } = why;
    let like = Like::from(asked.request);
    let past = queue.past.waits.expect(&like, &asked.spec.name, asked.since, now);
    let rests = matches!(
        waiting.reason,
        WaitReason::Hold { .. } | WaitReason::Backoff { .. } | WaitReason::Preempting { .. }
    );
    let alternatives = match rests {
        true => Vec::new(),
        false => alternatives::find(asked.spec, asked.request, asked.usable, queue, now),
    };
    let expected = runs::start(&waiting, expected, past);
    let Waiting { reason, position, expected_start } = waiting;
    let (held_by, further_owners) = first_owners(held_by(&holders, queue));
    let owner_use = queue.use_of(asked.request, now);
    let group_use = queue.group_use_of(asked.request, now);
    let weights = owner_use.as_ref().map(|_| queue.weights()).unwrap_or_default();
    Explanation {
        alternatives,
        expected,
        reason,
        position,
        expected_start,
        virtual_cluster: asked.request.virtual_cluster.clone(),
        needs: needs(asked.request, queue, now),
        scarce,
        holders: named(&holders, queue),
        held_by,
        further_owners,
        ahead: named(&ahead, queue),
        owner_use,
        group_use,
        weights,
    }
}

fn named(jobs: &[JobId], queue: &Queue) -> Vec<JobKey> {
    jobs.iter().filter_map(|job| queue.key(*job)).take(NAMED).cloned().collect()
}

/// The holders by owner.
fn held_by(jobs: &[JobId], queue: &Queue) -> Vec<HeldBy> {
    let mut by_user: BTreeMap<&UserName, (u32, Amount)> = BTreeMap::new();
    for row in jobs.iter().filter_map(|job| queue.job(*job)).map(|job| &job.row) {
        let (jobs, gpus) = by_user.entry(&row.key.user).or_default();
        *jobs += 1;
        *gpus += row.gpus;
    }
    let held = |(user, (jobs, gpus)): (&UserName, _)| HeldBy { user: user.clone(), jobs, gpus };
    by_user.into_iter().map(held).collect()
}

/// Those who hold most, who holds the most at the head, and how many more there are.
fn first_owners(mut held: Vec<HeldBy>) -> (Vec<HeldBy>, u64) {
    held.sort_by_key(|held| std::cmp::Reverse((held.gpus, held.jobs)));
    let further = held.len().saturating_sub(OWNERS) as u64;
    held.truncate(OWNERS);
    (held, further)
}

/// The GPUs that a job asks for, by type, with what is free of them.
fn needs(request: &Request, queue: &mut Reader<'_>, now: Timestamp) -> Vec<Need> {
    let free = queue.free(&request.virtual_cluster, &request.user, now);
    let mut needs: Vec<Need> = Vec::new();
    for role in request.roles.iter().filter(|role| role.demand.gpus > 0) {
        let RoleRequest { count, demand, gpu_types, ports: _ } = role;
        let each = Amount::from_milli(demand.all_gpu_milli());
        let types: Vec<_> = match gpu_types.is_empty() {
            true => free.keys().take(TYPES).cloned().collect(),
            false => gpu_types.clone(),
        };
        for gpu_type in types {
            match needs.iter_mut().find(|need| need.gpu_type == gpu_type && need.each == each) {
                Some(need) => need.tasks += count,
                None => {
                    let free = free.get(&gpu_type).copied().unwrap_or_default();
                    needs.push(Need { gpu_type, tasks: *count, each, free });
                }
            }
        }
    }
    needs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn owners_that_are_too_many_to_be_told_are_counted() {
        let held = |number: u64| HeldBy {
            user: format!("user-{number}").parse().unwrap(),
            jobs: 1,
            gpus: number.into(),
        };
        let (told, further) = first_owners((0..203).map(held).collect());
        assert_eq!((told.len(), told[0].clone(), further), (OWNERS, held(202), 3));
        let (told, further) = first_owners((0..2).map(held).collect());
        assert_eq!((told, further), (vec![held(1), held(0)], 0));
    }
}
