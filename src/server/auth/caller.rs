use api::audit::{AuditAction, AuditNote};
use api::users::{Bearer, Means};
use api::{Actor, Backend};
use axum::extract::{FromRequestParts, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::middleware::Next;
use axum::response::Response;
use base64::Engine;
use protocol::ids::UserName;
use tower_sessions::Session;

use super::address::ClientAddress;
use super::session_keys::SESSION_USER;
use super::session_store;
use crate::failure::Failure;
use crate::state::AppState;

/// Who sent the request, as far as that is known. Every request behind [`authenticate`] has one.
#[derive(Debug, Clone, Default)]
pub(crate) struct Caller {
    /// The user, when somebody is signed in.
    pub(crate) actor: Option<Actor>,
    /// What let him in.
    pub(crate) means: Option<Means>,
}

/// A signed-in user; without one the request is refused with 401.
#[derive(Debug, Clone)]
pub(crate) struct Signed(pub(crate) Actor);

impl<S: Send + Sync> FromRequestParts<S> for Signed {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, _state: &S) -> Result<Self, Failure> {
        let caller = parts.extensions.get::<Caller>().cloned().unwrap_or_default();
        caller.actor.map(Self).ok_or_else(Failure::unauthorized)
    }
}

/// Finds out who asks, and has it answered. Whoever only looks waits for nobody who reads the records for
/// something else.
pub(crate) async fn authenticate(
    state: State<AppState>,
    address: ClientAddress,
    session: Session,
    request: Request,
    next: Next,
) -> Result<Response, Failure> {
    let only_looks = request.method().is_safe();
    let answered = answer(state, address, session, request, next);
    if only_looks { database::looking(answered).await } else { answered.await }
}

/// A token wins over a session; a bad token is an error, never a guest. What changes something under a
/// session's cookie must come from one of our own pages.
async fn answer(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    session: Session,
    mut request: Request,
    next: Next,
) -> Result<Response, Failure> {
    let caller = match request.headers().get(header::AUTHORIZATION) {
        Some(value) => by_token(&state.backend, value).await?,
        None => {
            let caller = by_session(&state.backend, &session).await?;
            if caller.actor.is_some() && !request.method().is_safe() {
                state.origin.require_own(request.headers())?;
            }
            caller
        }
    };
    let asked = caller.actor.clone().map(|actor| {
        let object = format!("{} {}", request.method(), request.uri().path());
        (actor.user, object)
    });
    request.extensions_mut().insert(caller);
    let personal = is_personal(request.headers());
    let mut response = next.run(request).await;
    if let (StatusCode::FORBIDDEN, Some((actor, object))) = (response.status(), asked) {
        let address = Some(address.to_string());
        let note = AuditNote { actor, action: AuditAction::Refused, object, address };
        if let Err(error) = state.backend.audit.note(note).await {
            tracing::warn!(%error, "the audit log cannot be written");
        }
    }
    if personal {
        response
            .headers_mut()
            .entry(header::CACHE_CONTROL)
            .or_insert(HeaderValue::from_static("no-store"));
    }
    Ok(response)
}

/// Answers to somebody in particular are kept by no cache.
fn is_personal(headers: &HeaderMap) -> bool {
    headers.contains_key(header::AUTHORIZATION) || headers.contains_key(header::COOKIE)
}

async fn by_session(backend: &Backend, session: &Session) -> Result<Caller, Failure> {
    let user: Option<UserName> = session.get(SESSION_USER).await?;
    let Some(user) = user else { return Ok(Caller::default()) };
    let means = session.id().map(|id| Means::Session(session_store::key(&id)));
    Ok(Caller { actor: backend.users.actor(&user).await?, means })
}

/// The store of the sessions failed: nobody is let in by mistake.
impl From<tower_sessions::session::Error> for Failure {
    fn from(error: tower_sessions::session::Error) -> Self {
        tracing::error!(%error, "a session cannot be read or written");
        api::Error::internal().into()
    }
}

async fn by_token(backend: &Backend, value: &HeaderValue) -> Result<Caller, Failure> {
    let credentials = value.to_str().ok().and_then(Credentials::parse);
    let Credentials { user, token } = credentials.ok_or_else(Failure::invalid_token)?;
    let bearer = backend.users.token_actor(&token).await?.ok_or_else(Failure::invalid_token)?;
    let Bearer { actor, token } = bearer;
    if user.is_some_and(|user| user != actor.user.as_str()) {
        return Err(Failure::invalid_token());
    }
    Ok(Caller { actor: Some(actor), means: Some(Means::Token(token)) })
}

/// What an `Authorization` header says.
#[derive(PartialEq, Eq)]
struct Credentials {
    /// The user of `Basic`, whose token it must be.
    user: Option<String>,
    token: String,
}

impl Credentials {
    /// `Bearer TOKEN` or `Basic base64(user:token)`.
    fn parse(header: &str) -> Option<Self> {
        let (scheme, rest) = header.split_once(' ')?;
        let rest = rest.trim();
        if scheme.eq_ignore_ascii_case("bearer") {
            return Some(Self { user: None, token: rest.to_owned() });
        }
        if !scheme.eq_ignore_ascii_case("basic") {
            return None;
        }
        let bytes = base64::engine::general_purpose::STANDARD.decode(rest).ok()?;
        let text = String::from_utf8(bytes).ok()?;
        let (user, token) = text.split_once(':')?;
        Some(Self { user: Some(user.to_owned()), token: token.to_owned() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn authorization_headers_are_understood() {
        let parsed = |header| Credentials::parse(header).map(|c| (c.user, c.token));
        assert_eq!(parsed("Bearer abc"), Some((None, "abc".into())));
        assert_eq!(parsed("bearer  abc "), Some((None, "abc".into())));
        assert_eq!(parsed("Basic YTpi"), Some((Some("a".into()), "b".into())));
        for bad in ["", "Bearer", "Basic ???", "Basic YWI=", "Digest x"] {
            assert_eq!(parsed(bad), None, "{bad}");
        }
    }
}
