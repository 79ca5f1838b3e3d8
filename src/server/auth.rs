//! Who asks: sessions of browsers, tokens of programs, and what protects both.

mod address;
pub(crate) mod answers;
mod caller;
pub(crate) mod cookies;
pub(crate) mod device;
pub(crate) mod oidc;
pub mod origin;
mod session_keys;
pub mod session_store;
pub mod sign_in;
pub mod sign_in_limit;
mod still;
pub(crate) mod system_actor;

use axum::Router;
use axum::routing::{get, post};
use tower::layer::util::Stack;
use tower_sessions::cookie::SameSite;
use tower_sessions::{Expiry, SessionManagerLayer};

pub(crate) use address::ClientAddress;
pub(crate) use caller::{Caller, Signed, authenticate};
pub use cookies::{Chosen, OneOfMany};
use session_store::Store;
pub(crate) use still::Still;

use crate::state::AppState;

/// How long somebody stays signed in.
const SESSION_DAYS: i64 = 7;

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
