//! Who has a port that we cannot have.

use std::fmt;
use std::fs;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::Path;

/// State of a listening socket in `/proc/net/tcp`.
const LISTENING: &str = "0A";

/// A program that listens.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Holder {
    process: u32,
    name: String,
    /// The container it runs in, by the beginning of its id.
    container: Option<String>,
}

impl fmt::Display for Holder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { process, name, container } = self;
        write!(f, "{name} (process {process}")?;
        if let Some(container) = container {
            write!(f, " in container {container}")?;
        }
        f.write_str(")")
    }
}

/// Who listens there, if it can be seen from here.
pub(super) fn holder(address: SocketAddr) -> Option<Holder> {
    // One of IPv6 may have an address of IPv4 along, and is asked last: it may be our own other one.
    let tables: &[&str] = match address {
        SocketAddr::V4(_) => &["/proc/net/tcp", "/proc/net/tcp6"],
        SocketAddr::V6(_) => &["/proc/net/tcp6"],
    };
    tables.iter().find_map(|table| in_table(&fs::read_to_string(table).ok()?, address))
}

fn in_table(table: &str, address: SocketAddr) -> Option<Holder> {
    let inodes = listening(table, address).into_iter();
    let sockets: Vec<String> = inodes.map(|inode| format!("socket:[{inode}]")).collect();
    if sockets.is_empty() {
        return None;
    }
    let processes = fs::read_dir("/proc").ok()?.flatten();
    let mut processes = processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok());
    processes.find(|process| has_one(*process, &sockets)).map(described)
}

/// The sockets of a table that listen at this address, or at one that includes it.
fn listening(table: &str, address: SocketAddr) -> Vec<u64> {
    let inode = |line: &str| {
        let words: Vec<&str> = line.split_whitespace().collect();
        let (local, state, inode) = (words.get(1)?, words.get(3)?, words.get(9)?);
        let (ip, port) = local.split_once(':')?;
        let port = u16::from_str_radix(port, 16).ok()?;
        let meets = *state == LISTENING && port == address.port() && meets(ip, address.ip());
        meets.then(|| inode.parse().ok()).flatten()
    };
    table.lines().skip(1).filter_map(inode).collect()
}

fn meets(hex: &str, address: IpAddr) -> bool {
    let there = parse(hex);
    there
        .is_some_and(|there| there == address || there.is_unspecified() || address.is_unspecified())
}

/// Words of 32 bits, each in the machine's order.
fn parse(hex: &str) -> Option<IpAddr> {
    let word = |at: usize| {
        let digits = hex.get(at * 8..at * 8 + 8)?;
        u32::from_str_radix(digits, 16).ok().map(u32::to_ne_bytes)
    };
    match hex.len() {
        8 => word(0).map(|octets| IpAddr::V4(Ipv4Addr::from(octets))),
        32 => {
            let mut octets = [0; 16];
            for (at, part) in octets.chunks_exact_mut(4).enumerate() {
                part.copy_from_slice(&word(at)?);
            }
            Some(IpAddr::V6(Ipv6Addr::from(octets)).to_canonical())
        }
        _ => None,
    }
}

fn has_one(process: u32, sockets: &[String]) -> bool {
    let Ok(files) = fs::read_dir(format!("/proc/{process}/fd")) else { return false };
    files.flatten().filter_map(|file| fs::read_link(file.path()).ok()).any(|target| {
        target.to_str().is_some_and(|target| sockets.iter().any(|socket| socket == target))
    })
}

fn described(process: u32) -> Holder {
    let folder = Path::new("/proc").join(process.to_string());
    let read = |file| fs::read_to_string(folder.join(file)).unwrap_or_default();
    Holder { process, name: read("comm").trim().to_owned(), container: container(&read("cgroup")) }
}

/// Engines name a container's group by its id.
fn container(groups: &str) -> Option<String> {
    let mut words = groups.split(|c: char| !c.is_ascii_hexdigit());
    words.find(|word| word.len() == 64).map(|id| id[..12].to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whoever_listens_is_found() {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let found = holder(listener.local_addr().unwrap()).unwrap();
        assert_eq!(found.process, std::process::id());
        let other: SocketAddr = "127.0.0.9:1".parse().unwrap();
        assert_eq!(holder(other), None);
    }

    #[test]
    fn a_table_of_sockets_is_read() {
        let table = "  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode\n\
             0: 0100007F:1F90 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 11 1\n\
             1: 00000000:1F91 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 12 1\n\
             2: 0100007F:1F90 0100007F:A000 01 00000000:00000000 00:00000000 00000000     0        0 13 1\n";
        let at = |address: &str| listening(table, address.parse().unwrap());
        assert_eq!(at("127.0.0.1:8080"), [11]);
        assert_eq!(at("127.0.0.2:8080"), [0; 0]);
        assert_eq!(at("0.0.0.0:8080"), [11]);
        assert_eq!(at("127.0.0.1:8081"), [12]);
        assert_eq!(
            parse("00000000000000000000000001000000"),
            Some(IpAddr::V6(Ipv6Addr::LOCALHOST))
        );
    }

    #[test]
    fn a_container_is_known_by_its_group() {
        let id = "0123456789abcdef".repeat(4);
        let groups = format!("0::/system.slice/docker-{id}.scope\n");
        assert_eq!(container(&groups).as_deref(), Some("0123456789ab"));
        assert_eq!(container("0::/user.slice/user-0.slice\n"), None);
    }
}
