//! Who changes accounts: people, not the programs that they let in.

use api::users::Means;
use api::{Actor, ErrorCode};
use axum::extract::FromRequestParts;
use axum::http::request::Parts;

use crate::auth::{Caller, Signed};
use crate::failure::Failure;
use crate::state::AppState;

/// What a token is called that was made for a program.
pub(crate) const APPLICATION: &str = "application";

/// A signed-in user; a program with a token that was made for programs is refused with 403.
#[derive(Debug, Clone)]
pub(crate) struct Person(pub(crate) Actor);

impl FromRequestParts<AppState> for Person {
    type Rejection = Failure;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Failure> {
        let Signed(actor) = Signed::from_request_parts(parts, state).await?;
        let caller = parts.extensions.get::<Caller>().cloned().unwrap_or_default();
        if let Some(Means::Token(id)) = caller.means {
            let tokens = state.backend.users.tokens(&actor).await?;
            if tokens.iter().any(|token| token.id == id && token.label == APPLICATION) {
                let message = "Applications are not allowed to do this operation.";
                return Err(Failure::new(ErrorCode::ForbiddenUserError, message));
            }
        }
        Ok(Self(actor))
    }
}
