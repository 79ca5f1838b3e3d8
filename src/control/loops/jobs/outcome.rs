//! How an action on a container went.

use protocol::exit::{Cause, Exit};

use super::memory::Explained;
use crate::container::launch::Launched;

/// How an action went.
pub(super) enum Outcome {
    /// It is done: look again.
    Done,
    /// A launch cannot succeed.
    GivenUp(Exit),
    /// The engine or what is ours failed: try again later.
    Failed(String),
    /// The engine or the image's registry failed to launch: try again later, but not for ever on this
    /// node; this is why then.
    NotLaunched(Cause),
    /// Something of ours failed to launch: nothing is counted, and the whole job is put off.
    PutOff,
    /// An exit was explained.
    Explained(Explained),
}

impl From<Launched> for Outcome {
    fn from(launched: Launched) -> Self {
        match launched {
            Launched::Done => Self::Done,
            Launched::GivenUp(exit) => Self::GivenUp(exit),
            Launched::Failed(cause) => Self::NotLaunched(cause),
            Launched::PutOff => Self::PutOff,
        }
    }
}

impl From<engine::Result<()>> for Outcome {
    fn from(answer: engine::Result<()>) -> Self {
        match answer {
            Ok(()) => Self::Done,
            Err(error) => Self::Failed(error.to_string()),
        }
    }
}
