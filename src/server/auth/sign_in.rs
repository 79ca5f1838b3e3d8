//! Signing in and out: by a page's form, which works without scripts, or by JSON.

use std::net::IpAddr;
use std::time::Instant;

use api::{Actor, Backend, ErrorCode};
use axum::Json;
use axum::body::Bytes;
use axum::extract::State;
use axum::http::{HeaderMap, header};
use axum::response::{IntoResponse, Redirect, Response};
use serde::{Deserialize, Serialize};
use tower_sessions::Session;

use super::SESSION_USER;
use super::address::ClientAddress;
use super::caller::session_failure;
use super::sign_in_limit::SignInLimit;
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
        Ok(()) => enter(&state, &session, &form, address).await,
        Err(failure) => Err(failure),
    };
    match (json, outcome) {
        (true, outcome) => Ok(Json(Entered::from(outcome?)).into_response()),
        (false, Ok(_)) => Ok(Redirect::to(local_path(&form.next)).into_response()),
        (false, Err(failure)) => Ok(back_to_form(&form, failure.error.code)),
    }
}

/// `POST /auth/sign-out`.
pub(crate) async fn sign_out(session: Session, headers: HeaderMap) -> Result<Response, Failure> {
    session.flush().await.map_err(session_failure)?;
    if is_json(&headers) {
        return Ok(Json(serde_json::json!({ "message": "Logout successfully" })).into_response());
    }
    Ok(Redirect::to("/sign-in").into_response())
}

async fn enter(
    state: &AppState,
    session: &Session,
    form: &Form,
    address: IpAddr,
) -> Result<Actor, Failure> {
    let actor = check_password(
        &state.backend,
        &state.sign_in_limit,
        address,
        &form.username,
        &form.password,
    )
    .await?;
    // A session that somebody else may have planted is left behind with all it holds.
    // Flushing alone would keep the id, and whoever planted it would be signed in as well.
    session.clear().await;
    session.cycle_id().await.map_err(session_failure)?;
    session.insert(SESSION_USER, &actor.user).await.map_err(session_failure)?;
    Ok(actor)
}

/// Checks a password, so often and not more.
pub(crate) async fn check_password(
    backend: &Backend,
    limit: &SignInLimit,
    address: IpAddr,
    user: &str,
    password: &str,
) -> Result<Actor, Failure> {
    if let Err(wait) = limit.begin(user, address, Instant::now()) {
        tracing::warn!(%address, "too many attempts to sign in");
        let message = "Too many requests, please try again later.";
        let mut failure = Failure::new(ErrorCode::TooManyRequestsError, message);
        failure.retry_after = Some(wait.as_secs().max(1));
        return Err(failure);
    }
    let actor = backend.users.sign_in(user, password).await?;
    limit.succeeded(user, address);
    Ok(actor)
}

#[derive(Deserialize)]
struct Form {
    username: String,
    password: String,
    #[serde(default)]
    next: String,
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
    let code = code.to_string();
    let fields =
        [("error", code.as_str()), ("next", local_path(&form.next)), ("username", &form.username)];
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
