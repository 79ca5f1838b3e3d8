//! The end of a log, however long the log is.

use std::collections::VecDeque;

/// Takes a log piece by piece and keeps its last bytes.
#[derive(Debug)]
pub(crate) struct LogEnd {
    limit: usize,
    bytes: VecDeque<u8>,
    /// How many bytes it was given.
    pub(crate) given: u64,
}

impl LogEnd {
    /// Keeps so many bytes.
    pub(crate) fn new(limit: usize) -> Self {
        Self { limit, bytes: VecDeque::new(), given: 0 }
    }

    pub(crate) fn push(&mut self, piece: &[u8]) {
        self.given += piece.len() as u64;
        let piece = &piece[piece.len().saturating_sub(self.limit)..];
        let surplus = (self.bytes.len() + piece.len()).saturating_sub(self.limit);
        self.bytes.drain(..surplus);
        self.bytes.extend(piece);
    }

    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        self.bytes.iter().copied().collect()
    }

    pub(crate) fn into_bytes(self) -> Vec<u8> {
        self.bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_the_end_is_kept() {
        let mut end = LogEnd::new(4);
        for piece in ["ab", "c", "", "defghijk", "l"] {
            end.push(piece.as_bytes());
            assert!(end.bytes.len() <= 4);
        }
        assert_eq!((end.given, end.into_bytes().as_slice()), (12, b"ijkl".as_slice()));
    }
}
