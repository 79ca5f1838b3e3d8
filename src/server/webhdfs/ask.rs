use api::files::FilePath;
use api::{Actor, ErrorCode};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;
use axum::http::{HeaderMap, Uri};
use percent_encoding::percent_decode_str;

use super::PREFIX;
use super::parameters::Parameters;
use crate::auth::{Caller, ClientAddress};
use crate::failure::Failure;
use crate::state::AppState;

/// A request, taken apart: who asks for what.
#[derive(Debug)]
pub(super) struct Ask {
    pub(super) actor: Actor,
    pub(super) path: FilePath,
    pub(super) parameters: Parameters,
    pub(super) uri: Uri,
    pub(super) headers: HeaderMap,
}

impl Ask {
    /// The operation in capital letters; empty when none is said.
    pub(super) fn operation(&self) -> String {
        self.parameters.text("op").unwrap_or_default().to_ascii_uppercase()
    }
}

impl FromRequestParts<AppState> for Ask {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Failure> {
        let parameters = Parameters::read(parts.uri.query().unwrap_or_default())?;
        let caller = parts.extensions.get::<Caller>().cloned().unwrap_or_default();
        let asked = actor(state, caller, &parameters).await;
        if super::names_its_caller(&parts.uri) {
            let ClientAddress(address) = ClientAddress::of(parts, state);
            state.rates.admit(asked.as_ref().ok(), address)?;
        }
        let actor = asked?;
        let path = path(&parts.uri)?;
        Ok(Self { actor, path, parameters, uri: parts.uri.clone(), headers: parts.headers.clone() })
    }
}

/// A token wins over a session; a bad token is an error, never a guest.
async fn actor(
    state: &AppState,
    caller: Caller,
    parameters: &Parameters,
) -> Result<Actor, Failure> {
    if let Some(token) = parameters.text("delegation") {
        let actor = state.backend.users.token_actor(token).await?;
        return actor.ok_or_else(Failure::invalid_token);
    }
    caller.actor.ok_or_else(|| {
        Failure::new(
            ErrorCode::UnauthorizedUserError,
            "say who asks by delegation=<token> or an Authorization header; user.name is not enough",
        )
    })
}

fn path(uri: &Uri) -> Result<FilePath, Failure> {
    let path = uri.path().strip_prefix(PREFIX).unwrap_or_default();
    let path = percent_decode_str(path)
        .decode_utf8()
        .map_err(|_| Failure::new(ErrorCode::InvalidParametersError, "the path is not UTF-8"))?;
    Ok(FilePath::new(if path.is_empty() { "/" } else { path.as_ref() }))
}
