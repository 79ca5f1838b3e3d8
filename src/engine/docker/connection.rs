use std::future::Future;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::time::Duration;

use bollard::errors::Error;
use bollard::{API_DEFAULT_VERSION, Docker};

use super::failure::classify;
use super::ssh;
use crate::model::Result;

/// How long a heartbeat may take.
pub(super) const HEARTBEAT: Duration = Duration::from_secs(5);
/// How long an ordinary call may take.
pub(super) const CALL: Duration = Duration::from_secs(30);
/// How long a call may take that works on the disk or starts processes.
pub(super) const WORK: Duration = Duration::from_secs(60);

/// Where an engine listens.
#[derive(Debug, Clone)]
pub(crate) enum Transport {
    /// A socket of this machine.
    Unix {
        /// Its path.
        path: String,
    },
    /// Plain TCP, for loopback addresses.
    Tcp {
        /// `host:port`.
        address: String,
    },
    /// TCP with certificates on both sides.
    Tls {
        /// `host:port`.
        address: String,
        /// Authority, certificate, key.
        files: [PathBuf; 3],
    },
    /// `docker system dial-stdio` on another machine, by OpenSSH.
    Ssh {
        /// `[user@]host[:port]`.
        address: String,
        /// The private key, where it is not OpenSSH's own choice.
        key: Option<PathBuf>,
        /// Host keys, of which the machine has to have one; without them the first that it shows is
        /// believed, and remembered by OpenSSH.
        hosts: Option<PathBuf>,
    },
}

/// A way to an engine that may be down: it is opened at the first call that succeeds in it.
#[derive(Debug)]
pub(super) struct Connection {
    transport: Transport,
    docker: OnceLock<Docker>,
}

impl Connection {
    pub(super) fn new(transport: Transport) -> Self {
        Self { transport, docker: OnceLock::new() }
    }

    /// A client whose every request is answered within `wait` or fails.
    pub(super) fn docker(&self, wait: Duration) -> Result<Docker> {
        self.open(wait).map_err(|error| classify(error, ""))
    }

    fn open(&self, wait: Duration) -> std::result::Result<Docker, Error> {
        let docker = match self.docker.get() {
            Some(docker) => docker.clone(),
            None => {
                let docker = dial(&self.transport)?.with_request_modifier(url_safe_credentials);
                self.docker.get_or_init(|| docker).clone()
            }
        };
        Ok(docker.with_timeout(wait.max(Duration::from_secs(1))))
    }

    /// Makes one call that takes `wait` at most: bollard's own limit covers the time to the
    /// answer's head, not the answer.
    pub(super) async fn call<T, F>(
        &self,
        wait: Duration,
        call: impl FnOnce(Docker) -> F,
    ) -> std::result::Result<T, Error>
    where
        F: Future<Output = std::result::Result<T, Error>>,
    {
        let docker = self.open(wait)?;
        match tokio::time::timeout(wait, call(docker)).await {
            Ok(outcome) => outcome,
            Err(_) => Err(Error::RequestTimeoutError),
        }
    }
}

fn dial(transport: &Transport) -> std::result::Result<Docker, Error> {
    // Every call sets its own limit.
    let seconds = 60;
    match transport {
        Transport::Unix { path } => Docker::connect_with_unix(path, seconds, API_DEFAULT_VERSION),
        Transport::Tcp { address } => {
            Docker::connect_with_http(&format!("tcp://{address}"), seconds, API_DEFAULT_VERSION)
        }
        Transport::Tls { address, files: [authority, certificate, key] } => {
            Docker::connect_with_ssl(
                &format!("tcp://{address}"),
                key,
                certificate,
                authority,
                seconds,
                API_DEFAULT_VERSION,
            )
        }
        Transport::Ssh { address, key, hosts } => {
            ssh::dial(address, (key.as_deref(), hosts.as_deref()), seconds)
        }
    }
}

/// Engines read registry credentials in the URL-safe base64 alphabet and silently go on without
/// them where bollard's standard alphabet has `+` or `/`.
fn url_safe_credentials(mut request: bollard::BollardRequest) -> bollard::BollardRequest {
    const HEADER: &str = "X-Registry-Auth";
    let safe = request
        .headers()
        .get(HEADER)
        .and_then(|value| value.to_str().ok())
        .map(|value| value.replace('+', "-").replace('/', "_"))
        .and_then(|value| value.parse().ok());
    if let Some(value) = safe {
        request.headers_mut().insert(HEADER, value);
    }
    request
}
