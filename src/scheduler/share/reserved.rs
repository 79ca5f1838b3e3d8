//! What is kept of sums for who has a reservation: what he will use of them beyond what those give
//! back whom he waits for. Kept is as good as used: a part that has not enough goes on on what is its
//! whole's.

use std::collections::{BTreeMap, BTreeSet};

use crate::numbers::indices::{AccountIndex, SumIndex};
use crate::share::{Shares, Usage};

/// How much is kept of which lines.
pub(crate) type ReservedSums = Vec<(SumIndex, i64)>;

impl Shares {
    /// What is to be kept for who will use so much of an account once others, by their accounts, have
    /// given back what they use. Never more than there is.
    pub(crate) fn kept(
        &mut self,
        account: AccountIndex,
        needs: impl Iterator<Item = Usage>,
        given_back: &[(AccountIndex, Usage)],
    ) -> ReservedSums {
        let mut sums: BTreeMap<SumIndex, i64> = BTreeMap::new();
        for (line, amount) in needs.flat_map(|usage| self.lines_of(account, &usage)) {
            *sums.entry(line).or_default() += amount;
        }
        let have = |shares: &Self| -> Vec<i64> {
            sums.keys().map(|line| shares.have(*line, false)).collect()
        };
        let now = have(self);
        given_back.iter().for_each(|(account, usage)| self.charge(*account, usage, -1));
        let then = have(self);
        given_back.iter().for_each(|(account, usage)| self.charge(*account, usage, 1));
        let more = now.into_iter().zip(then).map(|(now, then)| (now, then - now));
        let kept = sums.into_iter().zip(more);
        let kept = kept.map(|((line, needs), (now, more))| (line, (needs - more).clamp(0, now)));
        kept.filter(|(_, amount)| *amount > 0).collect()
    }

    /// Keeps it (`sign` 1) or lets it go (`sign` -1).
    pub(crate) fn keep(&mut self, kept: &ReservedSums, sign: i64) {
        kept.iter().for_each(|(line, amount)| self.use_line(*line, sign * amount));
    }

    /// The accounts whose work uses CPUs or memory that an account has or goes on on. (GPUs are used in
    /// cells, by those who have the same ones.)
    pub(crate) fn sharing(&self, account: AccountIndex) -> BTreeSet<AccountIndex> {
        let own: Vec<_> = self.lines_beyond(account).collect();
        if own.is_empty() {
            return BTreeSet::new();
        }
        let shares = |of: &AccountIndex| self.lines_beyond(*of).any(|line| own.contains(&line));
        self.accounts.numbers().filter(shares).collect()
    }

    /// The lines of an account's CPUs and memory, and those that they go on on.
    fn lines_beyond(&self, account: AccountIndex) -> impl Iterator<Item = SumIndex> {
        let own = self.accounts.get(account).into_iter();
        let own = own.flat_map(|account| account.cpus.into_iter().chain(account.memory));
        own.flat_map(|line| std::iter::successors(Some(line), |line| self.lines[*line].beyond))
    }
}
