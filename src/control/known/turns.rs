//! When it is whose turn, of thousands that are each looked after every so often: not all at once, and yet many by
//! each awakening.

use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::LazyLock;
use std::time::Duration;

use protocol::ids::NodeName;
use tokio::time::{Instant, Interval, interval_at};

/// Moments of a period at which it is the turn of some. Were they many more, a server would wake up thousands of
/// times a second, each time for one.
const PARTS: u32 = 100;

/// Where there are more nodes than this, each is looked after more seldom, up to so many times: a server would do
/// little else.
const MANY: usize = 2_500;
pub(crate) const MOST_SELDOM: u32 = 4;

/// From here on periods are counted.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

/// How many times more seldom each of so many nodes is looked after than one of few.
pub(crate) fn seldom(nodes: usize) -> u32 {
    u32::try_from(nodes.div_ceil(MANY)).unwrap_or(u32::MAX).clamp(1, MOST_SELDOM)
}

/// Which of so many parts of all nodes a node is in, always the same.
pub(crate) fn part_of(name: &NodeName, parts: u32) -> u32 {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    u32::try_from(hasher.finish() % u64::from(parts)).unwrap_or(0)
}

/// A node's part of a period.
pub(crate) fn part(name: &NodeName, period: Duration) -> Duration {
    period / PARTS * part_of(name, PARTS)
}

/// Ticks at a node's turn in each period.
pub(crate) fn every(name: &NodeName, period: Duration) -> Interval {
    interval_at(Instant::now() + until_turn(name, period), period)
}

/// A node's turn in each period, for whoever looks more often than that whether it has come: one timer does for all
/// that is done of a node.
#[derive(Debug)]
pub(crate) struct Turn {
    next: Instant,
    period: Duration,
}

impl Turn {
    pub(crate) fn of(name: &NodeName, period: Duration) -> Self {
        Self { next: Instant::now() + until_turn(name, period), period }
    }

    /// Whether it has come since somebody looked; those that were missed are one.
    pub(crate) fn has_come(&mut self, now: Instant) -> bool {
        let has_come = self.next <= now;
        if has_come {
            self.next = now + until_next(now - self.next, self.period);
        }
        has_come
    }
}

/// How long it is until a node's next turn.
fn until_turn(name: &NodeName, period: Duration) -> Duration {
    // As if it had begun a period before.
    until_next(BEGAN.elapsed() + period - part(name, period), period)
}

/// How long it is until the next of the periods begins, so long after the first.
fn until_next(since: Duration, period: Duration) -> Duration {
    let into = since.as_nanos() % period.as_nanos().max(1);
    let left = period.as_nanos().saturating_sub(into);
    Duration::from_nanos(u64::try_from(left).unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn thousands_of_nodes_are_not_asked_at_once() {
        let mut begins = [0; 10];
        for number in 0..10_000 {
            let name = format!("node-{number}").parse().unwrap();
            assert_eq!(part_of(&name, PARTS), part_of(&name, PARTS));
            begins[part_of(&name, PARTS) as usize / 10] += 1;
        }
        assert!(begins.iter().all(|begins| (800..1_200).contains(begins)), "{begins:?}");
    }

    #[test]
    fn each_of_thousands_is_looked_after_more_seldom_and_yet_before_long() {
        assert_eq!([0, 1, 2_500, 2_501, 10_000, 100_000].map(seldom), [1, 1, 1, 2, 4, 4]);
    }

    #[test]
    fn a_turn_comes_once_in_each_period_whoever_looks() {
        let (name, period) = ("node-1".parse().unwrap(), Duration::from_secs(30));
        let mut turn = Turn::of(&name, period);
        let began = Instant::now();
        let mut has_come = |second| turn.has_come(began + Duration::from_secs(second));
        let came: Vec<u64> = (1..=120).filter(|second| has_come(*second)).collect();
        assert_eq!(came.len(), 4, "{came:?}");
        assert!(came.windows(2).all(|pair| pair[1] - pair[0] == 30), "{came:?}");
        assert!(has_come(420) && !has_come(420), "what was missed is not made up for");
    }

    #[test]
    fn whose_turn_is_the_same_is_woken_at_the_same_moment() {
        let of = |since| until_next(Duration::from_millis(since), Duration::from_secs(5));
        assert_eq!(of(0), Duration::from_secs(5));
        assert_eq!(of(1_200), Duration::from_millis(3_800));
        assert_eq!(of(4_999), Duration::from_millis(1));
        assert_eq!(of(6_200), of(1_200));
        assert_eq!(of(1_200) + Duration::from_millis(1_200), of(3_000) + Duration::from_secs(3));
    }
}
