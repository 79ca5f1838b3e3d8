//! Signing in at a provider's pages: where a browser is sent, and what it must bring back.

use std::sync::Arc;

use api::audit::AuditAction;
use api::{Actor, ErrorCode};
use axum::extract::{Path, Query, State};
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::{IntoResponse, Redirect, Response};
use base64::Engine;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use directory::{Answer, Oidc, Started};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use time::OffsetDateTime;
use tower_sessions::Session;

use super::address::ClientAddress;
use super::sign_in::{establish, local_path, note};
use crate::failure::Failure;
use crate::state::AppState;

/// How long somebody may take at the provider's pages, in seconds.
const PATIENCE: i64 = 900;
/// The longest path that is remembered for afterwards.
const LONGEST: usize = 1_000;

/// What a browser keeps while it is at a provider's pages. Only who has it can end what it began,
/// so that nobody is signed in by a link of somebody else's.
#[derive(Debug, Serialize, Deserialize)]
struct Pending {
    provider: String,
    state: String,
    nonce: String,
    verifier: String,
    next: String,
    until: i64,
}

#[derive(Debug, Deserialize)]
pub(crate) struct BeginQuery {
    #[serde(default)]
    next: String,
}

/// What a provider sends a browser back with.
#[derive(Deserialize)]
pub(crate) struct Brought {
    code: Option<String>,
    state: Option<String>,
    iss: Option<String>,
    error: Option<String>,
    error_description: Option<String>,
}

/// `GET /sign-in/oidc/:provider`: off to the provider's page.
pub(crate) async fn begin(
    State(state): State<AppState>,
    Path(name): Path<String>,
    Query(BeginQuery { next }): Query<BeginQuery>,
    headers: HeaderMap,
) -> Response {
    let Some(provider) = find(&state, &name) else { return back("NoProvider", &next, &name) };
    let redirect = redirect(&state, &headers, &name);
    match provider.start(&redirect).await {
        Ok(Started { address, state: token, nonce, verifier }) => {
            let next = Some(local_path(&next)).filter(|next| next.len() <= LONGEST).unwrap_or("/");
            let pending = Pending {
                provider: name,
                state: token,
                nonce,
                verifier,
                next: next.to_owned(),
                until: OffsetDateTime::now_utc().unix_timestamp() + PATIENCE,
            };
            with_cookie(Redirect::to(&address).into_response(), kept(&state, Some(&pending)))
        }
        Err(error) => {
            tracing::warn!(%error, "nobody can sign in by a provider");
            back(word(&error), &next, &name)
        }
    }
}

/// `GET /sign-in/oidc/:provider/callback`: back from there.
pub(crate) async fn end(
    State(state): State<AppState>,
    Path(name): Path<String>,
    Query(brought): Query<Brought>,
    ClientAddress(address): ClientAddress,
    session: Session,
    headers: HeaderMap,
) -> Response {
    let pending = pending(&state, &headers);
    let next = pending.as_ref().map_or("/", |pending| local_path(&pending.next)).to_owned();
    let answer = match enter(&state, &session, &name, pending, brought, &headers).await {
        Ok(actor) => {
            note(&state, actor.user, AuditAction::SignedIn, address).await;
            Redirect::to(&next).into_response()
        }
        Err(word) => back(&word, &next, &name),
    };
    // What was kept is good once.
    with_cookie(answer, kept(&state, None))
}

/// `GET /sign-in/oidc/:provider/sign-out`: signs out there as well, where the provider does that.
pub(crate) async fn farewell(
    State(state): State<AppState>,
    Path(name): Path<String>,
    headers: HeaderMap,
) -> Response {
    let Some(provider) = find(&state, &name) else { return back("NoProvider", "/", &name) };
    let home = format!("{}/sign-in", state.origin.address(&headers));
    match provider.farewell(&home).await {
        Ok(address) => Redirect::to(address.as_deref().unwrap_or("/sign-in")).into_response(),
        Err(error) => {
            tracing::warn!(%error, "nobody can be signed out at a provider");
            back(word(&error), "/", &name)
        }
    }
}

/// Lets in who has come back. What goes wrong is a word for the page for signing in.
async fn enter(
    state: &AppState,
    session: &Session,
    name: &str,
    pending: Option<Pending>,
    brought: Brought,
    headers: &HeaderMap,
) -> Result<Actor, String> {
    let provider = find(state, name).ok_or("NoProvider")?;
    let own = pending.filter(|pending| {
        let in_time = OffsetDateTime::now_utc().unix_timestamp() < pending.until;
        in_time && pending.provider == name && brought.state.as_deref() == Some(&*pending.state)
    });
    let Some(Pending { nonce, verifier, .. }) = own else {
        tracing::warn!(provider = name, "somebody came back who had not been sent");
        return Err("SignInLost".to_owned());
    };
    let Some(code) = brought.code else {
        let (error, why) = (brought.error, brought.error_description);
        tracing::warn!(provider = name, ?error, ?why, "a provider let nobody in");
        return Err("ProviderRefused".to_owned());
    };
    let answer = Answer { code, issuer: brought.iss, nonce, verifier };
    let person = provider.finish(&redirect(state, headers, name), answer).await;
    let person = person.map_err(|error| {
        tracing::warn!(%error, "nobody is signed in by a provider");
        word(&error).to_owned()
    })?;
    let entered = state.backend.sign_ins.enter(person).await;
    let actor = entered.map_err(|error| {
        tracing::warn!(provider = name, %error, "nobody is signed in by a provider");
        error.code.to_string()
    })?;
    let established = establish(state, session, &actor, Some(provider.name())).await;
    established.map_err(|Failure { error, .. }| error.code.to_string())?;
    Ok(actor)
}

