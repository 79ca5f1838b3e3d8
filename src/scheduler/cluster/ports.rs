//! Which ports are taken. Ports are unique per address; nodes that share an address and a range
//! share a pool.

use std::collections::HashMap;

use protocol::ids::JobId;
use protocol::resources::PortRange;

use crate::numbers::indices::{AddressIndex, By, PortsIndex};
use crate::numbers::request::{ClassRole, Span};

/// What of the ports a job may see as free.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum View {
    /// What no reservation needs.
    Outside,
    /// All that is free.
    Real,
}

/// The ports of all addresses.
#[derive(Debug, Default, Clone)]
pub(crate) struct Ports {
    addresses: By<AddressIndex, Address>,
    pools: By<PortsIndex, Pool>,
}

#[derive(Debug, Default, Clone)]
struct Address {
    /// In order: few are taken of many.
    taken: Vec<u16>,
    /// Ports by number that the reservation needs.
    held: Vec<Span>,
    pools: Vec<PortsIndex>,
    /// How many have been taken so far, those that were given back among them.
    given: u64,
}

#[derive(Debug, Clone)]
struct Pool {
    address: AddressIndex,
    range: PortRange,
    /// Ports of the range that nobody has.
    free: i64,
    /// So many of them are held for the reservation.
    held: i64,
}

impl Address {
    fn is_taken(&self, port: u16) -> bool {
        self.taken.binary_search(&port).is_ok()
    }

    /// True when that changed something.
    fn set(&mut self, port: u16, taken: bool) -> bool {
        match (self.taken.binary_search(&port), taken) {
            (Err(at), true) => self.taken.insert(at, port),
            (Ok(at), false) => drop(self.taken.remove(at)),
            (Ok(_), true) | (Err(_), false) => return false,
        }
        self.given += u64::from(taken);
        true
    }

    /// Neither taken nor, where the view sees that, held.
    fn is_open(&self, port: u16, view: View) -> bool {
        let held = view == View::Outside && self.held.iter().any(|span| span.contains(port));
        !held && !self.is_taken(port)
    }
}

impl Ports {
    /// One pool for each node given as `(address, range)`, in that order.
    pub(crate) fn new<'a>(
        nodes: impl Iterator<Item = (&'a str, PortRange)>,
    ) -> (Self, Vec<PortsIndex>) {
        let mut ports = Self::default();
        let mut addresses = HashMap::new();
        let mut pools = HashMap::new();
        let of_nodes = nodes
            .map(|(name, range)| {
                let address = *addresses
                    .entry(name)
                    .or_insert_with(|| ports.addresses.push(Address::default()));
                *pools.entry((address, range.first, range.last)).or_insert_with(|| {
                    let free = i64::from(range.last) - i64::from(range.first) + 1;
                    let pool = Pool { address, range, free: free.max(0), held: 0 };
                    let number = ports.pools.push(pool);
                    ports.addresses[address].pools.push(number);
                    number
                })
            })
            .collect();
        (ports, of_nodes)
    }

    /// How many tasks of the role the pool could take, capped by `limit`.
    pub(crate) fn tasks(&self, pool: PortsIndex, role: &ClassRole, view: View, limit: i64) -> i64 {
        let pool = &self.pools[pool];
        let held = if view == View::Outside { pool.held } else { 0 };
        let free = (pool.free - held).max(0);
        if role.alone_on_address() {
            let inside: i64 =
                role.numbered.iter().map(|s| s.shared(pool.range.first, pool.range.last)).sum();
            let enough = free >= inside + i64::from(role.any_ports);
            let in_range = role.lies_in((pool.range.first, pool.range.last));
            let fits = enough && in_range && self.numbers_free(pool.address, &role.numbered, view);
            return i64::from(fits).min(limit);
        }
        match role.any_ports {
            0 => limit,
            any => (free / i64::from(any)).min(limit),
        }
    }

    fn numbers_free(&self, address: AddressIndex, spans: &[Span], view: View) -> bool {
        let address = &self.addresses[address];
        spans.iter().all(|span| {
            (span.first..=span.last)
                .all(|port| u16::try_from(port).is_ok_and(|port| address.is_open(port, view)))
        })
    }

