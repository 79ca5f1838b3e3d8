//! How often something is tried again, and after which pause.

use protocol::exit::{Blame, Exit};
use protocol::spec::RetryLimit;

/// Pause before the first attempt after a failure of the platform, in milliseconds.
const FIRST_PAUSE: i64 = 1_000;
/// The longest such pause.
const LONGEST_PAUSE: i64 = 300_000;

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

/// Milliseconds to wait after the platform failed for the `failures`-th time (from 0): doubling
/// from one second to five minutes, so that a broken node is not stormed.
#[must_use]
pub fn pause(failures: u32) -> i64 {
    FIRST_PAUSE.saturating_mul(1 << failures.min(20)).min(LONGEST_PAUSE)
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
    fn pauses_double_up_to_five_minutes() {
        assert_eq!(
            [0, 1, 2, 8, 9, 99].map(pause),
            [1_000, 2_000, 4_000, 256_000, 300_000, 300_000]
        );
    }
}
