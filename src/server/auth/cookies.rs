//! Several cookies of one name. A cookie knows no port and may be set for one path only, so whatever
//! else serves on our host without https can put its own beside ours, and browsers say neither which
//! is whose nor keep to an order.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use axum::extract::Request;
use axum::http::{HeaderMap, HeaderValue, header};
use axum::response::Response;
use tower::{Layer, Service};
use tower_sessions::SessionStore as _;

use super::session_keys::SESSION_USER;
use super::session_store::Store;

/// The most cookies that a browser keeps of one site.
pub(crate) const OF_ONE_SITE: usize = 180;

/// The values of all cookies of this name.
pub(crate) fn named<'a>(headers: &'a HeaderMap, name: &'a str) -> impl Iterator<Item = &'a str> {
    pairs(headers).filter_map(move |pair| {
        let (found, value) = pair.split_once('=')?;
        (found.trim() == name).then(|| value.trim())
    })
}

fn pairs(headers: &HeaderMap) -> impl Iterator<Item = &str> {
    let values = headers.get_all(header::COOKIE).iter().filter_map(|value| value.to_str().ok());
    values.flat_map(|value| value.split(';')).map(str::trim)
}

/// Leaves of several cookies of the session's name the one that somebody is signed in by.
#[derive(Debug, Clone)]
pub struct OneOfMany {
    name: &'static str,
    store: Store,
}

impl OneOfMany {
    pub(super) fn new(name: &'static str, store: Store) -> Self {
        Self { name, store }
    }

    async fn choose(&self, headers: &mut HeaderMap) {
        let mut several: Vec<String> = named(headers, self.name).map(str::to_owned).collect();
        if several.len() < 2 {
            return;
        }
        several.sort_unstable();
        several.dedup();
        several.truncate(OF_ONE_SITE);
        for value in several {
            if self.is_session(&value).await {
                leave(headers, self.name, &value);
                return;
            }
        }
    }

    async fn is_session(&self, value: &str) -> bool {
        let Ok(id) = value.parse() else { return false };
        let record = self.store.load(&id).await;
        matches!(record, Ok(Some(record)) if record.data.contains_key(SESSION_USER))
    }
}

/// All cookies but those of this name, and the one with this value.
fn leave(headers: &mut HeaderMap, name: &str, value: &str) {
    let others = |pair: &&str| pair.split('=').next().is_none_or(|found| found.trim() != name);
    let mut kept: Vec<&str> = pairs(headers).filter(others).collect();
    let own = format!("{name}={value}");
    kept.push(&own);
    if let Ok(kept) = HeaderValue::from_str(&kept.join("; ")) {
        headers.insert(header::COOKIE, kept);
    }
}

impl<S> Layer<S> for OneOfMany {
    type Service = Chosen<S>;

    fn layer(&self, inner: S) -> Chosen<S> {
        Chosen { inner, several: self.clone() }
    }
}

/// A service that sees at most one cookie of the session's name that counts.
#[derive(Debug, Clone)]
pub struct Chosen<S> {
    inner: S,
    several: OneOfMany,
}

impl<S> Service<Request> for Chosen<S>
where
    S: Service<Request, Response = Response, Error = Infallible> + Clone + Send + 'static,
    S::Future: Send,
{
    type Response = Response;
    type Error = Infallible;
    type Future = Pin<Box<dyn Future<Output = Result<Response, Infallible>> + Send>>;

    fn poll_ready(&mut self, cx: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        self.inner.poll_ready(cx)
    }

    fn call(&mut self, mut request: Request) -> Self::Future {
        // The one that was polled is the one that is ready.
        let fresh = self.inner.clone();
        let mut inner = std::mem::replace(&mut self.inner, fresh);
        let several = self.several.clone();
        Box::pin(async move {
            several.choose(request.headers_mut()).await;
            inner.call(request).await
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_several_one_is_left_among_the_others() {
        let mut headers = HeaderMap::new();
        for text in ["a=1; berth_session=x", "berth_session = y ;b=2"] {
            headers.append(header::COOKIE, HeaderValue::from_static(text));
        }
        assert_eq!(named(&headers, "berth_session").collect::<Vec<_>>(), ["x", "y"]);
        leave(&mut headers, "berth_session", "y");
        assert_eq!(headers.get_all(header::COOKIE).iter().count(), 1);
        assert_eq!(headers[header::COOKIE], "a=1; b=2; berth_session=y");
    }
}
