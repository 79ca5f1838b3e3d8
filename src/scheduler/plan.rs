//! One pass over the queue.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use protocol::time::Timestamp;
use protocol::wait::{WaitReason, Waiting};

use crate::admit::{admit, never};
use crate::explain;
use crate::fit::{place, placement, undo};
use crate::model::{Answer, Placement, Plan, Request, Reservation, Snapshot};
use crate::reserve::reserve;
use crate::state::{Cluster, Tenant, View};
use crate::want::{Class, Want};

/// Decides for the whole queue: higher priority first, then first come, first served. The first job
/// that finds no room gets a reservation; what comes behind it starts only where it cannot delay
/// it. A job that waits for its virtual cluster's share holds up only those behind it in the same
/// virtual cluster, and only in what it is short of.
///
/// Costs about requests × nodes in the worst case; requests that ask for the same cost that once.
#[must_use]
pub fn plan(snapshot: &Snapshot, now: Timestamp) -> Plan {
    let queue: Vec<_> = snapshot.waiting.iter().collect();
    let mut pass = Pass::new(snapshot, now);
    let outcomes = pass.run(queue);
    let mut plan = Plan { reserved: pass.reserved, ..Plan::default() };
    for (request, outcome) in outcomes {
        match outcome {
            Outcome::Starts(placement) => plan.placements.push(placement),
            Outcome::Waits(waiting) => drop(plan.waiting.insert(request.job, waiting)),
        }
    }
    plan
}

/// What would become of a request if it were submitted now: it takes its place in the queue by its
/// own `priority` and `submitted_at`.
#[must_use]
pub fn dry_run(snapshot: &Snapshot, request: &Request, now: Timestamp) -> Answer {
    if let Err(reason) = admit(snapshot, request) {
        return Answer::Never(reason);
    }
    let queue: Vec<_> = snapshot.waiting.iter().chain([request]).collect();
    let mut answers = Pass::new(snapshot, now).run(queue);
    let place = answers.iter().position(|(asked, _)| std::ptr::eq(*asked, request));
    let place = place.expect("every request of a pass has an outcome");
    match answers.swap_remove(place).1 {
        Outcome::Starts(placement) => Answer::Fits(placement.tasks),
        Outcome::Waits(waiting) => Answer::Waits(waiting),
    }
}

/// What a pass decides for one request.
enum Outcome {
    Starts(Placement),
    Waits(Waiting),
}

/// A reason, but for what depends on the place in the queue.
#[derive(Clone)]
enum Blocked {
    /// It would fit.
    Behind,
    Reason(WaitReason),
}

struct Pass<'a> {
    snapshot: &'a Snapshot,
    cluster: Cluster<'a>,
    /// The cluster with nothing in it, made when it is first asked for.
    empty: Option<Cluster<'a>>,
    now: Timestamp,
    /// Of the first job that found no room.
    reserved: Option<Reservation>,
    /// Only ever shrinks: what failed fails again.
    failed: HashMap<Class<'a>, Blocked>,
    /// Jobs that wait so far, backoff not counted.
    ahead: u32,
}

impl<'a> Pass<'a> {
    fn new(snapshot: &'a Snapshot, now: Timestamp) -> Self {
        let cluster = Cluster::new(snapshot);
        let failed = HashMap::new();
        Self { snapshot, cluster, empty: None, now, reserved: None, failed, ahead: 0 }
    }

    /// The outcomes in the order of the queue.
    fn run(&mut self, mut queue: Vec<&'a Request>) -> Vec<(&'a Request, Outcome)> {
        queue.sort_by_key(|request| (Reverse(request.priority), request.submitted_at, request.job));
        let mut positions: BTreeMap<_, u32> = BTreeMap::new();
        queue
            .into_iter()
            .map(|request| {
                let outcome = match self.decide(request) {
                    Ok(placement) => Outcome::Starts(placement),
                    Err(blocked) => {
                        let position = positions.entry(&request.virtual_cluster).or_default();
                        *position += 1;
                        let (reason, expected_start) = self.reason(blocked);
                        Outcome::Waits(Waiting { reason, position: *position, expected_start })
                    }
                };
                (request, outcome)
            })
            .collect()
    }

    fn reason(&mut self, blocked: Blocked) -> (WaitReason, Option<Timestamp>) {
        let ahead = self.ahead;
        match blocked {
            Blocked::Reason(WaitReason::Backoff { until }) => {
                (WaitReason::Backoff { until }, Some(until))
            }
            Blocked::Reason(reason) => {
                self.ahead += 1;
                (reason, None)
            }
            Blocked::Behind => {
                self.ahead += 1;
                (WaitReason::Behind { ahead }, None)
            }
        }
    }

    fn decide(&mut self, request: &'a Request) -> Result<Placement, Blocked> {
        if let Some(until) = request.not_before.filter(|until| *until > self.now) {
            return Err(Blocked::Reason(WaitReason::Backoff { until }));
        }
        let want = Want::new(request, &self.cluster.names);
        let class = want.class();
        if let Some(blocked) = self.failed.get(&class) {
            return Err(blocked.clone());
        }
        if let Ok(claims) = place(&mut self.cluster, &want, View::Outside) {
            let placement = placement(&self.cluster, &want, &claims);
            // A reservation made later in this pass may wait for its end.
            self.cluster.tenants.push(Tenant { job: request.job, account: want.account, claims });
            // What would fit but for those ahead may not do so any more.
            self.failed.retain(|_, blocked| !matches!(blocked, Blocked::Behind));
            return Ok(placement);
        }
        let blocked = self.blocked(&want);
        self.failed.insert(class, blocked.clone());
        Err(blocked)
    }

    /// Why a job that found no room waits, and what that means for those behind it.
    fn blocked(&mut self, want: &Want<'a>) -> Blocked {
        let empty = self.empty.get_or_insert_with(|| Cluster::empty(self.snapshot));
        if let Some(reason) = never(empty, want) {
            return Blocked::Reason(reason);
        }
        let cluster = &mut self.cluster;
        let lacks = cluster.shares.lacks(want, false);
        for lack in &lacks {
            cluster.shares.freeze(want.account, lack.which);
        }
        if let Some(lack) = lacks.first() {
            return Blocked::Reason(explain::quota(cluster, want, *lack));
        }
        let failure = match place(cluster, want, View::Real) {
            Ok(claims) => {
                undo(cluster, want, &claims);
                return Blocked::Behind;
            }
            Err(failure) => failure,
        };
        let reason = explain::no_room(cluster, want, failure);
        if self.reserved.is_none() {
            self.reserved = reserve(cluster, want, self.snapshot.reserved.as_ref());
        }
        Blocked::Reason(reason)
    }
}
