//! All doors behind one another's layers.

use axum::extract::DefaultBodyLimit;
use axum::response::{IntoResponse, Response};
use axum::routing::get;
use axum::{Extension, Router, middleware};
use tower_http::catch_panic::CatchPanicLayer;

use crate::auth::session_store::Store;
use crate::failure::Failure;
use crate::layers::{cors, rates, requests, security};
use crate::limits::BODY_LIMIT;
use crate::proxy::{self, Proxy};
use crate::state::AppState;
use crate::{aliases, auth, compress, functions, health, metrics, pages, rest, webhdfs};

/// The whole server. Everything that knows its caller is behind the sessions; files and health are
/// not. Hosts of tasks have nothing in common with all that.
pub fn router(state: AppState, sessions: Store) -> Router {
    let proxy = Proxy::new(state.clone(), sessions.clone());
    let https = state.origin.is_https();
    let ours = Router::new()
        .merge(auth::routes())
        .merge(rest::routes())
        .merge(webhdfs::routes())
        .merge(pages::routes(&state))
        .route(metrics::PATH, get(health::metrics))
        .layer(compress::layer())
        .layer(middleware::from_fn(compress::ours_only));
    let personal = ours
        .merge(proxy.routes())
        .layer(middleware::from_fn(functions::guard))
        .layer(middleware::from_fn_with_state(state.clone(), rates::limit))
        .layer(Extension(sessions.clone()))
        .layer(middleware::from_fn_with_state(state.clone(), auth::authenticate))
        .layer(auth::session_layer(sessions, https))
        .layer(middleware::from_fn_with_state(state.clone(), rates::limit_refused))
        .layer(middleware::from_fn_with_state(state.clone(), health::metrics_by_token))
        .layer(middleware::from_fn_with_state(state.clone(), cors::answer));
    let portal: Router = personal
        .route("/healthz", get(health::healthz))
        .route("/readyz", get(health::readyz))
        .route("/pkg/{*path}", get(pages::hashed))
        .layer(DefaultBodyLimit::max(BODY_LIMIT))
        .layer(CatchPanicLayer::custom(panicked))
        .layer(middleware::from_fn_with_state(state.clone(), security::headers))
        .layer(middleware::from_fn_with_state(state.clone(), requests::observe))
        .with_state(state);
    // A route is found before the layers around it: what changes addresses stands around the whole.
    Router::new()
        .fallback_service(portal)
        .layer(middleware::from_fn(aliases::resolve))
        .layer(middleware::from_fn_with_state(proxy, proxy::by_host))
}

/// A door of its own for Prometheus, at an address that the administrator chose.
pub fn metrics_router(state: AppState) -> Router {
    Router::new().route(metrics::PATH, get(health::metrics_at_own_door)).with_state(state)
}

/// A handler panicked: the user gets an ordinary error, the log gets the message.
fn panicked(panic: Box<dyn std::any::Any + Send>) -> Response {
    let text = panic.downcast_ref::<String>().map(String::as_str);
    let text = text.or_else(|| panic.downcast_ref::<&str>().copied()).unwrap_or("no message");
    tracing::error!(panic = text, "a handler panicked");
    Failure::from(api::Error::internal()).into_response()
}
