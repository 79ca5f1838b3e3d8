//! Whether a request comes from one of our own pages: browsers say so, other programs need not.

use api::ErrorCode;
use axum::http::{HeaderMap, header};

use crate::failure::Failure;

/// The origin of our pages.
#[derive(Debug, Default)]
pub struct OwnOrigin {
    /// As configured (`https://berth.example.org`); `None`: whatever host the request names.
    configured: Option<String>,
}

/// What a browser says about a request's origin.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Claim {
    Own,
    Foreign,
    /// Nothing is said: no browser of today, or not a browser.
    Silent,
}

impl OwnOrigin {
    /// Takes the configured address, of which only scheme, host and port count.
    #[must_use]
    pub fn new(public_url: Option<String>) -> Self {
        let configured = public_url.map(|url| {
            let (scheme, rest) = url.split_once("://").unwrap_or(("http", &url));
            let host = rest.split('/').next().unwrap_or(rest);
            format!("{scheme}://{host}").to_ascii_lowercase()
        });
        Self { configured }
    }

    /// Whether users reach us by https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        self.configured.as_ref().is_some_and(|url| url.starts_with("https://"))
    }

    /// Where our pages are, for whoever sent these headers.
    pub(crate) fn address(&self, headers: &HeaderMap) -> String {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        match &self.configured {
            Some(configured) => configured.clone(),
            None => format!("http://{}", host.unwrap_or("localhost")),
        }
    }

    /// For changes under a cookie: the browser must say that the request is from our own page.
    ///
    /// # Errors
    /// 403 when it says otherwise or nothing.
    pub(crate) fn require_own(&self, headers: &HeaderMap) -> Result<(), Failure> {
        match self.claim(headers) {
            Claim::Own => Ok(()),
            Claim::Foreign | Claim::Silent => Err(refused()),
        }
    }

    /// For what needs no cookie to be harmful: other sites are refused, programs are not.
    ///
    /// # Errors
    /// 403 when a browser says that the request is from another site.
    pub(crate) fn refuse_foreign(&self, headers: &HeaderMap) -> Result<(), Failure> {
        match self.claim(headers) {
            Claim::Own | Claim::Silent => Ok(()),
            Claim::Foreign => Err(refused()),
        }
    }

    fn claim(&self, headers: &HeaderMap) -> Claim {
        let text = |name| headers.get(name).and_then(|value| value.to_str().ok());
        if let Some(origin) = text(header::ORIGIN) {
            return if self.is_own(origin, text(header::HOST)) {
                Claim::Own
            } else {
                Claim::Foreign
            };
        }
        match headers.get("sec-fetch-site").map(axum::http::HeaderValue::as_bytes) {
            Some(b"same-origin") => Claim::Own,
            Some(b"none") | None => Claim::Silent,
            Some(_) => Claim::Foreign,
        }
    }

    fn is_own(&self, origin: &str, host: Option<&str>) -> bool {
        if let Some(configured) = &self.configured
            && origin.eq_ignore_ascii_case(configured)
        {
            return true;
        }
        let origin_host = origin.split_once("://").map(|(_, host)| host);
        match (self.configured.is_some(), origin_host, host) {
            (false, Some(origin), Some(host)) => origin.eq_ignore_ascii_case(host),
            _ => false,
        }
    }
}

fn refused() -> Failure {
    Failure::new(
        ErrorCode::ForbiddenUserError,
        "the request does not come from a page of this server: use the page, or a token",
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn claim(own: &OwnOrigin, headers: &[(&'static str, &'static str)]) -> Claim {
        let headers = headers
            .iter()
            .map(|(name, value)| (name.parse().unwrap(), value.parse().unwrap()))
            .collect();
        own.claim(&headers)
    }

    #[test]
    fn without_configuration_the_named_host_counts() {
        let own = OwnOrigin::default();
        let host = ("host", "127.0.0.1:8080");
        assert_eq!(claim(&own, &[host, ("origin", "http://127.0.0.1:8080")]), Claim::Own);
        assert_eq!(claim(&own, &[host, ("origin", "http://127.0.0.1:9090")]), Claim::Foreign);
        assert_eq!(claim(&own, &[host, ("origin", "null")]), Claim::Foreign);
        assert_eq!(claim(&own, &[host, ("sec-fetch-site", "same-origin")]), Claim::Own);
        assert_eq!(claim(&own, &[host, ("sec-fetch-site", "same-site")]), Claim::Foreign);
        assert_eq!(claim(&own, &[host]), Claim::Silent);
    }

    #[test]
    fn a_configured_address_counts_alone() {
        let own = OwnOrigin::new(Some("https://Berth.example.org/".into()));
        assert!(own.is_https());
        let host = ("host", "10.0.0.1:8080");
        assert_eq!(claim(&own, &[host, ("origin", "https://berth.example.org")]), Claim::Own);
        assert_eq!(claim(&own, &[host, ("origin", "http://berth.example.org")]), Claim::Foreign);
        assert_eq!(claim(&own, &[host, ("origin", "http://10.0.0.1:8080")]), Claim::Foreign);
    }
}
