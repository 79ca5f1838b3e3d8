//! The accounts of a company: providers that say who somebody is.
//!
//! [`Oidc`] speaks OpenID Connect, with a provider that has pages of its own; [`Ldap`] asks a
//! directory about a name and a password. Both answer with a [`Person`]. What a person may do here
//! is decided elsewhere.

mod http;
mod ldap;
mod oidc;
mod secret;
mod trust;

use std::fmt;

use async_trait::async_trait;
use protocol::ids::{GroupName, ProviderName};
use protocol::person::Person;

pub use ldap::{Attributes, GroupSearch, Ldap, LdapSettings};
pub use oidc::{Answer, Claims, Oidc, OidcSettings, Started};
pub use secret::Secret;

/// Something that knows people by a name and a password.
#[async_trait]
pub trait Directory: fmt::Debug + Send + Sync {
    /// Its name in the configuration.
    fn name(&self) -> &ProviderName;
    /// Who this is; `None`: nobody of that name has that password.
    async fn check(&self, user: &str, password: &str) -> Result<Option<Person>>;
    /// The person of a subject as the directory has him now; `None`: it has no such person.
    async fn find(&self, subject: &str) -> Result<Option<Person>>;
}

/// Why nobody can be let in.
#[derive(Debug, Clone, thiserror::Error)]
pub enum Error {
    /// The settings cannot be used.
    #[error("{0}")]
    Settings(String),
    /// The provider does not answer, or not as it should.
    #[error("{provider} cannot be asked: {detail}")]
    Unavailable {
        /// Which provider.
        provider: ProviderName,
        /// What happened.
        detail: String,
    },
    /// The provider does not vouch for the person, or what it says proves nothing.
    #[error("{provider} vouches for nobody: {detail}")]
    Refused {
        /// Which provider.
        provider: ProviderName,
        /// What it said, or what is wrong with it.
        detail: String,
    },
    /// The provider knows the person, and the settings let only others in.
    #[error("{name} of {provider} is not among those who may sign in")]
    NotAllowed {
        /// Which provider.
        provider: ProviderName,
        /// Who.
        name: String,
    },
    /// The provider does not say what is needed.
    #[error("{provider} does not say {what}: see its settings")]
    Silent {
        /// Which provider.
        provider: ProviderName,
        /// The claim or attribute.
        what: String,
    },
}

/// What every question answers.
pub type Result<T> = std::result::Result<T, Error>;

/// Whether one of the person's groups is among those allowed; none is named: all are.
fn in_allowed_group(allowed: &[GroupName], groups: &[GroupName]) -> bool {
    allowed.is_empty() || groups.iter().any(|group| allowed.contains(group))
}

fn yes() -> bool {
    true
}
