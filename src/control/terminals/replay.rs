//! A shell's output between the shell and its reader. Pure.

use std::collections::VecDeque;

use api::terminals::WINDOW_BYTES;
use bytes::Bytes;

/// Bytes that are kept although the reader has them: for one who comes back with an empty screen.
const HISTORY: u64 = 64 * 1024;

/// What the shell wrote, by its position in all that it ever wrote: `start ≤ acknowledged ≤ sent ≤
/// end`. No more than a window is kept of what the reader has not acknowledged: when it is full the
/// shell is not read, and waits.
#[derive(Debug, Default)]
pub(super) struct Replay {
    bytes: VecDeque<u8>,
    start: u64,
    acknowledged: u64,
    sent: u64,
}

impl Replay {
    fn end(&self) -> u64 {
        self.start + self.bytes.len() as u64
    }

    /// Whether more of the shell's output may be taken.
    pub(super) fn has_room(&self) -> bool {
        self.end() - self.acknowledged < WINDOW_BYTES
    }

    /// Takes output.
    pub(super) fn push(&mut self, output: &[u8]) {
        self.bytes.extend(output);
        self.trim();
    }

    /// Whether there is something to send.
    pub(super) fn has_news(&self) -> bool {
        self.sent < self.end()
    }

    /// The next piece to send.
    pub(super) fn next(&mut self, most: usize) -> Bytes {
        let from = usize::try_from(self.sent - self.start).unwrap_or(usize::MAX);
        let piece: Bytes = self.bytes.iter().skip(from).take(most).copied().collect();
        self.sent += piece.len() as u64;
        piece
    }

    /// The reader has all bytes up to this one.
    pub(super) fn acknowledge(&mut self, received: u64) {
        self.acknowledged = self.acknowledged.max(received.min(self.sent));
        self.trim();
    }

    /// A reader comes who has all bytes up to this one. Gives the position of the first that will be
    /// sent.
    pub(super) fn rewind(&mut self, received: u64) -> u64 {
        self.sent = received.clamp(self.start, self.end());
        self.acknowledged = self.sent;
        self.sent
    }

    fn trim(&mut self) {
        let kept_from = self.acknowledged.saturating_sub(HISTORY);
        let dropped = kept_from.saturating_sub(self.start);
        self.bytes.drain(..usize::try_from(dropped).unwrap_or(usize::MAX).min(self.bytes.len()));
        self.start += dropped;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const ALL: usize = usize::MAX;

    #[test]
    fn a_reader_who_comes_back_misses_nothing() {
        let mut replay = Replay::default();
        replay.push(b"one two three");
        assert_eq!(replay.next(3), "one");
        assert_eq!(replay.next(ALL), " two three");
        assert!(!replay.has_news());
        replay.acknowledge(4);
        replay.push(b" four");
        // Of ` two three` only two bytes have arrived.
        assert_eq!(replay.rewind(5), 5);
        assert_eq!(replay.next(ALL), "wo three four");
    }

    #[test]
    fn an_empty_screen_gets_what_is_left() {
        let mut replay = Replay::default();
        replay.push(&vec![b'x'; 200_000]);
        replay.next(ALL);
        replay.acknowledge(200_000);
        let offset = replay.rewind(0);
        assert_eq!(offset, 200_000 - HISTORY);
        assert_eq!(replay.next(ALL).len() as u64, HISTORY);
    }

    #[test]
    fn nothing_is_taken_that_nobody_acknowledges() {
        let mut replay = Replay::default();
        let mut taken = 0;
        while replay.has_room() {
            replay.push(&[b'x'; 10_000]);
            taken += 10_000;
            replay.next(ALL);
        }
        assert!(taken < WINDOW_BYTES + 10_000);
        replay.acknowledge(10_000);
        assert!(replay.has_room());
        // Nobody acknowledges what was not sent.
        replay.acknowledge(u64::MAX);
        assert!(!replay.has_news());
        assert_eq!(replay.rewind(u64::MAX), taken);
        assert!(replay.bytes.len() as u64 <= HISTORY);
    }
}
