//! What a catalogue must say about telling people what they do not see.

type Word = &'static str;
type Named = fn(&str) -> String;

/// What one wants to be told, and how.
#[derive(Debug)]
pub(crate) struct Notifications {
    pub(crate) title: Word,
    pub(crate) hint: Word,
    /// In the order of all occasions.
    pub(crate) occasions: [Word; 8],
    pub(crate) how: Word,
    pub(crate) by_mail: Word,
    pub(crate) by_mail_to: Named,
    pub(crate) no_mail: Word,
    pub(crate) webhook: Word,
    pub(crate) webhook_hint: Word,
    pub(crate) signing_key: Word,
    pub(crate) signing_hint: Word,
    pub(crate) test: Word,
    pub(crate) tested: Word,
    pub(crate) nothing_chosen: Word,
    pub(crate) sent: Word,
}
