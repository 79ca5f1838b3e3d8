//! How long what is lent stays lent.

use std::f64::consts::LN_2;

use protocol::time::Timestamp;

use crate::model::{GaveWay, LONGEST_MS};

/// What was seen counts half as much after so long: a week.
const HALF_LIFE_MS: f64 = 604_800_000.0;
/// So long somebody is thought to have borrowed before anything was seen, without being told to
/// leave: one burst of a lender says little.
const BEFORE_MS: f64 = 2.0 * LONGEST_MS as f64;

/// How long all together borrowed, and how many of them were told to leave; a moment counts half as
/// much as one a half-life later.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Loans {
    seen: Option<Timestamp>,
    lent_ms: f64,
    taken_back: f64,
}

impl Loans {
    /// So many jobs borrowed until now.
    pub(crate) fn last(&mut self, jobs: usize, now: Timestamp) {
        let passed = self.seen.map_or(0, |seen| now.since(seen).max(0)) as f64;
        let kept = (-passed / HALF_LIFE_MS).exp2();
        self.lent_ms = self.lent_ms * kept + jobs as f64 * passed;
        self.taken_back *= kept;
        self.seen = Some(now);
    }

    /// Somebody who borrowed was told to leave for whom it belongs to.
    pub(crate) fn is_taken_back(&mut self) {
        self.taken_back += 1.0;
    }

    /// Until when a job that gave way only starts on its virtual cluster's share. Where it is expected
    /// to give way again before it ends, it stands in its own line for half of its run at least.
    pub(crate) fn rests_until(
        &self,
        gave_way: GaveWay,
        now: Timestamp,
        runs_ms: Option<i64>,
    ) -> Option<Timestamp> {
        let rests = gave_way.rests_until(now, runs_ms);
        let runs = runs_ms.unwrap_or(LONGEST_MS).clamp(0, LONGEST_MS);
        if gave_way.times == 0 || !self.is_short_for(runs) {
            return rests;
        }
        let until = gave_way.last.plus_millis(runs / 2);
        rests.max((gave_way.last <= now && now < until).then_some(until))
    }

    /// Whether who borrows for so long is told to leave meanwhile more likely than not: where that
    /// happens at a constant rate he stays with probability exp(-rate × time).
    fn is_short_for(&self, runs_ms: i64) -> bool {
        self.taken_back * runs_ms as f64 > LN_2 * (BEFORE_MS + self.lent_ms)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::NOW;

    const HOUR: i64 = 3_600_000;

    /// After so many days with so many borrowers, so many of whom were told to leave.
    fn after(days: i64, borrowers: usize, told: usize) -> Loans {
        let mut loans = Loans::default();
        loans.last(borrowers, NOW);
        (0..told).for_each(|_| loans.is_taken_back());
        loans.last(borrowers, NOW.plus_millis(days * 24 * HOUR));
        loans
    }

    /// For how many hours a job rests that gave way so often and is expected to run so long.
    fn rests(loans: Loans, times: u32, hours: i64) -> i64 {
        let until = loans.rests_until(GaveWay { times, last: NOW }, NOW, Some(hours * HOUR));
        until.map_or(0, |until| until.since(NOW) / HOUR)
    }

    #[test]
    fn who_outlasts_no_loan_stands_in_his_own_line() {
        // One of two days.
        let often = after(0, 0, 1);
        assert_eq!([1, 20, 24].map(|hours| rests(often, 1, hours)), [0, 0, 0]);
        let often = after(0, 0, 4);
        assert_eq!([1, 8, 10, 24, 90].map(|hours| rests(often, 1, hours)), [0, 0, 5, 12, 12]);
        assert_eq!(rests(often, 0, 24), 0, "who never gave way borrows");
        assert_eq!(rests(often, 6, 24), 16, "nor does anybody rest for less than without");
        assert_eq!(often.rests_until(GaveWay { times: 1, last: NOW }, NOW, None), {
            Some(NOW.plus_millis(12 * HOUR))
        });
    }

    #[test]
    fn what_was_lent_in_peace_and_time_make_up_for_it() {
        assert_eq!(rests(after(1, 10, 4), 1, 24), 0);
        assert_eq!(rests(after(7, 0, 4), 1, 24), 12);
        assert_eq!(rests(after(14, 0, 4), 1, 24), 0);
    }
}
