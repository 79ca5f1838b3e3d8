//! Webhooks: a POST of JSON, signed, without a detour.

use std::io;
use std::net::IpAddr;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use ureq::config::Config;
use ureq::http::Uri;
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use ureq::unversioned::resolver::{DefaultResolver, ResolvedSocketAddrs, Resolver};
use ureq::unversioned::transport::{DefaultConnector, NextTimeout};
use url::Url;

use crate::addresses::{Allowed, is_public};
use crate::{Call, Error, Result};

/// The header that says what the body was signed with: `sha256=` and the HMAC in hexadecimal digits.
pub const SIGNATURE: &str = "X-Berth-Signature";

/// How long an answer may take.
const PATIENCE: Duration = Duration::from_secs(10);
/// The longest address.
const LONGEST: usize = 2_000;
/// What is said of a text that is no address.
const NO_ADDRESS: &str = "this is not the address of a webhook";

/// The signature of a body by a key.
///
/// # Panics
/// Never: any text is a key.
#[must_use]
pub fn signature(key: &str, body: &str) -> String {
    let mac = Hmac::<Sha256>::new_from_slice(key.as_bytes());
    let mut mac = mac.expect("any length of key is allowed");
    mac.update(body.as_bytes());
    format!("sha256={}", hex::encode(mac.finalize().into_bytes()))
}

/// Calls webhooks.
#[derive(Debug)]
pub(crate) struct Webhooks {
    allowed: Allowed,
    /// Whose certificates are believed; read for the first call, since most installations have none.
    tls: Arc<OnceLock<TlsConfig>>,
}

impl Webhooks {
    pub(crate) fn new(allowed: Allowed) -> Self {
        Self { allowed, tls: Arc::default() }
    }

    /// What the address itself tells; where its name leads is seen when it is called.
    pub(crate) fn refusal(&self, url: &str) -> Option<String> {
        let address = Url::parse(url).ok().filter(|_| url.len() <= LONGEST);
        let Some((address, host)) =
            address.as_ref().and_then(|address| Some((address, address.host_str()?)))
        else {
            return Some(NO_ADDRESS.to_owned());
        };
        if !address.username().is_empty() || address.password().is_some() {
            return Some("the address of a webhook has no name and no password".to_owned());
        }
        if self.allowed.has(host) && matches!(address.scheme(), "http" | "https") {
            return None;
        }
        if address.scheme() != "https" {
            return Some("the address of a webhook begins with https://".to_owned());
        }
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        let inside = bare.parse::<IpAddr>().is_ok_and(|address| !is_public(address));
        inside.then(|| "the address of a webhook is not one of a private network".to_owned())
    }

    pub(crate) async fn call(&self, call: &Call) -> Result<()> {
        if let Some(refusal) = self.refusal(&call.url) {
            return Err(Error::Refused(refusal));
        }
        // As it was understood when it was looked at.
        let url = Url::parse(&call.url).map_err(|_| Error::Refused(NO_ADDRESS.to_owned()))?;
        let call = Call { url: url.into(), ..call.clone() };
        let (allowed, tls) = (self.allowed.clone(), Arc::clone(&self.tls));
        let posted = tokio::task::spawn_blocking(move || post(&agent(allowed, &tls), &call)).await;
        posted.unwrap_or_else(|error| Err(Error::Unavailable(error.to_string())))
    }
}

/// One for each call: it would keep connections and cookies of one user for another one.
fn agent(allowed: Allowed, known: &OnceLock<TlsConfig>) -> ureq::Agent {
    let config = ureq::Agent::config_builder()
        .tls_config(known.get_or_init(tls).clone())
        // One of the environment would look addresses up in our place.
        .proxy(None)
        .http_status_as_error(false)
        .max_redirects(0)
        .timeout_global(Some(PATIENCE))
        .user_agent("Berth")
        .build();
    let guarded = Guarded { allowed, names: DefaultResolver::default() };
    ureq::Agent::with_parts(config, DefaultConnector::default(), guarded)
}

fn tls() -> TlsConfig {
    let native = rustls_native_certs::load_native_certs();
    let authorities: Vec<_> =
        native.certs.iter().map(|one| Certificate::from_der(one.as_ref()).to_owned()).collect();
    TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(authorities))).build()
}

fn post(agent: &ureq::Agent, call: &Call) -> Result<()> {
    let asked = agent
        .post(&call.url)
        .header("Content-Type", "application/json")
        .header(SIGNATURE, signature(&call.key, &call.body))
        .send(call.body.as_str());
    // What it answers beside its status is nobody's concern.
    match asked.map(|answer| answer.status().as_u16()) {
        Ok(200..=299) => Ok(()),
        Ok(status @ (408 | 429 | 500..)) => Err(Error::Unavailable(format!("it answers {status}"))),
        Ok(status) => Err(Error::Refused(format!("it answers {status}"))),
        Err(ureq::Error::Io(error)) if error.kind() == io::ErrorKind::PermissionDenied => {
            Err(Error::Refused("it is in a private network".to_owned()))
        }
        // Not the address either: whoever knows it may call it.
        Err(ureq::Error::BadUri(_)) => Err(Error::Refused(NO_ADDRESS.to_owned())),
        // Neither which address it was nor what was heard there.
        Err(_) => Err(Error::Unavailable("it does not answer".to_owned())),
    }
}

/// Looks names up, and gives away none of the addresses that are not for everybody: whatever a name
/// meant a moment ago, the connection is made to an address that was looked at here.
#[derive(Debug)]
struct Guarded {
    allowed: Allowed,
    names: DefaultResolver,
}

impl Resolver for Guarded {
    fn resolve(
        &self,
        uri: &Uri,
        config: &Config,
        timeout: NextTimeout,
    ) -> std::result::Result<ResolvedSocketAddrs, ureq::Error> {
        let found = self.names.resolve(uri, config, timeout)?;
        if uri.host().is_some_and(|host| self.allowed.has(host)) {
            return Ok(found);
        }
        let mut public = self.empty();
        for address in found.iter().filter(|address| is_public(address.ip())) {
            public.push(*address);
        }
        if public.is_empty() {
            return Err(ureq::Error::Io(io::ErrorKind::PermissionDenied.into()));
        }
        Ok(public)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_signature_is_the_hmac_of_the_body() {
        // The second case of RFC 4231.
        assert_eq!(
            signature("Jefe", "what do ya want for nothing?"),
            "sha256=5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843"
        );
    }

    #[test]
    fn addresses_that_lead_inside_are_refused() {
        let webhooks = Webhooks::new(Allowed::new(["hooks.local".to_owned()]));
        for good in ["https://example.org/x?y=z", "https://1.1.1.1/", "http://hooks.local:8000/x"] {
            assert_eq!(webhooks.refusal(good), None, "{good}");
        }
        for bad in [
            "",
            "x",
            "http://example.org/",
            "ftp://hooks.local/",
            "file:///etc/passwd",
            "https://127.0.0.1/",
            "https://[::1]/",
            "https://169.254.169.254/latest",
            "https://0x7f.1/",
            "https://2130706433/",
            "https://u:p@example.org/",
        ] {
            assert!(webhooks.refusal(bad).is_some(), "{bad}");
        }
    }
}
