//! Whose certificates are believed, and where none is needed.

use std::path::Path;
use std::sync::Arc;

use rustls::pki_types::CertificateDer;
use rustls::pki_types::pem::PemObject;
use rustls::{ClientConfig, RootCertStore};
use url::{Host, Url};

use crate::{Error, Result};

/// The certificates of this machine's authorities, and those of a file.
pub(crate) fn authorities(file: Option<&Path>) -> Result<Vec<CertificateDer<'static>>> {
    let native = rustls_native_certs::load_native_certs();
    for error in &native.errors {
        tracing::debug!(%error, "an authority's certificate cannot be read");
    }
    let mut all = native.certs;
    if let Some(path) = file {
        all.extend(of_file(path)?);
    }
    Ok(all)
}

fn of_file(path: &Path) -> Result<Vec<CertificateDer<'static>>> {
    let wrong = |why: String| Error::Settings(format!("ca = \"{}\": {why}", path.display()));
    let read = CertificateDer::pem_file_iter(path).map_err(|error| wrong(error.to_string()))?;
    let found: Vec<_> =
        read.collect::<std::result::Result<_, _>>().map_err(|error| wrong(error.to_string()))?;
    if found.is_empty() {
        return Err(wrong("allowed is a file with certificates in the PEM form".to_owned()));
    }
    Ok(found)
}

/// TLS as a client, by these authorities.
pub(crate) fn client(file: Option<&Path>) -> Result<Arc<ClientConfig>> {
    let mut roots = RootCertStore::empty();
    roots.add_parsable_certificates(authorities(file)?);
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| Error::Settings(error.to_string()))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Ok(Arc::new(config))
}

/// Whether what is sent there stays on this machine.
pub(crate) fn is_loopback(url: &Url) -> bool {
    match url.host() {
        Some(Host::Domain(name)) => name.eq_ignore_ascii_case("localhost"),
        Some(Host::Ipv4(address)) => address.is_loopback(),
        Some(Host::Ipv6(address)) => address.is_loopback(),
        None => false,
    }
}

/// Whether nobody between can read or change what is sent there.
pub(crate) fn is_private(url: &Url) -> bool {
    url.scheme() == "https" || (url.scheme() == "http" && is_loopback(url))
}
