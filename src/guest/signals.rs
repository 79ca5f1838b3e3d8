//! The signals that the container's first process passes on.

use std::io;

use rustix::process::Signal;
use tokio::signal::unix::{self, SignalKind, signal};

/// A stream of the signals that somebody sent to us.
#[derive(Debug)]
pub(crate) struct Signals {
    terminate: unix::Signal,
    interrupt: unix::Signal,
    hang_up: unix::Signal,
    quit: unix::Signal,
    first: unix::Signal,
    second: unix::Signal,
    window: unix::Signal,
}

impl Signals {
    /// From now on no signal is lost and none ends us.
    pub(crate) fn listen() -> io::Result<Self> {
        Ok(Self {
            terminate: signal(SignalKind::terminate())?,
            interrupt: signal(SignalKind::interrupt())?,
            hang_up: signal(SignalKind::hangup())?,
            quit: signal(SignalKind::quit())?,
            first: signal(SignalKind::user_defined1())?,
            second: signal(SignalKind::user_defined2())?,
            window: signal(SignalKind::window_change())?,
        })
    }

    /// The next signal.
    pub(crate) async fn next(&mut self) -> Signal {
        tokio::select! {
            _ = self.terminate.recv() => Signal::TERM,
            _ = self.interrupt.recv() => Signal::INT,
            _ = self.hang_up.recv() => Signal::HUP,
            _ = self.quit.recv() => Signal::QUIT,
            _ = self.first.recv() => Signal::USR1,
            _ = self.second.recv() => Signal::USR2,
            _ = self.window.recv() => Signal::WINCH,
        }
    }
}

/// Whether it asks for the end.
pub(crate) fn ends(signal: Signal) -> bool {
    [Signal::TERM, Signal::INT, Signal::QUIT].contains(&signal)
}
