//! Users, passwords and tokens.

use async_trait::async_trait;
use protocol::ids::{UserName, VirtualClusterName};
use protocol::time::Timestamp;
use serde::{Deserialize, Serialize};

use crate::{Actor, Result};

/// What people do with accounts.
#[async_trait]
pub trait Users: Send + Sync {
    /// Checks a password. Wrong names and wrong passwords get the same answer, after the same time.
    async fn sign_in(&self, name: &str, password: &str) -> Result<Actor>;
    /// Who a token belongs to; `None`: it is unknown, expired or revoked.
    async fn token_actor(&self, token: &str) -> Result<Option<Actor>>;
    /// The actor of a user as it is now; `None`: the user is gone.
    async fn actor(&self, name: &UserName) -> Result<Option<Actor>>;
    /// Makes a token; its text is shown this once. `lifetime_seconds` of `None`: until revoked.
    async fn create_token(
        &self,
        actor: &Actor,
        label: &str,
        lifetime_seconds: Option<u64>,
    ) -> Result<NewToken>;
    /// The actor's tokens, newest first.
    async fn tokens(&self, actor: &Actor) -> Result<Vec<TokenView>>;
    /// Revokes one of the actor's tokens.
    async fn revoke_token(&self, actor: &Actor, id: i64) -> Result<()>;
    /// All users by name (administrators; others see themselves).
    async fn list(&self, actor: &Actor) -> Result<Vec<UserView>>;
    /// Adds a user (administrators).
    async fn create(&self, actor: &Actor, user: NewUser) -> Result<()>;
    /// Sets a password: one's own with the old one, anybody's as an administrator. Ends the user's
    /// sessions and browser tokens.
    async fn set_password(&self, actor: &Actor, change: PasswordChange) -> Result<()>;
    /// Removes a user without active jobs (administrators; never oneself).
    async fn remove(&self, actor: &Actor, name: &UserName) -> Result<()>;
}

/// A user as the pages show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserView {
    /// Name.
    pub name: UserName,
    /// Administrator.
    pub admin: bool,
    /// Virtual clusters the user may use.
    pub virtual_clusters: Vec<VirtualClusterName>,
    /// Since when.
    pub created_at: Timestamp,
}

/// A user to be added.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewUser {
    /// Name.
    pub name: UserName,
    /// First password, at least 8 characters.
    pub password: String,
    /// Administrator.
    pub admin: bool,
}

impl std::fmt::Debug for NewUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewUser").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A change of a password.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PasswordChange {
    /// Whose.
    pub user: UserName,
    /// The old one; administrators need none for others.
    pub old: Option<String>,
    /// The new one, at least 8 characters.
    pub new: String,
}

impl std::fmt::Debug for PasswordChange {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("PasswordChange").field("user", &self.user).finish_non_exhaustive()
    }
}

/// A token just made.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct NewToken {
    /// The token itself.
    pub token: String,
    /// Everything else about it.
    pub view: TokenView,
}

impl std::fmt::Debug for NewToken {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewToken").field("view", &self.view).finish_non_exhaustive()
    }
}

/// A token as the pages show it: never the token itself.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TokenView {
    /// Key.
    pub id: i64,
    /// What it is for.
    pub label: String,
    /// Since when.
    pub created_at: Timestamp,
    /// Until when.
    pub expires_at: Option<Timestamp>,
}
