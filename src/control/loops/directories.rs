//! Asks directories again about the people that came from them, so that a group that is taken away
//! there, and somebody who has left, lose their rights here without signing in.

use std::sync::Arc;
use std::time::Duration;

use database::provider_accounts::{self, ProviderAccount};
use directory::Directory;
use tokio_util::sync::CancellationToken;

use crate::accounts::people::People;
use crate::accounts::sign_ins;
use crate::known::passes::{Passes, Rhythm};
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

/// A directory that is slow, or away for a moment, is nothing to speak of.
const LONGEST: Duration = Duration::from_secs(1_800);

/// Who has left a directory keeps his rights a little longer without it.
pub(crate) fn rhythm(people: &People) -> Rhythm {
    Rhythm::beside(pause(people).saturating_add(LONGEST))
}

fn pause(people: &People) -> Duration {
    Duration::from_secs(people.sign_in.refresh_seconds)
}

/// Runs until shutdown.
pub(crate) async fn run(shared: Arc<Shared>, passes: Arc<Passes>, shutdown: CancellationToken) {
    passes
        .repeat(pause(&shared.people), &shutdown, || ask_all(&shared.store, &shared.people))
        .await;
}

/// Says whether all of them have answered.
async fn ask_all(store: &Store, people: &People) -> bool {
    let mut all_answered = true;
    for directory in &people.sign_in.directories {
        all_answered &= ask(store, directory.as_ref()).await;
    }
    all_answered
}

/// Says whether the directory was asked about all of its accounts.
async fn ask(store: &Store, directory: &dyn Directory) -> bool {
    let accounts = provider_accounts::of_provider(store.database.read(), directory.name()).await;
    let accounts = match accounts {
        Ok(accounts) => accounts,
        Err(error) => {
            tracing::error!(%error, "accounts of a directory cannot be read");
            return false;
        }
    };
    for account in accounts.into_iter().filter(|account| account.confirmed_at.is_some()) {
        let user = account.user.clone();
        if let Err(error) = renew(store, directory, account).await {
            // Nothing is known, so nothing changes: what is not confirmed lapses in its time.
            tracing::warn!(%user, directory = %directory.name(), %error, "is not confirmed");
            if !error.is_of_one_account() {
                return false;
            }
        }
    }
    true
}

/// Why an account cannot be looked after.
#[derive(Debug, thiserror::Error)]
enum Error {
    #[error(transparent)]
    Directory(#[from] directory::Error),
    #[error(transparent)]
    Database(#[from] database::Error),
}

impl Error {
    /// Whether others can be asked about all the same.
    fn is_of_one_account(&self) -> bool {
        use directory::Error::{NotAllowed, Refused, Settings, Silent, Unavailable};
        match self {
            Self::Directory(Silent { .. } | NotAllowed { .. } | Refused { .. }) => true,
            Self::Directory(Settings(_) | Unavailable { .. }) | Self::Database(_) => false,
        }
    }
}

async fn renew(
    store: &Store,
    directory: &dyn Directory,
    account: ProviderAccount,
) -> Result<(), Error> {
    let found = directory.find(&account.subject).await?;
    let found = found.filter(|person| person.issuer == account.issuer);
    let user = account.user.clone();
    let Some(person) = found else {
        store.write(async |t| sign_ins::deny(t, &account).await).await?;
        tracing::info!(%user, directory = %directory.name(), "has left; sessions are ended");
        return Ok(());
    };
    let renewed = store.write(async |t| sign_ins::renew(t, account, &person, now()).await).await?;
    if let Err(error) = renewed {
        tracing::debug!(%user, %error, "an account is not renewed");
    }
    Ok(())
}
