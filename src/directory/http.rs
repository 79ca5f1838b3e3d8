//! The one way in which providers are asked by HTTP.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use openidconnect::{HttpRequest, HttpResponse, SyncHttpClient};
use ureq::tls::{Certificate, RootCerts, TlsConfig};
use url::Url;

use crate::{Result, trust};

/// How long a provider may take for an answer.
const PATIENCE: Duration = Duration::from_secs(10);
/// The most bytes of an answer.
const LARGEST: u64 = 1024 * 1024;

/// Asks providers: in time, not too much, nowhere else than at the address that was meant.
#[derive(Debug)]
pub(crate) struct Http(ureq::Agent);

/// Why there is no answer.
#[derive(Debug, thiserror::Error)]
pub(crate) enum HttpError {
    /// Others could read or change it on its way.
    #[error("{0} is not reached by https")]
    Open(String),
    /// No answer, or one that is too long.
    #[error("{0}")]
    Failed(#[from] ureq::Error),
    /// The answer cannot be put together.
    #[error("{0}")]
    Answer(#[from] ureq::http::Error),
}

impl Http {
    pub(crate) fn new(authorities: Option<&Path>) -> Result<Self> {
        let certificates = trust::authorities(authorities)?;
        let certificates: Vec<_> =
            certificates.iter().map(|one| Certificate::from_der(one.as_ref()).to_owned()).collect();
        let tls =
            TlsConfig::builder().root_certs(RootCerts::Specific(Arc::new(certificates))).build();
        let config = ureq::Agent::config_builder()
            .tls_config(tls)
            .http_status_as_error(false)
            .max_redirects(0)
            .timeout_global(Some(PATIENCE))
            .build();
        Ok(Self(config.into()))
    }
}

impl SyncHttpClient for Http {
    type Error = HttpError;

    fn call(&self, request: HttpRequest) -> std::result::Result<HttpResponse, HttpError> {
        let address = request.uri().to_string();
        if !Url::parse(&address).is_ok_and(|url| trust::is_private(&url)) {
            return Err(HttpError::Open(address));
        }
        let mut response = self.0.run(request)?;
        let mut answer = ureq::http::Response::builder().status(response.status());
        for (name, value) in response.headers() {
            answer = answer.header(name, value);
        }
        let body = response.body_mut().with_config().limit(LARGEST).read_to_vec()?;
        Ok(answer.body(body)?)
    }
}
