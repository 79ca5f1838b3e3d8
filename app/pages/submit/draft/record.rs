//! Texts that were written and not submitted, as they are kept.

use protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::document::Edit;

/// A text and when it was last changed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Draft {
    pub(crate) text: String,
    pub(crate) at: Timestamp,
}

/// A text with changes that have not been made in it yet.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Unmade {
    pub(crate) draft: Draft,
    pub(crate) edits: Vec<Vec<Edit>>,
}

/// Another tab's draft.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Offer {
    /// What it is known by.
    pub(super) tab: String,
    pub(crate) draft: Draft,
}
