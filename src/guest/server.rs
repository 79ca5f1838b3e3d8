//! The SSH server beside the task's command.

mod connection;
mod forward;
mod keys;
mod own;
mod process;
mod session;

use std::io;
use std::net::{Ipv4Addr, Shutdown, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use protocol::guest::GuestSsh;
use russh::keys::{Algorithm, HashAlg, PrivateKey};
use russh::server::{Config, run_stream};
use russh::{MethodKind, MethodSet, Preferred, SshId};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore, oneshot};

use crate::children::Children;
use crate::folder::Folder;
use crate::lease::{self, Lease};
use crate::note::note;
use connection::Connection;

/// Connections at the same time; a rank of a large job may have one to each other.
const CONNECTIONS: usize = 512;

/// Of these, such as have not shown a key yet.
const STRANGERS: usize = 128;

/// Of a task with a lease: connections of which is found out whether they are the server's.
const ARRIVALS: usize = 256;

/// How long somebody may take to show a key.
const GRACE: Duration = Duration::from_secs(60);

/// How many keys he may try.
const ATTEMPTS: usize = 8;

/// What a wrong key costs.
const REJECTION: Duration = Duration::from_millis(100);

/// How often a silent client is asked whether it is still there, and how often in vain.
const KEEPALIVE: (Duration, usize) = (Duration::from_secs(30), 4);

/// Bytes that a client may send on a channel before it hears from us.
const WINDOW: u32 = 1 << 20;

/// What the server works with.
#[derive(Debug)]
pub(crate) struct Server {
    /// Where keys lie and where data wait.
    pub(crate) folder: Folder,
    /// The processes of the sessions.
    pub(crate) children: Children,
    /// Where a user's shell starts.
    pub(crate) start_in: PathBuf,
    /// Nobody else is in the container's network.
    pub(crate) own_network: bool,
    /// What the task's life hangs on.
    pub(crate) lease: Option<Arc<Lease>>,
}

/// Where clients will be heard, or why not.
pub(crate) fn listen(port: u16) -> io::Result<std::net::TcpListener> {
    let listener = std::net::TcpListener::bind((Ipv4Addr::UNSPECIFIED, port))?;
    listener.set_nonblocking(true)?;
    Ok(listener)
}

/// Serves until the task ends. What goes wrong is told and never ends the task.
pub(crate) async fn serve(
    server: Server,
    ssh: GuestSsh,
    listener: io::Result<std::net::TcpListener>,
) {
    let served = async { accept_all(server, &ssh, TcpListener::from_std(listener?)?).await };
    if let Err(error) = served.await {
        note(format_args!("no SSH on port {}: {error}", ssh.port));
    }
}

async fn accept_all(server: Server, ssh: &GuestSsh, listener: TcpListener) -> io::Result<()> {
    let key = PrivateKey::from_openssh(&ssh.host_key).map_err(io::Error::other)?;
    let config = Arc::new(config(key));
    let server = Arc::new(server);
    let connections = Arc::new(Semaphore::new(CONNECTIONS));
    let strangers = Arc::new(Semaphore::new(STRANGERS));
    if let Some(lease) = server.lease.clone() {
        let door = Door { config, server, connections, strangers };
        return accept_with_lease(door, &lease, &listener).await;
    }
    loop {
        let Ok(connection) = Arc::clone(&connections).acquire_owned().await else { return Ok(()) };
        let Ok(stranger) = Arc::clone(&strangers).acquire_owned().await else { return Ok(()) };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let admission = Admission { stranger, connection };
                let (config, server) = (Arc::clone(&config), Arc::clone(&server));
                tokio::spawn(async move {
                    // Whoever connects may go away at any moment; that is not worth a line.
                    let _ = attend(config, server, stream, peer, admission).await;
                });
            }
            // Out of descriptors, most likely: some of them will be closed.
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

/// What is needed to let somebody in.
#[derive(Clone)]
struct Door {
    config: Arc<Config>,
    server: Arc<Server>,
    connections: Arc<Semaphore>,
    strangers: Arc<Semaphore>,
}

/// The same where the task's life hangs on the server's getting through: whoever else is too many is sent
/// away instead of waited for.
async fn accept_with_lease(
    door: Door,
    lease: &Arc<Lease>,
    listener: &TcpListener,
) -> io::Result<()> {
    let arrivals = Arc::new(Semaphore::new(ARRIVALS));
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Ok(arrival) = Arc::clone(&arrivals).try_acquire_owned() else { continue };
                let (door, lease) = (door.clone(), Arc::clone(lease));
                tokio::spawn(async move {
                    if lease::is_servers(&stream).await {
                        // Who is not heard tries again.
                        let _ = lease.talk(stream).await;
                        return;
                    }
                    drop(arrival);
                    let _ = door.let_in(stream, peer).await;
                });
            }
            Err(_) => tokio::time::sleep(Duration::from_millis(100)).await,
        }
    }
}

impl Door {
    async fn let_in(self, stream: TcpStream, peer: SocketAddr) -> Result<(), russh::Error> {
        let Self { config, server, connections, strangers } = self;
        let places = (strangers.try_acquire_owned(), connections.try_acquire_owned());
        let (Ok(stranger), Ok(connection)) = places else { return Ok(()) };
        attend(config, server, stream, peer, Admission { stranger, connection }).await
    }
}

/// A connection's places among all and among those without a key.
struct Admission {
    stranger: OwnedSemaphorePermit,
    connection: OwnedSemaphorePermit,
}

async fn attend(
    config: Arc<Config>,
    server: Arc<Server>,
    stream: TcpStream,
    peer: SocketAddr,
    admission: Admission,
) -> Result<(), russh::Error> {
    let stream = stream.into_std()?;
    let handle = stream.try_clone()?;
    let stream = TcpStream::from_std(stream)?;
    let (admitted, wait) = oneshot::channel();
    let connection = Connection::new(server, peer, stream.local_addr()?, admitted);
    let session = tokio::spawn(async move { run_stream(config, stream, connection).await?.await });
    if !matches!(tokio::time::timeout(GRACE, wait).await, Ok(Ok(()))) {
        // Too late, or gone already.
        let _ = handle.shutdown(Shutdown::Both);
    }
    drop((handle, admission.stranger));
    let ended = session.await;
    drop(admission.connection);
    ended.unwrap_or(Err(russh::Error::Disconnect))
}

fn config(key: PrivateKey) -> Config {
    let algorithms = [
        Algorithm::Ed25519,
        Algorithm::Ecdsa { curve: russh::keys::EcdsaCurve::NistP256 },
        Algorithm::Ecdsa { curve: russh::keys::EcdsaCurve::NistP384 },
        Algorithm::Ecdsa { curve: russh::keys::EcdsaCurve::NistP521 },
        Algorithm::Rsa { hash: Some(HashAlg::Sha512) },
        Algorithm::Rsa { hash: Some(HashAlg::Sha256) },
    ];
    Config {
        server_id: SshId::Standard("SSH-2.0-Berth".into()),
        methods: MethodSet::from([MethodKind::PublicKey].as_slice()),
        auth_rejection_time: REJECTION,
        auth_rejection_time_initial: Some(Duration::ZERO),
        keys: vec![key],
        window_size: WINDOW,
        channel_buffer_size: 16,
        preferred: Preferred { key: algorithms.to_vec().into(), ..Preferred::DEFAULT },
        max_auth_attempts: ATTEMPTS,
        inactivity_timeout: None,
        keepalive_interval: Some(KEEPALIVE.0),
        keepalive_max: KEEPALIVE.1,
        nodelay: true,
        ..Config::default()
    }
}
