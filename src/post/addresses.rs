//! Where webhooks may lead. Who sets one is a user, and who calls it stands in the network of the
//! cluster: it must not reach for him what he does not reach himself.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The hosts that an administrator lets webhooks reach, whatever their addresses are, also without
/// encryption.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Allowed(BTreeSet<String>);

impl Allowed {
    /// Names or addresses, without scheme and port.
    pub fn new(hosts: impl IntoIterator<Item = String>) -> Self {
        Self(hosts.into_iter().map(|host| plain(&host)).collect())
    }

    pub(crate) fn has(&self, host: &str) -> bool {
        self.0.contains(&plain(host))
    }
}

/// One spelling of a host.
fn plain(host: &str) -> String {
    let host = host.trim_start_matches('[').trim_end_matches(']').trim_end_matches('.');
    host.to_ascii_lowercase()
}

/// Whether an address is everybody's, not one of a network of somebody's own.
pub(crate) fn is_public(address: IpAddr) -> bool {
    match address {
        IpAddr::V4(address) => is_public_v4(address),
        IpAddr::V6(address) => is_public_v6(address),
    }
}

fn is_public_v4(address: Ipv4Addr) -> bool {
    let [a, b, c, _] = address.octets();
    let own = address.is_private()
        || address.is_loopback()
        || address.is_link_local()
        || address.is_documentation()
        || address.is_broadcast()
        || address.is_multicast();
    let shared = a == 100 && (64..128).contains(&b);
    // Some of them lead into what version 6 carries (192.88.99.0/24).
    let special = a == 0
        || a >= 240
        || matches!((a, b, c), (192, 0, 0) | (192, 88, 99))
        || (a == 198 && b & 0xfe == 18);
    !(own || shared || special)
}

fn is_public_v6(address: Ipv6Addr) -> bool {
    if let Some(inside) = address.to_ipv4_mapped() {
        return is_public_v4(inside);
    }
    let [first, second, ..] = address.segments();
    // What is given to the world at all, without what carries addresses of version 4 in it (6to4), what is
    // for protocols (2001::/23, Teredo among them) and what is for books.
    let given = first & 0xe000 == 0x2000;
    let carries = first == 0x2002 || (first == 0x2001 && second < 0x0200);
    let books = (first == 0x2001 && second == 0x0db8) || (first == 0x3fff && second < 0x1000);
    given && !carries && !books
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_networks_of_ones_own_are_not_public() {
        for own in [
            "127.0.0.1",
            "127.1.2.3",
            "0.0.0.0",
            "10.0.0.1",
            "172.16.0.1",
            "172.31.255.255",
            "192.168.1.1",
            "169.254.169.254",
            "100.64.0.1",
            "100.127.255.255",
            "192.0.0.8",
            "192.88.99.1",
            "198.18.0.1",
            "198.19.0.1",
            "224.0.0.1",
            "240.0.0.1",
            "255.255.255.255",
            "::",
            "::1",
            "::ffff:127.0.0.1",
            "::ffff:10.0.0.1",
            "::7f00:1",
            "fe80::1",
            "fc00::1",
            "fd00::1",
            "ff02::1",
            "64:ff9b::7f00:1",
            "2002:7f00:1::",
            "2001::1",
            "2001:2::1",
            "2001:20::1",
            "2001:db8::1",
            "3fff::1",
            "::ffff:0:127.0.0.1",
            "64:ff9b:1::7f00:1",
            "fec0::1",
        ] {
            assert!(!is_public(own.parse().unwrap()), "{own}");
        }
        for public in [
            "1.1.1.1",
            "8.8.8.8",
            "100.63.0.1",
            "100.128.0.1",
            "172.32.0.1",
            "198.20.0.1",
            "::ffff:8.8.8.8",
            "2001:200::1",
            "2606:4700::1111",
            "2a00:1450::1",
        ] {
            assert!(is_public(public.parse().unwrap()), "{public}");
        }
    }

    #[test]
    fn hosts_are_allowed_in_any_spelling() {
        let allowed = Allowed::new(["Hooks.example.org".to_owned(), "::1".to_owned()]);
        for host in ["hooks.example.org", "HOOKS.example.org.", "[::1]", "::1"] {
            assert!(allowed.has(host), "{host}");
        }
        assert!(!allowed.has("example.org") && !allowed.has("a.hooks.example.org"));
    }
}
