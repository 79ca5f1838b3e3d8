//! What a connection is doing, and until when it may.

use std::io;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::time::Instant;

use super::limits::{Limits, Place};

/// What is known of one connection.
#[derive(Debug)]
pub(super) struct Pulse {
    limits: Limits,
    /// Several requests at once: what arrives between them says nothing about the next one's head.
    multiplexed: bool,
    state: Mutex<State>,
}

#[derive(Debug)]
struct State {
    phase: Phase,
    /// Since when there is something to send that nobody takes.
    stalled: Option<Instant>,
    /// When something was last taken.
    taken: Instant,
}

/// Ends in another of the three, in any order.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// Nothing is asked.
    Quiet(Instant),
    /// A head is on its way.
    Head(Instant),
    /// So many requests are being answered.
    Answering(usize),
}

impl State {
    fn answering(&mut self) {
        self.phase = match self.phase {
            Phase::Answering(others) => Phase::Answering(others + 1),
            Phase::Quiet(_) | Phase::Head(_) => Phase::Answering(1),
        };
    }

    fn answered(&mut self, now: Instant) {
        self.phase = match self.phase {
            Phase::Answering(others) if others > 1 => Phase::Answering(others - 1),
            Phase::Answering(_) => Phase::Quiet(now),
            phase @ (Phase::Quiet(_) | Phase::Head(_)) => phase,
        };
    }

    fn heard(&mut self, now: Instant) {
        if matches!(self.phase, Phase::Quiet(_)) {
            self.phase = Phase::Head(now);
        }
    }

    fn waits(&mut self, now: Instant) {
        self.stalled.get_or_insert(now);
    }

    fn sent(&mut self, now: Instant) {
        self.stalled = None;
        self.taken = now;
    }

    /// Whether nothing would be lost by ending it; if so, it has only the time of a head left.
    fn part(&mut self, now: Instant) -> bool {
        let quiet = matches!(self.phase, Phase::Quiet(_)) && self.stalled.is_none();
        self.heard(now);
        quiet
    }

    fn deadline(&self, limits: &Limits) -> Option<Instant> {
        let phase = match self.phase {
            Phase::Quiet(since) => Some(since.max(self.taken) + limits.quiet),
            Phase::Head(since) => Some(since + limits.head),
            Phase::Answering(_) => None,
        };
        let stall = self.stalled.map(|since| since + limits.stall);
        [phase, stall].into_iter().flatten().min()
    }
}

impl Pulse {
    pub(super) fn new(limits: Limits, multiplexed: bool) -> Arc<Self> {
        let now = Instant::now();
        let state = State { phase: Phase::Head(now), stalled: None, taken: now };
        Arc::new(Self { limits, multiplexed, state: Mutex::new(state) })
    }

    /// A request is there; it is being answered until this is dropped.
    pub(super) fn answering(self: &Arc<Self>) -> Answering {
        self.lock().answering();
        Answering(Arc::clone(self))
    }

    /// Until when it may go on like this.
    pub(super) fn deadline(&self) -> Option<Instant> {
        self.lock().deadline(&self.limits)
    }

    /// Whether nothing would be lost by ending it; if so, it has only the time of a head left.
    pub(super) fn part(&self) -> bool {
        self.lock().part(Instant::now())
    }

    fn heard(&self) {
        if !self.multiplexed {
            self.lock().heard(Instant::now());
        }
    }

    fn sent<T>(&self, outcome: &Poll<T>) {
        let now = Instant::now();
        match outcome {
            Poll::Pending => self.lock().waits(now),
            Poll::Ready(_) => self.lock().sent(now),
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// While it lives, somebody waits for an answer.
#[derive(Debug)]
pub(super) struct Answering(Arc<Pulse>);

impl Drop for Answering {
    fn drop(&mut self) {
        self.0.lock().answered(Instant::now());
    }
}

/// A plain or an encrypted stream.
pub(super) trait Stream: AsyncRead + AsyncWrite + Send + Unpin {}

impl<T: AsyncRead + AsyncWrite + Send + Unpin> Stream for T {}

/// A stream whose pulse is felt. It has the connection's place for as long as it lives, also when
/// it has become a WebSocket.
pub(super) struct Felt {
    stream: Box<dyn Stream>,
    pulse: Arc<Pulse>,
    _place: Place,
}

impl Felt {
    pub(super) fn new(stream: Box<dyn Stream>, pulse: Arc<Pulse>, place: Place) -> Self {
        Self { stream, pulse, _place: place }
    }
}

impl AsyncRead for Felt {
    fn poll_read(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let outcome = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if buffer.filled().len() > before {
            self.pulse.heard();
        }
        outcome
    }
}

impl AsyncWrite for Felt {
    fn poll_write(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.pulse.sent(&outcome);
        outcome
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        pieces: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let outcome = Pin::new(&mut self.stream).poll_write_vectored(cx, pieces);
        self.pulse.sent(&outcome);
        outcome
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        let outcome = Pin::new(&mut self.stream).poll_flush(cx);
        if outcome.is_pending() {
            self.pulse.sent(&outcome);
        }
        outcome
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    /// A state, its limits, and a clock that the test turns.
    struct Watch {
        state: State,
        limits: Limits,
        now: Instant,
    }

    impl Watch {
        fn start() -> Self {
            let now = Instant::now();
            let [head, quiet, body, stall] = [10, 60, 30, 120].map(Duration::from_secs);
            let limits = Limits { head, quiet, body, stall, ..Limits::default() };
            let state = State { phase: Phase::Head(now), stalled: None, taken: now };
            Self { state, limits, now }
        }

        fn pass(&mut self, seconds: u64) {
            self.now += Duration::from_secs(seconds);
        }

        fn left(&self) -> Option<u64> {
            Some((self.state.deadline(&self.limits)? - self.now).as_secs())
        }
    }

    #[test]
    fn each_phase_has_its_time() {
        let mut watch = Watch::start();
        assert_eq!(watch.left(), Some(10), "a new connection has to say something");
        watch.state.answering();
        assert_eq!(watch.left(), None, "an answer may take its time");
        watch.state.heard(watch.now);
        assert_eq!(watch.left(), None);
        watch.state.waits(watch.now);
        watch.pass(20);
        watch.state.waits(watch.now);
        assert_eq!(watch.left(), Some(100), "but it has to be taken");
        watch.state.sent(watch.now);
        assert_eq!(watch.left(), None);
        watch.state.answered(watch.now);
        assert_eq!(watch.left(), Some(60), "then there may be another request");
        watch.pass(50);
        watch.state.heard(watch.now);
        watch.pass(4);
        watch.state.heard(watch.now);
        assert_eq!(watch.left(), Some(6), "whose head has one time for all of its bytes");
        assert!(!watch.state.part(watch.now));
    }

    #[test]
    fn of_many_requests_the_last_makes_it_quiet() {
        let mut watch = Watch::start();
        watch.state.answering();
        watch.state.answering();
        watch.state.answered(watch.now);
        assert_eq!(watch.left(), None);
        watch.state.answered(watch.now);
        assert_eq!(watch.left(), Some(60));
        assert!(watch.state.part(watch.now));
        assert_eq!(watch.left(), Some(10), "a farewell does not take for ever either");
    }
}
