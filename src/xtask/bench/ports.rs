//! Ports that stay free for whoever comes again.

use std::net::{Ipv4Addr, TcpListener};
use std::process;

use anyhow::{Context as _, Result};

/// Below those from which Linux gives one to whoever calls (32768 and above): what is killed finds its port
/// free when it comes again, however many have called meanwhile. The nodes of a bench have those below.
const QUIET: std::ops::Range<u16> = 30_000..32_768;

/// A port of this machine on which nobody listens, and that nobody is given as a caller. Each run begins
/// elsewhere.
pub(super) fn quiet() -> Result<u16> {
    let count = u32::from(QUIET.end - QUIET.start);
    let first = process::id().wrapping_mul(7) % count;
    let mut ports = (0..count).filter_map(|step| {
        let port = u16::try_from((first + step) % count).ok()? + QUIET.start;
        TcpListener::bind((Ipv4Addr::LOCALHOST, port)).ok().map(|_| port)
    });
    ports.next().with_context(|| format!("all ports of {QUIET:?} are taken"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_port_is_given_to_no_caller_and_not_twice() {
        let range = std::fs::read_to_string("/proc/sys/net/ipv4/ip_local_port_range").unwrap();
        let callers = range.split_whitespace().next().unwrap().parse::<u16>().unwrap();
        let port = quiet().unwrap();
        assert!(port < callers, "{port}, and callers have {callers} and above");
        let _taken = TcpListener::bind((Ipv4Addr::LOCALHOST, port)).unwrap();
        assert_ne!(quiet().unwrap(), port);
    }
}
