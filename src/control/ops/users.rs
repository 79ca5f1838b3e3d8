//! `api::users`.

mod profiles;
mod tokens;

use std::collections::BTreeMap;
use std::sync::Arc;

use api::audit::AuditAction;
use api::groups::Granted;
use api::users::{Bearer, Means, NewToken, NewUser, PasswordChange, TokenView, UserView, Users};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::jobs::JobRow;
use database::storages::Storage;
use database::users::UserRecord;
use protocol::ids::{UserName, VirtualClusterName};
use protocol::person::Profile;
use protocol::time::Timestamp;

use crate::accounts::passwords;
use crate::accounts::rights::{self, Everybody, Standing, administrators_only};
use crate::accounts::sign_ins::{self, NO_PASSWORD};
use crate::records::audit::Note;
use crate::records::happened;
use crate::shared::Shared;
use crate::wake::now;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Users for Ops {
    async fn sign_in(&self, name: &str, password: &str) -> Result<Actor> {
        let (local, right) = self.with_password(name, password).await?;
        match local {
            Some(user) if right => {
                let temporary = user.password_temporary;
                let actor = self.local(user).await?;
                if temporary { Err(only_to_choose()) } else { Ok(actor) }
            }
            // A name of here hides the one of a directory.
            Some(_) => Err(wrong()),
            None => self.by_directory(name, password).await,
        }
    }

    async fn choose_password(&self, name: &str, password: &str, new: &str) -> Result<Actor> {
        let (local, right) = self.with_password(name, password).await?;
        let user = local.filter(|_| right).ok_or_else(wrong)?;
        if new == password {
            let message = "that is the password that was there: choose another one";
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        passwords::check_new(&user.name, new)?;
        let actor = self.local(user).await?;
        self.replace_password(&actor, (&actor.user, new.to_owned(), false), None).await?;
        Ok(actor)
    }

    async fn token_actor(&self, token: &str) -> Result<Option<Bearer>> {
        let reader = self.0.store.database.read();
        let found = database::bearers::by_hash(reader, &tokens::hash(token), now()).await;
        let Some(bearer) = found? else { return Ok(None) };
        let read = (bearer.account, bearer.memberships);
        let standing =
            rights::standing_of(&self.0.store, &self.0.people, &bearer.user, read).await?;
        let good = standing.filter(|standing| rights::tokens_are_good(&self.0.people, standing));
        Ok(good.map(|standing| Bearer { actor: standing.actor, token: bearer.token.id }))
    }

    async fn token_lasts(&self, user: &UserName, token: i64) -> Result<bool> {
        let reader = self.0.store.database.read();
        let found = database::tokens::get(reader, user, token, now()).await;
        if found?.is_none() {
            return Ok(false);
        }
        let standing = self.standing(user).await?;
        Ok(standing.is_some_and(|standing| rights::tokens_are_good(&self.0.people, &standing)))
    }

    async fn actor(&self, name: &UserName) -> Result<Option<Actor>> {
        Ok(self.standing(name).await?.map(|standing| standing.actor))
    }

    async fn create_token(
        &self,
        actor: &Actor,
        by: &Means,
        label: &str,
        lifetime_seconds: Option<u64>,
    ) -> Result<NewToken> {
        tokens::create(&self.0, actor, by, label, lifetime_seconds).await
    }

    async fn tokens(&self, actor: &Actor) -> Result<Vec<TokenView>> {
        tokens::list(&self.0.store, actor).await
    }

    async fn revoke_token(&self, actor: &Actor, id: i64) -> Result<()> {
        tokens::revoke(&self.0.store, actor, id).await
    }

    async fn list(&self, actor: &Actor) -> Result<Vec<UserView>> {
        let users = database::users::list(self.0.store.database.read()).await?;
        let visible = users.into_iter().filter(|user| actor.admin || user.name == actor.user);
        let mut everybody = Everybody::read(&self.0.store).await?;
        let mut profiles = self.profiles(actor).await?;
        let storages = database::storages::list(self.0.store.database.read()).await?;
        let view = |user: UserRecord| {
            let profile = profiles.remove(&user.name).unwrap_or_default();
            self.view((user, profile), &mut everybody, &storages)
        };
        Ok(visible.map(view).collect())
    }

    async fn create(&self, actor: &Actor, user: NewUser) -> Result<()> {
        administrators_only(actor)?;
        passwords::check_new(&user.name, &user.password)?;
        let at = now();
        let record = UserRecord {
            name: user.name.clone(),
            password_hash: self.0.people.passwords.hash(&actor.user, user.password).await?,
            admin: user.admin,
            created_at: at,
            password_changed_at: at,
            password_temporary: user.temporary,
        };
        let rank = if user.admin { "administrator" } else { "" };
        let entry = note(AuditAction::UserAdded, &user.name, rank).by(actor);
        let stored = self.0.store.write(async |t| {
            database::users::insert(t, &record).await?;
            database::audit::insert(t, &entry).await
        });
        match stored.await {
            Ok(()) => Ok(()),
            Err(database::Error::Conflict { .. }) => Err(self.name_taken(&user.name).await?),
            Err(error) => Err(error.into()),
        }
    }

    async fn set_password(&self, actor: &Actor, change: PasswordChange) -> Result<()> {
        let own = actor.user == change.user;
        if !own {
            administrators_only(actor)?;
        }
        passwords::check_new(&change.user, &change.new)?;
        let user = self.find(&change.user).await?.ok_or_else(|| missing(&change.user))?;
        if user.password_hash == NO_PASSWORD {
            let message = format!("{} signs in by a provider: it has the password", user.name);
            return Err(Error::new(ErrorCode::ForbiddenUserError, message));
        }
        if own {
            let old = change.old.unwrap_or_default();
            self.0.people.passwords.require_old(&user.name, old, user.password_hash).await?;
        }
        let keep = change.keep.filter(|_| own);
        let new = (&change.user, change.new, change.temporary && !own);
        self.replace_password(actor, new, keep.as_ref()).await
    }

    async fn set_admin(&self, actor: &Actor, name: &UserName, admin: bool) -> Result<()> {
        administrators_only(actor)?;
        if actor.user == *name {
            let message = "administrators cannot change this of themselves";
            return Err(Error::new(ErrorCode::ForbiddenUserError, message));
        }
        let action = if admin { AuditAction::UserPromoted } else { AuditAction::UserDemoted };
        let entry = note(action, name, "").by(actor);
        let set = self.0.store.write(async |t| {
            let set = database::users::set_admin(t, name, admin).await?;
            if set {
                database::audit::insert(t, &entry).await?;
            }
            Ok(set)
        });
        if set.await? { Ok(()) } else { Err(missing(name)) }
    }

    async fn end_access(&self, actor: &Actor, name: &UserName) -> Result<()> {
        if actor.user != *name {
            administrators_only(actor)?;
        }
        self.find(name).await?.ok_or_else(|| missing(name))?;
        let entry = note(AuditAction::AccessEnded, name, "").by(actor);
        let ended = self.0.store.write(async |t| {
            end_access(t, name, None).await?;
            database::audit::insert(t, &entry).await
        });
        Ok(ended.await?)
    }

    async fn profiles(&self, actor: &Actor) -> Result<BTreeMap<UserName, Profile>> {
        profiles::list(&self.0.store, actor).await
    }

    async fn set_profile(&self, actor: &Actor, name: &UserName, profile: Profile) -> Result<()> {
        profiles::set(&self.0.store, actor, name, profile).await
    }

    async fn set_virtual_clusters(
        &self,
        actor: &Actor,
        name: &UserName,
        clusters: Vec<VirtualClusterName>,
    ) -> Result<Granted> {
        administrators_only(actor)?;
        let standing = self.standing(name).await?.ok_or_else(|| missing(name))?;
        profiles::set_virtual_clusters(&self.0, actor, &standing, clusters).await
    }

    async fn remove(&self, actor: &Actor, name: &UserName) -> Result<()> {
        administrators_only(actor)?;
        if actor.user == *name {
            let message = "administrators cannot remove themselves";
            return Err(Error::new(ErrorCode::ForbiddenUserError, message));
        }
        self.find(name).await?.ok_or_else(|| missing(name))?;
        self.keep_from_others(name).await?;
        let entry = note(AuditAction::UserRemoved, name, "").by(actor);
        let removed = self.0.store.write(async |t| {
            let at = now();
            if !database::users::remove(t, name, at).await? {
                return Ok(None);
            }
            database::images::remove_all_of(t, name).await?;
            let jobs = stop_all_of(t, name, actor, at).await?;
            database::audit::insert(t, &entry).await?;
            Ok(Some(jobs))
        });
        let jobs = removed.await?.ok_or_else(|| missing(name))?;
        // His keys are gone with him.
        self.0.containers.key_changes.next();
        self.0.outbound.posted.forget(name);
        for job in jobs {
            self.0.live.tell_job(job.id, &job.key, job.state);
        }
        self.0.live.wakeups.schedule.wake();
        self.0.live.wakeups.jobs.wake();
        self.0.live.wakeups.images.wake();
        Ok(())
    }
}

impl Ops {
    async fn find(&self, name: &UserName) -> Result<Option<UserRecord>> {
        Ok(database::users::get(self.0.store.database.read(), name).await?)
    }

    /// Whose password is one of here, by whatever was typed as a name, and whether this is it.
    async fn with_password(
        &self,
        name: &str,
        password: &str,
    ) -> Result<(Option<UserRecord>, bool)> {
        let user = match UserName::new(name) {
            Ok(name) => self.find(&name).await?,
            Err(_) => None,
        };
        let local = user.filter(|user| user.password_hash != NO_PASSWORD);
        let hash = local.as_ref().map(|user| user.password_hash.clone());
        let right = self.0.people.passwords.verify(password.to_owned(), hash).await?;
        Ok((local, right))
    }

    /// Stores a password, and ends what was given for the one before but for what stays.
    async fn replace_password(
        &self,
        actor: &Actor,
        (name, new, temporary): (&UserName, String, bool),
        keep: Option<&Means>,
    ) -> Result<()> {
        let own = actor.user == *name;
        let hash = self.0.people.passwords.hash(&actor.user, new).await?;
        let action = if own { AuditAction::PasswordChanged } else { AuditAction::PasswordReset };
        let entry = note(action, name, "").by(actor);
        let set = self.0.store.write(async |t| {
            database::users::set_password(t, name, (hash.as_str(), temporary), now()).await?;
            end_access(t, name, keep).await?;
            database::audit::insert(t, &entry).await
        });
        Ok(set.await?)
    }

    /// Why a name is not given.
    async fn name_taken(&self, name: &UserName) -> Result<Error> {
        let found = database::user_names::find(self.0.store.database.read(), name).await;
        let message = match found? {
            Some(given) if given.removed_at.is_some() => format!(
                "{} was a user's who was removed: what he left is still kept under his name, so \
                 nobody else gets it; choose another name",
                given.name
            ),
            Some(given) if given.name != *name => format!(
                "there is a user {} already, whose name differs only in its capital letters",
                given.name
            ),
            Some(_) | None => format!("there is a user {name} already"),
        };
        Ok(Error::new(ErrorCode::ConflictUserError, message))
    }

    /// What was a user's by his name is claimed for him, so that it does not become common when
    /// the name is nobody's any more.
    async fn keep_from_others(&self, name: &UserName) -> Result<()> {
        for place in storage::rights::own_places(name) {
            if self.0.store.storage.exists(&place).await? {
                self.0.store.storage.claim(&place, name).await?;
            }
        }
        Ok(())
    }

    /// What is known of a user; `None`: there is none, or nobody has the account any more.
    async fn standing(&self, name: &UserName) -> Result<Option<Standing>> {
        let Some(user) = self.find(name).await? else { return Ok(None) };
        Ok(rights::standing(&self.0.store, &self.0.people, &user).await?)
    }

    /// Somebody with a password of here.
    async fn local(&self, user: UserRecord) -> Result<Actor> {
        let standing = rights::standing(&self.0.store, &self.0.people, &user).await?;
        let actor = standing.ok_or_else(wrong)?.actor;
        if self.0.people.sign_in.local || actor.admin {
            return Ok(actor);
        }
        let message = "passwords of this server are for its administrators: sign in by a provider";
        Err(Error::new(ErrorCode::ForbiddenUserError, message))
    }

    /// Somebody whom one of the directories knows. One that is down hides nobody of another.
    async fn by_directory(&self, name: &str, password: &str) -> Result<Actor> {
        let mut silent = false;
        for directory in &self.0.people.sign_in.directories {
            match directory.check(name, password).await {
                Ok(Some(person)) => {
                    return sign_ins::enter(&self.0.store, &self.0.people, &person).await;
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(%error, "signing in by a directory");
                    if let directory::Error::NotAllowed { .. } = error {
                        return Err(Error::new(ErrorCode::ForbiddenUserError, error.to_string()));
                    }
                    silent = true;
                }
            }
        }
        if silent {
            let message = "the directory of accounts does not answer: try again later";
            return Err(Error::new(ErrorCode::UnavailableError, message));
        }
        Err(wrong())
    }

    fn view(
        &self,
        (user, profile): (UserRecord, Profile),
        everybody: &mut Everybody,
        storages: &[Storage],
    ) -> UserView {
        let cluster = self.0.nodes.cluster();
        let standing = everybody.standing(&self.0.people.sign_in, &user);
        let usable = cluster.virtual_clusters.iter().filter(|vc| standing.may_use(vc));
        let storages = storages.iter().map(|storage| &storage.settings);
        let storages = storages.filter(|settings| standing.may_have(settings));
        UserView {
            storages: storages.map(|settings| settings.name.clone()).collect(),
            virtual_clusters: usable.map(|vc| vc.name.clone()).collect(),
            name: user.name,
            admin: standing.actor.admin,
            groups: standing.memberships,
            provider: standing.account.as_ref().map(|account| account.provider.clone()),
            mail: standing.account.and_then(|account| account.mail).or(profile.mail),
            created_at: user.created_at,
        }
    }
}

/// Ends sessions and tokens of a user, all but one that is kept.
async fn end_access(
    transaction: &database::Transaction,
    user: &UserName,
    keep: Option<&Means>,
) -> std::result::Result<(), database::Error> {
    let token = match keep {
        Some(Means::Token(id)) => Some(*id),
        Some(Means::Session(_) | Means::Password) | None => None,
    };
    database::tokens::remove_of(transaction, user, token).await?;
    match keep {
        Some(Means::Session(key)) => {
            database::sessions::delete_others_of_user(transaction, user, key).await?;
        }
        Some(Means::Token(_) | Means::Password) | None => {
            database::sessions::delete_of_user(transaction, user).await?;
        }
    }
    Ok(())
}

/// Asks that all jobs of somebody who leaves end; gives those that are still to.
async fn stop_all_of(
    transaction: &database::Transaction,
    user: &UserName,
    by: &Actor,
    at: Timestamp,
) -> std::result::Result<Vec<JobRow>, database::Error> {
    let jobs = database::jobs::active_of(transaction, user).await?;
    let mut events = Vec::new();
    for job in &jobs {
        if database::jobs::request_stop(transaction, job.id, &by.user, at).await? {
            let message = format!("{} removed the user {user}", by.user);
            let event = happened::to_job(job.id, at, "stop requested", message);
            events.push(happened::by_person(event, &by.user));
        }
    }
    database::events::insert_many(transaction, &events).await?;
    Ok(jobs)
}

fn wrong() -> Error {
    let message = "the user name or the password is wrong";
    Error::new(ErrorCode::IncorrectPasswordError, message)
}

fn only_to_choose() -> Error {
    let message = "this password was set by somebody else: sign in with it and a new one of \
                   your own";
    Error::new(ErrorCode::TemporaryPasswordError, message)
}

/// What is written down about an account.
fn note(action: AuditAction, user: &UserName, detail: impl Into<String>) -> Note {
    Note { action, object: user.to_string(), detail: detail.into(), address: None }
}

fn missing(name: &UserName) -> Error {
    Error::new(ErrorCode::NoUserError, format!("there is no user {name}"))
}
