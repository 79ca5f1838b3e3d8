//! Who asks: sessions of browsers, tokens of programs, and what protects both.

mod address;
mod caller;
pub(crate) mod cookies;
mod device;
pub(crate) mod oidc;
pub mod origin;
pub mod session_store;
pub mod sign_in;
pub mod sign_in_limit;
mod still;

use api::Actor;
use axum::Router;
use axum::routing::{get, post};
use protocol::ids::UserName;
use tower::layer::util::Stack;
use tower_sessions::cookie::SameSite;
use tower_sessions::{Expiry, SessionManagerLayer};

pub(crate) use address::ClientAddress;
pub(crate) use caller::{Caller, Signed, authenticate};
pub use cookies::{Chosen, OneOfMany};
pub(crate) use device::Devices;
use session_store::Store;
pub(crate) use still::{Answers, Still};

use crate::state::AppState;

/// How long somebody stays signed in.
const SESSION_DAYS: i64 = 7;

/// Key of the user's name in a session.
const SESSION_USER: &str = "user";
/// Key of the second at which a session ends in any case.
const SESSION_UNTIL: &str = "until";
/// Key of the provider's name by whose pages somebody signed in.
const SESSION_PROVIDER: &str = "provider";

/// `/auth/…`.
pub(crate) fn routes() -> Router<AppState> {
    Router::new()
        .route("/auth/sign-in", post(sign_in::sign_in))
        .route("/auth/sign-out", post(sign_in::sign_out))
        .route("/sign-in/oidc/{provider}", get(oidc::begin))
        .route("/sign-in/oidc/{provider}/callback", get(oidc::end))
        .route("/sign-in/oidc/{provider}/sign-out", get(oidc::farewell))
}

/// Sessions: one cookie that scripts cannot read and other sites cannot send with a change. Under
/// https it has the one name that no other host, port or path can set; else the one among several
/// counts that is a session.
pub fn session_layer(store: Store, https: bool) -> Stack<SessionManagerLayer<Store>, OneOfMany> {
    let name = if https { "__Host-berth_session" } else { "berth_session" };
    let several = OneOfMany::new(name, store.clone());
    let sessions = SessionManagerLayer::new(store)
        .with_name(name)
        .with_http_only(true)
        .with_same_site(SameSite::Lax)
        .with_secure(https)
        .with_expiry(Expiry::OnInactivity(time::Duration::days(SESSION_DAYS)));
    Stack::new(sessions, several)
}

/// The actor of the server itself, for what nobody in particular asks.
pub(crate) fn system_actor() -> Actor {
    let user = UserName::new("system").expect("the word is a valid user name");
    Actor { user, admin: true }
}
