//! Deadlines: whose is near goes before other jobs. Where his virtual cluster does not say that these may be
//! others', he changes places with those of his owner: all of these together have the places that they had
//! without, so that nobody else waits longer for it.

use std::cmp::Reverse;
use std::collections::BTreeMap;

use protocol::ids::JobId;
use protocol::spec::Priority;
use protocol::time::Timestamp;

use crate::model::{LONGEST_MS, Turn, Urgency};
use crate::numbers::indices::LineIndex;
use crate::numbers::request::Class;
use crate::queue::{Hurry, Key, Line, Owner, Queue, Waiter};

/// Somebody to whom a place is given; who is gone leaves it at once.
struct Candidate {
    waiter: Waiter,
    gone: bool,
}

impl Candidate {
    /// Who has to start soon first, of those who has to earliest, then the others by their turns.
    fn order(&self) -> (Reverse<Priority>, bool, Option<Timestamp>, Turn, JobId) {
        let Waiter { turn, key, is_urgent, .. } = self.waiter;
        let urgency = self.waiter.urgency().filter(|_| is_urgent && !self.gone);
        let latest_start = urgency.map(|urgency| urgency.latest_start);
        (turn.priority, latest_start.is_none(), latest_start, turn, key.job)
    }
}

impl Waiter {
    /// When its deadline is near.
    fn urgency(&self) -> Option<Urgency> {
        Some(Urgency::of(self.deadline?, self.runs_ms().unwrap_or(LONGEST_MS)))
    }

    /// When its deadline says something else of it.
    fn turns_at(&self) -> Option<Timestamp> {
        let urgency = self.urgency()?;
        Some(if self.is_urgent { urgency.latest_start.plus_millis(1) } else { urgency.from })
    }

    /// What its deadline says of it at a moment; `first`: before everybody's of its priority.
    fn at(self, now: Timestamp, first: bool) -> Self {
        let Some(urgency) = self.urgency() else { return self };
        if now > urgency.latest_start {
            return Self { deadline: None, ..self.calm() };
        }
        let moves = first && !self.key.is_promised();
        let key = if moves { self.key.urgent(urgency) } else { self.key };
        Self { key, is_urgent: true, ..self }
    }

    /// As any other. The place that it changed with others of its owner's it gives back when places are
    /// given anew.
    fn calm(self) -> Self {
        let own = self.key.goes_first() && !self.key.is_promised();
        let key = if own { Key { turn: self.turn, ..self.key } } else { self.key };
        Self { key, is_urgent: false, ..self }
    }
}

impl Queue {
    /// Who has to start soon is told from the others as of a moment; `first` says of which classes these go
    /// before everybody's jobs of their priority, and not before their owners' alone.
    pub(crate) fn hurry(&mut self, now: Timestamp, first: impl Fn(&Class) -> bool) {
        while let Some((moment, job)) = self.turning.first().copied().filter(|next| next.0 <= now) {
            self.turning.remove(&(moment, job));
            if let Some(waiter) = self.remove(job) {
                let line = self.lines.get(&waiter.line);
                let first = line.is_some_and(|line| first(&line.class));
                self.insert(waiter.at(now, first));
            }
        }
        self.give_places();
    }

    /// All are looked at anew by the next pass.
    pub(crate) fn forget_urgency(&mut self) {
        let urgent = self.jobs.values().filter(|waiter| waiter.is_urgent);
        let urgent: Vec<JobId> = urgent.map(|waiter| waiter.key.job).collect();
        for job in urgent {
            if let Some(waiter) = self.remove(job) {
                self.insert(waiter.calm());
            }
        }
    }

    /// A job leaves that has not started.
    pub(crate) fn withdraw(&mut self, job: JobId) {
        let Some(waiter) = self.remove(job) else { return };
        let stood = !waiter.held && waiter.not_before.is_none() && !waiter.key.goes_first();
        if waiter.is_urgent
            && stood
            && let Some(hurry) = self.hurry_of(waiter.line)
        {
            hurry.gone.push(waiter);
        }
    }

    /// A job comes.
    pub(super) fn heed(&mut self, waiter: &Waiter) {
        self.turning.extend(waiter.turns_at().map(|moment| (moment, waiter.key.job)));
        if waiter.is_urgent
            && let Some(owner) = self.owner(waiter.line)
        {
            let hurry = self.hurries.entry(owner).or_default();
            hurry.jobs += 1;
            hurry.stale = true;
        }
    }

    /// A job leaves.
    pub(super) fn heed_no_more(&mut self, waiter: &Waiter) {
        if let Some(moment) = waiter.turns_at() {
            self.turning.remove(&(moment, waiter.key.job));
        }
        if waiter.is_urgent
            && let Some(hurry) = self.hurry_of(waiter.line)
        {
            hurry.jobs = hurry.jobs.saturating_sub(1);
            hurry.stale = true;
        }
    }

