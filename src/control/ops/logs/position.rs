//! Where in a log something is: what readers are given as a number and give back to go on.

use protocol::time::Timestamp;

/// Set in the numbers that count from a moment.
const FROM_A_MOMENT: u64 = 1 << 62;
/// Below it the seconds since [`EPOCH`], below them the bytes since then.
const BYTE_BITS: u32 = 32;
const SECOND_BITS: u32 = 30;
/// The beginning of 2020, in seconds.
const EPOCH: i64 = 1_577_836_800;

/// A place in a log. Of a long one only the end is read, and no engine says how long the rest is: it
/// is counted from a moment then.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Position {
    /// The second from whose first byte on it is counted; `None`: from the log's beginning.
    pub(super) since: Option<i64>,
    /// So many bytes after that.
    pub(super) bytes: u64,
}

impl Position {
    /// Reads the number. Adding to it goes on by so many bytes.
    pub(super) fn read(number: u64) -> Self {
        if number & FROM_A_MOMENT == 0 {
            return Self { since: None, bytes: number };
        }
        let second = (number >> BYTE_BITS) & ((1 << SECOND_BITS) - 1);
        let since = i64::try_from(second).map_or(EPOCH, |second| second + EPOCH);
        Self { since: Some(since), bytes: number & ((1 << BYTE_BITS) - 1) }
    }

    pub(super) fn number(self) -> u64 {
        let Some(since) = self.since else { return self.bytes };
        let second = u64::try_from(since - EPOCH).unwrap_or(0).min((1 << SECOND_BITS) - 1);
        FROM_A_MOMENT | (second << BYTE_BITS) | self.bytes.min((1 << BYTE_BITS) - 1)
    }

    /// The moment from which on an engine is to send the log.
    pub(super) fn moment(self) -> Option<Timestamp> {
        self.since.map(|second| Timestamp(second * 1000))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_and_counted_on() {
        for position in [
            Position { since: None, bytes: 0 },
            Position { since: None, bytes: 256_000_000 },
            Position { since: Some(1_795_221_973), bytes: 0 },
            Position { since: Some(1_795_221_973), bytes: 123_456_789 },
            Position { since: Some(EPOCH), bytes: 1 },
        ] {
            assert_eq!(Position::read(position.number()), position);
            let on = Position { bytes: position.bytes + 1_000, ..position };
            assert_eq!(Position::read(position.number() + 1_000), on);
        }
        assert_eq!(Position::read(0).moment(), None);
        let far = Position { since: Some(i64::MAX), bytes: u64::MAX };
        assert!(Position::read(far.number()).since.is_some(), "no number is too large");
    }
}
