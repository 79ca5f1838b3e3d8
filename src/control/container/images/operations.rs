//! What is being done with images, besides the records.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use database::private_images::PrivateImage;
use protocol::ids::{NodeName, TaskKey};
use protocol::image::canonical;
use tokio::sync::{OwnedMutexGuard, OwnedRwLockReadGuard, RwLock};

use crate::lock::lock;

/// A pushed image's name is looked for so often until it is free again.
const PATIENCE: Duration = Duration::from_millis(500);

/// From so many nodes on it is looked with whose images nothing is done any more.
const FEW: usize = 64;

/// What is being done with images.
#[derive(Debug, Default)]
pub(crate) struct ImageOperations {
    progress: Mutex<HashMap<i64, String>>,
    held: Mutex<HashSet<TaskKey>>,
    nodes: Mutex<Nodes>,
    /// What nodes have because somebody showed a registry his credentials; as it is recorded.
    pub(crate) private: Mutex<Vec<PrivateImage>>,
}

/// Those with whose images something is done, and perhaps some with whose images it was.
#[derive(Debug, Default)]
struct Nodes {
    all: HashMap<NodeName, Arc<OnNode>>,
    /// How many were left when it was looked last.
    left: usize,
}

/// What is being done with the images of one node.
#[derive(Debug, Default)]
pub(crate) struct OnNode {
    /// Names in registries that images of users have on the node while they are pushed.
    pub(crate) pushing: Arc<RwLock<HashSet<String>>>,
    /// One copy at a time: tasks that are launched together want the same.
    pub(crate) copying: tokio::sync::Mutex<()>,
    /// One pull of an image at a time, by its name.
    pulling: Mutex<HashMap<String, Arc<tokio::sync::Mutex<()>>>>,
}

impl ImageOperations {
    /// What is being done with saved images, for people to read.
    pub(crate) fn progress(&self) -> MutexGuard<'_, HashMap<i64, String>> {
        lock(&self.progress)
    }

    /// Containers that are being saved: they stay until that is done.
    pub(crate) fn held(&self) -> MutexGuard<'_, HashSet<TaskKey>> {
        lock(&self.held)
    }

    pub(crate) fn on(&self, node: &NodeName) -> Arc<OnNode> {
        let mut nodes = lock(&self.nodes);
        if nodes.all.len() >= 2 * nodes.left.max(FEW) {
            nodes.all.retain(|_, on_node| Arc::strong_count(on_node) > 1 || on_node.is_used());
            nodes.all.shrink_to_fit();
            nodes.left = nodes.all.len();
        }
        Arc::clone(nodes.all.entry(node.clone()).or_default())
    }
}

impl OnNode {
    /// Whether anybody pulls, or pushes or is kept from it, who need not hold all of this.
    fn is_used(&self) -> bool {
        let pushed = self.pushing.try_read().map_or(true, |pushing| !pushing.is_empty());
        let pulled = lock(&self.pulling).values().any(|one| Arc::strong_count(one) > 1);
        pushed || pulled || Arc::strong_count(&self.pushing) > 1
    }

    /// Waits until nobody else pulls this image.
    pub(crate) async fn pull_alone(&self, image: &str) -> OwnedMutexGuard<()> {
        let one = {
            let mut pulling = lock(&self.pulling);
            pulling.retain(|_, one| Arc::strong_count(one) > 1);
            Arc::clone(pulling.entry(canonical(image)).or_default())
        };
        one.lock_owned().await
    }

    /// Waits until the image of this name is what it is to everybody. While the answer is kept,
    /// nobody gives the name to an image of his own.
    pub(crate) async fn unless_pushed(&self, image: &str) -> OwnedRwLockReadGuard<HashSet<String>> {
        let name = canonical(image);
        loop {
            let pushing = Arc::clone(&self.pushing).read_owned().await;
            if !pushing.contains(&name) {
                return pushing;
            }
            drop(pushing);
            tokio::time::sleep(PATIENCE).await;
        }
    }
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[tokio::test]
    async fn nothing_is_kept_of_nodes_with_whose_images_nothing_is_done() {
        let (operations, name) =
            (ImageOperations::default(), |at: usize| format!("node-{at}").parse().unwrap());
        operations.on(&name(0)).pushing.write().await.insert(canonical("r.org/team/torch:1"));
        let pulling = operations.on(&name(1)).pull_alone("r.org/team/torch:2").await;
        let reading = operations.on(&name(2)).unless_pushed("r.org/team/torch:3").await;
        let held = operations.on(&name(3));
        (4..10 * FEW).for_each(|at| drop(operations.on(&name(at))));
        assert!(lock(&operations.nodes).all.len() <= 2 * FEW);
        assert!((0..4).all(|at| lock(&operations.nodes).all.contains_key(&name(at))));
        drop((pulling, reading, held));
        operations.on(&name(0)).pushing.write().await.clear();
        (10 * FEW..12 * FEW).for_each(|at| drop(operations.on(&name(at))));
        assert!((0..4).all(|at| !lock(&operations.nodes).all.contains_key(&name(at))));
    }

    #[tokio::test]
    async fn a_name_that_is_pushed_starts_no_task_until_it_is_free() {
        let on_node = ImageOperations::default().on(&"node-1".parse().unwrap());
        on_node.pushing.write().await.insert(canonical("r.org/team/torch:1"));
        let other = on_node.unless_pushed("r.org/team/torch:2").await;
        drop(other);
        assert!(on_node.unless_pushed("R.org/team/torch:1").now_or_never().is_none());
        on_node.pushing.write().await.clear();
        on_node.unless_pushed("r.org/team/torch:1").await;
    }
}
