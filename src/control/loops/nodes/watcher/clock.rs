//! A node's clock beside this server's: what happened there is told in the server's time.

use engine::{Container, ContainerStatus};
use protocol::time::Timestamp;

/// A difference that changes by less is no news, in milliseconds: what was seen at the same moment
/// would else look different at each look.
const SLACK: i64 = 2_000;

/// How far a node's clock is ahead of this server's, in milliseconds; negative: behind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct NodeClock {
    ahead: i64,
}

impl NodeClock {
    /// It says this now; the difference, if that is news.
    pub(super) fn set(&mut self, said: Timestamp, now: Timestamp) -> Option<i64> {
        let ahead = said.0 - now.0;
        let ahead = if ahead.abs() < SLACK { 0 } else { ahead };
        let is_news = (ahead - self.ahead).abs() >= SLACK;
        is_news.then(|| {
            self.ahead = ahead;
            ahead
        })
    }

    /// A container with its moments in the server's time.
    pub(super) fn corrected(self, mut container: Container) -> Container {
        let here = |moment: &mut Timestamp| *moment = moment.plus_millis(-self.ahead);
        match &mut container.status {
            ContainerStatus::Created => {}
            ContainerStatus::Running { started_at } => here(started_at),
            ContainerStatus::Exited { started_at, finished_at, .. } => {
                started_at.iter_mut().for_each(here);
                here(finished_at);
            }
        }
        container
    }
}

#[cfg(test)]
mod tests {
    use protocol::epoch::Epoch;
    use protocol::ids::{JobId, TaskKey};

    use super::*;

    const HOUR: i64 = 3_600_000;

    #[test]
    fn what_happened_by_a_clock_that_is_wrong_is_told_in_the_servers_time() {
        let mut clock = NodeClock::default();
        let now = Timestamp(100 * HOUR);
        assert_eq!(clock.set(now.plus_millis(SLACK - 1), now), None);
        let running = |at: Timestamp| Container {
            key: TaskKey { job: JobId(1), attempt: 0, role: 0, index: 0, retry: 0 },
            epoch: Epoch::default(),
            name: "x".to_owned(),
            id: "x".to_owned(),
            status: ContainerStatus::Running { started_at: at },
        };
        assert_eq!(clock.corrected(running(now)), running(now), "as good as right");
        for ahead in [HOUR, -HOUR] {
            assert_eq!(clock.set(now.plus_millis(ahead), now), Some(ahead));
            // Answers take their time: the same difference is not told again and again.
            assert_eq!(clock.set(now.plus_millis(ahead + 500), now), None);
            assert_eq!(clock.corrected(running(now.plus_millis(ahead))), running(now));
        }
        let ended = ContainerStatus::Exited {
            started_at: Some(now.plus_millis(-HOUR)),
            finished_at: now.plus_millis(-HOUR),
            code: 0,
            oom_killed: false,
            error: None,
        };
        let status = clock.corrected(Container { status: ended, ..running(now) }).status;
        let moments = match status {
            ContainerStatus::Exited { started_at, finished_at, .. } => (started_at, finished_at),
            ContainerStatus::Created | ContainerStatus::Running { .. } => unreachable!("it ended"),
        };
        assert_eq!(moments, (Some(now), now));
        assert_eq!(clock.set(now, now), Some(0), "somebody has set it");
    }
}
