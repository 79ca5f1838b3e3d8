//! How often one may try to sign in, so that nobody guesses a password and nobody locks another out.
//!
//! * A *network* is what one attacker surely has: an IPv4 address, or the 64 bits that begin an
//!   IPv6 address. It may fail so often for one name, and so often altogether.
//! * A name that fails from many networks only becomes slow, for those who are new to it.
//! * Whoever has signed in before, from this network or with the cookie of this device, is not
//!   refused for what others do, nor slowed by it; he is slowed by what he himself does.
//! * All who are new to the names that they try have one budget together, however many addresses
//!   they have.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Failed attempts of one network for one name before it has to wait.
const PER_PAIR: u32 = 8;
/// Failed attempts of one network before it has to wait.
const PER_NETWORK: u32 = 40;
/// Failed attempts of all who are new to the names that they try.
const OF_STRANGERS: u32 = 600;
/// Failed attempts for one name, or of one who is known, that cost no time.
const AT_ONCE: u32 = 4;
/// How long the first attempt after these takes; each further one takes twice as long.
const FIRST_DELAY: Duration = Duration::from_millis(500);
/// The longest that an attempt takes.
const LONGEST_DELAY: Duration = Duration::from_secs(4);
/// How much of the attempts of one who is known may wait for each other.
const LONGEST_LINE: Duration = Duration::from_secs(60);
/// How long attempts are remembered.
const WINDOW: Duration = Duration::from_secs(120);
/// How many names and networks are remembered; beyond it the oldest are forgotten.
const REMEMBERED: usize = 20_000;

/// Counts attempts. An attempt counts from its beginning, so that many at once get no further
/// than one after the other; one that succeeds is taken back.
#[derive(Debug, Default)]
pub struct SignInLimit(Mutex<Memory>);

#[derive(Debug, Default)]
struct Memory {
    attempts: HashMap<Key, Attempts>,
    /// Who has signed in from where, and when last.
    known: HashMap<(String, Network), Instant>,
}

/// Whoever tries.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Visitor {
    /// The name that is tried.
    pub user: String,
    /// Where the attempt comes from.
    pub address: IpAddr,
    /// The device, if its cookie says that this user has signed in with it.
    pub device: Option<String>,
}

/// What one attacker surely has.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Network {
    V4([u8; 4]),
    /// The first 64 bits.
    V6([u16; 4]),
}

impl From<IpAddr> for Network {
    fn from(address: IpAddr) -> Self {
        match address.to_canonical() {
            IpAddr::V4(address) => Self::V4(address.octets()),
            IpAddr::V6(address) => {
                let [a, b, c, d, ..] = address.segments();
                Self::V6([a, b, c, d])
            }
        }
    }
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    Strangers,
    Name(String),
    Network(Network),
    Pair(String, Network),
    /// One who has signed in before from here.
    Known(String, Network),
    /// One who has signed in before with this device.
    Device(String, String),
}

#[derive(Debug, Clone, Copy)]
struct Attempts {
    since: Instant,
    count: u32,
    /// When the last of them may go on.
    turn: Instant,
}

impl SignInLimit {
    /// Counts an attempt; gives how long it has to take.
    ///
    /// # Errors
    /// Too many: how long to wait before another one.
    pub fn begin(&self, visitor: &Visitor, now: Instant) -> Result<Duration, Duration> {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        memory.forget(now);
        match memory.familiar(visitor) {
            Some(key) => memory.familiar_attempt(key, now),
            None => memory.strange_attempt(visitor, now),
        }
    }

    /// The attempt succeeded: it is taken back, and its visitor is known from now on.
    pub fn succeeded(&self, visitor: &Visitor, now: Instant) {
        let mut memory = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let (name, network) = (folded(&visitor.user), Network::from(visitor.address));
        if let Some(key) = memory.familiar(visitor) {
            memory.attempts.remove(&key);
        } else {
            for key in strange(visitor).map(|(key, _)| key) {
                if let Some(seen) = memory.attempts.get_mut(&key) {
                    seen.count = seen.count.saturating_sub(1);
                }
            }
            memory.attempts.remove(&Key::Pair(name.clone(), network));
        }
        memory.known.insert((name, network), now);
        forget_oldest(&mut memory.known, |at| *at);
    }
}

