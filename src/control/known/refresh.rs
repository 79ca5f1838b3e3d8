//! Nodes and virtual clusters in memory follow the records: who has stored a change of them has it read
//! back. One reads at a time, so that nothing newer is hidden by what was read before it.

use std::sync::{Arc, PoisonError, RwLock};

use database::nodes::NodeObserved;
use database::{Database, Error};
use protocol::ids::{NodeName, UserName};

use crate::known::cluster::{Cluster, as_wanted};
use crate::known::members;
use crate::known::portal::Portal;

/// Nodes and virtual clusters in memory.
#[derive(Debug)]
pub(crate) struct ClusterHandle {
    current: RwLock<Arc<Cluster>>,
    /// One at a time reads nodes or virtual clusters, until what it has read is shown.
    reading: tokio::sync::Mutex<()>,
    portal: Portal,
}

impl ClusterHandle {
    pub(crate) fn new(cluster: Cluster, portal: Portal) -> Self {
        let reading = tokio::sync::Mutex::default();
        Self { current: RwLock::new(Arc::new(cluster)), reading, portal }
    }

    /// As they were last read.
    pub(crate) fn current(&self) -> Arc<Cluster> {
        Arc::clone(&self.current.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Reads everything.
    pub(crate) async fn read_all(&self, database: &Database) -> Result<(), Error> {
        let _turn = self.reading.lock().await;
        let read = Cluster::read(database, &self.portal).await?;
        self.change(|before| before.renewed(read));
        Ok(())
    }

    /// Reads one node.
    pub(crate) async fn read_node(
        &self,
        database: &Database,
        name: &NodeName,
    ) -> Result<(), Error> {
        let _turn = self.reading.lock().await;
        let read = database::nodes::get(database.read(), name).await?;
        let read = read.map(|node| as_wanted(&self.portal, node));
        self.change(|before| before.with_node(name, read));
        Ok(())
    }

    /// Reads the virtual clusters, and who is in the groups that they limit, or that share them.
    pub(crate) async fn read_virtual_clusters(&self, database: &Database) -> Result<(), Error> {
        let _turn = self.reading.lock().await;
        let read = database::virtual_clusters::list(database.read()).await?;
        let stopped = database::virtual_clusters::stopped(database.read()).await?;
        let members = members::read(database.read(), &read).await?;
        self.change(|before| before.with_virtual_clusters(read, stopped).with_members(members));
        Ok(())
    }

    /// Reads anew who is in which group where a user is in others than is known, and says whether he is:
    /// sign-in providers say it when he signs in, and it matters from the next job on.
    pub(crate) async fn follow_groups(
        &self,
        database: &Database,
        user: &UserName,
    ) -> Result<bool, Error> {
        let cluster = self.current();
        let known = (cluster.virtual_clusters.as_slice(), &*cluster.members);
        let others = members::differ(database.read(), known, user).await?;
        if others {
            self.read_virtual_clusters(database).await?;
        }
        Ok(others)
    }

    /// Shows what was seen of nodes and is stored.
    pub(crate) async fn show_seen(&self, news: &[(NodeName, Arc<NodeObserved>)]) {
        let _turn = self.reading.lock().await;
        self.change(|before| before.with_seen(news));
    }

    fn change(&self, change: impl FnOnce(&Cluster) -> Cluster) {
        let mut cluster = self.current.write().unwrap_or_else(PoisonError::into_inner);
        *cluster = Arc::new(change(&cluster));
    }
}
