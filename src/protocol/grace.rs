use std::fmt;
use std::str::FromStr;

use serde::{Deserialize, Serialize};

/// What the tasks of a job are told before they have to go: a signal, and so many seconds until they are
/// stopped like any other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grace {
    /// What their commands are sent.
    pub signal: GraceSignal,
    /// So long they may go on.
    pub seconds: u32,
}

impl Grace {
    /// The longest, in seconds: somebody waits for the place.
    pub const LONGEST: u32 = 3_600;
    /// Where a job names a signal alone, in seconds.
    pub const DEFAULT: u32 = 60;

    /// In milliseconds.
    #[must_use]
    pub fn millis(self) -> i64 {
        i64::from(self.seconds) * 1000
    }
}

/// A signal that the first process of a container passes on to the command.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize,
)]
pub enum GraceSignal {
    /// 15, as everything that is stopped is sent.
    #[default]
    #[serde(rename = "SIGTERM")]
    Term,
    /// 2, as from a keyboard.
    #[serde(rename = "SIGINT")]
    Int,
    /// 1.
    #[serde(rename = "SIGHUP")]
    Hup,
    /// 3.
    #[serde(rename = "SIGQUIT")]
    Quit,
    /// 10, which means whatever a program says.
    #[serde(rename = "SIGUSR1")]
    Usr1,
    /// 12, likewise.
    #[serde(rename = "SIGUSR2")]
    Usr2,
}

impl GraceSignal {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Term, Self::Int, Self::Hup, Self::Quit, Self::Usr1, Self::Usr2];
    /// Their names.
    pub const NAMES: &[&str] = &["SIGTERM", "SIGINT", "SIGHUP", "SIGQUIT", "SIGUSR1", "SIGUSR2"];

    /// Its name.
    #[must_use]
    pub fn name(self) -> &'static str {
        Self::NAMES[self as usize]
    }

    /// Its number on Linux.
    #[must_use]
    pub fn number(self) -> i32 {
        match self {
            Self::Term => 15,
            Self::Int => 2,
            Self::Hup => 1,
            Self::Quit => 3,
            Self::Usr1 => 10,
            Self::Usr2 => 12,
        }
    }
}

impl fmt::Display for GraceSignal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// The text is no such signal.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0:?} is not a signal that tasks are sent")]
pub struct NoSignal(String);

impl FromStr for GraceSignal {
    type Err = NoSignal;

    /// Reads a name, with or without its `SIG`.
    fn from_str(text: &str) -> Result<Self, NoSignal> {
        let word = text.trim();
        let word = word.strip_prefix("SIG").unwrap_or(word);
        let found = Self::ALL.into_iter().find(|signal| signal.name()[3..] == *word);
        found.ok_or_else(|| NoSignal(crate::document::shorten(text)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn signals_are_read_by_their_names() {
        for signal in GraceSignal::ALL {
            assert_eq!(signal.name().parse(), Ok(signal));
            assert_eq!(signal.name().trim_start_matches("SIG").parse(), Ok(signal));
            let stored = serde_json::to_string(&signal).unwrap();
            assert_eq!(stored, format!("{:?}", signal.name()));
        }
        for text in ["", "SIG", "SIGKILL", "9", "sigterm"] {
            assert!(text.parse::<GraceSignal>().is_err(), "{text}");
        }
    }
}
