//! Deadlines: where a virtual cluster says that they count, whose is near goes before the others of his priority.

use protocol::ids::JobId;
use protocol::time::Timestamp;

use crate::model::{LONGEST_MS, Urgency};
use crate::numbers::request::Class;
use crate::queue::{Key, Queue, Waiter};

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

    /// What its deadline says of it at a moment, which has come.
    fn at(self, now: Timestamp) -> Self {
        let Some(urgency) = self.urgency() else { return self };
        if now > urgency.latest_start {
            return Self { deadline: None, ..self.calm() };
        }
        let key = if self.key.is_promised() { self.key } else { self.key.urgent(urgency) };
        Self { key, is_urgent: true, ..self }
    }

    /// As any other.
    fn calm(self) -> Self {
        let key = match self.key {
            key if key.is_promised() => key,
            key => Key { turn: self.turn, ..key },
        };
        Self { key, is_urgent: false, ..self }
    }
}

impl Queue {
    /// Who has to start soon is told from the others as of a moment; `heeds` says for which classes that counts.
    pub(crate) fn hurry(&mut self, now: Timestamp, heeds: impl Fn(&Class) -> bool) {
        while let Some((moment, job)) = self.turning.first().copied().filter(|next| next.0 <= now) {
            self.turning.remove(&(moment, job));
            let line = self.jobs.get(&job).and_then(|waiter| self.lines.get(&waiter.line));
            if line.is_some_and(|line| heeds(&line.class))
                && let Some(waiter) = self.remove(job)
            {
                self.insert(waiter.at(now));
            }
        }
    }

    /// All are looked at anew by the next pass.
    pub(crate) fn forget_urgency(&mut self) {
        let dated = self.jobs.values().filter(|waiter| waiter.deadline.is_some());
        let dated: Vec<JobId> = dated.map(|waiter| waiter.key.job).collect();
        for job in dated {
            if let Some(waiter) = self.remove(job) {
                self.insert(waiter.calm());
            }
        }
    }

    /// A job comes.
    pub(super) fn heed(&mut self, waiter: &Waiter) {
        self.turning.extend(waiter.turns_at().map(|moment| (moment, waiter.key.job)));
    }

    /// A job leaves.
    pub(super) fn heed_no_more(&mut self, waiter: &Waiter) {
        if let Some(moment) = waiter.turns_at() {
            self.turning.remove(&(moment, waiter.key.job));
        }
    }

    /// All that is counted of deadlines and promises is so.
    #[cfg(test)]
    pub(crate) fn sanity_check(&self) {
        for (moment, job) in &self.turning {
            assert_eq!(self.jobs.get(job).and_then(Waiter::turns_at), Some(*moment), "{job}");
        }
        for waiter in self.jobs.values() {
            let moment = waiter.turns_at().filter(|_| waiter.is_urgent);
            assert!(moment.is_none_or(|at| self.turning.contains(&(at, waiter.key.job))));
            assert_eq!(self.promised.contains(&waiter.key.job), waiter.key.is_promised());
            let stands = !waiter.held && waiter.not_before.is_none();
            let line = self.lines.get(&waiter.line).filter(|_| stands);
            assert!(line.is_none_or(|line| line.queue.contains(&waiter.key)), "{waiter:?}");
        }
    }
}
