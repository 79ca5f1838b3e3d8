//! Signing in and out: by a page's form, which works without scripts, or by JSON.

use std::net::IpAddr;
use std::time::Instant;

use api::audit::{AuditAction, AuditNote};
use api::{Actor, ErrorCode};
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Redirect, Response};
use axum::{Extension, Json};
use protocol::ids::{ProviderName, UserName};
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tower_sessions::Session;

use super::address::ClientAddress;
use super::caller::Caller;
use super::session_keys::{SESSION_PROVIDER, SESSION_UNTIL, SESSION_USER};
use super::sign_in_limit::Visitor;
use crate::failure::Failure;
use crate::state::AppState;

/// `POST /auth/sign-in`: a form is answered by a redirect, JSON by JSON.
pub(crate) async fn sign_in(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    session: Session,
    headers: HeaderMap,
    body: Bytes,
) -> Result<Response, Failure> {
    let json = is_json(&headers);
    let form: Form = parse(&body, json)?;
    let outcome = match state.origin.refuse_foreign(&headers) {
        Ok(()) => enter(&state, &session, &form, (address, &headers)).await,
        Err(failure) => Err(failure),
    };
    let device = |actor: &Actor| {
        state.devices.cookie(&headers, actor.user.as_str(), state.origin.is_https())
    };
    let (actor, mut response) = match (json, outcome) {
        (true, outcome) => {
            let actor = outcome?;
            (actor.clone(), Json(Entered::from(actor)).into_response())
        }
        (false, Ok(actor)) => (actor, Redirect::to(local_path(&form.next)).into_response()),
        (false, Err(failure)) => return Ok(back_to_form(&form, failure.error.code)),
    };
    response.headers_mut().append(header::SET_COOKIE, device(&actor));
    Ok(response)
}

/// `POST /auth/sign-out`.
pub(crate) async fn sign_out(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    Extension(caller): Extension<Caller>,
    session: Session,
    headers: HeaderMap,
) -> Result<Response, Failure> {
    let provider: Option<ProviderName> = session.get(SESSION_PROVIDER).await?;
    session.flush().await?;
    if let Some(actor) = caller.actor {
        note(&state, actor.user, AuditAction::SignedOut, address).await;
    }
    if is_json(&headers) {
        return Ok(Json(serde_json::json!({ "message": "Logout successfully" })).into_response());
    }
    // The provider goes on knowing this browser; the page says so.
    let page = provider.map_or("/sign-in".to_owned(), |name| format!("/sign-in?out={name}"));
    Ok(Redirect::to(&page).into_response())
}

async fn enter(
    state: &AppState,
    session: &Session,
    form: &Form,
    from: (IpAddr, &HeaderMap),
) -> Result<Actor, Failure> {
    let given = Given { user: &form.username, password: &form.password, new: form.chosen() };
    let actor = check_password(state, from, given).await?;
    establish(state, session, &actor, None).await?;
    Ok(actor)
}

/// Makes the session one of this user, who may have come from a provider's pages.
pub(super) async fn establish(
    state: &AppState,
    session: &Session,
    actor: &Actor,
    provider: Option<&ProviderName>,
) -> Result<(), Failure> {
    let seconds = state.backend.sign_ins.session_seconds(&actor.user).await?;
    // A session that somebody else may have planted is left behind with all it holds.
    // Flushing alone would keep the id, and whoever planted it would be signed in as well.
    session.clear().await;
    session.cycle_id().await?;
    session.insert(SESSION_USER, &actor.user).await?;
    if let Some(seconds) = seconds {
        let seconds = i64::try_from(seconds).unwrap_or(i64::MAX);
        let until = OffsetDateTime::now_utc().unix_timestamp().saturating_add(seconds);
        session.insert(SESSION_UNTIL, until).await?;
    }
    if let Some(provider) = provider {
        session.insert(SESSION_PROVIDER, provider).await?;
    }
    Ok(())
}

/// What somebody gives to be let in.
#[derive(Clone, Copy)]
pub(crate) struct Given<'a> {
    pub(crate) user: &'a str,
    pub(crate) password: &'a str,
    /// What is to be the password from then on.
    pub(crate) new: Option<&'a str>,
}