impl Memory {
    /// How this visitor is known, if he is.
    fn familiar(&self, visitor: &Visitor) -> Option<Key> {
        let (name, network) = (folded(&visitor.user), Network::from(visitor.address));
        if let Some(device) = &visitor.device {
            return Some(Key::Device(name, device.clone()));
        }
        let place = (name, network);
        self.known.contains_key(&place).then_some(Key::Known(place.0, place.1))
    }

    /// Attempts of one who is known wait for each other, and take ever longer.
    fn familiar_attempt(&mut self, key: Key, now: Instant) -> Result<Duration, Duration> {
        let seen = self.attempts.entry(key).or_insert(Attempts { since: now, count: 0, turn: now });
        let turn = seen.turn.max(now) + delay(seen.count);
        let wait = turn.duration_since(now);
        if wait > LONGEST_LINE {
            return Err(wait.saturating_sub(LONGEST_LINE));
        }
        seen.turn = turn;
        seen.count = seen.count.saturating_add(1);
        Ok(wait)
    }

    fn strange_attempt(&mut self, visitor: &Visitor, now: Instant) -> Result<Duration, Duration> {
        for (key, limit) in strange(visitor) {
            let Some(limit) = limit else { continue };
            if let Some(seen) = self.attempts.get(&key).filter(|seen| seen.count >= limit) {
                return Err(WINDOW.saturating_sub(now.duration_since(seen.since)));
            }
        }
        let mut wait = Duration::ZERO;
        for (key, limit) in strange(visitor) {
            let first = Attempts { since: now, count: 0, turn: now };
            let seen = self.attempts.entry(key).or_insert(first);
            if limit.is_none() {
                wait = delay(seen.count);
            }
            seen.count = seen.count.saturating_add(1);
        }
        Ok(wait)
    }

    fn forget(&mut self, now: Instant) {
        self.attempts.retain(|_, seen| now.duration_since(seen.since) < WINDOW || seen.turn > now);
        forget_oldest(&mut self.attempts, |seen| seen.since);
    }
}

/// What an attempt of one who is new counts for, and how often it may; `None`: it only slows.
fn strange(visitor: &Visitor) -> [(Key, Option<u32>); 4] {
    let (name, network) = (folded(&visitor.user), Network::from(visitor.address));
    [
        (Key::Strangers, Some(OF_STRANGERS)),
        (Key::Network(network), Some(PER_NETWORK)),
        (Key::Pair(name.clone(), network), Some(PER_PAIR)),
        (Key::Name(name), None),
    ]
}

/// How long the next attempt takes after so many.
fn delay(count: u32) -> Duration {
    match count.checked_sub(AT_ONCE) {
        None => Duration::ZERO,
        Some(over) => FIRST_DELAY.saturating_mul(1 << over.min(10)).min(LONGEST_DELAY),
    }
}

fn folded(user: &str) -> String {
    user.chars().take(64).flat_map(char::to_lowercase).collect()
}

