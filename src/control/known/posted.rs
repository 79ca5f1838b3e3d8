//! What people want to be told, and how much was sent to them.

use std::collections::{BTreeMap, HashMap};
use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use post::{Allowed, Post, Postman};
use protocol::ids::UserName;
use protocol::notifications::{Occasion, Wishes};
use protocol::time::Timestamp;

use crate::lock::lock;

/// Milliseconds of an hour.
const HOUR: i64 = 3_600_000;

/// How notifications leave the house.
#[derive(Debug, Clone)]
pub struct Notifying {
    /// What sends them.
    pub post: Arc<dyn Post>,
    /// Where people find the pages, if that is known.
    pub portal: Option<String>,
    /// So long after something happened it is sent: what follows it within that time goes along.
    pub gathered_for: Duration,
    /// A job that waits longer has waited too long.
    pub patience: Duration,
    /// So many mails, and as many calls, has a user in an hour; what is more waits for the next one.
    pub hourly: u32,
    /// What cannot be sent for so long is given up.
    pub kept_for: Duration,
}

impl Default for Notifying {
    /// Without mail.
    fn default() -> Self {
        let post = Postman::new(None, Allowed::default());
        Self {
            post: Arc::new(post.expect("without settings of mail none of them is wrong")),
            portal: None,
            gathered_for: Duration::from_secs(20),
            patience: Duration::from_secs(24 * 3_600),
            hourly: 30,
            kept_for: Duration::from_secs(3 * 24 * 3_600),
        }
    }
}

/// How much was sent since the server was started.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct PostCounts {
    /// Mails and calls that were taken.
    pub sent: u64,
    /// Tries that failed.
    pub failed: u64,
    /// Notices that were given up.
    pub dropped: u64,
}

/// What people want to be told, as they said last, and what was sent.
#[derive(Default)]
pub(crate) struct Posted {
    wishes: Mutex<HashMap<UserName, Wishes>>,
    /// In which hour how much was sent to whom.
    hours: Mutex<HashMap<UserName, (i64, u32)>>,
    sent: AtomicU64,
    failed: AtomicU64,
    dropped: AtomicU64,
}

impl fmt::Debug for Posted {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Posted").field("counts", &self.counts()).finish_non_exhaustive()
    }
}

impl Posted {
    /// These are all that were stored.
    pub(crate) fn know(&self, wishes: BTreeMap<UserName, Wishes>) {
        *lock(&self.wishes) = wishes.into_iter().collect();
    }

    /// A user wants something else.
    pub(crate) fn change(&self, user: &UserName, wishes: Wishes) {
        lock(&self.wishes).insert(user.clone(), wishes);
    }

    /// There is no such user any more: he is told nothing of what becomes of his jobs.
    pub(crate) fn forget(&self, user: &UserName) {
        lock(&self.wishes).remove(user);
        lock(&self.hours).remove(user);
    }

    pub(crate) fn wishes(&self, user: &UserName) -> Wishes {
        lock(&self.wishes).get(user).cloned().unwrap_or_default()
    }

    /// Whether anybody wants to be told of such a thing.
    pub(crate) fn anybody_wants(&self, occasion: Occasion) -> bool {
        lock(&self.wishes).values().any(|wishes| wishes.occasions.contains(&occasion))
    }

    /// Whether one more may be sent to a user in this hour; then it counts.
    pub(crate) fn may(&self, user: &UserName, now: Timestamp, hourly: u32) -> bool {
        let mut hours = lock(&self.hours);
        let this = now.0.div_euclid(HOUR);
        hours.retain(|_, (hour, _)| *hour == this);
        let (_, count) = hours.entry(user.clone()).or_insert((this, 0));
        let may = *count < hourly;
        *count += u32::from(may);
        may
    }

    pub(crate) fn note_sent(&self) {
        self.sent.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_failed(&self) {
        self.failed.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn note_dropped(&self, more: u64) {
        self.dropped.fetch_add(more, Ordering::Relaxed);
    }

    pub(crate) fn counts(&self) -> PostCounts {
        let read = |count: &AtomicU64| count.load(Ordering::Relaxed);
        PostCounts {
            sent: read(&self.sent),
            failed: read(&self.failed),
            dropped: read(&self.dropped),
        }
    }
}

/// When the next hour begins.
pub(crate) fn next_hour(now: Timestamp) -> Timestamp {
    Timestamp((now.0.div_euclid(HOUR) + 1) * HOUR)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_is_sent_only_so_much_in_an_hour() {
        let posted = Posted::default();
        let (ada, bob): (UserName, UserName) = ("ada".parse().unwrap(), "bob".parse().unwrap());
        let sent = |user: &UserName, at| (0..10).filter(|_| posted.may(user, at, 3)).count();
        let at = Timestamp(7 * HOUR + 5);
        assert_eq!(sent(&ada, at), 3);
        assert_eq!(sent(&bob, at), 3, "nobody silences another");
        assert_eq!(sent(&ada, Timestamp(8 * HOUR - 1)), 0);
        assert_eq!(next_hour(at), Timestamp(8 * HOUR));
        assert_eq!(sent(&ada, next_hour(at)), 3);
    }
}