fn find(state: &AppState, name: &str) -> Option<Arc<Oidc>> {
    state.oidc.iter().find(|provider| provider.name().as_str() == name).cloned()
}

fn redirect(state: &AppState, headers: &HeaderMap, name: &str) -> String {
    format!("{}/sign-in/oidc/{name}/callback", state.origin.address(headers))
}

fn word(error: &directory::Error) -> &'static str {
    match error {
        directory::Error::Unavailable { .. } => "ProviderUnavailable",
        directory::Error::Refused { .. } => "ProviderRefused",
        directory::Error::NotAllowed { .. } => "NotAllowed",
        directory::Error::Settings(_) | directory::Error::Silent { .. } => "ProviderSettings",
    }
}

/// The page for signing in, with what went wrong.
fn back(error: &str, next: &str, provider: &str) -> Response {
    once_more(error, next, provider).into_response()
}

fn once_more(error: &str, next: &str, provider: &str) -> Redirect {
    let fields = [("error", error), ("next", local_path(next)), ("provider", provider)];
    let query = serde_urlencoded::to_string(fields).expect("pairs of texts can always be encoded");
    Redirect::to(&format!("/sign-in?{query}"))
}

fn cookie_name(state: &AppState) -> &'static str {
    if state.origin.is_https() { "__Host-berth_sign_in" } else { "berth_sign_in" }
}

fn kept(state: &AppState, pending: Option<&Pending>) -> String {
    let secure = if state.origin.is_https() { "; Secure" } else { "" };
    let (value, age) = match pending {
        Some(pending) => {
            let text = serde_json::to_vec(pending).expect("texts and a number");
            (URL_SAFE_NO_PAD.encode(text), PATIENCE)
        }
        None => (String::new(), 0),
    };
    let name = cookie_name(state);
    format!("{name}={value}; Path=/; Max-Age={age}; HttpOnly; SameSite=Lax{secure}")
}

fn with_cookie(mut response: Response, cookie: String) -> Response {
    let cookie = HeaderValue::from_str(&cookie).expect("it is written in base64");
    response.headers_mut().append(header::SET_COOKIE, cookie);
    response
}

fn pending(state: &AppState, headers: &HeaderMap) -> Option<Pending> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    let mut pairs =
        values.flat_map(|line| line.split(';')).filter_map(|p| p.trim().split_once('='));
    let (_, value) = pairs.find(|(name, _)| *name == cookie_name(state))?;
    serde_json::from_slice(&URL_SAFE_NO_PAD.decode(value).ok()?).ok()
}

/// `GET /authn/info` of OpenPAI.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct Info {
    authn_type: &'static str,
    #[serde(rename = "loginURI")]
    login_uri: &'static str,
    #[serde(rename = "loginURIMethod")]
    login_uri_method: &'static str,
}

/// How OpenPAI's clients sign in here.
pub(crate) async fn info(State(state): State<AppState>) -> axum::Json<Info> {
    axum::Json(if state.oidc.is_empty() {
        Info { authn_type: "basic", login_uri: "/authn/basic/login", login_uri_method: "post" }
    } else {
        Info { authn_type: "OIDC", login_uri: "/authn/oidc/login", login_uri_method: "get" }
    })
}

/// Where OpenPAI's clients want the browser to be afterwards.
#[derive(Debug, Deserialize, JsonSchema)]
pub(crate) struct Back {
    /// A path of this server. Nobody is sent anywhere else: whoever signs in for another program stays here.
    #[serde(default)]
    redirect_uri: String,
    /// The page that was left for it, where one is sent if there is nowhere else to go.
    #[serde(default)]
    from: String,
}

impl Back {
    /// The path to go on at, if either is one.
    fn path(&self) -> Option<&str> {
        [&self.redirect_uri, &self.from].into_iter().map(|to| local_path(to)).find(|to| *to != "/")
    }
}

/// `GET /authn/oidc/login` of OpenPAI: the first provider's page.
pub(crate) async fn login(
    State(state): State<AppState>,
    Query(back): Query<Back>,
) -> Result<Redirect, Failure> {
    let page = format!("/sign-in/oidc/{}", first(&state)?.name());
    let next = back.path().map(|next| {
        let next = serde_urlencoded::to_string([("next", next)]);
        format!("?{}", next.expect("pairs of texts can always be encoded"))
    });
    Ok(Redirect::to(&format!("{page}{}", next.unwrap_or_default())))
}

/// `GET /authn/oidc/logout` of OpenPAI: signs out there. What is good here ends at `basic/logout`.
pub(crate) async fn logout(State(state): State<AppState>) -> Result<Redirect, Failure> {
    Ok(Redirect::to(&format!("/sign-in/oidc/{}/sign-out", first(&state)?.name())))
}

/// What a provider says that lets nobody in.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct Returned {
    error: Option<String>,
}

/// `GET` and `POST /authn/oidc/return` of OpenPAI, where its provider sent browsers back. From here they are
/// sent back elsewhere ([`end`]): who comes all the same has begun at another server, and begins anew.
pub(crate) async fn returned(
    State(state): State<AppState>,
    Query(Returned { error }): Query<Returned>,
) -> Result<Redirect, Failure> {
    let word = if error.is_some() { "ProviderRefused" } else { "SignInLost" };
    Ok(once_more(word, "/", first(&state)?.name().as_str()))
}

fn first(state: &AppState) -> Result<&Oidc, Failure> {
    let message = "nobody signs in by OpenID Connect here";
    let none = || Failure::new(ErrorCode::NoApiError, message);
    state.oidc.first().map(|provider| &**provider).ok_or_else(none)
}
