//! Which other sites' pages may call the programs' doors: those that the administrator names, or all.
//!
//! They come with a token. Nothing here says that a browser may send or show what belongs to a
//! cookie (`Access-Control-Allow-Credentials`), to nobody, named or not: a session is our own pages'.

use axum::http::HeaderValue;

/// Whoever is let in, in the place of origins.
const ANYBODY: &str = "*";

/// The origins whose pages may call.
#[derive(Debug, Default)]
pub(crate) struct Welcome {
    anybody: bool,
    origins: Vec<String>,
}

impl Welcome {
    /// Takes what is configured: origins, or `*`.
    pub(crate) fn new(origins: &[String]) -> Self {
        let anybody = origins.iter().any(|origin| origin == ANYBODY);
        let plain = |origin: &String| origin.trim_end_matches('/').to_ascii_lowercase();
        Self { anybody, origins: origins.iter().map(plain).collect() }
    }

    /// What is answered to an origin: itself, or that it does not matter; `None`: it may not.
    pub(crate) fn answer(&self, origin: &HeaderValue) -> Option<HeaderValue> {
        if self.anybody {
            return Some(HeaderValue::from_static(ANYBODY));
        }
        let asked = origin.to_str().ok()?;
        let known = self.origins.iter().any(|known| known.eq_ignore_ascii_case(asked));
        known.then(|| origin.clone())
    }

    /// Whether nobody is welcome.
    pub(crate) fn is_empty(&self) -> bool {
        self.origins.is_empty()
    }
}

/// Whether this can stand in the configuration: `*`, or a scheme and a host with nothing behind it.
pub(crate) fn is_origin(text: &str) -> bool {
    if text == ANYBODY {
        return true;
    }
    let Some((scheme, host)) = text.split_once("://") else { return false };
    let host = host.strip_suffix('/').unwrap_or(host);
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | ':' | '[' | ']');
    matches!(scheme, "http" | "https") && !host.is_empty() && host.chars().all(allowed)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_origin_is_told_itself_and_no_other() {
        let origin = HeaderValue::from_static;
        let named = Welcome::new(&["https://Tools.example.org/".into()]);
        let own = origin("https://tools.example.org");
        assert_eq!(named.answer(&own), Some(own));
        for other in [
            "null",
            "http://tools.example.org",
            "https://tools.example.org.evil.example",
            "https://tools.example.org:8443",
            "https://evil.example",
        ] {
            assert_eq!(named.answer(&origin(other)), None, "{other}");
        }
        let all = Welcome::new(&["*".into()]);
        assert_eq!(all.answer(&origin("https://evil.example")), Some(origin("*")));
        assert!(Welcome::default().answer(&origin("https://evil.example")).is_none());
    }

    #[test]
    fn origins_have_a_scheme_and_a_host() {
        for good in ["*", "https://a.example.org", "http://127.0.0.1:3000", "http://[::1]:3000/"] {
            assert!(is_origin(good), "{good}");
        }
        for bad in
            ["", "a.example.org", "https://", "https://*.a", "https://a/b", "ftp://a", "null"]
        {
            assert!(!is_origin(bad), "{bad}");
        }
    }
}
