use api::ErrorCode;
use api::users::Means;
use axum::Json;
use axum::extract::State;
use axum::http::HeaderMap;
use serde::{Deserialize, Serialize};

use crate::auth::ClientAddress;
use crate::auth::sign_in::check_password;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::state::AppState;

/// How long a token lives that names no time, in seconds.
const DEFAULT_LIFETIME: u64 = 86_400;
/// What may be asked for, in seconds.
const LIFETIMES: std::ops::RangeInclusive<u64> = 60..=604_800;

#[derive(Serialize, Deserialize)]
pub(crate) struct Request {
    pub(crate) username: String,
    pub(crate) password: String,
    #[serde(default)]
    pub(crate) expiration: Option<Seconds>,
}

/// Seconds as a number or, as forms send them, as text.
#[derive(Serialize, Deserialize)]
#[serde(untagged)]
pub(crate) enum Seconds {
    Number(u64),
    Text(String),
}

impl Seconds {
    fn number(self) -> Option<u64> {
        match self {
            Seconds::Number(number) => Some(number),
            Seconds::Text(text) => text.parse().ok(),
        }
    }
}

#[derive(Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Answer {
    user: String,
    pub(crate) token: String,
    admin: bool,
    #[serde(rename = "hasGitHubPAT")]
    has_git_hub_pat: bool,
}

/// `POST /token`: a password for a token.
pub(crate) async fn create(
    State(state): State<AppState>,
    ClientAddress(address): ClientAddress,
    headers: HeaderMap,
    Fields(request): Fields<Request>,
) -> Result<Json<Answer>, Failure> {
    let Request { username, password, expiration } = request;
    let lifetime = lifetime(expiration)?;
    let actor = check_password(&state, (address, &headers), &username, &password).await?;
    let token =
        state.backend.users.create_token(&actor, &Means::Password, "REST", Some(lifetime)).await?;
    Ok(Json(Answer {
        user: actor.user.into(),
        token: token.token,
        admin: actor.admin,
        has_git_hub_pat: false,
    }))
}

fn lifetime(asked: Option<Seconds>) -> Result<u64, Failure> {
    let lifetime = match asked {
        None => Some(DEFAULT_LIFETIME),
        Some(seconds) => seconds.number().filter(|seconds| LIFETIMES.contains(seconds)),
    };
    lifetime.ok_or_else(|| {
        let message = "expiration: allowed are 60 to 604800 seconds";
        Failure::new(ErrorCode::InvalidParametersError, message)
    })
}
