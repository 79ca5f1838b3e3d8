//! What programs of this container listen at, and nobody else.
//!
//! A container on its node's network shares its ports with whoever else is there. Whoever wants to be
//! connected to a port of the task must not end at another one's program that was there first: so the
//! connection is made only where all that listens at the port is held by processes that are seen
//! from here, which are those of this container.

use std::collections::HashSet;
use std::fs;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::path::{Path, PathBuf};

use tokio::net::TcpStream;
use tokio::task::spawn_blocking;

/// Ways to one port that are tried.
const MOST: usize = 8;

/// Somebody who listens: where, and by which socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Listener {
    address: IpAddr,
    inode: u64,
}

/// Connects to what the container's own programs listen at. `alone`: all of its network is its own.
pub(super) async fn connect(port: u16, alone: bool) -> io::Result<TcpStream> {
    let before = listeners(port, alone).await?;
    let mut failure = nobody();
    let ways = before.iter().take(MOST).flat_map(|listener| {
        reached_at(listener.address).into_iter().map(move |address| (listener, address))
    });
    for (listener, address) in ways {
        match TcpStream::connect((address, port)).await {
            Ok(stream) => {
                // Who listens now listened all the time, so that it is he who has been reached.
                let after = listeners(port, alone).await?;
                if after.iter().any(|other| other.inode == listener.inode) {
                    stream.set_nodelay(true)?;
                    return Ok(stream);
                }
                failure = nobody();
            }
            Err(error) => failure = error,
        }
    }
    Err(failure)
}

fn nobody() -> io::Error {
    io::Error::new(io::ErrorKind::ConnectionRefused, "nobody of this task listens there")
}

async fn listeners(port: u16, alone: bool) -> io::Result<Vec<Listener>> {
    let found = spawn_blocking(move || {
        let found = at_port(port);
        (alone || are_ours(&found)).then_some(found)
    });
    found.await.map_err(io::Error::other)?.ok_or_else(nobody)
}

/// All that listen at a port of this network, IPv4 first.
fn at_port(port: u16) -> Vec<Listener> {
    let read = |table: &str| fs::read_to_string(table).unwrap_or_default();
    let tables = ["/proc/self/net/tcp", "/proc/self/net/tcp6"].map(read);
    tables.iter().flat_map(|table| listening(table, port)).collect()
}

fn listening(table: &str, port: u16) -> Vec<Listener> {
    let lines = table.lines().skip(1).filter_map(|line| {
        let mut words = line.split_ascii_whitespace().skip(1);
        let (address, at) = words.next()?.split_once(':')?;
        let state = words.nth(1)?;
        let inode = words.nth(5)?.parse().ok()?;
        let here = state == "0A" && u16::from_str_radix(at, 16).ok()? == port;
        here.then(|| Some(Listener { address: parse(address)?, inode }))?
    });
    lines.collect()
}

/// An address as the kernel shows it: words of 32 bits in the order of the machine.
fn parse(text: &str) -> Option<IpAddr> {
    let word = |text: &str| u32::from_str_radix(text, 16).ok().map(u32::to_ne_bytes);
    if text.len() == 8 {
        return Some(Ipv4Addr::from(word(text)?).into());
    }
    let mut bytes = [0; 16];
    for (place, index) in bytes.chunks_mut(4).zip(0..) {
        place.copy_from_slice(&word(text.get(index * 8..index * 8 + 8)?)?);
    }
    (text.len() == 32).then(|| Ipv6Addr::from(bytes).into())
}

/// Who listens at every address is reached at this machine's own. Who listens at all of IPv6 does so
/// at all of IPv4 as well, unless he wants it otherwise, and a container may have no IPv6.
fn reached_at(address: IpAddr) -> Vec<IpAddr> {
    match address {
        IpAddr::V4(any) if any.is_unspecified() => vec![Ipv4Addr::LOCALHOST.into()],
        IpAddr::V6(any) if any.is_unspecified() => {
            vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()]
        }
        other => vec![other],
    }
}

/// Whether there are any, and processes that are seen from here hold all of them. What programs of
/// another user than the container's own hold is not shown to us: they are not reached.
fn are_ours(listeners: &[Listener]) -> bool {
    let mut missing: HashSet<u64> = listeners.iter().map(|listener| listener.inode).collect();
    take_seen(&mut missing);
    // What programs of another user hold is shown to that user alone.
    !listeners.is_empty() && missing.is_empty()
}

fn processes() -> impl Iterator<Item = PathBuf> {
    let all = fs::read_dir("/proc").into_iter().flatten().flatten();
    let is_process =
        |entry: &fs::DirEntry| entry.file_name().as_encoded_bytes().iter().all(u8::is_ascii_digit);
    all.filter(is_process).map(|entry| entry.path())
}

/// Takes away the sockets that processes which are seen from here hold.
fn take_seen(missing: &mut HashSet<u64>) {
    for process in processes() {
        if missing.is_empty() {
            return;
        }
        take_held(&process.join("fd"), missing);
    }
}

fn take_held(folder: &Path, missing: &mut HashSet<u64>) {
    let Ok(files) = fs::read_dir(folder) else { return };
    for file in files.flatten() {
        let Ok(target) = fs::read_link(file.path()) else { continue };
        let target = target.to_str().and_then(|target| target.strip_prefix("socket:["));
        if let Some(Ok(inode)) = target.map(|target| target.trim_end_matches(']').parse()) {
            missing.remove(&inode);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::net::TcpListener;

    use super::*;

    const TABLE: &str = "\
  sl  local_address rem_address   st tx_queue rx_queue tr tm->when retrnsmt   uid  timeout inode
   0: 00000000:5209 00000000:0000 0A 00000000:00000000 00:00000000 00000000  1000        0 78274 1 00000000360ae102 100 0 0 10 0
   1: 0100007F:5209 00000000:0000 01 00000000:00000000 00:00000000 00000000     0        0 77409 1 0000000071b27d0f 100 0 0 10 0
   2: 0B00007F:8EFD 00000000:0000 0A 00000000:00000000 00:00000000 00000000     0        0 77410 1 0000000071b27d0f 100 0 0 10 0
";

    #[test]
    fn who_listens_is_read_from_the_kernels_table() {
        let any = Listener { address: Ipv4Addr::UNSPECIFIED.into(), inode: 78_274 };
        assert_eq!(listening(TABLE, 0x5209), [any]);
        let [one] = listening(TABLE, 0x8efd).try_into().unwrap();
        assert_eq!(one.address.to_string(), "127.0.0.11");
        assert_eq!(listening(TABLE, 80), []);
        assert_eq!(parse("00000000000000000000000001000000"), Some(Ipv6Addr::LOCALHOST.into()));
        assert_eq!(parse("0000"), None);
    }

    #[test]
    fn a_listener_of_ours_is_found_and_its_end_seen() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(are_ours(&at_port(port)));
        drop(listener);
        assert!(!are_ours(&at_port(port)));
    }
}
