//! Work on nodes that takes turns: only so much of it is done at the same time, and of one node only
//! a part of that, so that one that does not answer leaves room for the others.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};

use protocol::ids::NodeName;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use crate::lock::lock;

/// Room for some work at a time.
#[derive(Debug)]
pub(super) struct Turns {
    of_all: Arc<Semaphore>,
    share: usize,
    of_nodes: Mutex<HashMap<NodeName, Arc<Semaphore>>>,
}

/// A turn; it is over when this goes.
#[derive(Debug)]
pub(super) struct Turn {
    _of_all: OwnedSemaphorePermit,
    _of_node: OwnedSemaphorePermit,
}

impl Turns {
    /// So much at the same time, and so much of it on one node.
    pub(super) fn new(room: usize, share: usize) -> Self {
        Self { of_all: Arc::new(Semaphore::new(room)), share, of_nodes: Mutex::default() }
    }

    /// Waits for a turn of a node.
    pub(super) async fn take(&self, node: &NodeName) -> Turn {
        // Who waits for his node takes nobody else's room.
        let of_node = one_of(self.of_node(node)).await;
        Turn { _of_all: one_of(Arc::clone(&self.of_all)).await, _of_node: of_node }
    }

    fn of_node(&self, node: &NodeName) -> Arc<Semaphore> {
        let mut of_nodes = lock(&self.of_nodes);
        let of_node = of_nodes.entry(node.clone());
        Arc::clone(of_node.or_insert_with(|| Arc::new(Semaphore::new(self.share))))
    }
}

async fn one_of(room: Arc<Semaphore>) -> OwnedSemaphorePermit {
    room.acquire_owned().await.expect("nobody closes it")
}

#[cfg(test)]
mod tests {
    use futures::FutureExt;

    use super::*;

    #[test]
    fn a_node_that_keeps_its_turns_leaves_the_others_theirs() {
        let turns = Turns::new(4, 2);
        let [silent, other, third]: [NodeName; 3] =
            ["a", "b", "c"].map(|name| name.parse().unwrap());
        let take = |node: &NodeName| turns.take(node).now_or_never();
        let kept = [take(&silent), take(&silent)];
        assert!(kept.iter().all(Option::is_some));
        assert!(take(&silent).is_none(), "it has all that one node may have");
        let work = [take(&other), take(&other)];
        assert!(work.iter().all(Option::is_some));
        assert!(take(&third).is_none(), "there is no more room for now");
        drop(work);
        assert!(take(&third).is_some() && take(&silent).is_none());
        drop(kept);
        assert!(take(&silent).is_some());
    }
}
