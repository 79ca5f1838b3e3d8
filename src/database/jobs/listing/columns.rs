//! The columns, and what is found in them.

mod order;

use std::collections::HashSet;
use std::ops::Range;

use protocol::ids::{UserName, VirtualClusterName};
use protocol::jobs::{JobOrder, JobQuery};
use protocol::time::Timestamp;

use super::entry::Entry;
use super::names::Names;
use super::texts::Texts;

/// What a list asks for.
#[derive(Debug)]
pub(crate) struct Asked {
    /// Filters, order and page.
    pub(crate) query: JobQuery,
    /// What its times are counted from.
    pub(crate) now: Timestamp,
    /// The only jobs that its nodes and tags leave, if it names any.
    pub(crate) only: Option<HashSet<i64>>,
    /// Jobs that have a tag which it does not want.
    pub(crate) without: HashSet<i64>,
}

/// So few places need not be made fewer.
const FEW: usize = 1_000;

/// When a job ends that has not: later than all.
const NOT_ENDED: i64 = i64::MAX;

/// A value of each job in each column. A job's place in them is that in which it came.
#[derive(Debug, Default)]
pub(crate) struct Columns {
    ids: Vec<i64>,
    /// Whether it is stored still. One that is gone keeps its place until most of them are gone.
    stored: Vec<bool>,
    /// How many are not.
    gone: usize,
    names: Names,
    users: Texts,
    virtual_clusters: Texts,
    states: Texts,
    priorities: Vec<i64>,
    gpu_types: Texts,
    gpus: Vec<i64>,
    tasks: Vec<i64>,
    retries: Vec<i64>,
    submitted: Vec<i64>,
    /// [`NOT_ENDED`] of jobs that have not.
    completed: Vec<i64>,
    /// The places, by id.
    by_id: Vec<u32>,
    /// The places, by time of submission and id.
    by_submission: Vec<u32>,
}

impl Columns {
    /// Adds new jobs, and writes down what has changed of those that are known. Of the ids that were
    /// looked for, those that no entry has are gone.
    pub(super) fn apply(&mut self, sought: impl IntoIterator<Item = i64>, entries: Vec<Entry>) {
        for id in sought {
            if let Some(job) = self.place(id) {
                self.gone += usize::from(std::mem::replace(&mut self.stored[job], false));
            }
        }
        for entry in entries {
            match self.place(entry.id) {
                Some(job) => self.change(job, &entry),
                None => self.push(&entry),
            }
        }
        self.sort();
    }

    /// Whether most of the places are of jobs that are gone.
    pub(super) fn is_sparse(&self) -> bool {
        self.gone >= FEW && self.gone > self.ids.len() / 2
    }

    /// The same without the places of jobs that are gone.
    pub(super) fn compacted(&self) -> Self {
        let mut compact = Self::default();
        for job in (0..self.ids.len()).filter(|job| self.stored[*job]) {
            compact.push(&self.entry(job));
        }
        compact.sort();
        compact
    }

    fn sort(&mut self) {
        let Self { ids, submitted, by_id, by_submission, .. } = self;
        sort_in(by_id, ids.len(), |job| ids[job as usize]);
        sort_in(by_submission, ids.len(), |job| (submitted[job as usize], ids[job as usize]));
    }

    fn place(&self, id: i64) -> Option<usize> {
        let at = self.by_id.partition_point(|job| self.ids[*job as usize] < id);
        let job = *self.by_id.get(at)? as usize;
        (self.ids[job] == id).then_some(job)
    }

    fn push(&mut self, entry: &Entry) {
        self.ids.push(entry.id);
        self.stored.push(true);
        self.names.push(&entry.name);
        self.users.push(&entry.user);
        self.virtual_clusters.push(&entry.virtual_cluster);
        self.states.push(&entry.state);
        self.priorities.push(entry.priority);
        self.gpu_types.push(&entry.gpu_types);
        self.gpus.push(entry.gpu_milli);
        self.tasks.push(entry.tasks);
        self.retries.push(entry.retries);
        self.submitted.push(entry.submitted_at);
        self.completed.push(entry.completed_at.unwrap_or(NOT_ENDED));
    }

