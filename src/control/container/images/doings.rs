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

/// What is being done with images.
#[derive(Debug, Default)]
pub(crate) struct Doings {
    progress: Mutex<HashMap<i64, String>>,
    held: Mutex<HashSet<TaskKey>>,
    nodes: Mutex<HashMap<NodeName, Arc<OnNode>>>,
    /// What nodes have because somebody showed a registry his credentials; as it is recorded.
    pub(crate) private: Mutex<Vec<PrivateImage>>,
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

impl Doings {
    /// What is being done with saved images, for people to read.
    pub(crate) fn progress(&self) -> MutexGuard<'_, HashMap<i64, String>> {
        lock(&self.progress)
    }

    /// Containers that are being saved: they stay until that is done.
    pub(crate) fn held(&self) -> MutexGuard<'_, HashSet<TaskKey>> {
        lock(&self.held)
    }

    pub(crate) fn on(&self, node: &NodeName) -> Arc<OnNode> {
        Arc::clone(lock(&self.nodes).entry(node.clone()).or_default())
    }
}

impl OnNode {
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
    async fn a_name_that_is_pushed_starts_no_task_until_it_is_free() {
        let on_node = Doings::default().on(&"node-1".parse().unwrap());
        on_node.pushing.write().await.insert(canonical("r.org/team/torch:1"));
        let other = on_node.unless_pushed("r.org/team/torch:2").await;
        drop(other);
        assert!(on_node.unless_pushed("R.org/team/torch:1").now_or_never().is_none());
        on_node.pushing.write().await.clear();
        on_node.unless_pushed("r.org/team/torch:1").await;
    }
}
