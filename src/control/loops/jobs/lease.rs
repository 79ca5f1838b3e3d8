//! Which tasks of a case have a lease, as far as anything of them may be there. Those that are to end are
//! let run on no more, unless they have a grace: where nobody reaches them, they end with their lease.

use std::time::Duration;

use database::tasks::Task;
use engine::ContainerStatus;
use protocol::exit::Exit;

use super::case::Case;
use super::observe::Seen;
use crate::known::cluster::Observation;
use crate::known::leases::Leases;

/// Notes those of a case. Says whether any of them is to be talked to at once.
pub(super) fn watch(leases: &Leases, case: &Case, seen: &Seen) -> bool {
    let Some(seconds) = case.attempt.lease else { return false };
    let lease = Duration::from_secs(seconds.into());
    let finishes = |exit: &Exit| case.job.spec.grace_before(&exit.cause).is_some();
    let ends = case.attempt.exit.as_ref().is_some_and(|exit| !finishes(exit))
        || case.job.row.stop.is_some();
    let at_once = |task: &&Task| {
        let runs = if ends { Some(false) } else { runs(seen, task) };
        leases.watch((&case.job.row.key, task), lease, runs)
    };
    // All of them are noted.
    case.active().filter(|task| task.intent.is_some()).filter(at_once).count() > 0
}

/// Whether a task's container runs, if its node's engine answers.
fn runs(seen: &Seen, task: &Task) -> Option<bool> {
    match seen.get(&task.placement.node)? {
        Observation::Answers { containers, .. } => {
            let found = containers.get(&task.key);
            Some(found.is_some_and(|container| {
                matches!(container.status, ContainerStatus::Running { .. })
            }))
        }
        Observation::Silent => None,
    }
}
