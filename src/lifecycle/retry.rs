//! How often something is tried again, and after which pause.

use protocol::exit::{Blame, Exit};
use protocol::spec::RetryLimit;
use protocol::time::Timestamp;

/// Pause before the first try after a failure, in milliseconds.
const FIRST_PAUSE: i64 = 1_000;
/// The longest such pause.
const LONGEST_PAUSE: i64 = 300_000;
/// What ran for so long did not fail at once: the pauses begin anew after it, in milliseconds.
const LONG_ENOUGH: i64 = 300_000;
/// After so many failures in a row pauses grow no longer, and no further ones need be known.
pub const MOST_IN_A_ROW: usize = 10;

/// What follows an end.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Next {
    /// Nothing: it is final.
    Final,
    /// Another try that counts against the limit.
    CountedRetry,
    /// Another try that does not count: the platform failed.
    FreeRetry,
}

/// What follows `exit` after `used` counted tries.
#[must_use]
pub fn next(limit: RetryLimit, used: u32, exit: &Exit) -> Next {
    match exit.cause.blame() {
        Blame::Stop => Next::Final,
        Blame::Platform => Next::FreeRetry,
        Blame::None => match limit {
            RetryLimit::Always => Next::CountedRetry,
            RetryLimit::Times(_) | RetryLimit::EveryFailure => Next::Final,
        },
        Blame::User => match limit {
            RetryLimit::Times(times) if used >= times => Next::Final,
            RetryLimit::Times(_) | RetryLimit::EveryFailure | RetryLimit::Always => {
                Next::CountedRetry
            }
        },
    }
}

/// A try that has ended: an attempt of a job or a run of a task.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ended {
    /// Whose fault its end was.
    pub blame: Blame,
    /// How long it ran, in milliseconds.
    pub ran_ms: i64,
}

/// How many of these tries, the latest first, ended soon, one after the other. What the platform
/// ended says nothing of the program.
#[must_use]
pub fn in_a_row(ended: impl IntoIterator<Item = Ended>) -> u32 {
    let of_program = ended.into_iter().filter(|ended| ended.blame != Blame::Platform);
    let soon = of_program.take_while(|ended| ended.ran_ms < LONG_ENOUGH);
    u32::try_from(soon.take(MOST_IN_A_ROW).count()).unwrap_or(u32::MAX)
}

/// Milliseconds to wait after a try that ran for so long, after so many in a row that had ended soon.
#[must_use]
pub fn pause_after(ran_ms: i64, in_a_row: u32) -> i64 {
    pause(if ran_ms < LONG_ENOUGH { in_a_row } else { 0 })
}

/// Milliseconds to wait after the `failures`-th failure (from 0): doubling from one second to five
/// minutes, so that a broken node is not stormed, nor nodes by a broken program.
#[must_use]
pub fn pause(failures: u32) -> i64 {
    FIRST_PAUSE.saturating_mul(1 << failures.min(20)).min(LONGEST_PAUSE)
}

/// Whether something that failed still waits for that moment. None is farther away than the longest
/// pause: what is was told it by a clock that has been set back since.
#[must_use]
pub fn is_ahead(moment: Timestamp, now: Timestamp) -> bool {
    now < moment && moment.since(now) <= LONGEST_PAUSE
}

#[cfg(test)]
mod tests {
    use protocol::exit::Cause;

    use super::*;

    fn exit(cause: Cause) -> Exit {
        Exit { code: None, cause, evidence: vec![] }
    }

    #[test]
    fn only_failures_of_the_user_count() {
        let failed = exit(Cause::CommandFailed);
        assert_eq!(next(RetryLimit::Times(0), 0, &failed), Next::Final);
        assert_eq!(next(RetryLimit::Times(2), 1, &failed), Next::CountedRetry);
        assert_eq!(next(RetryLimit::Times(2), 2, &failed), Next::Final);
        assert_eq!(next(RetryLimit::EveryFailure, 1_000, &failed), Next::CountedRetry);
        assert_eq!(next(RetryLimit::Times(0), 0, &exit(Cause::PortTaken)), Next::FreeRetry);
    }

    #[test]
    fn success_is_repeated_only_when_asked_for_and_a_stop_never() {
        let succeeded = exit(Cause::Succeeded);
        assert_eq!(next(RetryLimit::EveryFailure, 0, &succeeded), Next::Final);
        assert_eq!(next(RetryLimit::Always, 0, &succeeded), Next::CountedRetry);
        let stopped = exit(Cause::StopRequested { by: "alice".into() });
        assert_eq!(next(RetryLimit::Always, 0, &stopped), Next::Final);
    }

    #[test]
    fn pauses_begin_anew_after_a_try_that_ran_long_enough() {
        let soon = Ended { blame: Blame::User, ran_ms: 40 };
        let long = Ended { blame: Blame::User, ran_ms: LONG_ENOUGH };
        let lost = Ended { blame: Blame::Platform, ran_ms: 40 };
        for (ended, expected) in [
            (vec![], 0),
            (vec![soon, soon], 2),
            (vec![long, soon, soon], 0),
            (vec![soon, long, soon, soon], 1),
            (vec![soon, lost, lost, soon, long], 2),
            (vec![soon; 1_000], 10),
        ] {
            assert_eq!(in_a_row(ended.clone()), expected, "{ended:?}");
        }
        assert_eq!(pause_after(40, 0), 1_000, "the first one follows soon");
        assert_eq!(pause_after(40, 3), 8_000);
        assert_eq!(pause_after(LONG_ENOUGH, 9), 1_000);
        assert_eq!(pause_after(0, in_a_row(vec![soon; 1_000])), LONGEST_PAUSE);
    }

    #[test]
    fn nothing_waits_for_longer_since_a_clock_was_set_back() {
        let now = Timestamp(1_000_000);
        for (millis, ahead) in [(0, false), (1, true), (LONGEST_PAUSE, true), (3_600_000, false)] {
            assert_eq!(is_ahead(now.plus_millis(millis), now), ahead, "{millis} ms");
        }
    }

    #[test]
    fn pauses_double_up_to_five_minutes() {
        assert_eq!(
            [0, 1, 2, 8, 9, 99].map(pause),
            [1_000, 2_000, 4_000, 256_000, 300_000, 300_000]
        );
    }
}
