//! What happens to every request: an id, a span in the log, a measurement, a body for its error.

use std::time::Instant;

use axum::extract::{MatchedPath, Request, State};
use axum::http::{HeaderMap, HeaderName, HeaderValue};
use axum::middleware::Next;
use axum::response::Response;
use rand::RngCore;
use tracing::Instrument;

use crate::error_body::write_body;
use crate::state::AppState;

/// The header that carries the id, in both directions.
pub(crate) const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// The outermost layer.
pub(crate) async fn observe(
    State(state): State<AppState>,
    request: Request,
    next: Next,
) -> Response {
    let began = Instant::now();
    let id = request_id(request.headers());
    let language = app::language_of(request.headers());
    let method = request.method().clone();
    let path = request.uri().path().to_owned();
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "other".to_owned(), |matched| matched.as_str().to_owned());
    let span = tracing::info_span!("request", id, %method, path = shown(&path));

    let response = async {
        let response = write_body(next.run(request).await, &path, &id, language);
        let elapsed = began.elapsed();
        let status = response.status().as_u16();
        state.metrics.request(&method, &route, status, elapsed);
        tracing::debug!(status, milliseconds = elapsed.as_millis() as u64, "answered");
        response
    }
    .instrument(span)
    .await;
    with_id(response, &id)
}

/// The path as it may stand in the log: of a token that is revoked by itself, nothing.
fn shown(path: &str) -> &str {
    let of_token = ["/api/v1/token/", "/api/v2/tokens/"];
    of_token.into_iter().find(|prefix| path.starts_with(prefix)).unwrap_or(path)
}

fn with_id(mut response: Response, id: &str) -> Response {
    if let Ok(value) = HeaderValue::from_str(id) {
        response.headers_mut().insert(REQUEST_ID, value);
    }
    response
}

/// The id a proxy gave, when it is harmless in a log; else a fresh one.
fn request_id(headers: &HeaderMap) -> String {
    let harmless = |id: &&str| {
        (8..=64).contains(&id.len()) && id.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-')
    };
    match headers.get(REQUEST_ID).and_then(|id| id.to_str().ok()).filter(harmless) {
        Some(id) => id.to_owned(),
        None => {
            let mut bytes = [0_u8; 12];
            rand::rng().fill_bytes(&mut bytes);
            hex::encode(bytes)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_token_in_an_address_is_not_in_the_log() {
        assert_eq!(shown("/api/v2/tokens/berth_secret"), "/api/v2/tokens/");
        assert_eq!(shown("/api/v1/token/berth_secret/x"), "/api/v1/token/");
        assert_eq!(shown("/api/v2/jobs/alice~train"), "/api/v2/jobs/alice~train");
    }

    #[test]
    fn a_harmless_id_is_kept_and_others_are_replaced() {
        let mut headers = HeaderMap::new();
        headers.insert(REQUEST_ID, HeaderValue::from_static("abc-12345"));
        assert_eq!(request_id(&headers), "abc-12345");
        headers.insert(REQUEST_ID, HeaderValue::from_static("a b\tc-12345"));
        assert_eq!(request_id(&headers).len(), 24);
        assert_ne!(request_id(&headers), request_id(&headers));
    }
}
