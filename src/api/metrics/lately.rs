//! What a row of a list tells of GPUs.

use serde::{Deserialize, Serialize};

/// How busy the GPUs of a job or of a node were in the last hour: their mean in percent in each of
/// [`Lately::SPANS`] spans, the last of which goes on; empty: that was not measured.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Lately(pub Vec<Option<u8>>);

impl Lately {
    /// So many spans are told of.
    pub const SPANS: usize = 12;

    /// Nothing was measured.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.0.iter().all(Option::is_none)
    }

    /// The last that was measured.
    #[must_use]
    pub fn latest(&self) -> Option<u8> {
        self.0.iter().rev().find_map(|load| *load)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_latest_is_the_last_that_was_measured() {
        assert_eq!((Lately::default().latest(), Lately::default().is_empty()), (None, true));
        assert!(Lately(vec![None; 12]).is_empty());
        let some = Lately(vec![None, Some(3), Some(0), None]);
        assert_eq!((some.latest(), some.is_empty()), (Some(0), false));
        assert_eq!(serde_json::to_string(&some).unwrap(), "[null,3,0,null]");
    }
}
