//! Jobs that may have containers where nobody can look.

use std::collections::HashMap;

use database::tasks::Task;
use protocol::ids::{JobId, NodeName};
use protocol::time::Timestamp;

use crate::known::nodes::KnownNodes;
use crate::records::store::Store;

/// A container that ended is removed soon, and the clocks of nodes differ by less, in milliseconds.
const REMOVED_WITHIN: i64 = 3_600_000;

/// Those of these jobs that had a task on a node which does not answer, with that node, but for tasks that
/// were seen to end long before it fell silent: whoever left it for dead knows nothing of its containers. A
/// node that was removed is nobody's any more.
pub(crate) async fn of(
    store: &Store,
    nodes: &KnownNodes,
    jobs: &[JobId],
) -> Result<HashMap<JobId, NodeName>, database::Error> {
    let unseen = nodes.unseen();
    if unseen.is_empty() || jobs.is_empty() {
        return Ok(HashMap::new());
    }
    let conn = store.database.read();
    let mut places = database::tasks::places_of(conn, jobs).await?;
    places.retain(|(_, node)| unseen.contains(node));
    let mut found = HashMap::new();
    for (job, node) in places {
        // Of what cannot be read nobody knows that it is gone.
        let remains = match database::tasks::of_job(conn, job).await {
            Ok(tasks) => {
                let last_seen = last_seen(nodes, &node);
                let mut of_node = tasks.iter().filter(|task| task.placement.node == node);
                of_node.any(|task| may_remain(task, last_seen))
            }
            Err(error @ database::Error::Unavailable { .. }) => return Err(error),
            Err(_) => true,
        };
        if remains {
            found.insert(job, node);
        }
    }
    Ok(found)
}

/// When a node has answered last.
fn last_seen(nodes: &KnownNodes, node: &NodeName) -> Option<Timestamp> {
    let stored = || nodes.cluster().node(node)?.observed.as_ref()?.last_seen;
    nodes.heartbeats.last_answer(node).or_else(stored)
}

/// Whether a task's container may still be on a node that was seen last at that moment. Only one that was seen
/// to end has a code: what was left for dead has none.
fn may_remain(task: &Task, last_seen: Option<Timestamp>) -> bool {
    let has_code = task.exit.as_ref().is_some_and(|exit| exit.code.is_some());
    match (task.completed_at, last_seen) {
        (Some(ended), Some(seen)) if has_code => ended.plus_millis(REMOVED_WITHIN) >= seen,
        _ => true,
    }
}
