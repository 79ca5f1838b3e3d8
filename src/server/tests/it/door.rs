//! The door itself, over real sockets: who is slow, who is too many, who is not meant, and what
//! passes in clear.

mod acme;
mod apart;
mod names;
mod planted;
mod program;
mod slow;
mod sockets;
mod tls;

use std::net::SocketAddr;
use std::time::Duration;

use axum::Router;
use server::listen::{Door, Limits, Machine, OwnHosts, bind, serve};
use tokio::io::AsyncReadExt;
use tokio::net::TcpStream;
use tokio::task::JoinHandle;
use tokio::time::timeout;
use tokio_util::sync::CancellationToken;

/// Long enough for anything that happens at all on a busy machine.
const PATIENCE: Duration = Duration::from_secs(120);

/// A door with nothing but this router behind it.
struct Bare {
    address: SocketAddr,
    stop: CancellationToken,
    ended: JoinHandle<()>,
}

impl Bare {
    fn open(router: Router, limits: Limits) -> Self {
        Self::with(router, limits, |door| door)
    }

    fn with(router: Router, limits: Limits, made: impl FnOnce(Door) -> Door) -> Self {
        let sockets = bind("127.0.0.1:0".parse().unwrap()).unwrap();
        let address = sockets[0].local_addr().unwrap();
        let hosts = OwnHosts::new(Machine::default(), [], None, None);
        let door = made(Door::new(limits, hosts, Vec::new(), None));
        let stop = CancellationToken::new();
        let stopping = stop.clone();
        let ended = tokio::spawn(async move { serve(sockets, door, router, &stopping).await });
        Self { address, stop, ended }
    }

    async fn connect(&self) -> TcpStream {
        TcpStream::connect(self.address).await.unwrap()
    }
}

/// All that comes until the other side closes.
async fn rest(stream: &mut TcpStream) -> String {
    let mut seen = Vec::new();
    let reading = async {
        // Who cuts a connection off does not always say so.
        while !matches!(stream.read_buf(&mut seen).await, Ok(0) | Err(_)) {}
    };
    timeout(PATIENCE, reading).await.expect("the connection is closed");
    String::from_utf8_lossy(&seen).into_owned()
}

/// Asks again until it is so.
async fn until<T>(what: &str, mut ask: impl AsyncFnMut() -> Option<T>) -> T {
    let asking = async {
        loop {
            if let Some(found) = ask().await {
                return found;
            }
            tokio::time::sleep(Duration::from_millis(50)).await;
        }
    };
    timeout(PATIENCE, asking).await.unwrap_or_else(|_| panic!("{what}"))
}
