//! Whether a request comes from one of our own pages: browsers say so, other programs need not.

use api::ErrorCode;
use axum::http::{HeaderMap, header};

use crate::failure::Failure;
use crate::listen::LinkHost;

/// The origin of our pages.
#[derive(Debug, Default)]
pub struct OwnOrigin {
    /// As configured (`https://berth.example.org`); `None`: whatever host the request names.
    configured: Option<String>,
    /// Whether we encrypt ourselves.
    tls: bool,
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
    /// Takes the configured address, of which only scheme, host and port count, and whether we
    /// encrypt ourselves.
    #[must_use]
    pub fn new(public_url: Option<String>, tls: bool) -> Self {
        let configured = public_url.map(|url| {
            let (scheme, rest) = url.split_once("://").unwrap_or(("http", &url));
            let host = rest.split('/').next().unwrap_or(rest);
            format!("{scheme}://{host}").to_ascii_lowercase()
        });
        Self { configured, tls }
    }

    /// Whether users reach us by https.
    #[must_use]
    pub fn is_https(&self) -> bool {
        match &self.configured {
            Some(url) => url.starts_with("https://"),
            None => self.tls,
        }
    }

    /// Where our pages are, for whoever sent these headers.
    pub(crate) fn address(&self, headers: &HeaderMap) -> String {
        let host = headers.get(header::HOST).and_then(|host| host.to_str().ok());
        self.at(host.unwrap_or("localhost"))
    }

    /// Where our pages are, for links that may carry a token.
    ///
    /// # Errors
    /// 400 when the host in the request may be anybody's and no address is configured.
    pub(crate) fn link(&self, host: Option<&LinkHost>) -> Result<String, Failure> {
        match (&self.configured, host) {
            (Some(configured), _) => Ok(configured.clone()),
            (None, Some(LinkHost(Some(host)))) => Ok(self.at(host)),
            (None, Some(LinkHost(None)) | None) => Err(Failure::new(
                ErrorCode::InvalidParametersError,
                "this server cannot tell its own address: its administrator sets public_url",
            )),
        }
    }

    fn at(&self, host: &str) -> String {
        let scheme = if self.tls { "https" } else { "http" };
        self.configured.clone().unwrap_or_else(|| format!("{scheme}://{host}"))
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
        // Who encrypts in front of us says https where we know only http; where we do it ourselves
        // a page without it is another's.
        match (&self.configured, origin.split_once("://"), host) {
            (None, Some((scheme, origin)), Some(host)) => {
                origin.eq_ignore_ascii_case(host) && (!self.tls || scheme == "https")
            }
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
        let own = OwnOrigin::new(Some("https://Berth.example.org/".into()), false);
        assert!(own.is_https());
        let host = ("host", "10.0.0.1:8080");
        assert_eq!(claim(&own, &[host, ("origin", "https://berth.example.org")]), Claim::Own);
        assert_eq!(claim(&own, &[host, ("origin", "http://berth.example.org")]), Claim::Foreign);
        assert_eq!(claim(&own, &[host, ("origin", "http://10.0.0.1:8080")]), Claim::Foreign);
    }
    #[test]
    fn under_our_own_encryption_pages_without_it_are_foreign() {
        let own = OwnOrigin::new(None, true);
        assert!(own.is_https());
        let host = ("host", "berth.example.org");
        assert_eq!(claim(&own, &[host, ("origin", "https://berth.example.org")]), Claim::Own);
        assert_eq!(claim(&own, &[host, ("origin", "http://berth.example.org")]), Claim::Foreign);
    }

    #[test]
    fn links_are_made_of_our_own_names() {
        let [anybodys, ours] = [LinkHost(None), LinkHost(Some("gpu01:8080".into()))];
        let own = OwnOrigin::default();
        assert_eq!(own.link(Some(&ours)).unwrap(), "http://gpu01:8080");
        assert!(own.link(Some(&anybodys)).is_err() && own.link(None).is_err());
        let own = OwnOrigin::new(Some("https://berth.example.org".into()), false);
        assert_eq!(own.link(Some(&anybodys)).unwrap(), "https://berth.example.org");
    }
}
