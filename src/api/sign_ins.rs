//! Signing in by a company's accounts.

use async_trait::async_trait;
use protocol::ids::{ProviderName, UserName};
use protocol::person::Person;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// What the doors do when a provider has said who somebody is.
#[async_trait]
pub trait SignIns: Send + Sync {
    /// Lets in a person for whom a provider has vouched just now. The first time makes an account,
    /// never out of one that is there; each time what is known of the groups is renewed.
    async fn enter(&self, person: Person) -> Result<Actor>;
    /// How long a session of this user lives that begins now, in seconds; `None`: as any other.
    async fn session_seconds(&self, user: &UserName) -> Result<Option<u64>>;
}

/// The ways in that the page for signing in offers.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SignInWays {
    /// Whether everybody is offered a form for name and password. Administrators find it anyway.
    pub form: bool,
    /// Providers with pages of their own.
    pub providers: Vec<Way>,
}

impl Default for SignInWays {
    fn default() -> Self {
        Self { form: true, providers: Vec::new() }
    }
}

/// A provider with pages of its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Way {
    /// Its name in addresses.
    pub name: ProviderName,
    /// What people call it.
    pub title: String,
}
