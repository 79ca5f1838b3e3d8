use axum::extract::{Path, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::{IntoResponse, Response};

use super::{clean, pick};
use crate::state::AppState;

/// `GET /pkg/…`.
pub(crate) async fn get(
    State(state): State<AppState>,
    Path(path): Path<String>,
    headers: HeaderMap,
) -> Response {
    let path = format!("pkg/{path}");
    let file = match clean(&path) {
        Some(path) => pick(&state.site, path, &headers).await,
        None => None,
    };
    match file {
        Some(file) => file.response("public, max-age=31536000, immutable"),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}
