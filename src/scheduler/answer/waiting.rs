//! Why jobs wait, and their places.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use protocol::ids::{JobId, VirtualClusterName};
use protocol::spec::Priority;
use protocol::time::Timestamp;
use protocol::wait::{WaitReason, Waiting};

use super::without_place;
use crate::numbers::indices::{ClassIndex, LineIndex};
use crate::numbers::quick::Quick;
use crate::numbers::request::Wanted;
use crate::queue::Waiter;
use crate::state::State;

/// Jobs of the same class and priority, which have the same reason.
type Alike = (ClassIndex, Priority);

/// The places of all that wait, as of a moment. Until anything changes, why some of them wait is told from it, which
/// costs what those are.
#[derive(Debug)]
pub struct Places {
    now: Timestamp,
    order: Vec<Ranked>,
    /// Where each is in it.
    at: HashMap<JobId, usize, Quick>,
    /// Those that have no place, since something keeps all of their line from starting.
    limited: HashMap<JobId, LineIndex, Quick>,
    limits: HashMap<LineIndex, WaitReason, Quick>,
    /// Of those that are alike, who is the first to find no room, and why: as far as somebody has asked.
    reasons: HashMap<Alike, (JobId, WaitReason)>,
}

/// A job in the order of all.
#[derive(Debug, Clone, Copy)]
struct Ranked {
    job: JobId,
    line: LineIndex,
    like: Alike,
    /// In its virtual cluster.
    position: u32,
}

/// What is the same for all jobs of a line.
struct OfLine {
    like: ClassIndex,
    /// What keeps all of it from starting.
    limit: Option<WaitReason>,
    /// Its virtual cluster, among those in which somebody waits.
    cluster: usize,
}

impl State {
    /// Why all that wait do, and their places. Jobs that ask for the same, with priorities of one class,
    /// have the same reason.
    pub fn waiting(&mut self, now: Timestamp) -> BTreeMap<JobId, Waiting> {
        let all = self.queue.jobs.keys().chain(self.pending.keys()).copied().collect();
        self.waiting_of(&all, &mut self.places(now))
    }

    /// The same of these jobs alone, from the places of all.
    pub fn waiting_of(
        &mut self,
        jobs: &BTreeSet<JobId>,
        places: &mut Places,
    ) -> BTreeMap<JobId, Waiting> {
        let said = jobs.iter().filter_map(|job| Some((*job, self.tell(*job, places)?)));
        said.collect()
    }

    /// The places of all that wait.
    #[must_use]
    pub fn places(&self, now: Timestamp) -> Places {
        let balance = self.balance(None, now);
        let pending = self.pending.values().map(|pending| pending.waiter);
        let all = self.queue.in_order_with(pending, |line| self.behind(line, &balance));
        let mut places = Places {
            now,
            order: Vec::with_capacity(all.len()),
            at: HashMap::with_capacity_and_hasher(all.len(), Quick::default()),
            limited: HashMap::default(),
            limits: HashMap::default(),
            reasons: HashMap::new(),
        };
        let mut lines: HashMap<LineIndex, OfLine, Quick> = HashMap::default();
        let mut clusters: HashMap<VirtualClusterName, usize> = HashMap::new();
        let mut positions: Vec<u32> = Vec::new();
        for (key, line) in all {
            let job = key.job;
            let of_line = lines.entry(line).or_insert_with(|| self.of_line(line, &mut clusters));
            if of_line.limit.is_some() && !self.pending.contains_key(&job) {
                places.limited.insert(job, line);
                continue;
            }
            positions.resize(positions.len().max(of_line.cluster + 1), 0);
            let position = &mut positions[of_line.cluster];
            *position += 1;
            let like = (of_line.like, key.turn.priority.0.class());
            places.at.insert(job, places.order.len());
            places.order.push(Ranked { job, line, like, position: *position });
        }
        let limits = lines.into_iter().filter_map(|(line, of_line)| Some((line, of_line.limit?)));
        places.limits.extend(limits);
        places
    }

    fn tell(&mut self, job: JobId, places: &mut Places) -> Option<Waiting> {
        if let Some(line) = places.limited.get(&job) {
            return Some(without_place(places.limits.get(line)?.clone(), None));
        }
        let Some(at) = places.at.get(&job) else {
            return resting(self.queue.jobs.get(&job)?, places.now).map(|(_, waiting)| waiting);
        };
        let ranked = places.order[*at];
        let Ranked { line, position, .. } = ranked;
        if let Some(waiting) = self.preempting(job, position, places.now) {
            return Some(waiting);
        }
        let expected_start = self.reserved_for(job).map(|reserved| reserved.reservation.start);
        let class = self.queue.class(line);
        let reason = match self.rests(Wanted { job, class: &class }, places.now) {
            Some(reason) => reason,
            None => self.reason_among(ranked, places)?,
        };
        Some(Waiting { reason, position, expected_start })
    }

    /// Why a job finds no room: as the first of those that are alike, which is kept for the others.
    fn reason_among(&mut self, ranked: Ranked, places: &mut Places) -> Option<WaitReason> {
        let Ranked { job, like, position, .. } = ranked;
        let (first, reason) = match places.reasons.get(&like) {
            Some(known) => known.clone(),
            None => {
                let found = self.first_reason(like, places)?;
                places.reasons.entry(like).or_insert(found).clone()
            }
        };
        Some(match reason {
            WaitReason::Behind { .. } if first != job => WaitReason::Behind { ahead: position - 1 },
            reason => reason,
        })
    }

    /// The first of those that are alike that waits for room, and why it finds none.
    fn first_reason(&mut self, like: Alike, places: &Places) -> Option<(JobId, WaitReason)> {
        for ranked in places.order.iter().filter(|ranked| ranked.like == like) {
            let Ranked { job, line, position, .. } = *ranked;
            let class = self.queue.class(line);
            let wanted = Wanted { job, class: &class };
            if !self.pending.contains_key(&job) && self.rests(wanted, places.now).is_none() {
                return Some((job, self.reason(wanted, position - 1, places.now)));
            }
        }
        None
    }

    fn of_line(
        &self,
        line: LineIndex,
        clusters: &mut HashMap<VirtualClusterName, usize>,
    ) -> OfLine {
        let class = self.queue.class(line);
        let next = clusters.len();
        let cluster = *clusters.entry(class.of.virtual_cluster.clone()).or_insert(next);
        let (like, limit) = (self.queue.lines[&line].like, self.limit_of(&class));
        OfLine { like, limit, cluster }
    }
}

/// What is said of a job that waits for no room: somebody holds it, or a moment has to come.
pub(super) fn resting(waiter: &Waiter, now: Timestamp) -> Option<(JobId, Waiting)> {
    let job = waiter.key.job;
    if waiter.held {
        let hold = WaitReason::Hold { by: None, administrator: false };
        return Some((job, without_place(hold, None)));
    }
    let until = waiter.not_before.filter(|until| *until > now)?;
    Some((job, without_place(WaitReason::Backoff { until }, Some(until))))
}
