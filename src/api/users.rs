//! Users, passwords and tokens.

use std::collections::BTreeMap;

use async_trait::async_trait;
use protocol::ids::{ProviderName, StorageName, UserName, VirtualClusterName};
use protocol::person::Profile;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;
use crate::groups::{Granted, Membership};

/// What people do with accounts.
#[async_trait]
pub trait Users: Send + Sync {
    /// Checks a password. Wrong names and wrong passwords get the same answer, after the same time.
    /// One that is temporary is a `TemporaryPasswordError`.
    async fn sign_in(&self, name: &str, password: &str) -> Result<Actor>;
    /// Checks a password of here, temporary or not, and puts another one in its place, which ends all
    /// sessions and tokens of the user.
    async fn choose_password(&self, name: &str, password: &str, new: &str) -> Result<Actor>;
    /// Who a token belongs to; `None`: it is unknown, expired or revoked.
    async fn token_actor(&self, token: &str) -> Result<Option<Bearer>>;
    /// Whether a token of this user is still good.
    async fn token_lasts(&self, user: &UserName, token: i64) -> Result<bool>;
    /// The actor of a user as it is now; `None`: the user is gone.
    async fn actor(&self, name: &UserName) -> Result<Option<Actor>>;
    /// Makes a token; its text is shown this once. `lifetime_seconds` of `None`: as long as tokens
    /// may live here. One that is made by a token ends with that one at the latest.
    async fn create_token(
        &self,
        actor: &Actor,
        by: &Means,
        label: &str,
        lifetime_seconds: Option<u64>,
    ) -> Result<NewToken>;
    /// The actor's tokens, newest first.
    async fn tokens(&self, actor: &Actor) -> Result<Vec<TokenView>>;
    /// Revokes one of the actor's tokens, with all that were made by it.
    async fn revoke_token(&self, actor: &Actor, id: i64) -> Result<()>;
    /// All users by name (administrators; others see themselves).
    async fn list(&self, actor: &Actor) -> Result<Vec<UserView>>;
    /// Adds a user (administrators).
    async fn create(&self, actor: &Actor, user: NewUser) -> Result<()>;
    /// Sets a password: one's own with the old one, anybody's as an administrator. Ends all of the
    /// user's sessions and tokens but the one that the change keeps.
    async fn set_password(&self, actor: &Actor, change: PasswordChange) -> Result<()>;
    /// Makes a user an administrator, or no more (administrators; never oneself).
    async fn set_admin(&self, actor: &Actor, name: &UserName, admin: bool) -> Result<()>;
    /// Ends all sessions and tokens: one's own, anybody's as an administrator.
    async fn end_access(&self, actor: &Actor, name: &UserName) -> Result<()>;
    /// What is kept with accounts, as far as anything is (administrators; others see their own).
    async fn profiles(&self, actor: &Actor) -> Result<BTreeMap<UserName, Profile>>;
    /// Keeps other things with one's own account, or with anybody's as an administrator.
    async fn set_profile(&self, actor: &Actor, name: &UserName, profile: Profile) -> Result<()>;
    /// Lets a user who is no administrator use these virtual clusters, and takes him off the lists of
    /// all others (administrators).
    async fn set_virtual_clusters(
        &self,
        actor: &Actor,
        name: &UserName,
        clusters: Vec<VirtualClusterName>,
    ) -> Result<Granted>;
    /// Removes a user (administrators; never oneself). His jobs are stopped; his sessions, tokens,
    /// public keys, secrets and saved images go. Nobody else ever gets his name.
    async fn remove(&self, actor: &Actor, name: &UserName) -> Result<()>;
}

/// By what somebody is let in.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Means {
    /// The password itself came with the request.
    Password,
    /// A browser's session, as the store of sessions names it.
    Session(String),
    /// A token, by its key.
    Token(i64),
}

/// Whoever came with a token.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Bearer {
    /// Whose token it is.
    pub actor: Actor,
    /// The token's key.
    pub token: i64,
}

/// A user as the pages show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct UserView {
    /// Name.
    pub name: UserName,
    /// Administrator, by what was set here or by a group.
    pub admin: bool,
    /// Virtual clusters the user may use.
    pub virtual_clusters: Vec<VirtualClusterName>,
    /// Storages that the user's jobs may have.
    #[serde(default)]
    pub storages: Vec<StorageName>,
    /// Groups that the user is in.
    #[serde(default)]
    pub groups: Vec<Membership>,
    /// The provider that the user signs in by; `None`: by a password of here.
    #[serde(default)]
    pub provider: Option<ProviderName>,
    /// Where mail reaches the user, as the provider says or, without one, as it was written here.
    #[serde(default)]
    pub mail: Option<String>,
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
    /// The password is good for choosing another one alone.
    pub temporary: bool,
}

impl std::fmt::Debug for NewUser {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("NewUser").field("name", &self.name).finish_non_exhaustive()
    }
}

/// A change of a password.
#[derive(Clone, PartialEq, Eq)]
pub struct PasswordChange {
    /// Whose.
    pub user: UserName,
    /// The old one; administrators need none for others.
    pub old: Option<String>,
    /// The new one, at least 8 characters.
    pub new: String,
    /// What stays good when one changes one's own: what the change is made by, and nothing else.
    pub keep: Option<Means>,
    /// The new one is good for choosing another one alone; one's own never is.
    pub temporary: bool,
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
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
