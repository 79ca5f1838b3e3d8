//! Names of hosts: addresses, this machine, and what the image's own file says. A static program
//! can ask no name service.

use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// The addresses of a host, the likeliest first.
pub(crate) fn resolve(host: &str) -> Vec<IpAddr> {
    let host = host.trim_start_matches('[').trim_end_matches(']');
    if let Ok(address) = host.parse() {
        return vec![address];
    }
    let mut found = listed(&fs::read_to_string("/etc/hosts").unwrap_or_default(), host);
    if host.is_empty() || host.eq_ignore_ascii_case("localhost") {
        found.extend([IpAddr::from(Ipv4Addr::LOCALHOST), IpAddr::from(Ipv6Addr::LOCALHOST)]);
    }
    // A client that says "localhost" has mostly somebody in mind who listens on IPv4.
    found.sort_by_key(IpAddr::is_ipv6);
    found.dedup();
    found
}

fn listed(text: &str, host: &str) -> Vec<IpAddr> {
    let lines = text.lines().filter_map(|line| line.split('#').next());
    lines
        .filter_map(|line| {
            let mut words = line.split_whitespace();
            let address = words.next()?.parse().ok()?;
            words.any(|name| name.eq_ignore_ascii_case(host)).then_some(address)
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_names_and_this_machine_are_known() {
        assert_eq!(resolve("10.1.2.3"), ["10.1.2.3".parse::<IpAddr>().unwrap()]);
        assert_eq!(resolve("[::1]"), [IpAddr::from(Ipv6Addr::LOCALHOST)]);
        assert_eq!(resolve("localhost")[0], IpAddr::from(Ipv4Addr::LOCALHOST));
        assert!(resolve("no.such.host.invalid").is_empty());
        let text = "127.0.0.1 localhost\n10.0.0.7\tnode7 Seven # ours\n# 10.0.0.8 node8\n";
        assert_eq!(listed(text, "seven"), ["10.0.0.7".parse::<IpAddr>().unwrap()]);
        assert!(listed(text, "node8").is_empty());
    }
}
