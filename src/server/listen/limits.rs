//! How many, and how long.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

/// More open files than this are not asked for.
const OPEN_FILES: u64 = 65_536;
/// The most connections, when nothing is said.
const TOTAL: usize = 16_384;
/// The most of one address, when nothing is said: whole offices share one.
const OF_ADDRESS: usize = 1_024;
/// How often it is told that there are too many.
const TELL: Duration = Duration::from_secs(60);

/// What a door puts up with.
#[derive(Debug, Clone)]
pub struct Limits {
    /// Connections at once.
    pub total: usize,
    /// Of these, one address' (one /64 of IPv6). The machine itself may have three quarters of all,
    /// a trusted proxy all.
    pub per_address: usize,
    /// How long a request's head may take, from its first byte; a new connection's from its begin.
    pub head: Duration,
    /// How long a connection may be there without asking anything.
    pub quiet: Duration,
    /// How long a body may bring nothing.
    pub body: Duration,
    /// How long a client may take nothing of its answer.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self::of_open_files(open_files())
    }
}

impl Limits {
    /// Half of the files that may be open are for connections: each may need another for what it
    /// asks.
    fn of_open_files(files: u64) -> Self {
        let total = usize::try_from(files / 2).unwrap_or(TOTAL).clamp(16, TOTAL);
        Self {
            total,
            per_address: (total / 4).clamp(8, OF_ADDRESS),
            head: Duration::from_secs(10),
            quiet: Duration::from_secs(75),
            body: Duration::from_secs(30),
            stall: Duration::from_secs(120),
        }
    }

    /// The same with what is configured.
    #[must_use]
    pub fn with(mut self, total: Option<usize>, per_address: Option<usize>) -> Self {
        if let Some(total) = total {
            self.total = total;
            self.per_address = (total / 4).clamp(1, OF_ADDRESS);
        }
        if let Some(per_address) = per_address {
            self.per_address = per_address;
        }
        self
    }
}

/// The files that this process may have open.
fn open_files() -> u64 {
    getrlimit(Resource::Nofile).current.unwrap_or(u64::MAX)
}

/// Allows itself as many open files as it is allowed to, within reason.
pub fn raise_open_files() {
    let Rlimit { current, maximum } = getrlimit(Resource::Nofile);
    let wanted = maximum.unwrap_or(OPEN_FILES).min(OPEN_FILES);
    if current.is_some_and(|current| current < wanted) {
        let raised = Rlimit { current: Some(wanted), maximum };
        if let Err(error) = setrlimit(Resource::Nofile, raised) {
            tracing::debug!(%error, "the limit of open files stays as it is");
        }
    }
}

/// Who has how many connections.
#[derive(Debug)]
pub(super) struct Places {
    total: usize,
    per_address: usize,
    trusted: Vec<IpAddr>,
    taken: Mutex<Taken>,
}

#[derive(Debug, Default)]
struct Taken {
    all: usize,
    /// Addresses without a connection are not in it.
    of: HashMap<IpAddr, usize>,
    told: Option<Instant>,
}

/// One connection's place, given back when it is dropped.
#[derive(Debug)]
pub(super) struct Place {
    places: Arc<Places>,
    of: IpAddr,
}

impl Places {
    pub(super) fn new(limits: &Limits, trusted: Vec<IpAddr>) -> Self {
        let Limits { total, per_address, .. } = *limits;
        Self { total, per_address, trusted, taken: Mutex::default() }
    }

    /// A place for a connection from there; `None`: there are too many.
    pub(super) fn take(self: &Arc<Self>, address: IpAddr) -> Option<Place> {
        let of = neighbourhood(address);
        let allowed = self.allowed(address);
        let mut taken = self.lock();
        let own = taken.of.get(&of).copied().unwrap_or_default();
        if own >= allowed || taken.all >= self.total {
            tell(&mut taken, address, own);
            return None;
        }
        taken.all += 1;
        taken.of.insert(of, own + 1);
        Some(Place { places: Arc::clone(self), of })
    }

    fn allowed(&self, address: IpAddr) -> usize {
        if self.trusted.contains(&address) {
            self.total
        } else if address.is_loopback() {
            // Tasks may run on this machine, too: some places stay for everybody else.
            self.per_address.max(self.total - self.total / 4)
        } else {
            self.per_address
        }
    }

    fn lock(&self) -> MutexGuard<'_, Taken> {
        self.taken.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

fn tell(taken: &mut Taken, address: IpAddr, own: usize) {
    if taken.told.is_none_or(|told| told.elapsed() > TELL) {
        taken.told = Some(Instant::now());
        let all = taken.all;
        tracing::warn!(%address, own, all, "too many connections: new ones are turned away");
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut taken = self.places.lock();
        taken.all -= 1;
        let left = taken.of.get(&self.of).map_or(0, |own| own - 1);
        if left == 0 {
            taken.of.remove(&self.of);
        } else {
            taken.of.insert(self.of, left);
        }
    }
}

/// Those who can be one and the same: of IPv6 everybody has 2⁶⁴ addresses, and a machine has 2²⁴ for
/// itself alone.
fn neighbourhood(address: IpAddr) -> IpAddr {
    match address {
        address if address.is_loopback() => IpAddr::V4(Ipv4Addr::LOCALHOST),
        IpAddr::V6(v6) => {
            let [a, b, c, d, ..] = v6.segments();
            IpAddr::V6(Ipv6Addr::new(a, b, c, d, 0, 0, 0, 0))
        }
        IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn places(total: usize, per_address: usize, trusted: &[&str]) -> Arc<Places> {
        let limits = Limits { total, per_address, ..Limits::of_open_files(64) };
        let trusted = trusted.iter().map(|address| address.parse().unwrap()).collect();
        Arc::new(Places::new(&limits, trusted))
    }

    fn taken(places: &Arc<Places>, addresses: impl Iterator<Item = String>) -> Vec<Place> {
        addresses.filter_map(|address| places.take(address.parse().unwrap())).collect()
    }

    #[test]
    fn one_address_does_not_take_all_connections() {
        let places = places(16, 4, &["10.0.0.9"]);
        let first = taken(&places, (0..9).map(|_| "10.0.0.1".to_owned()));
        assert_eq!(first.len(), 4);
        assert_eq!(taken(&places, ["10.0.0.2".to_owned()].into_iter()).len(), 1);
        drop(first);
        assert_eq!(taken(&places, (1..99).map(|n| format!("127.0.0.{n}"))).len(), 12);
        assert_eq!(taken(&places, (0..99).map(|_| "10.0.0.9".to_owned())).len(), 16);
        assert!(places.lock().of.is_empty(), "who has gone is forgotten");
    }

    #[test]
    fn a_net_of_ipv6_counts_as_one_address() {
        let places = places(64, 4, &[]);
        assert_eq!(taken(&places, (0..9).map(|n| format!("2001:db8::{n}"))).len(), 4);
        assert_eq!(taken(&places, (0..9).map(|n| format!("2001:db8:0:{n}::1"))).len(), 9);
    }

    #[test]
    fn connections_leave_files_for_what_they_ask() {
        for (files, total) in [(64, 32), (1_024, 512), (1 << 40, TOTAL), (1, 16)] {
            assert_eq!(Limits::of_open_files(files).total, total);
        }
        let limits = Limits::of_open_files(1_024).with(Some(100), None);
        assert_eq!((limits.total, limits.per_address), (100, 25));
        assert_eq!(limits.with(None, Some(7)).per_address, 7);
    }
}
