//! One page of the jobs that are found, in the order that is asked for.

use std::cmp::Ordering;
use std::ops::Range;

use protocol::jobs::{JobOrder, JobQuery};

use super::Columns;

impl Columns {
    /// The page in the order of submission, which is kept.
    pub(super) fn as_submitted(
        &self,
        kept: &[bool],
        page: Range<usize>,
        ascending: bool,
    ) -> Vec<u32> {
        let here = |job: &&u32| kept[**job as usize];
        let (skipped, jobs) = (page.start, page.len());
        if ascending {
            let all = self.by_submission.iter().filter(here);
            all.skip(skipped).take(jobs).copied().collect()
        } else {
            let all = self.by_submission.iter().rev().filter(here);
            all.skip(skipped).take(jobs).copied().collect()
        }
    }

    /// The page of `total` kept jobs in any order, without putting the other pages in order.
    pub(super) fn in_order(
        &self,
        kept: &[bool],
        total: usize,
        page: Range<usize>,
        query: &JobQuery,
    ) -> Vec<u32> {
        // From the end that is nearer.
        let backwards = page.start > total - page.end;
        let skipped = if backwards { total - page.end } else { page.start };
        let compare = |a: &u32, b: &u32| {
            let order = self.compare(query.order, *a as usize, *b as usize);
            if query.ascending == backwards { order.reverse() } else { order }
        };
        let mut jobs = first(kept, skipped + page.len(), compare);
        if skipped > 0 {
            jobs.select_nth_unstable_by(skipped, compare);
            jobs.drain(..skipped);
        }
        if jobs.len() > page.len() {
            jobs.select_nth_unstable_by(page.len(), compare);
            jobs.truncate(page.len());
        }
        jobs.sort_unstable_by(compare);
        if backwards {
            jobs.reverse();
        }
        jobs
    }

    /// What the documentation of [`JobOrder`] says, ascending.
    fn compare(&self, order: JobOrder, a: usize, b: usize) -> Ordering {
        let submitted = || self.submitted[a].cmp(&self.submitted[b]);
        let by = match order {
            JobOrder::Submitted => submitted(),
            JobOrder::Completed => self.completed[a].cmp(&self.completed[b]),
            JobOrder::Name => self.names.at(a).cmp(self.names.at(b)),
            JobOrder::User => self.users.at(a).cmp(self.users.at(b)).then_with(submitted),
            JobOrder::VirtualCluster => {
                self.virtual_clusters.at(a).cmp(self.virtual_clusters.at(b)).then_with(submitted)
            }
            JobOrder::State => self.states.at(a).cmp(self.states.at(b)).then_with(submitted),
            JobOrder::Gpus => self.gpus[a].cmp(&self.gpus[b]),
            JobOrder::Tasks => self.tasks[a].cmp(&self.tasks[b]),
            JobOrder::Retries => self.retries[a].cmp(&self.retries[b]),
            JobOrder::Priority => self.priorities[a].cmp(&self.priorities[b]),
        };
        by.then_with(|| self.ids[a].cmp(&self.ids[b]))
    }
}

/// The first `most` of the kept jobs and perhaps some more, in no order.
fn first(kept: &[bool], most: usize, compare: impl Fn(&u32, &u32) -> Ordering) -> Vec<u32> {
    let mut best: Vec<u32> = Vec::new();
    let mut last = None;
    for (job, _) in (0_u32..).zip(kept).filter(|(_, kept)| **kept) {
        if last.is_some_and(|last| compare(&job, &last).is_gt()) {
            continue;
        }
        best.push(job);
        if best.len() == 2 * most {
            best.select_nth_unstable_by(most - 1, &compare);
            best.truncate(most);
            last = Some(best[most - 1]);
        }
    }
    best
}
