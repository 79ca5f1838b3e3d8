//! What becomes of what providers say of people.

use api::audit::AuditAction;
use api::{Actor, Error, ErrorCode, Result};
use database::provider_accounts::{self, ProviderAccount};
use database::users::UserRecord;
use database::{Transaction, groups, users};
use protocol::person::{Person, Source};
use protocol::time::Timestamp;

use crate::accounts::people::People;
use crate::accounts::rights;
use crate::accounts::sign_in_options::ProviderRights;
use crate::records::audit::Note;
use crate::records::store::Store;
use crate::wake::now;

/// In place of a password's hash: no password has it.
pub(crate) const NO_PASSWORD: &str = "!";

/// Lets a person in for whom a provider has vouched just now.
pub(crate) async fn enter(store: &Store, people: &People, person: &Person) -> Result<Actor> {
    let provider = &person.provider;
    let rights = people.sign_in.providers.get(provider);
    let rights = rights.ok_or_else(|| forbidden(format!("nobody signs in by {provider}")))?;
    let at = now();
    let entered = store.write(async |t| match provider_accounts::of_person(t, person).await? {
        Some(account) => renew(t, account, person, at).await,
        None => make(t, person, rights, at).await,
    });
    let user = match entered.await {
        Ok(entered) => entered?,
        // Somebody else has got the name between two looks.
        Err(database::Error::Conflict { .. }) => return Err(taken(&person.name, person)),
        Err(error) => return Err(error.into()),
    };
    let standing = rights::standing(store, people, &user).await?;
    let standing = standing.ok_or_else(|| forbidden(format!("{} is gone", user.name)))?;
    tracing::info!(user = %user.name, %provider, admin = standing.actor.admin, "signed in");
    Ok(standing.actor)
}

/// Takes over what the provider says now.
pub(crate) async fn renew(
    t: &Transaction,
    account: ProviderAccount,
    person: &Person,
    at: Timestamp,
) -> std::result::Result<Result<UserRecord>, database::Error> {
    let Some(user) = users::get(t, &account.user).await? else {
        let message = format!("the account {} was removed by an administrator", account.user);
        return Ok(Err(forbidden(message)));
    };
    if account.provider != person.provider {
        groups::set(t, &user.name, &Source::Provider(account.provider), &[]).await?;
    }
    provider_accounts::confirm(t, &user.name, person, at).await?;
    let source = Source::Provider(person.provider.clone());
    groups::set(t, &user.name, &source, &person.groups).await?;
    Ok(Ok(user))
}

/// Makes an account; never out of one that is there.
async fn make(
    t: &Transaction,
    person: &Person,
    rights: &ProviderRights,
    at: Timestamp,
) -> std::result::Result<Result<UserRecord>, database::Error> {
    if !rights.create_accounts {
        let message = format!("{} has no account here: ask an administrator", person.name);
        return Ok(Err(forbidden(message)));
    }
    let name = match person.user_name() {
        Ok(name) => name,
        Err(error) => {
            return Ok(Err(Error::new(ErrorCode::InvalidParametersError, error.to_string())));
        }
    };
    if users::get(t, &name).await?.is_some() {
        return Ok(Err(taken(name.as_str(), person)));
    }
    let user = UserRecord {
        name: name.clone(),
        password_hash: NO_PASSWORD.to_owned(),
        admin: false,
        created_at: at,
        password_changed_at: at,
        password_temporary: false,
    };
    users::insert(t, &user).await?;
    provider_accounts::insert(t, &name, person, at).await?;
    let source = Source::Provider(person.provider.clone());
    groups::set(t, &name, &source, &person.groups).await?;
    let note = Note {
        action: AuditAction::UserProvided,
        object: name.to_string(),
        detail: format!("{}: {}", person.provider, person.subject),
        address: None,
    };
    let actor = Actor { user: name, admin: false };
    database::audit::insert(t, &note.by(&actor)).await?;
    Ok(Ok(user))
}

/// The provider says that there is no such person: what he has open is closed.
pub(crate) async fn deny(
    t: &Transaction,
    account: &ProviderAccount,
) -> std::result::Result<(), database::Error> {
    provider_accounts::deny(t, &account.user).await?;
    groups::set(t, &account.user, &Source::Provider(account.provider.clone()), &[]).await?;
    database::sessions::delete_of_user(t, &account.user).await?;
    Ok(())
}

fn taken(name: &str, person: &Person) -> Error {
    let message = format!(
        "there is another account {name} here, which {} does not know: ask an administrator for \
         a way out",
        person.provider
    );
    Error::new(ErrorCode::ConflictUserError, message)
}

fn forbidden(message: String) -> Error {
    Error::new(ErrorCode::ForbiddenUserError, message)
}
