use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use axum::extract::{ConnectInfo, FromRequestParts};
use axum::http::request::Parts;
use std::convert::Infallible;

use crate::state::AppState;

/// The address a request comes from: the connection's, or what a trusted proxy says.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ClientAddress(pub(crate) IpAddr);

impl FromRequestParts<AppState> for ClientAddress {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, state: &AppState) -> Result<Self, Infallible> {
        Ok(Self::of(parts, state))
    }
}

impl ClientAddress {
    /// The address of a request.
    pub(crate) fn of(parts: &Parts, state: &AppState) -> Self {
        let peer = parts
            .extensions
            .get::<ConnectInfo<SocketAddr>>()
            .map_or(IpAddr::V4(Ipv4Addr::UNSPECIFIED), |ConnectInfo(peer)| peer.ip());
        let forwarded = parts.headers.get("x-forwarded-for").and_then(|value| value.to_str().ok());
        Self(client(peer, forwarded, &state.trusted_proxies))
    }
}

/// The last address in the chain that no trusted proxy has.
fn client(peer: IpAddr, forwarded: Option<&str>, trusted: &[IpAddr]) -> IpAddr {
    if !trusted.contains(&peer) {
        return peer;
    }
    let hops = forwarded.unwrap_or_default().rsplit(',').map(|hop| hop.trim().parse::<IpAddr>());
    for hop in hops {
        match hop {
            Ok(address) if trusted.contains(&address) => {}
            Ok(address) => return address,
            Err(_) => return peer,
        }
    }
    peer
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_trusted_proxies_are_believed() {
        let ip = |text: &str| text.parse::<IpAddr>().unwrap();
        let trusted = [ip("10.0.0.1"), ip("10.0.0.2")];
        let cases = [
            ("1.2.3.4", Some("9.9.9.9"), "1.2.3.4"),
            ("10.0.0.1", Some("9.9.9.9"), "9.9.9.9"),
            ("10.0.0.1", Some("6.6.6.6, 9.9.9.9, 10.0.0.2"), "9.9.9.9"),
            ("10.0.0.1", Some("nonsense"), "10.0.0.1"),
            ("10.0.0.1", None, "10.0.0.1"),
        ];
        for (peer, forwarded, expected) in cases {
            assert_eq!(client(ip(peer), forwarded, &trusted), ip(expected), "{peer} {forwarded:?}");
        }
    }
}
