use api::users::{Means, TokenView};
use api::{Actor, ErrorCode};
use axum::extract::{Path, State};
use axum::http::HeaderMap;
use axum::{Extension, Json};
use protocol::ids::UserName;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::auth::sign_in::{Given, check_password};
use crate::auth::{Caller, ClientAddress, Signed};
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::rest::doors::{Doors, delete, get, post};
use crate::rest::message::{Message, message};
use crate::rest::person::APPLICATION;
use crate::state::AppState;

/// How long a token lives that names no time, in seconds.
const DEFAULT_LIFETIME: u64 = 86_400;
/// What may be asked for, in seconds.
const LIFETIMES: std::ops::RangeInclusive<u64> = 60..=604_800;

/// Tokens: one for a password, and what can be done with them then.
pub(super) fn routes() -> Doors {
    Doors::new()
        .route("/", get(list).post(create))
        .route("/application", post(create_application))
        .route("/check", get(check))
        .route("/{token}", delete(revoke))
}

#[derive(Serialize, Deserialize, JsonSchema)]
pub(crate) struct Request {
    pub(crate) username: String,
    pub(crate) password: String,
    #[serde(default)]
    pub(crate) expiration: Option<Seconds>,
    /// What is to be the password from then on.
    #[serde(default, rename = "newPassword", skip_serializing_if = "Option::is_none")]
    pub(crate) new_password: Option<String>,
}

/// Seconds as a number or, as forms send them, as text.
#[derive(Serialize, Deserialize, JsonSchema)]
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

#[derive(Serialize, Deserialize, JsonSchema)]
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
    let Request { username, password, expiration, new_password } = request;
    let lifetime = lifetime(expiration)?;
    let given = Given { user: &username, password: &password, new: new_password.as_deref() };
    let checked = check_password(&state, (address, &headers), given).await;
    let actor = checked.map_err(in_openpais_words)?;
    let token =
        state.backend.users.create_token(&actor, &Means::Password, "REST", Some(lifetime)).await?;
    Ok(Json(Answer {
        user: actor.user.into(),
        token: token.token,
        admin: actor.admin,
        has_git_hub_pat: false,
    }))
}

/// A wrong password as OpenPAI's clients know it. Of a name that nobody has it is said as well: who
/// guesses does not learn which names there are.
fn in_openpais_words(mut failure: Failure) -> Failure {
    if failure.error.code == ErrorCode::IncorrectPasswordError {
        failure.error.message = "Password is incorrect.".to_owned();
    }
    failure
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

/// A user's tokens. Their texts are kept nowhere: where OpenPAI had these, their numbers stand, and
/// are taken.
#[derive(Debug, Serialize, JsonSchema)]
struct Tokens {
    tokens: Vec<String>,
    /// Berth's own: what each is for, and until when.
    details: Vec<TokenView>,
}

async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Tokens>, Failure> {
    let details = state.backend.users.tokens(&actor).await?;
    let tokens = details.iter().map(|token| token.id.to_string()).collect();
    Ok(Json(Tokens { tokens, details }))
}

#[derive(Debug, Serialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
struct Application {
    token: String,
    application: bool,
    /// Berth's own: until when, in milliseconds; a token lasts no longer than what it was made by.
    expires_at: Option<protocol::time::Timestamp>,
}

/// A token for a program, for as long as tokens may live.
async fn create_application(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Application>, Failure> {
    let by = caller.means.ok_or_else(Failure::unauthorized)?;
    let made = state.backend.users.create_token(&actor, &by, APPLICATION, None).await?;
    let expires_at = made.view.expires_at;
    Ok(Json(Application { token: made.token, application: true, expires_at }))
}

/// What is known of whoever asks; times are in seconds, as tokens of OpenPAI had them.
#[derive(Debug, Serialize, JsonSchema)]
struct Checked {
    username: UserName,
    admin: bool,
    application: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    iat: Option<i64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    exp: Option<i64>,
}

async fn check(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Checked>, Failure> {
    let token = match caller.means {
        Some(Means::Token(id)) => {
            let tokens = state.backend.users.tokens(&actor).await?;
            tokens.into_iter().find(|token| token.id == id)
        }
        Some(Means::Session(_) | Means::Password) | None => None,
    };
    let Actor { user, admin } = actor;
    Ok(Json(Checked {
        username: user,
        admin,
        application: token.as_ref().is_some_and(|token| token.label == APPLICATION),
        iat: token.as_ref().map(|token| token.created_at.0 / 1000),
        exp: token.and_then(|token| token.expires_at).map(|at| at.0 / 1000),
    }))
}

/// One's own token, by its number or by itself.
async fn revoke(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(token): Path<String>,
) -> Result<Json<Message>, Failure> {
    let users = &state.backend.users;
    let id = match token.parse::<i64>() {
        Ok(id) => Some(id),
        Err(_) => {
            let bearer = users.token_actor(&token).await?;
            bearer.filter(|bearer| bearer.actor.user == actor.user).map(|bearer| bearer.token)
        }
    };
    // Somebody else's is as good as none, and written down nowhere.
    let none = || Failure::new(ErrorCode::InvalidParametersError, "you have no such token");
    users.revoke_token(&actor, id.ok_or_else(none)?).await?;
    Ok(message("revoke successfully"))
}

/// `DELETE /authn/basic/logout`: the token that asks is good no more.
pub(super) async fn end(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Extension(caller): Extension<Caller>,
) -> Result<Json<Message>, Failure> {
    let Some(Means::Token(id)) = caller.means else {
        let message = "a browser signs out at /auth/sign-out; here a token does";
        return Err(Failure::new(ErrorCode::InvalidParametersError, message));
    };
    state.backend.users.revoke_token(&actor, id).await?;
    Ok(message("Logout successfully"))
}
