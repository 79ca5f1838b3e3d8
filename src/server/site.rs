//! The front end's files: embedded in a release, read from a folder while developing. Files with a
//! hash in their name are kept by browsers for ever; the others are asked for again each time.

mod files;
mod forms;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderMap, HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use sha2::{Digest, Sha256};

use files::Files;
use forms::{Form, Forms};

/// The front end's files and what they are called.
#[derive(Debug, Default)]
pub struct Site {
    files: Files,
    forms: Forms,
    manifest: BTreeMap<String, String>,
}

impl Site {
    /// The files of the binary, or of the folder where it has none. A folder without a manifest is
    /// no error: the pages then work without scripts.
    #[must_use]
    pub fn open(folder: Option<PathBuf>) -> Self {
        let files = Files::open(folder);
        let manifest = match files.read_now("manifest.json") {
            Some(text) => serde_json::from_slice(&text).unwrap_or_else(|error| {
                tracing::warn!(%error, "manifest.json of the front end is not understood");
                BTreeMap::new()
            }),
            None => {
                tracing::warn!(from = %files, "there is no built front end: pages come without scripts");
                BTreeMap::new()
            }
        };
        Self { files, forms: Forms::default(), manifest }
    }

    /// Logical names, and where the browser finds the files.
    pub(crate) fn addresses(&self) -> BTreeMap<String, String> {
        let entries = self.manifest.iter();
        entries.map(|(name, path)| (name.clone(), format!("/{path}"))).collect()
    }
}

/// A file below `/pkg/`, whose name follows from what is in it: browsers need not ask for it again.
pub(crate) async fn hashed(site: &Arc<Site>, path: &str, headers: &HeaderMap) -> Response {
    let path = format!("pkg/{path}");
    let file = match clean(&path) {
        Some(path) => pick(site, path, headers).await,
        None => None,
    };
    match file {
        Some(file) => file.response("public, max-age=31536000, immutable"),
        None => StatusCode::NOT_FOUND.into_response(),
    }
}

/// A file that is served under its own name; `None`: there is none.
pub(crate) async fn public(site: &Arc<Site>, path: &str, headers: &HeaderMap) -> Option<Response> {
    let path = clean(path.strip_prefix('/')?).filter(|path| *path != "manifest.json")?;
    let file = pick(site, path, headers).await?;
    let tag = file.tag();
    if headers.get(header::IF_NONE_MATCH).is_some_and(|known| known == tag) {
        return Some((StatusCode::NOT_MODIFIED, [(header::ETAG, tag)]).into_response());
    }
    let mut response = file.response("no-cache");
    response.headers_mut().insert(header::ETAG, tag);
    Some(response)
}

/// A relative path without tricks.
fn clean(path: &str) -> Option<&str> {
    let harmless = |part: &str| {
        !part.is_empty()
            && !part.starts_with('.')
            && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"-_.@+~".contains(&b))
    };
    path.split('/').all(harmless).then_some(path)
}

struct File {
    bytes: Bytes,
    kind: HeaderValue,
    encoding: Option<&'static str>,
}

/// The smallest form of a file that the browser understands. What is compressed at all is there in its
/// brotli form; browsers take another one where they reach the server without encryption.
async fn pick(site: &Arc<Site>, path: &str, headers: &HeaderMap) -> Option<File> {
    let accepted =
        headers.get(header::ACCEPT_ENCODING).and_then(|value| value.to_str().ok()).unwrap_or("");
    let accepts = |name: &str| {
        accepted.split(',').any(|word| {
            let (coding, weight) = word.split_once(';').unwrap_or((word, ""));
            coding.trim() == name && weight.trim() != "q=0"
        })
    };
    let kind = content_type(path);
    let Some(packed) = site.files.read(&format!("{path}.br")).await else {
        let bytes = site.files.read(path).await?;
        return Some(File { bytes, kind, encoding: None });
    };
    if accepts("br") {
        return Some(File { bytes: packed, kind, encoding: Some("br") });
    }
    let (form, encoding) =
        if accepts("gzip") { (Form::Gzip, Some("gzip")) } else { (Form::Plain, None) };
    let bytes = site.forms.of(packed, form).await?;
    Some(File { bytes, kind, encoding })
}

