//! What a session remembers.

/// Key of the user's name in a session.
pub(super) const SESSION_USER: &str = "user";
/// Key of the second at which a session ends in any case.
pub(super) const SESSION_UNTIL: &str = "until";
/// Key of the provider's name by whose pages somebody signed in.
pub(super) const SESSION_PROVIDER: &str = "provider";