    /// A job takes its place beside its owner's others.
    pub(super) fn comes_beside(&mut self, waiter: &Waiter) {
        if !waiter.key.goes_first()
            && let Some(hurry) = self.hurry_of(waiter.line)
        {
            let before = hurry.last.is_some_and(|last| waiter.key < last);
            hurry.stale |= before || waiter.is_urgent;
        }
    }

    fn owner(&self, line: LineIndex) -> Option<Owner> {
        self.lines.get(&line).map(owner_of)
    }

    fn hurry_of(&mut self, line: LineIndex) -> Option<&mut Hurry> {
        if self.hurries.is_empty() {
            return None;
        }
        let owner = self.owner(line)?;
        self.hurries.get_mut(&owner)
    }

    /// Places are given anew among the jobs of owners where they have to be.
    fn give_places(&mut self) {
        let mut owners: BTreeMap<Owner, Vec<Candidate>> = BTreeMap::new();
        for (owner, hurry) in self.hurries.iter_mut().filter(|(_, hurry)| hurry.stale) {
            let gone = std::mem::take(&mut hurry.gone).into_iter();
            let gone = gone.map(|waiter| Candidate { waiter, gone: true });
            owners.insert(owner.clone(), gone.collect());
        }
        if !owners.is_empty() {
            for line in self.active.iter().map(|number| &self.lines[number]) {
                let Some(all) = owners.get_mut(&owner_of(line)) else { continue };
                let waiters = line.queue.iter().filter_map(|key| self.jobs.get(&key.job));
                let waiters = waiters.filter(|waiter| !waiter.key.goes_first());
                all.extend(waiters.map(|waiter| Candidate { waiter: *waiter, gone: false }));
            }
        }
        for (owner, candidates) in owners {
            let last = self.give_places_among(candidates);
            if let Some(hurry) = self.hurries.get_mut(&owner) {
                (hurry.stale, hurry.last) = (false, last);
            }
        }
        self.hurries.retain(|_, hurry| hurry.jobs > 0);
    }

    /// The places that these have, given anew. The last that went to somebody who has to start soon.
    fn give_places_among(&mut self, mut candidates: Vec<Candidate>) -> Option<Key> {
        let mut places: Vec<Turn> =
            candidates.iter().map(|candidate| candidate.waiter.key.turn).collect();
        places.sort_unstable();
        candidates.sort_by_cached_key(Candidate::order);
        let (mut last, mut urgent): (Option<Key>, Option<Key>) = (None, None);
        for (Candidate { waiter, gone }, place) in candidates.iter().zip(places) {
            let key = Key { turn: place, ..waiter.key };
            // Equal places would be told apart by the jobs' numbers.
            let key = match last.filter(|last| *last >= key) {
                Some(Key { turn, .. }) => {
                    Key { turn: Turn { rank: turn.rank.saturating_add(1), ..turn }, ..key }
                }
                None => key,
            };
            last = Some(key);
            if *gone {
                continue;
            }
            if waiter.is_urgent {
                urgent = Some(key);
            }
            if key != waiter.key {
                self.put_at(waiter, key);
            }
        }
        urgent
    }

    /// All that is counted of deadlines is so.
    #[cfg(test)]
    pub(crate) fn sanity_check(&self) {
        let waiters = self.jobs.values();
        let turning = waiters.clone().filter_map(|of| Some((of.turns_at()?, of.key.job)));
        assert_eq!(turning.collect::<std::collections::BTreeSet<_>>(), self.turning);
        for waiter in waiters.clone().filter(|of| !of.held && of.not_before.is_none()) {
            let line = &self.lines[&waiter.line];
            assert!(line.queue.contains(&waiter.key), "{} stands elsewhere", waiter.key.job);
        }
        let urgent = waiters.filter(|waiter| waiter.is_urgent).count();
        assert_eq!(self.hurries.values().map(|hurry| hurry.jobs).sum::<usize>(), urgent);
    }

    fn put_at(&mut self, waiter: &Waiter, key: Key) {
        if let Some(line) = self.lines.get_mut(&waiter.line) {
            line.queue.remove(&waiter.key);
            line.queue.insert(key);
            // Others may be the first of them now, who find a gap.
            line.gaps = None;
        }
        if let Some(waiter) = self.jobs.get_mut(&key.job) {
            waiter.key = key;
        }
    }
}

fn owner_of(line: &Line) -> Owner {
    let of = &line.class.of;
    (of.virtual_cluster.clone(), of.user.clone())
}
