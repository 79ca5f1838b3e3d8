//! What the guest itself has to say: one line on standard error, which is the task's log.

use std::fmt::Display;
use std::io::Write;

/// Says it. A log that cannot be written to is no reason to stop.
pub(crate) fn note(text: impl Display) {
    let _ = writeln!(std::io::stderr(), "berth: {text}");
}

/// Has the last word: on both of the streams of which an engine makes the log, in whichever order it reads
/// them, and on a line of its own, whatever was not ended before.
pub(crate) fn note_last(text: impl Display) {
    let _ = writeln!(std::io::stdout(), "\nberth: {text}");
    let _ = writeln!(std::io::stderr(), "\nberth: {text}");
}
