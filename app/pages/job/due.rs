use api::jobs::Due;
use leptos::prelude::*;
use protocol::time::Timestamp;

use crate::i18n::{Reader, tr};
use crate::parts::clock::Clock;

/// What can be said of a deadline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Outlook {
    /// Nothing more.
    Open,
    /// The job has to start by then.
    StartsBy(Timestamp),
    /// It is expected to end then, which is too late.
    EndsAt(Timestamp),
    /// It is over, and the job was not, or is not.
    Missed,
}

/// `expected`: when the job may start at the earliest, if it waits; `ended`: when it did.
fn outlook(
    due: Due,
    (expected, ended): (Option<Timestamp>, Option<Timestamp>),
    now: Timestamp,
) -> Outlook {
    if ended.unwrap_or(now) > due.at {
        return Outlook::Missed;
    }
    let Some(latest) = due.latest_start.filter(|_| ended.is_none()) else { return Outlook::Open };
    let earliest = expected.map_or(now, |expected| expected.max(now));
    match earliest > latest {
        true => Outlook::EndsAt(earliest.plus_millis(due.at.since(latest))),
        false => Outlook::StartsBy(latest),
    }
}

/// By when a job is to have ended, and whether it can.
#[component]
pub(super) fn DueBy(
    due: Due,
    expected: Option<Timestamp>,
    ended: Option<Timestamp>,
) -> impl IntoView {
    let (reader, clock) = (Reader::get(), Clock::get());
    let outlook = Memo::new(move |_| outlook(due, (expected, ended), clock.now()));
    let words = move || {
        let (words, at) = (&reader.texts().job, clock.moment(due.at));
        match outlook.get() {
            Outlook::Open => at,
            Outlook::StartsBy(latest) => (words.due_starts_by)(&at, &clock.moment(latest)),
            Outlook::EndsAt(end) => (words.due_ends_at)(&at, &clock.moment(end)),
            Outlook::Missed => (words.due_missed)(&at),
        }
    };
    view! {
        <dt>{tr(|t| t.job.due)}</dt>
        <dd>{move || words()}</dd>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_said_when_a_job_has_to_start_and_when_that_is_too_late() {
        let waits = Due { at: Timestamp(100), latest_start: Some(Timestamp(60)) };
        let at = |expected: Option<i64>, now| {
            outlook(waits, (expected.map(Timestamp), None), Timestamp(now))
        };
        assert_eq!(at(None, 50), Outlook::StartsBy(Timestamp(60)));
        assert_eq!(at(Some(60), 50), Outlook::StartsBy(Timestamp(60)));
        assert_eq!(at(Some(61), 50), Outlook::EndsAt(Timestamp(101)));
        assert_eq!(at(Some(50), 70), Outlook::EndsAt(Timestamp(110)));
        assert_eq!(at(None, 101), Outlook::Missed);
        let runs = Due { latest_start: None, ..waits };
        assert_eq!(outlook(runs, (None, None), Timestamp(100)), Outlook::Open);
        let ended = |at| outlook(runs, (None, Some(Timestamp(at))), Timestamp(900));
        assert_eq!([ended(100), ended(101)], [Outlook::Open, Outlook::Missed]);
    }
}
