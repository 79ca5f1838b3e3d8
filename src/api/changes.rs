//! What changes, as it changes: the source of the live pages.

use futures::stream::BoxStream;
use protocol::ids::{JobId, JobKey, NodeName, UserName};
use protocol::state::State;
use serde::{Deserialize, Serialize};

use crate::Actor;

/// One change. It says what to look at again, not everything about it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum Change {
    /// A job was submitted, changed its state, or one of its tasks did.
    Job {
        /// Its database key.
        id: JobId,
        /// Its name.
        key: JobKey,
        /// Its state now.
        state: State,
    },
    /// A node came, went or changed its condition.
    Node {
        /// Which.
        name: NodeName,
    },
    /// A saved image came, went or got further.
    Image {
        /// Whose it is.
        owner: UserName,
    },
    /// Shares or use of the virtual clusters changed.
    Cluster,
    /// Waiting jobs may have another place in the queue, or another reason to wait.
    Queue,
    /// The listener was too slow and missed changes: read everything again.
    Missed,
}

/// The stream of changes.
pub trait Changes: Send + Sync {
    /// All changes from now on. The stream never ends by itself.
    fn subscribe(&self, actor: &Actor) -> BoxStream<'static, Change>;
}
