//! Users' own public keys, as they were read a moment ago: whose jobs start by the hundred is not looked up for each.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use protocol::ids::UserName;

use crate::lock::lock;

/// What was read holds for so long, unless it is known that keys have changed since.
const HOLDS: Duration = Duration::from_secs(1);

/// The lines that let users enter, of those of whom something was launched just now.
#[derive(Debug, Default)]
pub(crate) struct KnownKeys(Mutex<HashMap<UserName, Known>>);

#[derive(Debug)]
struct Known {
    /// After how many changes of any keys they were read; see
    /// [`Held::key_changes`](super::held::Held::key_changes).
    moment: u64,
    /// When.
    at: Instant,
    lines: Arc<Vec<String>>,
}

impl Known {
    /// Whether nothing has changed since, after so many changes and at this time.
    fn holds(&self, moment: u64, now: Instant) -> bool {
        self.moment >= moment && now.duration_since(self.at) < HOLDS
    }
}

impl KnownKeys {
    /// A user's lines, if they were read after so many changes of keys and not long before now.
    pub(crate) fn of(
        &self,
        user: &UserName,
        moment: u64,
        now: Instant,
    ) -> Option<Arc<Vec<String>>> {
        let all = lock(&self.0);
        let known = all.get(user).filter(|known| known.holds(moment, now))?;
        Some(Arc::clone(&known.lines))
    }

    /// They are these. The moment and the time are of before they were read.
    pub(crate) fn note(
        &self,
        user: &UserName,
        (moment, at): (u64, Instant),
        lines: &Arc<Vec<String>>,
    ) {
        let mut all = lock(&self.0);
        all.retain(|_, known| known.holds(moment, at));
        all.insert(user.clone(), Known { moment, at, lines: Arc::clone(lines) });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_hold_for_a_moment_and_until_any_have_changed() {
        let known = KnownKeys::default();
        let [alice, bob] = ["alice", "bob"].map(|name| name.parse::<UserName>().unwrap());
        let (began, lines) = (Instant::now(), Arc::new(vec!["ssh-ed25519 AAAA alice".to_owned()]));
        assert_eq!(known.of(&alice, 0, began), None, "nobody has read them");
        known.note(&alice, (3, began), &lines);
        assert_eq!(known.of(&alice, 3, began), Some(Arc::clone(&lines)));
        assert_eq!(known.of(&bob, 3, began), None, "they are another one's");
        assert_eq!(known.of(&alice, 4, began), None, "somebody has changed his");
        assert_eq!(known.of(&alice, 3, began + HOLDS), None, "it is too long ago");
        known.note(&bob, (3, began + HOLDS), &lines);
        assert_eq!(lock(&known.0).len(), 1, "what does not hold is forgotten");
    }
}
