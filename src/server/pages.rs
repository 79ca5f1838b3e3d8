//! The pages: Leptos, with the same operations and the same actor as the REST doors.

mod owner;

use std::sync::{Arc, OnceLock};

use app::{App, Assets, shell};
use axum::Router;
use axum::body::Body;
use axum::extract::{Path, Request, State};
use axum::http::request::Parts;
use axum::http::{HeaderMap, Method, Uri};
use axum::response::{IntoResponse, Redirect, Response};
use leptos::config::LeptosOptions;
use leptos::context::{provide_context, use_context};
use leptos_axum::{
    AxumRouteListing, LeptosRoutes, file_and_error_handler_with_context,
    generate_route_list_with_exclusions_and_ssg_and_context,
};

use crate::auth::Caller;
use crate::pages::owner::KeepOwner;
use crate::state::AppState;
use crate::{old_pages, site};

/// The pages and their server functions; what is neither is a file of the site, or a page that
/// says that there is nothing.
pub(crate) fn routes(state: &AppState) -> Router<AppState> {
    // Files are served by us: Leptos is shown a folder that has none.
    let options = LeptosOptions::builder().output_name("app").site_root("/dev/null").build();
    let assets = Assets(state.site.addresses());
    let context = {
        let (state, assets) = (state.clone(), assets.clone());
        move || provide(&state, &assets)
    };
    let listings = addresses(context.clone());
    let page = {
        let options = options.clone();
        let assets = assets.clone();
        move || shell(options.clone(), assets.clone())
    };
    let not_found = move |options| shell(options, assets.clone());
    let nothing =
        file_and_error_handler_with_context::<LeptosOptions, _>(context.clone(), not_found);
    let fallback = {
        let options = options.clone();
        move |State(state): State<AppState>, uri: Uri, request: Request<Body>| {
            fallback(state, uri, request, nothing.clone(), options.clone())
        }
    };
    let pages: Router<AppState> = Router::new()
        .leptos_routes_with_context(&options, listings, context, page)
        .with_state(options);
    pages.fallback(fallback).layer(KeepOwner)
}

/// The addresses of the pages. They are asked for once: the framework renders the pages for it, and
/// while it does, a page rendered anywhere in this process would wait for what it reads for ever.
fn addresses(context: impl Fn() + Clone + Send + 'static) -> Vec<AxumRouteListing> {
    static ADDRESSES: OnceLock<Vec<AxumRouteListing>> = OnceLock::new();
    let listed = || generate_route_list_with_exclusions_and_ssg_and_context(App, None, context).0;
    ADDRESSES.get_or_init(listed).clone()
}

async fn fallback<H, F>(
    state: AppState,
    uri: Uri,
    request: Request<Body>,
    nothing: H,
    options: LeptosOptions,
) -> Response
where
    H: FnOnce(Uri, State<LeptosOptions>, Request<Body>) -> F,
    F: Future<Output = Response>,
{
    let is_read = matches!(*request.method(), Method::GET | Method::HEAD);
    if let Some(page) = old_pages::lead(&uri).filter(|_| is_read) {
        return Redirect::temporary(&page).into_response();
    }
    match site::public(&state.site, uri.path(), request.headers()).await {
        Some(file) => file,
        None => nothing(uri, State(options), request).await,
    }
}

/// `GET /pkg/…`.
pub(crate) async fn hashed(
    State(state): State<AppState>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    site::hashed(&state.site, &path, &headers).await
}

/// What pages and server functions find in their context.
fn provide(state: &AppState, assets: &Assets) {
    let caller = use_context::<Parts>()
        .and_then(|parts| parts.extensions.get::<Caller>().cloned())
        .unwrap_or_default();
    provide_context(state.backend.clone());
    provide_context(Arc::clone(&state.ways));
    // Before anything is read: what changes from now on is told once more, not missed.
    provide_context(state.change_log.mark());
    provide_context(assets.clone());
    provide_context(caller.actor);
    provide_context(caller.means);
}