    /// A job as it was pushed and changed.
    fn entry(&self, job: usize) -> Entry {
        Entry {
            id: self.ids[job],
            user: self.users.at(job).to_owned(),
            name: String::from_utf8_lossy(self.names.at(job)).into_owned(),
            virtual_cluster: self.virtual_clusters.at(job).to_owned(),
            state: self.states.at(job).to_owned(),
            priority: self.priorities[job],
            gpu_types: self.gpu_types.at(job).to_owned(),
            gpu_milli: self.gpus[job],
            tasks: self.tasks[job],
            retries: self.retries[job],
            submitted_at: self.submitted[job],
            completed_at: Some(self.completed[job]).filter(|ended| *ended != NOT_ENDED),
        }
    }

    /// Whose a job is, what it asks for and when it came never change.
    fn change(&mut self, job: usize, entry: &Entry) {
        self.gone -= usize::from(!std::mem::replace(&mut self.stored[job], true));
        self.states.set(job, &entry.state);
        self.priorities[job] = entry.priority;
        self.retries[job] = entry.retries;
        self.completed[job] = entry.completed_at.unwrap_or(NOT_ENDED);
    }

    /// The ids of one page, and how many jobs there are on all pages.
    pub(crate) fn page(&self, asked: &Asked) -> (Vec<i64>, u64) {
        let query = &asked.query;
        let kept = self.matching(asked, true);
        let total = kept.iter().filter(|kept| **kept).count();
        let page = on_page(query, total);
        let jobs = if page.is_empty() {
            Vec::new()
        } else if query.order == JobOrder::Submitted {
            self.as_submitted(&kept, page, query.ascending)
        } else {
            self.in_order(&kept, total, page, query)
        };
        (jobs.into_iter().map(|job| self.ids[job as usize]).collect(), total as u64)
    }

    /// How many jobs are in each state, by its word; the states asked for are left out of account.
    pub(crate) fn counts(&self, asked: &Asked) -> Vec<(String, u64)> {
        self.states.count(&self.matching(asked, false))
    }

    fn matching(&self, asked: &Asked, by_state: bool) -> Vec<bool> {
        let query = &asked.query;
        let mut kept = self.with_words(query);
        if !query.users.is_empty() {
            let users: Vec<&str> = query.users.iter().map(UserName::as_str).collect();
            self.users.keep(&mut kept, |user| users.contains(&user));
        }
        if by_state && !query.states.is_empty() {
            let states: Vec<&str> = query.states.iter().map(|state| state.as_str()).collect();
            self.states.keep(&mut kept, |state| states.contains(&state));
        }
        if !query.virtual_clusters.is_empty() {
            let asked = query.virtual_clusters.iter();
            let names: Vec<&str> = asked.map(VirtualClusterName::as_str).collect();
            self.virtual_clusters.keep(&mut kept, |name| names.contains(&name));
        }
        self.keep_resources(query, &mut kept);
        self.keep_times(query, asked.now, &mut kept);
        if let Some(jobs) = &asked.only {
            for (kept, id) in kept.iter_mut().zip(&self.ids) {
                *kept = *kept && jobs.contains(id);
            }
        }
        if !asked.without.is_empty() {
            for (kept, id) in kept.iter_mut().zip(&self.ids) {
                *kept = *kept && !asked.without.contains(id);
            }
        }
        kept
    }

