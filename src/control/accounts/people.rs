//! How it is known who people are.

use super::passwords::Passwords;
use super::sign_in_options::SignInOptions;

/// How people sign in.
#[derive(Debug)]
pub(crate) struct People {
    pub(crate) passwords: Passwords,
    /// What may be used for it.
    pub(crate) sign_in: SignInOptions,
}

impl People {
    pub(crate) fn new(sign_in: SignInOptions) -> Self {
        Self { passwords: Passwords::default(), sign_in }
    }
}
