//! What comes in bursts: little of it is written to the audit log.

use std::collections::HashMap;
use std::time::{Duration, Instant};

use api::audit::AuditAction;

/// How long a burst lasts.
const BURST: Duration = Duration::from_secs(60);
/// Entries of one kind about one user, of one burst.
const OF_ONE: u32 = 10;
/// Entries of one kind, of one burst.
const OF_ALL: u32 = 100;
/// What is remembered of.
const REMEMBERED: usize = 10_000;

/// What comes in bursts: how much of it is written.
#[derive(Debug, Default)]
pub(crate) struct Bursts(HashMap<String, Burst>);

#[derive(Debug)]
struct Burst {
    since: Instant,
    count: u32,
}

impl Bursts {
    /// Whether an entry is written. The last one of a burst that is says that more may follow.
    pub(crate) fn admit(&mut self, action: AuditAction, who: &str, now: Instant) -> Admitted {
        self.0.retain(|_, burst| now.duration_since(burst.since) < BURST);
        if self.0.len() >= REMEMBERED {
            return Admitted::No;
        }
        let of_one = self.count(format!("{} {who}", action.as_str()), now);
        if of_one > OF_ONE {
            return Admitted::No;
        }
        // Only what is written counts here: nobody silences what is said of others.
        let all = self.count(action.as_str().to_owned(), now);
        match all.cmp(&OF_ALL) {
            std::cmp::Ordering::Less if of_one < OF_ONE => Admitted::Yes,
            std::cmp::Ordering::Less | std::cmp::Ordering::Equal => Admitted::Last,
            std::cmp::Ordering::Greater => Admitted::No,
        }
    }

    /// Whether something is the first of its kind in a burst.
    pub(crate) fn is_first(&mut self, action: AuditAction, what: &str, now: Instant) -> bool {
        self.0.retain(|_, burst| now.duration_since(burst.since) < BURST);
        self.0.len() < REMEMBERED && self.count(format!("{} {what}", action.as_str()), now) == 1
    }

    fn count(&mut self, key: String, now: Instant) -> u32 {
        let burst = self.0.entry(key).or_insert(Burst { since: now, count: 0 });
        burst.count = burst.count.saturating_add(1);
        burst.count
    }
}

/// Whether an entry is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Admitted {
    Yes,
    /// As the last one of its burst.
    Last,
    No,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_burst_leaves_few_entries() {
        let mut bursts = Bursts::default();
        let now = Instant::now();
        let mut written = |who: &str, tries: u32, now| {
            let admitted = |_| bursts.admit(AuditAction::SignInFailed, who, now);
            (0..tries).map(admitted).filter(|admitted| *admitted != Admitted::No).count()
        };
        assert_eq!(written("alice", 1_000, now), OF_ONE as usize);
        assert_eq!(written("bob", 1, now), 1);
        assert_eq!(written("alice", 1_000, now + BURST), OF_ONE as usize);
        let later = now + BURST * 2;
        let many: usize = (0..1_000).map(|user| written(&format!("u{user}"), 2, later)).sum();
        assert_eq!(many, OF_ALL as usize);
    }
}
