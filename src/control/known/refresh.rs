//! Nodes and virtual clusters in memory follow the records: who has stored a change of them has it read
//! back. One reads at a time, so that nothing newer is hidden by what was read before it.

use database::Error;
use database::nodes::NodeObserved;
use protocol::ids::NodeName;

use crate::known::cluster::{Cluster, as_wanted};
use crate::shared::Shared;

/// Reads everything.
pub(crate) async fn all(shared: &Shared) -> Result<(), Error> {
    let _turn = shared.reading.lock().await;
    let read = Cluster::read(&shared.database, &shared.of_nodes.portal).await?;
    shared.change_cluster(|before| before.renewed(read));
    Ok(())
}

/// Reads one node.
pub(crate) async fn node(shared: &Shared, name: &NodeName) -> Result<(), Error> {
    let _turn = shared.reading.lock().await;
    let read = database::nodes::get(shared.database.read(), name).await?;
    let read = read.map(|node| as_wanted(&shared.of_nodes.portal, node));
    shared.change_cluster(|before| before.with_node(name, read));
    Ok(())
}

/// Reads the virtual clusters.
pub(crate) async fn virtual_clusters(shared: &Shared) -> Result<(), Error> {
    let _turn = shared.reading.lock().await;
    let read = database::virtual_clusters::list(shared.database.read()).await?;
    let stopped = database::virtual_clusters::stopped(shared.database.read()).await?;
    shared.change_cluster(|before| before.with_virtual_clusters(read, stopped));
    Ok(())
}

/// Shows what was seen of nodes and is stored.
pub(crate) async fn seen(shared: &Shared, news: &[(NodeName, NodeObserved)]) {
    let _turn = shared.reading.lock().await;
    shared.change_cluster(|before| before.with_seen(news));
}
