//! Encryption: a certificate from files, or one that is fetched and renewed by ACME.

mod acme;
mod files;

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use control::Steady;
use tokio::net::TcpStream;
use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::crypto::{CryptoProvider, ring};
use tokio_rustls::rustls::server::ResolvesServerCert;
use tokio_rustls::rustls::{self, ServerConfig};
use tokio_rustls::server::TlsStream;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

pub use acme::Acme;
use files::Files;

const HTTP2: &[u8] = b"h2";
const HTTP1: &[u8] = b"http/1.1";
/// What an authority speaks that looks whether a name is ours (RFC 8737).
const CHALLENGE: &[u8] = b"acme-tls/1";

/// What is wrong with a certificate, its key or where they come from.
#[derive(Debug, thiserror::Error)]
pub enum TlsError {
    /// A file is not there or is not what it should be.
    #[error("{key} = {path:?}: {reason}")]
    File {
        /// The key of the configuration.
        key: &'static str,
        /// Its value.
        path: PathBuf,
        /// What is wrong, and what is allowed.
        reason: String,
    },
    /// Certificate and key do not belong together, or are of a kind that is not known.
    #[error("tls.certificate and tls.key cannot be used together: {0}")]
    Pair(rustls::Error),
    /// The names, authorities or versions that were chosen cannot be used.
    #[error("tls: {0}")]
    Settings(rustls::Error),
}

/// Where a certificate comes from.
#[derive(Debug, Clone)]
pub enum Source {
    /// From files, which are read again when they change.
    Files {
        /// The certificate and those that lead to its authority, in PEM.
        certificate: PathBuf,
        /// Its key, in PEM.
        key: PathBuf,
        /// How often it is looked whether they have changed.
        every: Duration,
    },
    /// From an authority.
    Acme(Acme),
}

/// The server's side of TLS.
#[derive(Clone)]
pub struct Tls {
    acceptor: TlsAcceptor,
    files: Option<Arc<Files>>,
}

impl std::fmt::Debug for Tls {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Tls").field("files", &self.files).finish_non_exhaustive()
    }
}

impl Tls {
    /// Reads what is there, and keeps it fresh in `tasks` until `stop`; `steady` knows how that is.
    ///
    /// # Errors
    /// [`TlsError`] names the key, its value and what is allowed.
    pub fn start(
        source: Source,
        (tasks, stop): (&TaskTracker, &CancellationToken),
        steady: &Arc<Steady>,
    ) -> Result<Self, TlsError> {
        let (steady, stop) = (Arc::clone(steady), stop.clone());
        match source {
            Source::Files { certificate, key, every } => {
                let files = Arc::new(Files::open(certificate, key)?);
                let followed = Arc::clone(&files);
                tasks.spawn(async move {
                    let begin = |stop| Arc::clone(&followed).follow(every, stop);
                    steady.run("certificate", begin, &stop).await;
                });
                let acceptor = acceptor(files.clone(), &[HTTP2, HTTP1])?;
                Ok(Self { acceptor, files: Some(files) })
            }
            Source::Acme(acme) => {
                let certificates = acme.start(tasks, (steady, stop))?;
                let acceptor = acceptor(certificates, &[HTTP2, HTTP1, CHALLENGE])?;
                Ok(Self { acceptor, files: None })
            }
        }
    }

    /// The encrypted stream, and whether HTTP/2 is spoken on it; `None`: it was an authority's
    /// challenge, which the handshake has answered.
    pub(super) async fn accept(
        &self,
        stream: TcpStream,
    ) -> io::Result<Option<(TlsStream<TcpStream>, bool)>> {
        let stream = self.acceptor.accept(stream).await?;
        let spoken = stream.get_ref().1.alpn_protocol();
        if spoken == Some(CHALLENGE) {
            return Ok(None);
        }
        let http2 = spoken == Some(HTTP2);
        Ok(Some((stream, http2)))
    }

    /// Whether the certificate from the files is for this name.
    pub(super) fn is_for(&self, name: &str) -> bool {
        self.files.as_ref().is_some_and(|files| files.is_for(name))
    }
}

fn provider() -> Arc<CryptoProvider> {
    Arc::new(ring::default_provider())
}

fn acceptor(
    certificates: Arc<dyn ResolvesServerCert>,
    protocols: &[&[u8]],
) -> Result<TlsAcceptor, TlsError> {
    let builder = ServerConfig::builder_with_provider(provider());
    let builder = builder.with_safe_default_protocol_versions().map_err(TlsError::Settings)?;
    let mut config = builder.with_no_client_auth().with_cert_resolver(certificates);
    config.alpn_protocols = protocols.iter().map(|protocol| protocol.to_vec()).collect();
    Ok(TlsAcceptor::from(Arc::new(config)))
}
