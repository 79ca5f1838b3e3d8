//! Answers of our own that are text are compressed on their way: pages, what pages ask for, JSON.
//!
//! What is compressed tells by its length what it has in common with what somebody else put into it
//! (BREACH): a page names its address, and some show keys. Our pages hold no secret that stands still
//! while somebody guesses beside it - sessions are in cookies, which are not compressed, and the nonce
//! of the scripts is another one each time - but so that this need not be true of every page to come,
//! whatever another site makes a browser ask for is answered as it is.

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::middleware::Next;
use axum::response::Response;
use tower_http::compression::predicate::{Predicate, SizeAbove};
use tower_http::compression::{CompressionLayer, CompressionLevel};

/// Bytes below which compressing gains nothing.
const SMALL: u16 = 512;
/// Beyond it, answers take longer to make than they take less to send.
const LEVEL: CompressionLevel = CompressionLevel::Precise(4);
/// What is compressed. Not what is listened to, which would be held back, nor what is downloaded,
/// whose parts are asked for by their place.
const TEXTS: [&str; 3] = ["text/html", "application/json", "application/schema+json"];

/// Compresses by brotli or gzip, as the browser likes it.
pub(crate) fn layer() -> CompressionLayer<impl Predicate> {
    CompressionLayer::new().quality(LEVEL).compress_when(SizeAbove::new(SMALL).and(
        |_status, _version, headers: &HeaderMap, _extensions: &axum::http::Extensions| {
            is_text(headers)
        },
    ))
}

fn is_text(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok());
    let kind = kind.and_then(|kind| kind.split(';').next()).unwrap_or_default();
    let is_download = headers.contains_key(header::CONTENT_DISPOSITION)
        || headers.contains_key(header::ACCEPT_RANGES);
    TEXTS.contains(&kind.trim()) && !is_download
}

/// What another site asked a browser for is not compressed.
pub(crate) async fn ours_only(mut request: Request, next: Next) -> Response {
    let from = request.headers().get("sec-fetch-site");
    let foreign = ["cross-site", "same-site"].map(HeaderValue::from_static);
    if from.is_some_and(|from| foreign.contains(from)) {
        request.headers_mut().remove(header::ACCEPT_ENCODING);
    }
    next.run(request).await
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn texts_are_compressed_and_downloads_are_not() {
        let headers = |pairs: &[(header::HeaderName, &'static str)]| {
            pairs.iter().map(|(name, v)| (name.clone(), HeaderValue::from_static(v))).collect()
        };
        for (kind, text) in [
            ("text/html; charset=utf-8", true),
            ("application/json", true),
            ("text/event-stream", false),
            ("text/plain; charset=utf-8", false),
            ("application/octet-stream", false),
            ("image/png", false),
        ] {
            let headers: HeaderMap = headers(&[(header::CONTENT_TYPE, kind)]);
            assert_eq!(is_text(&headers), text, "{kind}");
        }
        let json = (header::CONTENT_TYPE, "application/json");
        let file: HeaderMap = headers(&[json, (header::CONTENT_DISPOSITION, "attachment")]);
        assert!(!is_text(&file));
        assert!(!is_text(&HeaderMap::new()));
    }
}
