//! Why jobs wait, and their places.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use protocol::ids::{JobId, VirtualClusterName};
use protocol::spec::Priority;
use protocol::time::Timestamp;
use protocol::wait::{WaitReason, Waiting};

use super::without_place;
use crate::numbers::indices::{ClassIndex, LineIndex};
use crate::numbers::quick::Quick;
use crate::numbers::request::{Class, Wanted};
use crate::queue::{Line, Waiter};
use crate::state::State;

/// Jobs of the same class and priority, which have the same reason.
type Alike = (ClassIndex, Priority);

/// What is the same for all jobs of a line.
struct OfLine {
    class: Arc<Class>,
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
        self.tell_waiting(None, now)
    }

    /// The same of these jobs alone. The others are counted, as they stand ahead of them, and cost next to nothing.
    pub fn waiting_of(
        &mut self,
        jobs: &BTreeSet<JobId>,
        now: Timestamp,
    ) -> BTreeMap<JobId, Waiting> {
        self.tell_waiting(Some(jobs), now)
    }

    fn tell_waiting(
        &mut self,
        asked: Option<&BTreeSet<JobId>>,
        now: Timestamp,
    ) -> BTreeMap<JobId, Waiting> {
        let alike: Option<BTreeSet<Alike>> =
            asked.map(|jobs| jobs.iter().filter_map(|job| self.alike(*job)).collect());
        let mut all = BTreeMap::new();
        let mut lines: HashMap<LineIndex, OfLine, Quick> = HashMap::default();
        let mut clusters: HashMap<VirtualClusterName, usize> = HashMap::new();
        let mut positions: Vec<u32> = Vec::new();
        let mut reasons: HashMap<Alike, WaitReason> = HashMap::new();
        let balance = self.balance(None, now);
        let behind = |line: &Line| self.behind(line, &balance);
        let pending = self.pending.values().map(|pending| pending.waiter);
        for (key, line) in self.queue.in_order_with(pending, behind) {
            let line = lines.entry(line).or_insert_with(|| self.of_line(line, &mut clusters));
            let is_asked = asked.is_none_or(|jobs| jobs.contains(&key.job));
            if let Some(reason) =
                line.limit.as_ref().filter(|_| !self.pending.contains_key(&key.job))
            {
                if is_asked {
                    all.insert(key.job, without_place(reason.clone(), None));
                }
                continue;
            }
            positions.resize(positions.len().max(line.cluster + 1), 0);
            let position = &mut positions[line.cluster];
            *position += 1;
            let position = *position;
            let like = (line.like, key.turn.priority.0.class());
            // Of others only the first of a class is looked at, of which somebody who asks is: its reason is his.
            let tells = alike.as_ref().is_none_or(|alike| alike.contains(&like));
            if !is_asked && (!tells || reasons.contains_key(&like)) {
                continue;
            }
            let class = Arc::clone(&line.class);
            let wanted = Wanted { job: key.job, class: &class };
            let waiting = self.tell(wanted, (like, position), &mut reasons, now);
            if is_asked {
                all.insert(key.job, waiting);
            }
        }
        let of = |waiter: &Waiter| resting(waiter, now);
        match asked {
            None => all.extend(self.queue.jobs.values().filter_map(of)),
            Some(jobs) => {
                let waiters = jobs.iter().filter_map(|job| self.queue.jobs.get(job));
                all.extend(waiters.filter_map(of));
            }
        }
        all
    }

    /// What is said of a job with a place in the queue. The reason of the first of a class is kept for the others.
    fn tell(
        &mut self,
        wanted: Wanted,
        (like, position): (Alike, u32),
        reasons: &mut HashMap<Alike, WaitReason>,
        now: Timestamp,
    ) -> Waiting {
        if let Some(waiting) = self.preempting(wanted.job, position, now) {
            return waiting;
        }
        let expected_start = self.hold_of(wanted.job).map(|hold| hold.reservation.start);
        let reason = match self.rests(wanted, now) {
            Some(reason) => reason,
            None => match reasons.get(&like) {
                Some(WaitReason::Behind { .. }) => WaitReason::Behind { ahead: position - 1 },
                Some(known) => known.clone(),
                None => {
                    let reason = self.reason(wanted, position - 1, now);
                    reasons.insert(like, reason.clone());
                    reason
                }
            },
        };
        Waiting { reason, position, expected_start }
    }

    fn alike(&self, job: JobId) -> Option<Alike> {
        let waiter = self.queue.jobs.get(&job)?;
        let line = self.queue.lines.get(&waiter.line)?;
        Some((line.like, waiter.key.turn.priority.0.class()))
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
        OfLine { class, like, limit, cluster }
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
