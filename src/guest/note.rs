//! What the guest itself has to say: one line on standard error, which is the task's log.

use std::fmt::Display;
use std::io::Write;

/// Says it. A log that cannot be written to is no reason to stop.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "berth: {text}");
}
