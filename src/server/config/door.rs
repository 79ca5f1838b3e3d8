//! What is configured of the door: encryption, names, connections.

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::time::Duration;

use serde::Deserialize;

use crate::cors::is_origin;
use crate::listen::tls::{Acme, Source};

/// How often it is looked whether the certificate's files have changed.
const LOOK: Duration = Duration::from_secs(10);
/// The authority that is asked when none is said.
const AUTHORITY: &str = "https://acme-v02.api.letsencrypt.org/directory";

/// Encryption by the server itself.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct TlsConfig {
    /// The certificate and those that lead to its authority, in PEM.
    pub certificate: Option<PathBuf>,
    /// Its key, in PEM.
    pub key: Option<PathBuf>,
    /// Where whoever comes without encryption is sent to where it is (`0.0.0.0:80`).
    pub http_redirect: Option<SocketAddr>,
    /// A certificate that is fetched from an authority.
    pub acme: Option<AcmeConfig>,
}

/// What is asked of which authority.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct AcmeConfig {
    /// The names that the certificate is for.
    pub domains: Vec<String>,
    /// Whom the authority tells when something is wrong: addresses of mail.
    pub contact: Vec<String>,
    /// Where the authority is; none: Let's Encrypt.
    pub directory: Option<String>,
    /// Whose word is taken that the authority is there, in PEM; none: the machine's own list.
    pub directory_ca: Option<PathBuf>,
    /// Where account and certificate are kept; none: `acme` in the data folder.
    pub cache: Option<PathBuf>,
}

/// How many connections there may be.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConnectionsConfig {
    /// At once; none: half of the files that the process may have open.
    pub total: Option<usize>,
    /// Of these, one address' (one /64 of IPv6); none: a quarter, at most 1024.
    pub per_address: Option<usize>,
}

/// Which other sites' pages may call REST and WebHDFS, with a token.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct CorsConfig {
    /// Their origins (`https://tools.example.org`); `*`: all. None: only our own pages.
    pub origins: Vec<String>,
}

impl TlsConfig {
    /// Whether anything is encrypted.
    #[must_use]
    pub fn is_on(&self) -> bool {
        self.acme.is_some() || self.certificate.is_some()
    }

    /// Where the certificate comes from; `None`: there is none.
    #[must_use]
    pub fn source(&self, data: &Path) -> Option<Source> {
        if let Some(acme) = &self.acme {
            let acme = acme.clone();
            return Some(Source::Acme(Acme {
                domains: acme.domains,
                contact: acme.contact,
                directory: acme.directory.unwrap_or_else(|| AUTHORITY.to_owned()),
                directory_ca: acme.directory_ca,
                cache: acme.cache.unwrap_or_else(|| data.join("acme")),
            }));
        }
        let (certificate, key) = (self.certificate.clone()?, self.key.clone()?);
        Some(Source::Files { certificate, key, every: LOOK })
    }

    /// The names that the configuration itself says are ours.
    pub(crate) fn domains(&self) -> impl Iterator<Item = &str> {
        self.acme.iter().flat_map(|acme| &acme.domains).map(String::as_str)
    }

    pub(super) fn mistakes(&self, listen: SocketAddr, public_url: Option<&str>) -> Vec<String> {
        let mut lines = Vec::new();
        let Self { certificate, key, http_redirect, acme } = self;
        match (certificate, key) {
            (Some(path), None) => lines.push(format!(
                "tls.certificate = {path:?}: allowed is only beside tls.key, the file of its key"
            )),
            (None, Some(path)) => lines.push(format!(
                "tls.key = {path:?}: allowed is only beside tls.certificate, the file of its certificate"
            )),
            (Some(_), Some(_)) if acme.is_some() => lines.push(
                "tls.acme: allowed is either it or tls.certificate with tls.key, not both".to_owned(),
            ),
            (Some(_), Some(_)) | (None, None) => {}
        }
        if let Some(address) = http_redirect {
            if !self.is_on() {
                lines.push(format!(
                    "tls.http_redirect = {address}: allowed is only beside tls.certificate or tls.acme"
                ));
            } else if address.port() == listen.port() && address.port() != 0 {
                lines.push(format!(
                    "tls.http_redirect = {address}: allowed is any port but {}, that of listen",
                    listen.port()
                ));
            }
        }
        if let Some(url) = public_url.filter(|url| self.is_on() && url.starts_with("http://")) {
            lines.push(format!("public_url = {url:?}: allowed with [tls] is https://HOST"));
        }
        lines.extend(acme.iter().flat_map(AcmeConfig::mistakes));
        lines
    }
}

impl AcmeConfig {
    fn mistakes(&self) -> Vec<String> {
        let mut lines = Vec::new();
        if self.domains.is_empty() {
            lines.push("tls.acme.domains = []: allowed are the names users type".to_owned());
        }
        for name in self.domains.iter().filter(|name| !is_domain(name)) {
            lines.push(format!(
                "tls.acme.domains: {name:?}: allowed are names as berth.example.org; for addresses \
                 and names with * a certificate comes from files"
            ));
        }
        for mail in self.contact.iter().filter(|mail| !is_mail(mail)) {
            lines.push(format!(
                "tls.acme.contact: {mail:?}: allowed are addresses as a@example.org"
            ));
        }
        if let Some(url) = self.directory.as_ref().filter(|url| !url.starts_with("https://")) {
            lines.push(format!("tls.acme.directory = {url:?}: allowed is https://…"));
        }
        lines
    }
}

impl CorsConfig {
    pub(super) fn mistakes(&self) -> Vec<String> {
        let bad = self.origins.iter().filter(|origin| !is_origin(origin));
        let line = |origin: &String| {
            format!("cors.origins: {origin:?}: allowed are https://HOST, http://HOST:PORT and *")
        };
        bad.map(line).collect()
    }
}

impl ConnectionsConfig {
    pub(super) fn mistakes(&self) -> Vec<String> {
        let small = |(key, value): (&str, Option<usize>), least: usize| {
            let value = value.filter(|value| *value < least)?;
            Some(format!("connections.{key} = {value}: allowed is {least} or more"))
        };
        let lines = [small(("total", self.total), 16), small(("per_address", self.per_address), 1)];
        lines.into_iter().flatten().collect()
    }
}

/// What stands in `hosts`: names and addresses, without a scheme and without a port.
pub(super) fn is_host(text: &str) -> bool {
    text.parse::<IpAddr>().is_ok() || is_name(text)
}

fn is_name(text: &str) -> bool {
    let label = |label: &str| {
        !label.is_empty()
            && label.len() < 64
            && label.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_')
    };
    text.len() < 254 && text.split('.').all(label)
}

fn is_domain(text: &str) -> bool {
    is_name(text) && text.contains('.') && text.parse::<IpAddr>().is_err()
}

fn is_mail(text: &str) -> bool {
    let parts = text.split_once('@');
    parts.is_some_and(|(user, host)| !user.is_empty() && is_name(host))
        && !text.contains(|c: char| c.is_whitespace() || c == ':')
}