fn content_type(path: &str) -> HeaderValue {
    let guess = mime_guess::from_path(path).first_or_octet_stream();
    let text = match guess.type_().as_str() {
        "text" => format!("{guess}; charset=utf-8"),
        _ => guess.to_string(),
    };
    HeaderValue::from_str(&text).unwrap_or(HeaderValue::from_static("application/octet-stream"))
}

impl File {
    fn tag(&self) -> HeaderValue {
        let digest = hex::encode(&Sha256::digest(&self.bytes)[..12]);
        HeaderValue::from_str(&format!("\"{digest}\""))
            .expect("hexadecimal digits are a header value")
    }

    fn response(self, cache: &'static str) -> Response {
        let mut response = Response::new(Body::from(self.bytes));
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, self.kind);
        headers.insert(header::CACHE_CONTROL, HeaderValue::from_static(cache));
        headers.insert(header::VARY, HeaderValue::from_static("accept-encoding"));
        if let Some(encoding) = self.encoding {
            headers.insert(header::CONTENT_ENCODING, HeaderValue::from_static(encoding));
        }
        response
    }
}

#[cfg(test)]
mod tests {
    use std::io::Read as _;

    use super::*;

    #[test]
    fn paths_stay_inside() {
        for bad in ["", "..", "a/../b", ".env", "a//b", "a/%2e%2e/b", "a\\b", "/etc/passwd"] {
            assert_eq!(clean(bad), None, "{bad}");
        }
        assert_eq!(clean("pkg/app.3f2a.js"), Some("pkg/app.3f2a.js"));
    }

    #[tokio::test]
    async fn the_smallest_understood_form_is_given() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.js.br"), forms::packed(b"let a = 1;")).unwrap();
        std::fs::write(folder.path().join("b.js"), "short").unwrap();
        let site = Arc::new(Site::open(Some(folder.path().to_owned())));
        let get = async |path: &str, accept: &'static str| {
            let headers = [(header::ACCEPT_ENCODING, HeaderValue::from_static(accept))];
            let response = public(&site, path, &HeaderMap::from_iter(headers)).await.unwrap();
            let (head, body) = response.into_parts();
            let body = axum::body::to_bytes(body, 1_000).await.unwrap();
            let value = |name: header::HeaderName| {
                head.headers.get(name).map(|value| value.to_str().unwrap().to_owned())
            };
            (value(header::CONTENT_ENCODING), value(header::ETAG).unwrap(), body)
        };
        let (encoding, of_brotli, body) = get("/a.js", "gzip, br").await;
        assert_eq!(encoding.as_deref(), Some("br"));
        assert_eq!(body, forms::packed(b"let a = 1;"));
        let (encoding, of_gzip, body) = get("/a.js", "gzip").await;
        assert_eq!(encoding.as_deref(), Some("gzip"));
        let mut plain = String::new();
        flate2::read::GzDecoder::new(body.as_ref()).read_to_string(&mut plain).unwrap();
        assert_eq!(plain, "let a = 1;");
        let (encoding, of_plain, body) = get("/a.js", "br;q=0").await;
        assert_eq!((encoding, body.as_ref()), (None, b"let a = 1;".as_slice()));
        assert!(of_brotli != of_gzip && of_gzip != of_plain && of_plain != of_brotli);
        let (encoding, _, body) = get("/b.js", "gzip, br").await;
        assert_eq!((encoding, body.as_ref()), (None, b"short".as_slice()));
        assert!(public(&site, "/nothing.js", &HeaderMap::new()).await.is_none());
    }

    #[tokio::test]
    async fn a_form_that_is_known_is_not_sent_again() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("a.js.br"), forms::packed(b"let a = 1;")).unwrap();
        let site = Arc::new(Site::open(Some(folder.path().to_owned())));
        let gzip = (header::ACCEPT_ENCODING, HeaderValue::from_static("gzip"));
        let mut headers = HeaderMap::from_iter([gzip]);
        let response = public(&site, "/a.js", &headers).await.unwrap();
        headers.insert(header::IF_NONE_MATCH, response.headers()[header::ETAG].clone());
        let again = public(&site, "/a.js", &headers).await.unwrap();
        assert_eq!(again.status(), StatusCode::NOT_MODIFIED);
    }
}
