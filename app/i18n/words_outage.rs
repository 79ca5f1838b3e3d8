//! What a catalogue must say while the server does not answer.

type Word = &'static str;

/// Loss of the connection.
#[derive(Debug)]
pub(crate) struct Outage {
    /// In place of what was never shown.
    pub(crate) unanswered: Word,
    /// Over the page, before the time since when.
    pub(crate) since: Word,
    /// What is shown meanwhile.
    pub(crate) stays: Word,
    /// A page that was asked for meanwhile.
    pub(crate) opens_later: fn(&str) -> String,
    /// Over a part of the page, before the time at which it was read.
    pub(crate) read_at: Word,
}
