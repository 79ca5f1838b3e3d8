//! Tokens: who makes them, how long they live, how many there are.

use api::audit::AuditAction;
use api::users::{Means, NewToken, TokenView};
use api::{Actor, Error, ErrorCode, Result};
use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use database::Transaction;
use database::tokens::{self, TokenRecord};
use sha2::{Digest, Sha256};

use super::note;
use crate::records::store::Store;
use crate::secrets::sealing::random;
use crate::shared::Shared;
use crate::wake::now;

/// The beginning of every token, by which leaked ones are found.
const PREFIX: &str = "berth_";
/// Characters of a label.
const LONGEST_LABEL: usize = 100;
/// Tokens of one user, and beside these as many that were given for the password.
const MOST: usize = 50;

pub(super) async fn create(
    shared: &Shared,
    actor: &Actor,
    by: &Means,
    label: &str,
    lifetime_seconds: Option<u64>,
) -> Result<NewToken> {
    if label.chars().count() > LONGEST_LABEL || label.chars().any(char::is_control) {
        let message = "a token's label has at most 100 characters and no control characters";
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    let token = format!("{PREFIX}{}", URL_SAFE_NO_PAD.encode(random::<32>()));
    let created_at = now();
    let asked = database::tokens::NewToken {
        hash: hash(&token),
        user: actor.user.clone(),
        label: label.to_owned(),
        created_at,
        expires_at: shared.settings.rules.tokens.end(created_at, lifetime_seconds)?,
        made_by: match by {
            Means::Token(id) => Some(*id),
            Means::Session(_) | Means::Password => None,
        },
        by_sign_in: *by == Means::Password,
    };
    let made = shared.store.write(async |t| {
        let Some(record) = as_allowed(t, asked.clone()).await? else { return Ok(None) };
        let id = tokens::insert(t, &record).await?;
        if !record.by_sign_in {
            let entry = note(AuditAction::TokenMade, &actor.user, label).by(actor);
            database::audit::insert(t, &entry).await?;
        }
        Ok(Some((id, record)))
    });
    let made = match made.await {
        Ok(made) => made,
        Err(database::Error::NotFound { .. }) => return Err(gone()),
        Err(error) => return Err(error.into()),
    };
    let (id, record) = made.ok_or_else(|| {
        let message = format!("you have {MOST} tokens: revoke one that you do not need any more");
        Error::new(ErrorCode::NoEnoughQuotaError, message)
    })?;
    let view = TokenView { id, label: record.label, created_at, expires_at: record.expires_at };
    Ok(NewToken { token, view })
}

/// What is asked for, to end no later than what it is made by; `None`: there are too many. Those
/// given for a password make place for each other: programs sign in again and again.
async fn as_allowed(
    transaction: &Transaction,
    mut asked: tokens::NewToken,
) -> std::result::Result<Option<tokens::NewToken>, database::Error> {
    if let Some(parent) = asked.made_by {
        let parent = tokens::get(transaction, &asked.user, parent, asked.created_at).await?;
        let parent =
            parent.ok_or_else(|| database::Error::NotFound { what: "its maker".into() })?;
        asked.expires_at = match (asked.expires_at, parent.expires_at) {
            (Some(own), Some(end)) => Some(own.min(end)),
            (own, end) => own.or(end),
        };
    }
    let keys = tokens::keys_of(transaction, &asked.user, asked.by_sign_in, asked.created_at);
    let keys = keys.await?;
    if !asked.by_sign_in {
        return Ok((keys.len() < MOST).then_some(asked));
    }
    for oldest in keys.into_iter().skip(MOST - 1) {
        tokens::remove(transaction, &asked.user, oldest).await?;
    }
    Ok(Some(asked))
}

pub(super) async fn list(store: &Store, actor: &Actor) -> Result<Vec<TokenView>> {
    let tokens = tokens::list_of(store.database.read(), &actor.user).await;
    Ok(tokens?.into_iter().map(view).collect())
}

pub(super) async fn revoke(store: &Store, actor: &Actor, id: i64) -> Result<()> {
    let entry = note(AuditAction::TokenRevoked, &actor.user, id.to_string()).by(actor);
    let removed = store.write(async |t| {
        let removed = tokens::remove(t, &actor.user, id).await?;
        if removed {
            database::audit::insert(t, &entry).await?;
        }
        Ok(removed)
    });
    if removed.await? {
        return Ok(());
    }
    Err(Error::new(ErrorCode::InvalidParametersError, "you have no such token"))
}

fn view(token: TokenRecord) -> TokenView {
    TokenView {
        id: token.id,
        label: token.label,
        created_at: token.created_at,
        expires_at: token.expires_at,
    }
}

/// Tokens are random, so that a plain hash keeps them as well as a slow one would.
pub(super) fn hash(token: &str) -> String {
    hex::encode(Sha256::digest(token.as_bytes()))
}

/// The user, or the token that asks, is gone meanwhile.
fn gone() -> Error {
    Error::new(ErrorCode::UnauthorizedUserError, "what you asked with is not good any more")
}
