//! The door itself: which sockets it has, whom it lets in, how long it waits, and what it calls
//! itself. Everything behind it is an ordinary [`Router`].
//!
//! **Nobody keeps it busy by doing nothing.** A head that does not arrive, a connection that asks
//! nothing, a body that stops, an answer that is not taken: each has its time ([`Limits`]), after
//! which the connection is closed. What makes progress goes on for as long as it does. How many
//! connections there are at once is bounded, in all and for each address ([`Places`]).
//!
//! **Nobody stands beside it.** Where it has one loopback address it has both, and where it has all
//! of IPv4 it has all of IPv6: else another program could take the other one and be what
//! `http://localhost` finds first ([`bind`]).
//!
//! **It goes by its own names.** A request for another host is refused, so that a page whose name
//! was pointed here reads nothing, and so that no link is made of a name that is not ours
//! ([`OwnHosts`]).
//!
//! **Who looks does not wait for what is done.** Connections have threads of their own, and what only looks is
//! answered there. What changes something is passed on to the threads that do all the rest: thousands of jobs that
//! come at once keep those busy.
//!
//! **Other servers of the cluster have a door of their own.** They have asked all that already, and say
//! for whom they ask ([`ServersKey`]).

mod body;
mod connection;
mod holder;
mod hosts;
mod limits;
mod pulse;
mod redirect;
mod servers;
mod sockets;
pub mod tls;

use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;
use tokio_util::task::TaskTracker;

use connection::Connection;
pub(crate) use hosts::LinkHost;
pub use hosts::{Machine, OwnHosts};
use limits::Places;
pub use limits::{Limits, raise_open_files};
pub use redirect::redirect;
pub use servers::ServersKey;
pub use sockets::{Unbound, bind};
use tls::Tls;

/// How long the door rests when the machine has nothing left to open a connection with.
const REST: Duration = Duration::from_millis(200);

/// How a door is kept.
#[derive(Debug)]
pub struct Door {
    limits: Limits,
    places: Arc<Places>,
    hosts: OwnHosts,
    trusted: Vec<IpAddr>,
    tls: Option<Tls>,
    /// Only servers are let in who have it.
    servers: Option<ServersKey>,
    /// Where connections are, and whoever only looks is answered.
    looking: Handle,
    /// Where it is answered what changes something.
    doing: Handle,
}

impl Door {
    /// A door whose connections are in the runtime that it is made in. `trusted` are the proxies in front of us,
    /// whose connections are many and whose word about the host is taken.
    ///
    /// # Panics
    /// Outside a runtime.
    #[must_use]
    pub fn new(limits: Limits, hosts: OwnHosts, trusted: Vec<IpAddr>, tls: Option<Tls>) -> Self {
        let places = Arc::new(Places::new(&limits, trusted.clone()));
        let (looking, doing) = (Handle::current(), Handle::current());
        Self { limits, places, hosts, trusted, tls, servers: None, looking, doing }
    }

    /// The same with its connections in a runtime of their own.
    #[must_use]
    pub fn with_connections_in(self, looking: &Handle) -> Self {
        Self { looking: looking.clone(), ..self }
    }

    /// The same for other servers of the cluster alone, who pass on what they are asked.
    #[must_use]
    pub fn of_servers(self, key: ServersKey) -> Self {
        // A few of them have the connections of everybody.
        let limits = Limits { per_address: self.limits.total, ..self.limits };
        let places = Arc::new(Places::new(&limits, self.trusted.clone()));
        Self { limits, places, servers: Some(key), ..self }
    }
}

/// Answers at all of these sockets until `stop`; then takes no more, and returns when those under
/// way have ended.
pub async fn serve(
    sockets: Vec<TcpListener>,
    door: Door,
    router: Router,
    stop: &CancellationToken,
) {
    let door = Arc::new(door);
    let connections = TaskTracker::new();
    let loops =
        sockets.into_iter().map(|socket| accept(socket, &door, &router, stop, &connections));
    futures::future::join_all(loops).await;
    connections.close();
    connections.wait().await;
}

async fn accept(
    socket: TcpListener,
    door: &Arc<Door>,
    router: &Router,
    stop: &CancellationToken,
    connections: &TaskTracker,
) {
    let mut exhausted = false;
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => return,
            accepted = socket.accept() => accepted,
        };
        match accepted {
            Ok((stream, peer)) => {
                exhausted = false;
                if let Some(connection) = let_in(&stream, peer, door, stop) {
                    let running = connection.run(stream.into_std(), router.clone());
                    connections.spawn_on(running, &door.looking);
                }
            }
            Err(error) if is_of_one_connection(error.kind()) => {}
            Err(error) => {
                // Told once, not with every attempt while it lasts.
                if !std::mem::replace(&mut exhausted, true) {
                    tracing::error!(%error, "no connection can be taken for now");
                }
                tokio::select! {
                    () = stop.cancelled() => return,
                    () = tokio::time::sleep(REST) => {}
                }
            }
        }
    }
}

/// Whoever called has gone away again.
fn is_of_one_connection(kind: ErrorKind) -> bool {
    matches!(
        kind,
        ErrorKind::ConnectionAborted | ErrorKind::ConnectionReset | ErrorKind::ConnectionRefused
    )
}

fn let_in(
    stream: &TcpStream,
    peer: SocketAddr,
    door: &Arc<Door>,
    stop: &CancellationToken,
) -> Option<Connection> {
    let peer = SocketAddr::new(peer.ip().to_canonical(), peer.port());
    let Some(place) = door.places.take(peer.ip()) else {
        if door.tls.is_none() {
            turn_away(stream);
        }
        return None;
    };
    let local = stream.local_addr().ok()?;
    let local = SocketAddr::new(local.ip().to_canonical(), local.port());
    Some(Connection { door: Arc::clone(door), place, peer, local, stop: stop.clone() })
}

/// Says why, to whoever is still there to read it; nothing waits for that.
fn turn_away(stream: &TcpStream) {
    const ANSWER: &[u8] = b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 10\r\n\
        content-length: 0\r\nconnection: close\r\n\r\n";
    if let Err(error) = stream.try_write(ANSWER) {
        tracing::debug!(%error, "a connection beyond the limit was not answered");
    }
}