    fn keep_resources(&self, query: &JobQuery, kept: &mut [bool]) {
        let number = |milli: u64| i64::try_from(milli).unwrap_or(i64::MAX);
        if let Some(least) = query.least_gpus.map(number) {
            keep(kept, &self.gpus, |gpus| gpus >= least);
        }
        if let Some(most) = query.most_gpus.map(number) {
            keep(kept, &self.gpus, |gpus| gpus <= most);
        }
        if !query.gpu_types.is_empty() {
            // The column is a list in JSON, and a type has no character that JSON would escape.
            let kinds = query.gpu_types.iter().map(|kind| format!("\"{kind}\"").to_lowercase());
            let kinds: Vec<String> = kinds.collect();
            self.gpu_types.keep(kept, |types| {
                let types = types.to_lowercase();
                kinds.iter().any(|kind| types.contains(kind))
            });
        }
        if !query.priorities.is_empty() {
            keep(kept, &self.priorities, |priority| {
                query.priorities.iter().any(|asked| i64::from(asked.0) == priority)
            });
        }
        if !query.priority_ranges.is_empty() {
            keep(kept, &self.priorities, |priority| {
                let mut ranges = query.priority_ranges.iter();
                ranges.any(|(least, most)| {
                    (i64::from(least.0)..=i64::from(most.0)).contains(&priority)
                })
            });
        }
    }

    fn keep_times(&self, query: &JobQuery, now: Timestamp, kept: &mut [bool]) {
        if let Some(Timestamp(since)) = query.since.map(|since| since.at(now)) {
            keep(kept, &self.submitted, |submitted| submitted >= since);
        }
        if let Some(Timestamp(until)) = query.until.map(|until| until.at(now)) {
            keep(kept, &self.submitted, |submitted| submitted <= until);
        }
        if let Some(Timestamp(since)) = query.ended_since.map(|since| since.at(now)) {
            keep(kept, &self.completed, |ended| ended >= since && ended != NOT_ENDED);
        }
    }

    /// The stored jobs that have the words asked for.
    fn with_words(&self, query: &JobQuery) -> Vec<bool> {
        let mut kept = self.stored.clone();
        if !query.keyword.is_empty() {
            let word = query.keyword.to_lowercase();
            let mut found = vec![false; kept.len()];
            self.names.find(&word, &mut found);
            self.users.find(&mut found, |user| user.to_lowercase().contains(&word));
            self.virtual_clusters.find(&mut found, |name| name.to_lowercase().contains(&word));
            keep_found(&mut kept, &found);
        }
        if !query.names.is_empty() {
            let mut found = vec![false; kept.len()];
            for name in &query.names {
                self.names.find(&name.to_lowercase(), &mut found);
            }
            keep_found(&mut kept, &found);
        }
        kept
    }
}

/// A place as it is kept.
pub(super) fn index(place: usize) -> u32 {
    u32::try_from(place).expect("memory does not hold four thousand million jobs")
}

/// Leaves in `kept` the jobs whose value passes.
fn keep(kept: &mut [bool], column: &[i64], test: impl Fn(i64) -> bool) {
    for (kept, value) in kept.iter_mut().zip(column) {
        *kept &= test(*value);
    }
}

/// Leaves in `kept` the jobs that were found.
fn keep_found(kept: &mut [bool], found: &[bool]) {
    for (kept, found) in kept.iter_mut().zip(found) {
        *kept &= *found;
    }
}

/// Adds to an order the places up to `jobs` that it does not have yet. Where they come in that order,
/// the others stay untouched.
fn sort_in<K: Ord>(order: &mut Vec<u32>, jobs: usize, key: impl Fn(u32) -> K) {
    let known = order.len();
    order.extend(index(known)..index(jobs));
    let Some(least) = order[known..].iter().map(|job| key(*job)).min() else { return };
    let from = order[..known].partition_point(|job| key(*job) < least);
    order[from..].sort_unstable_by_key(|job| key(*job));
}

/// Which of so many jobs are on the page.
fn on_page(query: &JobQuery, total: usize) -> Range<usize> {
    let number = |number: u64| usize::try_from(number).unwrap_or(usize::MAX);
    let start = number(query.offset).min(total);
    start..start.saturating_add(number(query.limit)).min(total)
}

#[cfg(test)]
mod tests;
