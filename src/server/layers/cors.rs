//! What browsers are told of who may call: see [`crate::cors`].

use axum::extract::{Request, State};
use axum::http::{HeaderMap, HeaderValue, Method, StatusCode, header};
use axum::middleware::Next;
use axum::response::{IntoResponse, Response};

use crate::state::AppState;
use crate::webhdfs::address::PREFIX;

/// How long a browser need not ask again, in seconds.
const REMEMBERED: &str = "600";
const METHODS: &str = "GET, HEAD, POST, PUT, PATCH, DELETE";
const SENT: &str =
    "authorization, content-type, accept, accept-language, range, x-request-id, x-requested-with";
const SHOWN: &str = "content-disposition, content-range, location, retry-after, x-log-end, x-log-offset, \
     x-request-id, x-warning";

/// Says what a browser may do with the answer. A browser that asks first is told so when the request
/// has passed all that any request passes.
pub(crate) async fn answer(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    if state.welcome.is_empty() || !is_for_programs(request.uri().path()) {
        return next.run(request).await;
    }
    let origin = request.headers().get(header::ORIGIN).cloned();
    let asks_first = asks_first(request.method(), request.headers());
    let mut response = next.run(request).await;
    let allowed = origin.and_then(|origin| state.welcome.answer(&origin));
    if allowed.is_some() && asks_first && response.status() != StatusCode::TOO_MANY_REQUESTS {
        response = preflight();
    }
    let headers = response.headers_mut();
    headers.append(header::VARY, HeaderValue::from_static("origin"));
    if let Some(allowed) = allowed {
        headers.insert(header::ACCESS_CONTROL_ALLOW_ORIGIN, allowed);
        headers.insert(header::ACCESS_CONTROL_EXPOSE_HEADERS, HeaderValue::from_static(SHOWN));
    }
    response
}

/// Pages and signing in are not among the doors that others may call.
fn is_for_programs(path: &str) -> bool {
    path.starts_with("/api/") || path.starts_with(PREFIX)
}

fn asks_first(method: &Method, headers: &HeaderMap) -> bool {
    *method == Method::OPTIONS && headers.contains_key(header::ACCESS_CONTROL_REQUEST_METHOD)
}

fn preflight() -> Response {
    let headers = [
        (header::ACCESS_CONTROL_ALLOW_METHODS, METHODS),
        (header::ACCESS_CONTROL_ALLOW_HEADERS, SENT),
        (header::ACCESS_CONTROL_MAX_AGE, REMEMBERED),
    ];
    (StatusCode::NO_CONTENT, headers).into_response()
}
