//! A certificate that is fetched from an authority and renewed in time (RFC 8555). The authority
//! looks at our own port, by TLS, whether a name is ours (RFC 8737), so nothing else is needed.

use std::os::unix::fs::DirBuilderExt;
use std::path::PathBuf;
use std::sync::Arc;

use control::Steady;
use futures::StreamExt;
use rustls_acme::caches::DirCache;
use rustls_acme::{AcmeConfig, AcmeState, EventOk, ResolvesServerCertAcme};
use tokio::sync::Mutex;
use tokio_rustls::rustls::{ClientConfig, RootCertStore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use super::{TlsError, files, provider};

/// What is asked of which authority.
#[derive(Debug, Clone)]
pub struct Acme {
    /// The names that the certificate is for.
    pub domains: Vec<String>,
    /// Whom the authority tells when something is wrong: addresses of mail.
    pub contact: Vec<String>,
    /// Where the authority is.
    pub directory: String,
    /// Whose word is taken that the authority is there, in PEM; none: the machine's own list.
    pub directory_ca: Option<PathBuf>,
    /// Where account and certificate are kept.
    pub cache: PathBuf,
}

impl Acme {
    /// Fetches and renews in `tasks` until `stop`.
    pub(super) fn start(
        self,
        tasks: &TaskTracker,
        (steady, stop): (Arc<Steady>, CancellationToken),
    ) -> Result<Arc<ResolvesServerCertAcme>, TlsError> {
        let client = self.client()?;
        self.make_cache()?;
        let contact = self.contact.iter().map(|mail| format!("mailto:{mail}"));
        let state = AcmeConfig::new_with_client_config(&self.domains, Arc::new(client))
            .contact(contact)
            .directory(&self.directory)
            .cache(DirCache::new(self.cache))
            .state();
        let certificates = state.resolver();
        // What answers challenges belongs to this one: whoever begins anew goes on with it.
        let state = Arc::new(Mutex::new(state));
        tasks.spawn(async move {
            let begin = |stop| keep(Arc::clone(&state), stop);
            steady.run("certificate", begin, &stop).await;
        });
        Ok(certificates)
    }

    fn client(&self) -> Result<ClientConfig, TlsError> {
        let mut roots = RootCertStore::empty();
        match &self.directory_ca {
            Some(path) => {
                for certificate in files::chain("tls.acme.directory_ca", path)? {
                    roots.add(certificate).map_err(TlsError::Settings)?;
                }
            }
            None => {
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            }
        }
        let builder = ClientConfig::builder_with_provider(provider());
        let builder = builder.with_safe_default_protocol_versions().map_err(TlsError::Settings)?;
        Ok(builder.with_root_certificates(roots).with_no_client_auth())
    }

    /// Keys are kept there, which nobody else reads.
    fn make_cache(&self) -> Result<(), TlsError> {
        let made = std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&self.cache);
        made.map_err(|error| TlsError::File {
            key: "tls.acme.cache",
            path: self.cache.clone(),
            reason: format!("{error}: allowed is a folder that can be made"),
        })
    }
}

async fn keep(state: Arc<Mutex<AcmeState<std::io::Error>>>, stop: CancellationToken) {
    let mut state = state.lock().await;
    loop {
        let event = tokio::select! {
            () = stop.cancelled() => return,
            event = state.next() => event,
        };
        match event {
            Some(Ok(EventOk::DeployedCachedCert)) => tracing::info!("a kept certificate is used"),
            Some(Ok(EventOk::DeployedNewCert)) => tracing::info!("a new certificate is used"),
            Some(Ok(EventOk::CertCacheStore | EventOk::AccountCacheStore)) => {}
            Some(Err(error)) => {
                tracing::warn!(%error, "no certificate could be fetched: it is tried again later");
            }
            None => return,
        }
    }
}