/// Checks a password, so often and not more, and writes down what came of it.
pub(crate) async fn check_password(
    state: &AppState,
    (address, headers): (IpAddr, &HeaderMap),
    Given { user, password, new }: Given<'_>,
) -> Result<Actor, Failure> {
    let device = state.devices.of(headers, user);
    let visitor = Visitor { user: user.to_owned(), address, device };
    match state.sign_in_limit.begin(&visitor, Instant::now()) {
        Ok(wait) => tokio::time::sleep(wait).await,
        Err(wait) => {
            tracing::warn!(%address, "too many attempts to sign in");
            let message = "Too many requests, please try again later.";
            let mut failure = Failure::new(ErrorCode::TooManyRequestsError, message);
            failure.retry_after = Some(wait.as_secs().max(1));
            return Err(failure);
        }
    }
    let users = &state.backend.users;
    let entered = match new {
        Some(new) => users.choose_password(user, password, new).await,
        None => users.sign_in(user, password).await,
    };
    match entered {
        Ok(actor) => {
            state.sign_in_limit.succeeded(&visitor, Instant::now());
            note(state, actor.user.clone(), AuditAction::SignedIn, address).await;
            Ok(actor)
        }
        Err(error) => {
            if error.code == ErrorCode::IncorrectPasswordError {
                note(state, tried(state, user).await, AuditAction::SignInFailed, address).await;
            }
            Err(error.into())
        }
    }
}

/// Whose name was tried. Other names are not repeated: some of them are passwords that were typed
/// into the wrong field.
async fn tried(state: &AppState, user: &str) -> UserName {
    if let Ok(name) = user.parse()
        && let Ok(Some(actor)) = state.backend.users.actor(&name).await
    {
        return actor.user;
    }
    UserName::new("nobody").expect("the word is a valid user name")
}

/// Writes something down; that it cannot be written hinders nobody from coming or going.
pub(super) async fn note(state: &AppState, actor: UserName, action: AuditAction, address: IpAddr) {
    let (object, address) = (actor.to_string(), Some(address.to_string()));
    let note = AuditNote { actor, action, object, address };
    if let Err(error) = state.backend.audit.note(note).await {
        tracing::warn!(%error, "the audit log cannot be written");
    }
}

#[derive(Deserialize)]
struct Form {
    username: String,
    password: String,
    /// What is to be the password from then on.
    #[serde(default, rename = "newPassword")]
    new_password: String,
    #[serde(default)]
    next: String,
}

impl Form {
    fn chosen(&self) -> Option<&str> {
        Some(self.new_password.as_str()).filter(|new| !new.is_empty())
    }
}

#[derive(Serialize)]
struct Entered {
    user: String,
    admin: bool,
}

impl From<Actor> for Entered {
    fn from(actor: Actor) -> Self {
        Self { user: actor.user.into(), admin: actor.admin }
    }
}

pub(crate) fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|value| value.to_str().ok());
    kind.is_some_and(|kind| kind.trim_start().starts_with("application/json"))
}

/// Reads JSON, or else a form.
pub(crate) fn parse<T: serde::de::DeserializeOwned>(body: &[u8], json: bool) -> Result<T, Failure> {
    let invalid = |message: String| Failure::new(ErrorCode::InvalidParametersError, message);
    if json {
        serde_json::from_slice(body).map_err(|error| invalid(error.to_string()))
    } else {
        serde_urlencoded::from_bytes(body).map_err(|error| invalid(error.to_string()))
    }
}

/// Only a path of our own: whoever signs in is not sent to another site.
pub(crate) fn local_path(next: &str) -> &str {
    let ours = next.starts_with('/')
        && !next.starts_with("//")
        && !next.contains('\\')
        && !next.chars().any(char::is_control);
    if ours { next } else { "/" }
}

fn back_to_form(form: &Form, code: ErrorCode) -> Response {
    let chooses = code == ErrorCode::TemporaryPasswordError || form.chosen().is_some();
    let code = code.to_string();
    let mut fields = vec![
        ("error", code.as_str()),
        ("next", local_path(&form.next)),
        ("username", form.username.as_str()),
    ];
    if chooses {
        // The page asks for a new password, too.
        fields.push(("choose", "1"));
    }
    let query = serde_urlencoded::to_string(fields).expect("pairs of texts can always be encoded");
    Redirect::to(&format!("/sign-in?{query}")).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_to_another_site() {
        for bad in ["", "http://x", "//x", "/\\x", "x", "/a\nb"] {
            assert_eq!(local_path(bad), "/", "{bad:?}");
        }
        assert_eq!(local_path("/jobs?state=RUNNING"), "/jobs?state=RUNNING");
    }
}
