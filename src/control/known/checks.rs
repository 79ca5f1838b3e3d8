//! What is known of the checks that administrators have nodes go through: when each was made last, how
//! often in a row it has passed, and which node is in the midst of one.

use std::collections::HashMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

use protocol::health::{Check, Grade, Health, Sign, When};
use protocol::ids::{JobId, NodeName};

use crate::lock::lock;

/// So long a failing check's last one lies back at most before it is made again.
const AGAIN: Duration = Duration::from_secs(300);

/// Of each node what is known of its checks.
#[derive(Debug, Default)]
pub(crate) struct Checks(Mutex<HashMap<NodeName, OfNode>>);

#[derive(Debug, Default)]
struct OfNode {
    turn: Arc<tokio::sync::Mutex<()>>,
    /// By the check's name.
    made: HashMap<String, Made>,
    /// Something has run there since its checks were made.
    was_busy: bool,
}

#[derive(Debug)]
struct Made {
    last: Instant,
    /// How often it has passed in a row.
    passes: u32,
    /// Before this attempt of a job it has passed.
    before: Option<(JobId, u32)>,
}

impl Checks {
    /// One check at a time is made on a node.
    pub(crate) fn turn(&self, node: &NodeName) -> Arc<tokio::sync::Mutex<()>> {
        Arc::clone(&lock(&self.0).entry(node.clone()).or_default().turn)
    }

    /// Whether a free node is to go through a check now.
    pub(crate) fn is_due(
        &self,
        (node, health): (&NodeName, &Health),
        check: &Check,
        now: Instant,
    ) -> bool {
        let all = lock(&self.0);
        let known = all.get(node);
        let made = known.and_then(|known| known.made.get(&check.name));
        let since = made.map(|made| now.duration_since(made.last));
        let every = Duration::from_secs(u64::from(check.every_minutes) * 60);
        if fails(health, check) {
            return since.is_none_or(|since| since >= every.min(AGAIN));
        }
        match check.when {
            When::Free => since.is_none_or(|since| since >= every),
            When::After => known.is_some_and(|known| known.was_busy),
            When::Before => false,
        }
    }

    /// Something runs on a node.
    pub(crate) fn is_busy(&self, node: &NodeName) {
        let mut all = lock(&self.0);
        match all.get_mut(node) {
            Some(known) => known.was_busy = true,
            None => {
                all.insert(node.clone(), OfNode { was_busy: true, ..OfNode::default() });
            }
        }
    }

    /// Whoever was to be checked since something ran there was.
    pub(crate) fn is_free(&self, node: &NodeName) {
        if let Some(known) = lock(&self.0).get_mut(node) {
            known.was_busy = false;
        }
    }

    /// Notes how a check went, and says how often in a row it has passed.
    pub(crate) fn made(
        &self,
        node: &NodeName,
        check: &Check,
        (passed, before): (bool, Option<(JobId, u32)>),
        now: Instant,
    ) -> u32 {
        let mut all = lock(&self.0);
        let made = &mut all.entry(node.clone()).or_default().made;
        let earlier = made.get(&check.name).map_or(0, |made| made.passes);
        let passes = if passed { earlier.saturating_add(1) } else { 0 };
        let before = before.filter(|_| passed);
        made.insert(check.name.clone(), Made { last: now, passes, before });
        passes
    }

    /// It could not be made: it is tried again when it is due again.
    pub(crate) fn not_made(&self, node: &NodeName, check: &Check, now: Instant) {
        let mut all = lock(&self.0);
        let made = &mut all.entry(node.clone()).or_default().made;
        let passes = made.get(&check.name).map_or(0, |made| made.passes);
        made.insert(check.name.clone(), Made { last: now, passes, before: None });
    }

    /// Something has failed there: that checks have passed before says nothing any more.
    pub(crate) fn doubt(&self, node: &NodeName) {
        if let Some(known) = lock(&self.0).get_mut(node) {
            known.made.values_mut().for_each(|made| (made.passes, made.before) = (0, None));
        }
    }

    /// Whether a check has passed before this attempt already.
    pub(crate) fn has_passed(&self, node: &NodeName, check: &Check, attempt: (JobId, u32)) -> bool {
        let all = lock(&self.0);
        let made = all.get(node).and_then(|known| known.made.get(&check.name));
        made.is_some_and(|made| made.before == Some(attempt))
    }

    /// Nobody looks at these nodes any more.
    pub(crate) fn keep(&self, is_there: impl Fn(&NodeName) -> bool) {
        lock(&self.0).retain(|node, _| is_there(node));
    }
}

/// Whether it failed the last time, or is to say whether GPUs are well again that have failed.
fn fails(health: &Health, check: &Check) -> bool {
    health.ailments.iter().any(|known| match &known.sign {
        Sign::Check { name, .. } => *name == check.name,
        Sign::Xid(_) | Sign::Memory(_) => check.gpus && known.grade == Grade::Failed,
        Sign::Hot | Sign::Slowed | Sign::Links | Sign::Disk(_) => false,
    })
}

#[cfg(test)]
mod tests {
    use protocol::time::Timestamp;

    use super::*;

    fn check(when: When) -> Check {
        let check = serde_json::json!({ "name": "disk", "image": "ubuntu", "command": "true" });
        Check { when, ..serde_json::from_value(check).unwrap() }
    }

    fn node() -> NodeName {
        "n1".parse().unwrap()
    }

    #[test]
    fn a_check_is_made_when_its_time_has_come() {
        let (checks, began, well) = (Checks::default(), Instant::now(), Health::default());
        let (free, after) = (check(When::Free), check(When::After));
        let is_due = |health: &Health, check: &Check, minutes: u64| {
            let now = began + Duration::from_secs(minutes * 60);
            checks.is_due((&node(), health), check, now)
        };
        assert!(is_due(&well, &free, 0) && !is_due(&well, &after, 0));
        assert_eq!(checks.made(&node(), &free, (true, None), began), 1);
        assert!(!is_due(&well, &free, 29) && is_due(&well, &free, 30));
        let sick = well.check_failed(&free, String::new(), Timestamp(0));
        assert!(!is_due(&sick, &free, 4) && is_due(&sick, &free, 5));
        checks.is_busy(&node());
        assert!(is_due(&well, &after, 0) && !is_due(&well, &check(When::Before), 0));
        checks.is_free(&node());
        assert!(!is_due(&well, &after, 0));
    }

    #[test]
    fn passes_count_in_a_row_and_an_attempt_is_checked_once() {
        let (checks, now, disk) = (Checks::default(), Instant::now(), check(When::Before));
        let attempt = (JobId(1), 0);
        assert!(!checks.has_passed(&node(), &disk, attempt));
        assert_eq!(checks.made(&node(), &disk, (true, Some(attempt)), now), 1);
        assert!(checks.has_passed(&node(), &disk, attempt));
        assert!(!checks.has_passed(&node(), &disk, (JobId(1), 1)));
        assert_eq!(checks.made(&node(), &disk, (true, None), now), 2);
        assert_eq!(checks.made(&node(), &disk, (false, Some(attempt)), now), 0);
        assert!(!checks.has_passed(&node(), &disk, attempt));
        checks.not_made(&node(), &disk, now);
        assert_eq!(checks.made(&node(), &disk, (true, None), now), 1);
        checks.doubt(&node());
        assert_eq!(checks.made(&node(), &disk, (true, None), now), 1);
        checks.keep(|_| false);
        assert!(lock(&checks.0).is_empty());
    }
}
