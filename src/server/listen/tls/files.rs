//! A certificate and its key in two files, read again when they change.

use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock};
use std::time::Duration;

use tokio::signal::unix::{Signal, SignalKind, signal};
use tokio_rustls::rustls::client::verify_server_name;
use tokio_rustls::rustls::pki_types::pem::{self, PemObject};
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer, ServerName};
use tokio_rustls::rustls::server::{ClientHello, ParsedCertificate, ResolvesServerCert};
use tokio_rustls::rustls::sign::CertifiedKey;
use tokio_util::sync::CancellationToken;

use super::{TlsError, provider};

/// The two files, and what was last in them that can be used.
#[derive(Debug)]
pub(super) struct Files {
    certificate: PathBuf,
    key: PathBuf,
    pair: RwLock<Arc<CertifiedKey>>,
    /// What the files were like before it was read.
    known: Mutex<Stamp>,
}

/// By what a change is noticed: of each file its inode, length and time.
type Stamp = [Option<(u64, u64, i64, i64)>; 2];

impl Files {
    pub(super) fn open(certificate: PathBuf, key: PathBuf) -> Result<Self, TlsError> {
        let known = Mutex::new(stamp(&certificate, &key));
        let pair = RwLock::new(Arc::new(read(&certificate, &key)?));
        Ok(Self { certificate, key, pair, known })
    }

    /// Looks every so often, and at SIGHUP at once, whether the files have changed. A pair that
    /// cannot be used changes nothing; it is told once, and not before it was found twice: the two
    /// files are seldom written in one moment.
    pub(super) async fn follow(self: Arc<Self>, every: Duration, stop: CancellationToken) {
        let mut hangup = signal(SignalKind::hangup()).ok();
        let mut bad: Option<(Stamp, bool)> = None;
        loop {
            tokio::select! {
                () = stop.cancelled() => return,
                () = tokio::time::sleep(every) => {}
                () = hung_up(hangup.as_mut()) => {}
            }
            let stamp = stamp(&self.certificate, &self.key);
            if stamp == *self.known() {
                continue;
            }
            match (read(&self.certificate, &self.key), bad) {
                (Ok(pair), _) => {
                    *self.pair.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(pair);
                    tracing::info!("the certificate was read again");
                    (*self.known(), bad) = (stamp, None);
                }
                (Err(error), Some((same, false))) if same == stamp => {
                    tracing::warn!(%error, "the new certificate cannot be used: the old one stays");
                    bad = Some((stamp, true));
                }
                (Err(_), Some((same, true))) if same == stamp => {}
                (Err(_), _) => bad = Some((stamp, false)),
            }
        }
    }

    /// Whether the certificate is for this name.
    pub(super) fn is_for(&self, name: &str) -> bool {
        let pair = self.pair();
        let certificate = pair.end_entity_cert().and_then(ParsedCertificate::try_from);
        match (certificate, ServerName::try_from(name)) {
            (Ok(certificate), Ok(name)) => verify_server_name(&certificate, &name).is_ok(),
            (Err(_), _) | (_, Err(_)) => false,
        }
    }

    fn pair(&self) -> Arc<CertifiedKey> {
        Arc::clone(&self.pair.read().unwrap_or_else(PoisonError::into_inner))
    }

    fn known(&self) -> MutexGuard<'_, Stamp> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn stamp(certificate: &Path, key: &Path) -> Stamp {
    [certificate, key].map(|path| {
        let file = fs::metadata(path).ok()?;
        Some((file.ino(), file.len(), file.mtime(), file.mtime_nsec()))
    })
}

impl ResolvesServerCert for Files {
    fn resolve(&self, _client: ClientHello<'_>) -> Option<Arc<CertifiedKey>> {
        Some(self.pair())
    }
}

async fn hung_up(signal: Option<&mut Signal>) {
    match signal {
        Some(signal) => drop(signal.recv().await),
        None => std::future::pending().await,
    }
}

fn read(certificate: &Path, key: &Path) -> Result<CertifiedKey, TlsError> {
    let chain = chain("tls.certificate", certificate)?;
    let secret = PrivateKeyDer::from_pem_file(key)
        .map_err(|error| bad("tls.key", key, &error, "one private key in PEM"))?;
    CertifiedKey::from_der(chain, secret, &provider()).map_err(TlsError::Pair)
}

/// The certificates of a file, of which there is at least one.
pub(super) fn chain(
    name: &'static str,
    path: &Path,
) -> Result<Vec<CertificateDer<'static>>, TlsError> {
    let bad = |error: &pem::Error| bad(name, path, error, "certificates in PEM");
    let chain = CertificateDer::pem_file_iter(path).map_err(|error| bad(&error))?;
    let chain: Vec<_> = chain.collect::<Result<_, _>>().map_err(|error| bad(&error))?;
    if chain.is_empty() { Err(bad(&pem::Error::NoItemsFound)) } else { Ok(chain) }
}

fn bad(key: &'static str, path: &Path, error: &pem::Error, allowed: &str) -> TlsError {
    let reason = format!("{error}: allowed is a file that can be read, with {allowed}");
    TlsError::File { key, path: path.to_owned(), reason }
}

#[cfg(test)]
mod tests {
    use rcgen::{CertificateParams, KeyPair};

    use super::*;

    /// Writes a new pair, and says what its certificate is.
    fn renew(certificate: &Path, key: &Path) -> CertificateDer<'static> {
        let pair = KeyPair::generate().unwrap();
        let names = vec!["berth.test".to_owned()];
        let new = CertificateParams::new(names).unwrap().self_signed(&pair).unwrap();
        fs::write(certificate, new.pem()).unwrap();
        fs::write(key, pair.serialize_pem()).unwrap();
        new.der().clone()
    }

    #[tokio::test]
    async fn what_came_while_nobody_looked_is_read_as_well() {
        let folder = tempfile::tempdir().unwrap();
        let (certificate, key) = (folder.path().join("cert.pem"), folder.path().join("key.pem"));
        renew(&certificate, &key);
        let files = Arc::new(Files::open(certificate.clone(), key.clone()).unwrap());
        // As whoever panicked leaves it.
        let new = renew(&certificate, &key);
        let stop = CancellationToken::new();
        let following = Arc::clone(&files).follow(Duration::from_millis(10), stop.clone());
        let following = tokio::spawn(following);
        let read = async {
            while files.pair().end_entity_cert().unwrap() != &new {
                tokio::time::sleep(Duration::from_millis(10)).await;
            }
        };
        tokio::time::timeout(Duration::from_secs(10), read).await.unwrap();
        stop.cancel();
        following.await.unwrap();
    }
}