fn forget_oldest<K: Clone + Eq + std::hash::Hash, V>(
    map: &mut HashMap<K, V>,
    at: impl Fn(&V) -> Instant,
) {
    while map.len() > REMEMBERED {
        let oldest = map.iter().min_by_key(|(_, value)| at(value)).map(|(key, _)| key.clone());
        match oldest {
            Some(oldest) => map.remove(&oldest),
            None => return,
        };
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn visitor(user: &str, address: &str) -> Visitor {
        Visitor { user: user.into(), address: address.parse().unwrap(), device: None }
    }

    /// How many of so many wrong passwords are tried, and how long the last one takes.
    fn wrong(limit: &SignInLimit, visitor: &Visitor, times: u32, now: Instant) -> (u32, Duration) {
        let tries = (0..times).filter_map(|_| limit.begin(visitor, now).ok());
        tries.fold((0, Duration::ZERO), |(count, _), wait| (count + 1, wait))
    }

    #[test]
    fn a_name_is_guessed_only_so_often_from_one_place() {
        let limit = SignInLimit::default();
        let start = Instant::now();
        let mallory = visitor("alice", "10.0.0.1");
        assert_eq!(wrong(&limit, &mallory, 20, start), (PER_PAIR, LONGEST_DELAY));
        let upper = visitor("ALICE", "10.0.0.1");
        let wait = limit.begin(&upper, start + Duration::from_secs(20)).unwrap_err();
        assert_eq!(wait, Duration::from_secs(100));
        assert!(limit.begin(&visitor("bob", "10.0.0.1"), start).is_ok());
        assert!(limit.begin(&mallory, start + WINDOW).is_ok());
    }

    #[test]
    fn nobody_locks_another_out() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        let home = visitor("bob", "192.0.2.7");
        limit.begin(&home, now).unwrap();
        limit.succeeded(&home, now);
        for n in 0..200 {
            wrong(&limit, &visitor("bob", &format!("10.0.0.{n}")), 50, now);
        }
        assert_eq!(limit.begin(&home, now), Ok(Duration::ZERO), "he has signed in from here");
        // He is somewhere else, with his own device; behind the same address somebody guesses.
        let device = Some("d1".to_owned());
        let travelling = Visitor { device, ..visitor("bob", "10.0.0.1") };
        assert_eq!(limit.begin(&travelling, now), Ok(Duration::ZERO));
    }

    #[test]
    fn a_name_alone_only_becomes_slow() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        for n in 0..100 {
            wrong(&limit, &visitor("bob", &format!("10.0.0.{n}")), 2, now);
        }
        assert_eq!(limit.begin(&visitor("bob", "192.0.2.7"), now), Ok(LONGEST_DELAY));
    }

    #[test]
    fn a_network_is_not_one_address() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        let tried: u32 = (0..100)
            .map(|n| wrong(&limit, &visitor("alice", &format!("2001:db8::{n:x}")), 1, now).0)
            .sum();
        assert_eq!(tried, PER_PAIR);
        assert!(limit.begin(&visitor("alice", "2001:db8:0:1::1"), now).is_ok());
        wrong(&limit, &visitor("carol", "::ffff:10.0.0.1"), 20, now);
        assert!(limit.begin(&visitor("carol", "10.0.0.1"), now).is_err());
    }

    #[test]
    fn a_flood_of_addresses_has_one_budget() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        let known = visitor("bob", "192.0.2.7");
        limit.succeeded(&known, now);
        let tried: u32 = (0..5_000)
            .map(|n: u32| {
                let [_, a, b, c] = n.to_be_bytes();
                let flood = visitor(&format!("u{n}"), &format!("10.{a}.{b}.{c}"));
                wrong(&limit, &flood, 1, now).0
            })
            .sum();
        assert_eq!(tried, OF_STRANGERS);
        assert!(limit.begin(&known, now).is_ok());
    }

    #[test]
    fn an_address_tries_only_so_many_names() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        for n in 0..PER_NETWORK {
            limit.begin(&visitor(&format!("user{n}"), "10.0.0.1"), now).unwrap();
        }
        assert!(limit.begin(&visitor("another", "10.0.0.1"), now).is_err());
        assert!(limit.begin(&visitor("another", "10.0.0.9"), now).is_ok());
    }

    #[test]
    fn one_who_is_known_waits_for_himself() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        let home = visitor("bob", "192.0.2.7");
        limit.succeeded(&home, now);
        let (tried, longest) = wrong(&limit, &home, 1_000, now);
        assert!(tried < 30, "{tried}");
        assert!(longest <= LONGEST_LINE);
        limit.succeeded(&home, now);
        assert_eq!(limit.begin(&home, now), Ok(Duration::ZERO), "a right password forgives");
    }

    #[test]
    fn success_is_taken_back() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        for n in 0..OF_STRANGERS * 2 {
            let visitor = visitor(&format!("u{n}"), "10.0.0.1");
            limit.begin(&visitor, now).unwrap();
            limit.succeeded(&visitor, now);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        for n in 0..REMEMBERED as u32 + 50 {
            let [_, a, b, c] = n.to_be_bytes();
            limit.succeeded(&visitor("alice", &format!("10.{a}.{b}.{c}")), now);
        }
        let memory = limit.0.lock().unwrap();
        assert!(memory.known.len() <= REMEMBERED && memory.attempts.len() <= REMEMBERED);
    }
}
