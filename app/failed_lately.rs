use protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

/// Jobs that failed in the last seven days, or since the reader dismissed the ones before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct FailedLately {
    /// How many.
    pub(crate) count: u64,
    /// From when on, if some were dismissed within these days.
    pub(crate) since: Option<Timestamp>,
    /// When the last of them ended.
    pub(crate) last: Option<Timestamp>,
}
