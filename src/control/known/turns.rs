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

/// From here on periods are counted.
static BEGAN: LazyLock<Instant> = LazyLock::new(Instant::now);

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
    // As if it had begun a period before.
    let since = BEGAN.elapsed() + period - part(name, period);
    interval_at(Instant::now() + until_next(since, period), period)
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
    fn whose_turn_is_the_same_is_woken_at_the_same_moment() {
        let of = |since| until_next(Duration::from_millis(since), Duration::from_secs(5));
        assert_eq!(of(0), Duration::from_secs(5));
        assert_eq!(of(1_200), Duration::from_millis(3_800));
        assert_eq!(of(4_999), Duration::from_millis(1));
        assert_eq!(of(6_200), of(1_200));
        assert_eq!(of(1_200) + Duration::from_millis(1_200), of(3_000) + Duration::from_secs(3));
    }
}
