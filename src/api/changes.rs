//! What changes, as it changes: the source of the live pages.

use std::fmt;
use std::str::FromStr;

use futures::stream::BoxStream;
use protocol::ids::{JobId, JobKey, NodeName, UserName};
use protocol::state::State;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;

protocol::tagged! {
    "kind" "Change"
    /// One change. It says what to look at again, not everything about it.
    #[derive(Debug, Clone, PartialEq, Eq, Serialize)]
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
}

/// A place in the row of all changes that a server has told since it started, written
/// `<run>.<number>`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Mark {
    /// Which start of the server: numbers of another one say nothing.
    pub run: u32,
    /// How many changes came up to here.
    pub number: u64,
}

impl fmt::Display for Mark {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}.{}", self.run, self.number)
    }
}

/// This text is no [`Mark`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("a mark is two numbers with a dot between them")]
pub struct InvalidMark;

impl FromStr for Mark {
    type Err = InvalidMark;

    fn from_str(text: &str) -> Result<Self, InvalidMark> {
        let (run, number) = text.split_once('.').ok_or(InvalidMark)?;
        let run = run.parse().map_err(|_| InvalidMark)?;
        Ok(Self { run, number: number.parse().map_err(|_| InvalidMark)? })
    }
}

/// What was told after a mark, for who asks instead of listening.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct News {
    /// Up to where it reaches.
    pub mark: Mark,
    /// The changes, oldest first; [`Change::Missed`] where some of them are forgotten.
    pub changes: Vec<Change>,
}

/// The stream of changes.
pub trait Changes: Send + Sync {
    /// All changes from now on. The stream never ends by itself.
    fn subscribe(&self, actor: &Actor) -> BoxStream<'static, Change>;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mark_is_read_as_it_is_written() {
        let mark = Mark { run: 7, number: 1_000_000 };
        assert_eq!(mark.to_string().parse(), Ok(mark));
        for bad in ["", "7", "7.", ".7", "-1.2", "7.8.9", "a.b"] {
            assert_eq!(bad.parse::<Mark>(), Err(InvalidMark), "{bad}");
        }
    }
}
