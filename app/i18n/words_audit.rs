//! What the audit log says was done.

type Word = &'static str;

/// What the audit log says was done.
#[derive(Debug)]
pub(crate) struct AuditWords {
    pub(crate) user_added: Word,
    pub(crate) user_removed: Word,
    pub(crate) user_promoted: Word,
    pub(crate) user_demoted: Word,
    pub(crate) password_changed: Word,
    pub(crate) password_reset: Word,
    pub(crate) access_ended: Word,
    pub(crate) token_made: Word,
    pub(crate) token_revoked: Word,
    pub(crate) public_key_added: Word,
    pub(crate) public_key_removed: Word,
    pub(crate) signed_in: Word,
    pub(crate) signed_out: Word,
    pub(crate) sign_in_failed: Word,
    pub(crate) key_read: Word,
    pub(crate) log_read: Word,
    pub(crate) files_read: Word,
    pub(crate) files_changed: Word,
    pub(crate) job_stopped: Word,
    pub(crate) job_deleted: Word,
    pub(crate) template_saved: Word,
    pub(crate) template_removed: Word,
    pub(crate) refused: Word,
    /// Who did it, and to what.
    pub(crate) who: Word,
    pub(crate) subject: Word,
    /// The field that searches it.
    pub(crate) find: Word,
    /// What can be written there.
    pub(crate) find_hint: Word,
    pub(crate) find_nothing: Word,
    /// What is set under a key of settings that were saved; none where that is not known.
    pub(crate) setting: fn(&str) -> Option<Word>,
}
