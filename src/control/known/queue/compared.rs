//! Whether what is known is what is stored, and what is expected of jobs: looked at anew without reading them.

use std::collections::{BTreeMap, BTreeSet};

use database::jobs::{JobRow, Sums, part_of};
use protocol::ids::JobId;
use protocol::placement::TaskPlacement;
use protocol::spec::{Priority, TimeLimit};
use protocol::state::State;
use protocol::time::Timestamp;
use scheduler::model::Demand;

use super::state::Queue;
use super::told;
use crate::known::active::Active;

/// Of so many jobs in a pass it is looked at anew how long they are expected to run: passes are short.
const SOME: usize = 5_000;

/// What the scheduler goes by of a job, and what that holds.
#[derive(Debug, PartialEq)]
pub(crate) struct Essence {
    waits: bool,
    is_held: bool,
    stops: bool,
    priority: Priority,
    moved_ms: i64,
    attempt: Option<u32>,
    not_before: Option<Timestamp>,
    time_limit: Option<TimeLimit>,
    tasks: Vec<(TaskPlacement, Demand)>,
}

impl Essence {
    /// Of a job whose tasks that have not ended are these, in any order.
    pub(crate) fn of(row: &JobRow, mut tasks: Vec<(TaskPlacement, Demand)>) -> Self {
        tasks.sort_by_key(|(place, _)| (place.role, place.index));
        Self {
            waits: row.state == State::Waiting,
            is_held: row.held.is_some(),
            stops: row.stop.is_some(),
            priority: row.priority,
            moved_ms: row.moved_ms,
            attempt: row.attempt,
            not_before: row.not_before,
            time_limit: row.time_limit,
            tasks,
        }
    }
}

impl Queue {
    /// All that is known, once it was looked over.
    pub(crate) fn essences(&self) -> BTreeMap<JobId, Essence> {
        self.sanity_check();
        let held = |job: &JobId| self.running.get(job).map(|running| running.tasks.clone());
        let of = |(id, job): (&JobId, &Active)| {
            (*id, Essence::of(&job.row, held(id).unwrap_or_default()))
        };
        self.jobs.all().map(of).collect()
    }

    /// The parts of which something else is stored than is known, and all jobs that are known of them.
    pub(crate) fn differing(&self, stored: &BTreeMap<i64, Sums>) -> (Vec<i64>, BTreeSet<JobId>) {
        let mut known: BTreeMap<i64, Sums> = BTreeMap::new();
        for job in self.jobs.values() {
            known.entry(part_of(job.row.id)).or_default().add_job(&job.row);
        }
        for running in self.running.values() {
            let sums = known.entry(part_of(running.job)).or_default();
            for (place, _) in &running.tasks {
                sums.add_task(running.job, place.role, place.index);
            }
        }
        let parts: BTreeSet<i64> = known.keys().chain(stored.keys()).copied().collect();
        let differ = |part: &i64| known.get(part) != stored.get(part);
        let parts: Vec<i64> = parts.into_iter().filter(differ).collect();
        let of_them = |job: &JobId| parts.binary_search(&part_of(*job)).is_ok();
        let jobs = self.jobs.keys().copied().filter(of_them).collect();
        (parts, jobs)
    }

    /// The jobs whose limit counts from a container that has not begun: when they end moves on with the clock, and
    /// nothing that is stored of them does.
    pub(crate) fn without_a_start(&self) -> impl Iterator<Item = JobId> {
        let all = self.jobs.values().filter(|job| job.spec.time_limit.is_some());
        all.filter(|job| job.row.state == State::Preparing).map(|job| job.row.id)
    }

    /// The jobs that have not ended.
    pub(crate) fn ids(&self) -> BTreeSet<JobId> {
        self.jobs.keys().copied().collect()
    }

    /// What is expected of jobs is to be looked at anew in the next passes, if any have ended since it was.
    pub(crate) fn expect_anew(&mut self) {
        // Those that are left of the last time come first: else some would never have their turn.
        if self.to_expect.is_empty() && std::mem::take(&mut self.learned) {
            self.to_expect = self.jobs.keys().copied().collect();
        }
    }

    /// Looks at what is expected of some of them. Says whether it is anything else.
    pub(crate) fn expect_some(&mut self) -> bool {
        let first = self.to_expect.len().saturating_sub(SOME);
        let some = self.to_expect.split_off(first);
        let mut changed = false;
        for job in some {
            changed |= match self.running.contains_key(&job) {
                true => self.expect_of_running(job),
                false => self.expect_of_waiting(job),
            };
        }
        if changed {
            self.unsay();
        }
        changed
    }

    fn expect_of_waiting(&mut self, id: JobId) -> bool {
        let waits = |job: &&Active| job.row.state == State::Waiting && job.row.stop.is_none();
        let Some(job) = self.jobs.get(&id).filter(waits) else { return false };
        let request = told::request_of_job(job, &self.past, &self.lacks);
        self.state.expects(&request)
    }

    fn expect_of_running(&mut self, id: JobId) -> bool {
        let (Some(job), Some(running)) = (self.jobs.get(&id), self.running.get(&id)) else {
            return false;
        };
        let expected = told::expected_anew(job, running, &self.past);
        if expected == **running {
            return false;
        }
        self.state.runs(&expected);
        self.keeps(id, expected);
        true
    }
}
