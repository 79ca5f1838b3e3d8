//! Who there is, and what each may.

use std::collections::BTreeMap;
use std::sync::atomic::Ordering;

use api::audit::{Audit, AuditEntry, AuditNote};
use api::groups::{Granted, GroupChange, GroupView, Groups};
use api::notifications::{Notifications, NotificationsView, Tested};
use api::sign_ins::SignIns;
use api::users::{Bearer, Means, NewToken, NewUser, PasswordChange, TokenView, UserView, Users};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use protocol::ids::{GroupName, UserName, VirtualClusterName};
use protocol::notifications::Wishes;
use protocol::person::{Person, Profile};
use protocol::time::Timestamp;

use super::World;

fn person(name: &str) -> Option<Actor> {
    let admin = name == "admin";
    ["alice", "bob", "admin"].contains(&name).then(|| Actor { user: name.parse().unwrap(), admin })
}

#[async_trait]
impl Users for World {
    async fn sign_in(&self, name: &str, password: &str) -> Result<Actor> {
        person(name)
            .filter(|_| password == "correct-horse")
            .ok_or_else(|| Error::new(ErrorCode::IncorrectPasswordError, "Password is incorrect."))
    }
    async fn choose_password(&self, name: &str, password: &str, _: &str) -> Result<Actor> {
        self.sign_in(name, password).await
    }
    async fn token_actor(&self, token: &str) -> Result<Option<Bearer>> {
        let actor = token.strip_prefix("token-of-").and_then(person);
        Ok(actor.map(|actor| Bearer { actor, token: 1 }))
    }
    async fn token_lasts(&self, _: &UserName, _: i64) -> Result<bool> {
        Ok(!self.revoked.load(Ordering::SeqCst))
    }
    async fn actor(&self, name: &UserName) -> Result<Option<Actor>> {
        Ok(person(name.as_str()).filter(|_| !self.gone.load(Ordering::SeqCst)))
    }
    async fn create_token(
        &self,
        actor: &Actor,
        _: &Means,
        label: &str,
        lifetime: Option<u64>,
    ) -> Result<NewToken> {
        let expires_at = lifetime.map(|seconds| Timestamp(seconds as i64 * 1000));
        let view = TokenView { id: 1, label: label.into(), created_at: Timestamp(0), expires_at };
        Ok(NewToken { token: format!("token-of-{}", actor.user), view })
    }
    async fn tokens(&self, _: &Actor) -> Result<Vec<TokenView>> {
        Ok(Vec::new())
    }
    async fn revoke_token(&self, _: &Actor, _: i64) -> Result<()> {
        Ok(())
    }
    async fn list(&self, actor: &Actor) -> Result<Vec<UserView>> {
        let name = actor.user.clone();
        let virtual_clusters = vec![VirtualClusterName::default()];
        Ok(vec![UserView {
            name,
            admin: false,
            virtual_clusters,
            storages: Vec::new(),
            groups: Vec::new(),
            provider: None,
            mail: None,
            created_at: Timestamp(0),
        }])
    }
    async fn create(&self, _: &Actor, _: NewUser) -> Result<()> {
        Err(Error::new(ErrorCode::ForbiddenUserError, "Non-admin is not allowed to do this."))
    }
    async fn set_password(&self, _: &Actor, _: PasswordChange) -> Result<()> {
        Ok(())
    }
    async fn set_admin(&self, _: &Actor, _: &UserName, _: bool) -> Result<()> {
        Ok(())
    }
    async fn end_access(&self, _: &Actor, _: &UserName) -> Result<()> {
        Ok(())
    }
    async fn profiles(&self, _: &Actor) -> Result<BTreeMap<UserName, Profile>> {
        Ok(BTreeMap::new())
    }
    async fn set_profile(&self, _: &Actor, _: &UserName, _: Profile) -> Result<()> {
        Ok(())
    }
    async fn set_virtual_clusters(
        &self,
        _: &Actor,
        _: &UserName,
        _: Vec<VirtualClusterName>,
    ) -> Result<Granted> {
        Ok(Granted::default())
    }
    async fn remove(&self, _: &Actor, _: &UserName) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Groups for World {
    async fn list(&self, _: &Actor) -> Result<Vec<GroupView>> {
        Ok(Vec::new())
    }
    async fn set(&self, _: &Actor, _: &UserName, _: Vec<GroupName>) -> Result<()> {
        Ok(())
    }
    async fn alter(
        &self,
        _: &Actor,
        _: &UserName,
        _: Vec<GroupName>,
        _: Vec<GroupName>,
    ) -> Result<()> {
        Ok(())
    }
    async fn create(&self, _: &Actor, _: &GroupName, _: GroupChange) -> Result<Granted> {
        Ok(Granted::default())
    }
    async fn change(&self, _: &Actor, _: &GroupName, _: GroupChange) -> Result<Granted> {
        Ok(Granted::default())
    }
    async fn remove(&self, _: &Actor, _: &GroupName) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl SignIns for World {
    async fn enter(&self, _: Person) -> Result<Actor> {
        Err(Error::new(ErrorCode::ForbiddenUserError, "nobody vouches for anybody here"))
    }
    async fn session_seconds(&self, _: &UserName) -> Result<Option<u64>> {
        Ok(None)
    }
}

#[async_trait]
impl Notifications for World {
    async fn get(&self, actor: &Actor) -> Result<NotificationsView> {
        Notifications::set(self, actor, Wishes::default()).await
    }
    async fn set(&self, _: &Actor, wishes: Wishes) -> Result<NotificationsView> {
        Ok(NotificationsView { wishes, mail_set_up: false, address: None, signing_key: None })
    }
    async fn test(&self, _: &Actor) -> Result<Tested> {
        Ok(Tested { mail: None, webhook: None })
    }
}

#[async_trait]
impl Audit for World {
    async fn find(&self, _: &Actor, _: &str, _: Option<i64>, _: u64) -> Result<Vec<AuditEntry>> {
        Err(Error::new(ErrorCode::ForbiddenUserError, "only administrators may do this"))
    }
    async fn note(&self, _: AuditNote) -> Result<()> {
        Ok(())
    }
}
