//! Which sockets a listen address means, and taking all of them.

use std::io::ErrorKind;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use socket2::{Domain, Protocol, Socket, Type};
use tokio::net::TcpListener;

use super::holder::{Holder, holder};

/// Connections that wait to be taken.
const BACKLOG: i32 = 1_024;
/// How many free ports are tried until one is free for both addresses.
const ATTEMPTS: u32 = 32;

/// An address that cannot be listened at.
#[derive(Debug, thiserror::Error)]
pub enum Unbound {
    /// Another program has it.
    #[error("{}", taken(.address, .wanted, .holder.as_deref()))]
    Taken {
        /// What cannot be had.
        address: SocketAddr,
        /// What is configured.
        wanted: SocketAddr,
        /// Who has it.
        holder: Option<String>,
    },
    /// The machine does not have it, or this process may not.
    #[error("{address} cannot be listened at: {error}")]
    Failed {
        /// What cannot be had.
        address: SocketAddr,
        /// Why.
        #[source]
        error: std::io::Error,
    },
}

fn taken(address: &SocketAddr, wanted: &SocketAddr, holder: Option<&str>) -> String {
    let why = match (address == wanted, address.ip().is_unspecified()) {
        (true, _) => "",
        (false, true) => ", which belongs to all addresses of this machine,",
        (false, false) => ", where browsers look first for localhost,",
    };
    let port = address.port();
    let unseen = || format!("a program that cannot be seen from here (`ss -ltnp sport = :{port}`)");
    let holder = holder.map_or_else(unseen, str::to_owned);
    format!("{address}{why} is taken by {holder}: stop that, or choose another port")
}

/// Takes an address and the other one that must not be another program's: both loopback addresses
/// where one is meant, all of IPv6 where all of IPv4 is meant, and the reverse. The other one is
/// left out where the machine does not have it.
///
/// # Errors
/// [`Unbound`] says who has it.
pub fn bind(wanted: SocketAddr) -> Result<Vec<TcpListener>, Unbound> {
    let mut attempts = 0;
    loop {
        attempts += 1;
        let first = listener(wanted, wanted)?;
        let port = first.local_addr().map_err(|error| failed(wanted, error))?.port();
        let Some(other) = companion(wanted.ip()) else { return Ok(vec![first]) };
        let other = SocketAddr::new(other, port);
        match listener(other, SocketAddr::new(wanted.ip(), port)) {
            Ok(second) => return Ok(vec![first, second]),
            Err(Unbound::Failed { error, .. }) if is_absent(&error) => {
                tracing::debug!(address = %other, %error, "this machine does not have it");
                return Ok(vec![first]);
            }
            // Any port will do: the next one may be free for both.
            Err(Unbound::Taken { .. }) if wanted.port() == 0 && attempts < ATTEMPTS => {}
            Err(error) => return Err(error),
        }
    }
}

/// The address that is taken along.
fn companion(address: IpAddr) -> Option<IpAddr> {
    match address {
        IpAddr::V4(Ipv4Addr::LOCALHOST) => Some(IpAddr::V6(Ipv6Addr::LOCALHOST)),
        IpAddr::V6(Ipv6Addr::LOCALHOST) => Some(IpAddr::V4(Ipv4Addr::LOCALHOST)),
        IpAddr::V4(Ipv4Addr::UNSPECIFIED) => Some(IpAddr::V6(Ipv6Addr::UNSPECIFIED)),
        IpAddr::V6(Ipv6Addr::UNSPECIFIED) => Some(IpAddr::V4(Ipv4Addr::UNSPECIFIED)),
        IpAddr::V4(_) | IpAddr::V6(_) => None,
    }
}

/// A machine without IPv6, or without IPv4.
fn is_absent(error: &std::io::Error) -> bool {
    let unsupported = rustix::io::Errno::AFNOSUPPORT.raw_os_error();
    error.kind() == ErrorKind::AddrNotAvailable || error.raw_os_error() == Some(unsupported)
}

fn failed(address: SocketAddr, error: std::io::Error) -> Unbound {
    Unbound::Failed { address, error }
}

fn listener(address: SocketAddr, wanted: SocketAddr) -> Result<TcpListener, Unbound> {
    open(address).map_err(|error| match error.kind() {
        ErrorKind::AddrInUse => {
            let holder = holder(address).as_ref().map(Holder::to_string);
            Unbound::Taken { address, wanted, holder }
        }
        _ => failed(address, error),
    })
}

fn open(address: SocketAddr) -> std::io::Result<TcpListener> {
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, Some(Protocol::TCP))?;
    // Connections of an earlier run that are still fading do not keep us out; who listens does.
    socket.set_reuse_address(true)?;
    if address.is_ipv6() {
        socket.set_only_v6(true)?;
    }
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    TcpListener::from_std(socket.into())
}
