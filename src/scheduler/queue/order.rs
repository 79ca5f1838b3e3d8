//! Moving a job in the queue.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::ops::RangeInclusive;

use protocol::ids::{JobId, UserName};

use crate::model::{Request, Snapshot};
use crate::queue::Key;

/// Where a job shall go among those beside it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Place {
    /// Before all others.
    First,
    /// Before the one that is just ahead.
    Earlier,
    /// Behind the one that is just after.
    Later,
    /// Behind all others.
    Last,
}

/// Moves a waiting job among those of the same virtual cluster and priority: what `moved_ms` of
/// which jobs becomes. Among the jobs of one user only, these change places with each other, so
/// that nobody else waits longer for it.
#[must_use]
pub fn moves(
    waiting: &[Request],
    job: JobId,
    place: Place,
    among: Option<&UserName>,
) -> Vec<(JobId, i64)> {
    let Some(moved) = waiting.iter().find(|request| request.job == job) else {
        return Vec::new();
    };
    let beside = |request: &&Request| {
        request.virtual_cluster == moved.virtual_cluster
            && request.priority == moved.priority
            && among.is_none_or(|user| request.user == *user)
    };
    let mut line: Vec<(Key, &Request)> =
        waiting.iter().filter(beside).map(|request| (Key::of(request), request)).collect();
    line.sort_unstable_by_key(|(key, _)| *key);
    let Some(at) = line.iter().position(|(_, request)| request.job == job) else {
        return Vec::new();
    };
    let end = line.len() - 1;
    let to = match place {
        Place::First => 0,
        Place::Earlier => at.saturating_sub(1),
        Place::Later => (at + 1).min(end),
        Place::Last => end,
    };
    match (at == to, among) {
        (true, _) => Vec::new(),
        (false, Some(_)) => exchanged(&line, at, to),
        // Among the jobs of all, nobody's place is touched but that of the job itself.
        (false, None) if to < at => vec![ranked(moved, line[to].0.turn.rank.saturating_sub(1))],
        (false, None) => vec![ranked(moved, line[to].0.turn.rank.saturating_add(1))],
    }
}

impl Snapshot {
    /// Drops the reservations of virtual clusters in which people changed somebody's turn since
    /// `before`: who has one stays first, whatever else is said.
    pub fn reorder_since(&mut self, before: &Self) {
        let turn = |request: &Request| (request.priority, request.moved_ms);
        let turns: HashMap<JobId, _> =
            before.waiting.iter().map(|request| (request.job, turn(request))).collect();
        let changed =
            |request: &&Request| turns.get(&request.job).is_some_and(|old| *old != turn(request));
        let clusters: BTreeSet<_> = self
            .waiting
            .iter()
            .filter(changed)
            .map(|request| request.virtual_cluster.clone())
            .collect();
        if clusters.is_empty() {
            return;
        }
        let concerned = self.waiting.iter().filter(|r| clusters.contains(&r.virtual_cluster));
        let concerned: HashSet<JobId> = concerned.map(|request| request.job).collect();
        self.reserved.retain(|reservation| !concerned.contains(&reservation.job));
    }
}

/// The places between two, given anew: each to the one that now comes there.
fn exchanged(line: &[(Key, &Request)], at: usize, to: usize) -> Vec<(JobId, i64)> {
    let between: RangeInclusive<usize> = at.min(to)..=at.max(to);
    let places: Vec<i64> = line[between.clone()].iter().map(|(key, _)| key.turn.rank).collect();
    let mut jobs: Vec<&Request> = line[between].iter().map(|(_, request)| *request).collect();
    if to < at {
        jobs.rotate_right(1);
    } else {
        jobs.rotate_left(1);
    }
    let mut last = i64::MIN;
    let mut moves = Vec::with_capacity(jobs.len());
    for (request, rank) in jobs.into_iter().zip(places) {
        // Equal places would be told apart by the jobs' numbers.
        last = rank.max(last.saturating_add(1));
        moves.push(ranked(request, last));
    }
    moves
}

/// The `moved_ms` by which a job comes to a place.
fn ranked(request: &Request, rank: i64) -> (JobId, i64) {
    let own = Request { moved_ms: 0, ..request.clone() }.turn().rank;
    (request.job, rank.saturating_sub(own))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::story::job;

    /// Jobs of `alice` (odd numbers) and `bob` (even ones), in the order of their numbers.
    fn queue(expected: &[Option<i64>]) -> Snapshot {
        let waiting = expected.iter().zip(1..).map(|(expected_ms, number)| Request {
            user: if number % 2 == 1 { "alice" } else { "bob" }.parse().unwrap(),
            submitted_at: protocol::time::Timestamp(1_000 * number),
            expected_ms: *expected_ms,
            ..job(number).request
        });
        Snapshot { waiting: waiting.collect(), ..Snapshot::default() }
    }

    fn order(snapshot: &Snapshot, moves: Vec<(JobId, i64)>) -> Vec<i64> {
        let moved = snapshot.with(&crate::Change::Move(moves));
        let mut keys: Vec<Key> = moved.waiting.iter().map(Key::of).collect();
        keys.sort_unstable();
        keys.into_iter().map(|key| key.job.0).collect()
    }

    #[test]
    fn a_users_jobs_change_places_with_each_other() {
        let alice: UserName = "alice".parse().unwrap();
        let queue = queue(&[None; 6]);
        let to = |job, place| order(&queue, moves(&queue.waiting, JobId(job), place, Some(&alice)));
        assert_eq!(to(5, Place::First), [5, 2, 1, 4, 3, 6]);
        assert_eq!(to(5, Place::Earlier), [1, 2, 5, 4, 3, 6]);
        assert_eq!(to(1, Place::Later), [3, 2, 1, 4, 5, 6]);
        assert_eq!(to(1, Place::Last), [3, 2, 5, 4, 1, 6]);
        assert_eq!(moves(&queue.waiting, JobId(1), Place::First, Some(&alice)), []);
        assert_eq!(moves(&queue.waiting, JobId(9), Place::First, Some(&alice)), []);
    }

    #[test]
    fn among_the_jobs_of_all_one_goes_past_others() {
        let queue = queue(&[None; 4]);
        let to = |job, place| order(&queue, moves(&queue.waiting, JobId(job), place, None));
        assert_eq!(to(4, Place::First), [4, 1, 2, 3]);
        assert_eq!(to(4, Place::Earlier), [1, 2, 4, 3]);
        assert_eq!(to(1, Place::Later), [2, 1, 3, 4]);
        assert_eq!(to(1, Place::Last), [2, 3, 4, 1]);
    }

    #[test]
    fn who_was_first_has_nothing_kept_for_him_any_more() {
        let mut before = queue(&[None; 3]);
        let reservation = |job| crate::model::Reservation {
            job: JobId(job),
            awaits: BTreeSet::new(),
            start: protocol::time::Timestamp(0),
        };
        before.reserved = vec![reservation(1)];
        let mut same = before.clone();
        same.reorder_since(&before);
        assert_eq!(same.reserved, before.reserved);
        let moved =
            before.with(&crate::Change::Move(moves(&before.waiting, JobId(3), Place::First, None)));
        assert_eq!(moved.reserved, []);
    }

    #[test]
    fn what_is_expected_of_them_does_not_undo_it() {
        let alice: UserName = "alice".parse().unwrap();
        let queue = queue(&[Some(1_000), None, Some(86_400_000)]);
        let turns = moves(&queue.waiting, JobId(3), Place::First, Some(&alice));
        let order = order(&queue, turns);
        let place = |job| order.iter().position(|other| *other == job);
        assert!(place(3) < place(1), "{order:?}");
    }
}
