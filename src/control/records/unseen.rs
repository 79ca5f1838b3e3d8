//! Jobs that may have containers where nobody can look.

use std::collections::HashMap;

use protocol::ids::{JobId, NodeName};

use crate::known::nodes::KnownNodes;
use crate::records::store::Store;

/// Those of these jobs that had a task on a node which does not answer, with that node: whoever left it for
/// dead knows nothing of its containers. A node that was removed is nobody's any more.
pub(crate) async fn of(
    store: &Store,
    nodes: &KnownNodes,
    jobs: &[JobId],
) -> Result<HashMap<JobId, NodeName>, database::Error> {
    let unseen = nodes.unseen();
    if unseen.is_empty() || jobs.is_empty() {
        return Ok(HashMap::new());
    }
    let places = database::tasks::places_of(store.database.read(), jobs).await?;
    Ok(places.into_iter().filter(|(_, node)| unseen.contains(node)).collect())
}
