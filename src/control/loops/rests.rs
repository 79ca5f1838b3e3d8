//! What has failed rests before it is tried again, longer after each failure in a row.

use std::collections::HashMap;
use std::hash::Hash;
use std::sync::Mutex;
use std::time::Instant;

use crate::container::launch::backoff::pause_after;
use crate::lock::lock;

/// What rests, and what has and did not succeed since.
#[derive(Debug)]
pub(crate) struct Rests<K>(Mutex<HashMap<K, Rest>>);

#[derive(Debug, Clone, Copy)]
struct Rest {
    failures: u32,
    until: Instant,
}

impl<K> Default for Rests<K> {
    fn default() -> Self {
        Self(Mutex::default())
    }
}

impl<K: Eq + Hash> Rests<K> {
    /// Whether it is left alone for now.
    pub(crate) fn rests(&self, what: &K, now: Instant) -> bool {
        lock(&self.0).get(what).is_some_and(|rest| now < rest.until)
    }

    /// It has failed. While it rests that says nothing more: it was begun at the same time.
    pub(crate) fn failed(&self, what: K, now: Instant) {
        let mut all = lock(&self.0);
        let last = all.get(&what).copied();
        if last.is_none_or(|last| last.until <= now) {
            let failures = last.map_or(0, |last| last.failures).saturating_add(1);
            all.insert(what, Rest { failures, until: now + pause_after(failures) });
        }
    }

    /// It has succeeded: the next failure is the first one again.
    pub(crate) fn succeeded(&self, what: &K) {
        lock(&self.0).remove(what);
    }

    /// Forgets all but these.
    pub(crate) fn keep(&self, which: impl Fn(&K) -> bool) {
        lock(&self.0).retain(|what, _| which(what));
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn what_fails_rests_for_longer_after_each_failure_in_a_row() {
        let rests = Rests::default();
        let mut now = Instant::now();
        for seconds in [1, 2, 4, 8, 16, 32, 32] {
            assert!(!rests.rests(&"a", now));
            rests.failed("a", now);
            // What was begun at the same time fails as well.
            rests.failed("a", now);
            let until = now + Duration::from_secs(seconds);
            assert!(rests.rests(&"a", until - Duration::from_millis(1)), "{seconds}");
            assert!(!rests.rests(&"b", now), "others go on");
            now = until;
        }
        rests.succeeded(&"a");
        rests.failed("a", now);
        assert!(!rests.rests(&"a", now + Duration::from_secs(1)), "it is the first one again");
        rests.keep(|what| *what != "a");
        assert!(!rests.rests(&"a", now));
    }
}
