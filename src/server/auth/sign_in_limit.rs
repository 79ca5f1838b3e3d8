//! How often one may try to sign in: by the name that is tried and by the address that tries.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Failed attempts for one name before it has to wait.
const PER_USER: u32 = 8;
/// Failed attempts from one address before it has to wait.
const PER_ADDRESS: u32 = 40;
/// How long attempts are remembered.
const WINDOW: Duration = Duration::from_secs(120);
/// How many names and addresses are remembered; beyond it the oldest are forgotten.
const REMEMBERED: usize = 20_000;

/// Counts attempts. An attempt counts from its beginning, so that many at once get no further
/// than one after the other; one that succeeds is taken back.
#[derive(Debug, Default)]
pub struct SignInLimit {
    attempts: Mutex<HashMap<Key, Attempts>>,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Key {
    User(String),
    Address(IpAddr),
}

#[derive(Debug, Clone, Copy)]
struct Attempts {
    since: Instant,
    count: u32,
}

impl SignInLimit {
    /// Counts an attempt.
    ///
    /// # Errors
    /// Too many: how long to wait.
    pub fn begin(&self, user: &str, address: IpAddr, now: Instant) -> Result<(), Duration> {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        forget(&mut attempts, now);
        let keys = keys(user, address);
        for (key, limit) in &keys {
            if let Some(seen) = attempts.get(key).filter(|seen| seen.count >= *limit) {
                return Err(WINDOW.saturating_sub(now.duration_since(seen.since)));
            }
        }
        for (key, _) in keys {
            attempts.entry(key).or_insert(Attempts { since: now, count: 0 }).count += 1;
        }
        Ok(())
    }

    /// The attempt succeeded: the name starts afresh, the address gets this one back.
    pub fn succeeded(&self, user: &str, address: IpAddr) {
        let mut attempts = self.attempts.lock().unwrap_or_else(PoisonError::into_inner);
        let [(user, _), (address, _)] = keys(user, address);
        attempts.remove(&user);
        if let Some(seen) = attempts.get_mut(&address) {
            seen.count = seen.count.saturating_sub(1);
        }
    }
}

fn keys(user: &str, address: IpAddr) -> [(Key, u32); 2] {
    let user: String = user.chars().take(64).flat_map(char::to_lowercase).collect();
    [(Key::User(user), PER_USER), (Key::Address(address), PER_ADDRESS)]
}

fn forget(attempts: &mut HashMap<Key, Attempts>, now: Instant) {
    attempts.retain(|_, seen| now.duration_since(seen.since) < WINDOW);
    if attempts.len() >= REMEMBERED {
        let oldest = attempts.iter().min_by_key(|(_, seen)| seen.since).map(|(key, _)| key.clone());
        if let Some(oldest) = oldest {
            attempts.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HOME: IpAddr = IpAddr::V4(std::net::Ipv4Addr::LOCALHOST);

    #[test]
    fn a_name_is_guessed_only_so_often() {
        let limit = SignInLimit::default();
        let start = Instant::now();
        for _ in 0..PER_USER {
            limit.begin("alice", HOME, start).unwrap();
        }
        let wait = limit.begin("ALICE", HOME, start + Duration::from_secs(20)).unwrap_err();
        assert_eq!(wait, Duration::from_secs(100));
        assert!(limit.begin("bob", HOME, start).is_ok());
        assert!(limit.begin("alice", HOME, start + WINDOW).is_ok());
    }

    #[test]
    fn an_address_tries_only_so_many_names() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        for n in 0..PER_ADDRESS {
            limit.begin(&format!("user{n}"), HOME, now).unwrap();
        }
        assert!(limit.begin("another", HOME, now).is_err());
        assert!(limit.begin("another", "10.0.0.9".parse().unwrap(), now).is_ok());
    }

    #[test]
    fn success_is_taken_back() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        for _ in 0..PER_ADDRESS * 2 {
            limit.begin("alice", HOME, now).unwrap();
            limit.succeeded("alice", HOME);
        }
    }

    #[test]
    fn memory_is_bounded() {
        let limit = SignInLimit::default();
        let now = Instant::now();
        for n in 0..50_u8 {
            let address = IpAddr::from([10, 0, 0, n]);
            for name in 0..PER_ADDRESS {
                let _ = limit.begin(&format!("{n}-{name}"), address, now);
            }
        }
        assert!(limit.attempts.lock().unwrap().len() <= REMEMBERED + 1);
    }
}