    /// The ports of one task in the order of the role's labels. Those with any number are looked
    /// for from a place that is another for each job and each time, so that neither a port just
    /// freed nor one that a program outside of Berth has taken is given again at once, and around
    /// the numbers that other tasks of the job ask for, as long as that works.
    ///
    /// `None` when there are not enough.
    pub(crate) fn pick(
        &self,
        pool: PortsIndex,
        role: &ClassRole,
        (job, numbered): (JobId, &[Span]),
        view: View,
    ) -> Option<Vec<u16>> {
        let pool = &self.pools[pool];
        let address = &self.addresses[pool.address];
        let start = scattered(job.0 as u64 ^ address.given.rotate_left(32));
        let needed = role.any_ports as usize;
        let of = |spans: &[Span], port| spans.iter().any(|span| span.contains(port));
        let mut any = Vec::with_capacity(needed);
        for wanted_by_others in [false, true] {
            if any.len() < needed {
                let good = |port: &u16| {
                    address.is_open(*port, view)
                        && !of(&role.numbered, *port)
                        && of(numbered, *port) == wanted_by_others
                };
                let missing = needed - any.len();
                any.extend(rotated(pool.range, start).filter(good).take(missing));
            }
        }
        let mut any = any.into_iter();
        let mut ports = Vec::new();
        for request in &role.ports {
            for offset in 0..request.count {
                ports.push(match request.begin_at {
                    0 => any.next()?,
                    first => u16::try_from(u32::from(first) + offset).ok()?,
                });
            }
        }
        Some(ports)
    }

    /// Marks ports as taken or free.
    pub(crate) fn set(&mut self, pool: PortsIndex, ports: &[u16], taken: bool) {
        let address = self.pools[pool].address;
        for port in ports {
            if !self.addresses[address].set(*port, taken) {
                continue;
            }
            for pool in &self.addresses[address].pools {
                let pool = &mut self.pools[*pool];
                if pool.range.ports().contains(port) {
                    pool.free += if taken { -1 } else { 1 };
                }
            }
        }
    }

    /// Whether nobody has any of these.
    pub(crate) fn are_free(&self, pool: PortsIndex, ports: &[u16]) -> bool {
        let address = &self.addresses[self.pools[pool].address];
        !ports.iter().any(|port| address.is_taken(*port))
    }

    /// How many of the ports are of the pool's range.
    pub(crate) fn in_range(&self, pool: PortsIndex, ports: &[u16]) -> i64 {
        let range = self.pools[pool].range.ports();
        let inside = ports.iter().filter(|port| range.contains(port)).count();
        i64::try_from(inside).unwrap_or(i64::MAX)
    }

    /// Keeps so many ports for a reservation, or (below 0) lets them go.
    pub(crate) fn hold(&mut self, pool: PortsIndex, count: i64) {
        self.pools[pool].held += count;
    }

    /// Keeps those ports for a reservation.
    pub(crate) fn hold_numbers(&mut self, pool: PortsIndex, numbered: &[Span]) {
        let address = self.pools[pool].address;
        self.addresses[address].held.extend_from_slice(numbered);
    }

    /// Lets go what [`Ports::hold_numbers`] kept.
    pub(crate) fn release_numbers(&mut self, pool: PortsIndex, numbered: &[Span]) {
        let held = &mut self.addresses[self.pools[pool].address].held;
        for span in numbered {
            if let Some(at) = held.iter().position(|other| other == span) {
                held.swap_remove(at);
            }
        }
    }

    /// How many addresses there are.
    pub(crate) fn addresses(&self) -> usize {
        self.addresses.len()
    }

    /// Whether there is a pool that has fewer than so many free.
    pub(crate) fn may_lack(&self, ports: u32) -> bool {
        ports > 0 && self.pools.iter().any(|pool| pool.free < i64::from(ports))
    }

    /// Free ports of the pool's range.
    pub(crate) fn free(&self, pool: PortsIndex) -> i64 {
        self.pools[pool].free
    }
}

/// The ports of a range from a place that `start` gives, once around.
fn rotated(range: PortRange, start: u64) -> impl Iterator<Item = u16> {
    let length = u64::from(range.last.saturating_sub(range.first)) + 1;
    let start = u16::try_from(start % length).unwrap_or(0).saturating_add(range.first);
    let valid = range.first <= range.last;
    (start..=range.last).chain(range.first..start).filter(move |_| valid)
}

/// Spreads numbers that lie close together over the whole range of numbers (the finaliser of
/// SplitMix64).
fn scattered(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}
