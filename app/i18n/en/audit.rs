use crate::i18n::words_audit::AuditWords;

pub(super) const AUDIT: AuditWords = AuditWords {
    user_added: "added a user",
    user_removed: "removed a user",
    user_promoted: "made an administrator",
    user_demoted: "took away administration",
    password_changed: "changed the password",
    password_reset: "set a password",
    access_ended: "ended all sessions and tokens",
    token_made: "created a token",
    token_revoked: "revoked a token",
    public_key_added: "added a public key",
    public_key_removed: "removed a public key",
    signed_in: "signed in",
    signed_out: "signed out",
    sign_in_failed: "failed to sign in",
    key_read: "read a job's key",
    log_read: "read a job's log",
    files_read: "read somebody's files",
    files_changed: "changed somebody's files",
    job_stopped: "stopped a job",
    refused: "was refused",
};
