//! Getting to another task and showing it the job's key.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use protocol::guest::{GuestConfig, GuestSsh};
use russh::client::{Config, Handle, Handler, connect_stream};
use russh::keys::{PrivateKey, PrivateKeyWithHashAlg, PublicKey, PublicKeyOrCertificate};
use russh::{Preferred, SshId};
use tokio::net::TcpStream;
use tokio::time::timeout;

use super::arguments::Arguments;
use crate::folder::Folder;
use crate::names::resolve;

/// The port that SSH has by itself.
const PORT: u16 = 22;

/// How long getting there may take.
const CONNECT: Duration = Duration::from_secs(60);

/// How often a silent server is asked whether it is still there, and how often in vain.
const KEEPALIVE: (Duration, usize) = (Duration::from_secs(30), 4);

/// Why there is no connection, or none any more.
#[derive(Debug, thiserror::Error)]
pub(super) enum Failure {
    /// The host's name means nothing to us.
    #[error(
        "could not resolve the name; known are the tasks of this job, addresses and /etc/hosts"
    )]
    UnknownHost,
    /// It cannot be reached.
    #[error("{0}")]
    Connect(#[from] io::Error),
    /// It takes too long.
    #[error("connection timed out")]
    Timeout,
    /// It is not the one that we know.
    #[error("host key verification failed")]
    HostKey,
    /// It does not want us.
    #[error("permission denied (publickey)")]
    Denied,
    /// There is no key to show.
    #[error("there is no private key at {path}: {reason}", path = path.display())]
    NoKey {
        /// Where it should be.
        path: PathBuf,
        /// Why there is none.
        reason: String,
    },
    /// It has gone away.
    #[error("connection closed")]
    Closed,
    /// Anything else in the protocol.
    #[error("{0}")]
    Protocol(russh::Error),
}

impl From<russh::Error> for Failure {
    fn from(error: russh::Error) -> Self {
        match error {
            russh::Error::IO(error) => Self::Connect(error),
            russh::Error::UnknownKey => Self::HostKey,
            russh::Error::Disconnect | russh::Error::HUP | russh::Error::SendError => Self::Closed,
            other => Self::Protocol(other),
        }
    }
}

/// A connection that has been let in.
pub(super) type Connection = Handle<HostCheck>;

/// Connects to the host of the arguments.
pub(super) async fn connect(folder: &Folder, arguments: &Arguments) -> Result<Connection, Failure> {
    let ssh = folder.config().ok().and_then(|GuestConfig { ssh, .. }| ssh);
    let peer = ssh.iter().flat_map(|ssh| &ssh.peers).find(|peer| peer.alias == arguments.host);
    let host = peer.map_or(&arguments.host, |peer| &peer.address);
    let port = arguments.port.or(peer.map(|peer| peer.port)).unwrap_or(PORT);
    let user = arguments.user.as_deref().unwrap_or("root");
    let check = HostCheck { known: ssh.as_ref().and_then(host_key), strict: arguments.strict };
    let limit = arguments.timeout.unwrap_or(CONNECT);
    let mut connection =
        timeout(limit, open(host, port, check)).await.map_err(|_| Failure::Timeout)??;
    let mut paths = arguments.identities.clone();
    paths.push(folder.key());
    let mut failure = Failure::Denied;
    for path in &paths {
        match read_key(path) {
            Ok(key) => {
                if enter(&mut connection, user, key).await? {
                    return Ok(connection);
                }
            }
            Err(missing) if paths.len() == 1 => failure = missing,
            // Another key may do.
            Err(_) => {}
        }
    }
    Err(failure)
}

async fn open(host: &str, port: u16, check: HostCheck) -> Result<Connection, Failure> {
    let mut failure = Failure::UnknownHost;
    for address in resolve(host) {
        match TcpStream::connect((address, port)).await {
            Ok(stream) => {
                stream.set_nodelay(true)?;
                return Ok(connect_stream(Arc::new(config()), stream, check).await?);
            }
            Err(error) => failure = error.into(),
        }
    }
    Err(failure)
}

async fn enter(connection: &mut Connection, user: &str, key: PrivateKey) -> Result<bool, Failure> {
    let hash = connection.best_supported_rsa_hash().await?.flatten();
    let key = PrivateKeyWithHashAlg::new(Arc::new(key), hash);
    Ok(connection.authenticate_publickey(user, key).await?.success())
}

fn read_key(path: &Path) -> Result<PrivateKey, Failure> {
    let failure = |reason: String| Failure::NoKey { path: path.to_owned(), reason };
    let text = std::fs::read_to_string(path).map_err(|error| failure(error.to_string()))?;
    PrivateKey::from_openssh(&text).map_err(|error| failure(error.to_string()))
}

fn host_key(ssh: &GuestSsh) -> Option<PublicKey> {
    PrivateKey::from_openssh(&ssh.host_key).ok().map(|key| key.public_key().clone())
}

fn config() -> Config {
    Config {
        client_id: SshId::Standard("SSH-2.0-Berth".into()),
        channel_buffer_size: 16,
        preferred: Preferred::DEFAULT,
        keepalive_interval: Some(KEEPALIVE.0),
        keepalive_max: KEEPALIVE.1,
        ..Config::default()
    }
}

/// Whether a server is a task of this job.
#[derive(Debug)]
pub(super) struct HostCheck {
    known: Option<PublicKey>,
    strict: bool,
}

impl Handler for HostCheck {
    type Error = russh::Error;

    async fn check_server_key(
        &mut self,
        shown: &PublicKeyOrCertificate,
    ) -> Result<bool, Self::Error> {
        let PublicKeyOrCertificate::PublicKey { key, .. } = shown else { return Ok(!self.strict) };
        let known = self.known.as_ref().is_some_and(|known| known.key_data() == key.key_data());
        Ok(known || !self.strict)
    }
}
