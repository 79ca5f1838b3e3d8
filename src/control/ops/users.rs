//! `api::users`.

use std::sync::Arc;

use api::users::{NewToken, NewUser, PasswordChange, TokenView, UserView, Users};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use database::tokens::TokenRecord;
use database::users::UserRecord;
use protocol::ids::UserName;
use sha2::{Digest, Sha256};

use super::files::failure;
use super::{administrators_only, views};
use crate::error::database;
use crate::passwords;
use crate::sealing::random;
use crate::shared::Shared;
use crate::wake::now;

/// The beginning of every token, by which leaked ones are found.
const TOKEN_PREFIX: &str = "berth_";

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Users for Ops {
    async fn sign_in(&self, name: &str, password: &str) -> Result<Actor> {
        let user = match UserName::new(name) {
            Ok(name) => self.find(&name).await?,
            Err(_) => None,
        };
        let hash = user.as_ref().map(|user| user.password_hash.clone());
        let right = passwords::verify(password.to_owned(), hash).await?;
        user.filter(|_| right).map(actor_of).ok_or_else(|| {
            let message = "the user name or the password is wrong";
            Error::new(ErrorCode::IncorrectPasswordError, message)
        })
    }

    async fn token_actor(&self, token: &str) -> Result<Option<Actor>> {
        let found = database::tokens::by_hash(self.0.database.read(), &hash(token), now()).await;
        let Some(token) = found.map_err(database)? else { return Ok(None) };
        self.actor(&token.user).await
    }

    async fn actor(&self, name: &UserName) -> Result<Option<Actor>> {
        Ok(self.find(name).await?.map(actor_of))
    }

    async fn create_token(
        &self,
        actor: &Actor,
        label: &str,
        lifetime_seconds: Option<u64>,
    ) -> Result<NewToken> {
        if label.chars().count() > 100 || label.chars().any(char::is_control) {
            let message = "a token's label has at most 100 characters and no control characters";
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        let token = format!("{TOKEN_PREFIX}{}", URL_SAFE_NO_PAD.encode(random::<32>()));
        let created_at = now();
        let lifetime = lifetime_seconds.map(|s| i64::try_from(s).unwrap_or(i64::MAX / 1_000));
        let record = database::tokens::NewToken {
            hash: hash(&token),
            user: actor.user.clone(),
            label: label.to_owned(),
            created_at,
            expires_at: lifetime.map(|s| created_at.plus_millis(s.saturating_mul(1_000))),
        };
        let id = self.0.write(async |t| database::tokens::insert(t, &record).await).await;
        let view = TokenView {
            id: id.map_err(database)?,
            label: record.label,
            created_at,
            expires_at: record.expires_at,
        };
        Ok(NewToken { token, view })
    }

    async fn tokens(&self, actor: &Actor) -> Result<Vec<TokenView>> {
        let tokens = database::tokens::list_of(self.0.database.read(), &actor.user).await;
        Ok(tokens.map_err(database)?.into_iter().map(token_view).collect())
    }

    async fn revoke_token(&self, actor: &Actor, id: i64) -> Result<()> {
        let removed = self.0.write(async |t| database::tokens::remove(t, &actor.user, id).await);
        if removed.await.map_err(database)? {
            return Ok(());
        }
        Err(Error::new(ErrorCode::InvalidParametersError, "you have no such token"))
    }

    async fn list(&self, actor: &Actor) -> Result<Vec<UserView>> {
        let users = database::users::list(self.0.database.read()).await.map_err(database)?;
        let visible = users.into_iter().filter(|user| actor.admin || user.name == actor.user);
        Ok(visible.map(|user| self.view(user)).collect())
    }

    async fn create(&self, actor: &Actor, user: NewUser) -> Result<()> {
        administrators_only(actor)?;
        passwords::check_new(&user.password)?;
        let at = now();
        let record = UserRecord {
            name: user.name.clone(),
            password_hash: passwords::hash(user.password).await?,
            admin: user.admin,
            created_at: at,
            password_changed_at: at,
        };
        match self.0.write(async |t| database::users::insert(t, &record).await).await {
            Ok(()) => {}
            Err(database::Error::Conflict { .. }) => {
                let message = format!("there is a user {} already", user.name);
                return Err(Error::new(ErrorCode::ConflictUserError, message));
            }
            Err(error) => return Err(database(error)),
        }
        tracing::info!(by = %actor.user, user = %user.name, admin = user.admin, "user created");
        Ok(())
    }

    async fn set_password(&self, actor: &Actor, change: PasswordChange) -> Result<()> {
        let own = actor.user == change.user;
        if !own {
            administrators_only(actor)?;
        }
        passwords::check_new(&change.new)?;
        let user = self.find(&change.user).await?.ok_or_else(|| missing(&change.user))?;
        if own {
            let old = change.old.unwrap_or_default();
            if !passwords::verify(old, Some(user.password_hash)).await? {
                let message = "the old password is wrong";
                return Err(Error::new(ErrorCode::IncorrectPasswordError, message));
            }
        }
        let hash = passwords::hash(change.new).await?;
        let set = self.0.write(async |t| {
            database::users::set_password(t, &change.user, &hash, now()).await?;
            database::sessions::delete_of_user(t, &change.user).await
        });
        set.await.map_err(database)?;
        tracing::info!(by = %actor.user, user = %change.user, "password changed");
        Ok(())
    }

    async fn remove(&self, actor: &Actor, name: &UserName) -> Result<()> {
        administrators_only(actor)?;
        if actor.user == *name {
            let message = "administrators cannot remove themselves";
            return Err(Error::new(ErrorCode::ForbiddenUserError, message));
        }
        let active = database::jobs::active(self.0.database.read()).await.map_err(database)?;
        let jobs = active.iter().filter(|job| job.key.user == *name).count();
        if jobs > 0 {
            let message = format!("{name} has {jobs} active jobs: stop them first");
            return Err(Error::new(ErrorCode::ConflictUserError, message));
        }
        self.keep_from_others(name).await?;
        let removed = self.0.write(async |t| {
            // Whoever has the name after him must not find his images.
            database::images::remove_all_of(t, name).await?;
            database::users::remove(t, name).await
        });
        if !removed.await.map_err(database)? {
            return Err(missing(name));
        }
        self.0.bells.images.ring();
        tracing::info!(by = %actor.user, user = %name, "user removed");
        Ok(())
    }
}

impl Ops {
    async fn find(&self, name: &UserName) -> Result<Option<UserRecord>> {
        database::users::get(self.0.database.read(), name).await.map_err(database)
    }

    /// What was a user's by his name is claimed for him, so that it does not become common when
    /// the name is nobody's any more.
    async fn keep_from_others(&self, name: &UserName) -> Result<()> {
        for place in storage::rights::own_places(name) {
            if self.0.storage.exists(&place).await.map_err(failure)? {
                self.0.storage.claim(&place, name).await.map_err(failure)?;
            }
        }
        Ok(())
    }

    fn view(&self, user: UserRecord) -> UserView {
        let cluster = self.0.cluster();
        let actor = Actor { user: user.name.clone(), admin: user.admin };
        let usable = cluster.virtual_clusters.iter().filter(|vc| views::usable(&actor, vc));
        UserView {
            virtual_clusters: usable.map(|vc| vc.name.clone()).collect(),
            name: user.name,
            admin: user.admin,
            created_at: user.created_at,
        }
    }
}

fn actor_of(user: UserRecord) -> Actor {
    Actor { user: user.name, admin: user.admin }
}

fn token_view(token: TokenRecord) -> TokenView {
    TokenView {
        id: token.id,
        label: token.label,
        created_at: token.created_at,
        expires_at: token.expires_at,
    }
}

/// Tokens are random, so that a plain hash keeps them as well as a slow one would.
fn hash(token: &str) -> String {
    hex::encode(Sha256::digest(token.as_bytes()))
}

fn missing(name: &UserName) -> Error {
    Error::new(ErrorCode::NoUserError, format!("there is no user {name}"))
}
