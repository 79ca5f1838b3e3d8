//! What nobody told of is found by sums.

use database::jobs::{Sums, part_of};
use protocol::spec::TimeLimit;

use super::*;

impl Records {
    /// As the database sums them up.
    fn sums(&self) -> BTreeMap<i64, Sums> {
        let mut sums: BTreeMap<i64, Sums> = BTreeMap::new();
        for (id, job) in self.rows.iter().filter(|(_, job)| !job.row.state.is_final()) {
            let of_part = sums.entry(part_of(*id)).or_default();
            of_part.add_job(&job.row);
            let tasks = self.tasks.get(id).into_iter().flatten();
            for task in tasks.filter(|task| !task.state.is_final()) {
                of_part.add_task(*id, task.placement.role, task.placement.index);
            }
        }
        sums
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_was_told_is_known_as_it_is_stored(
        events in prop::collection::vec(any_event(), 1..60),
    ) {
        let (mut records, mut queue) = (Records::new(), Queue::default());
        for event in events {
            records.happens(&event, &mut queue);
        }
        records.tell(&mut queue);
        let (parts, jobs) = queue.differing(&records.sums());
        prop_assert!(parts.is_empty() && jobs.is_empty(), "{:?}", jobs);
    }
}

/// One job that holds all GPUs, and one that waits for some.
fn one_runs_and_one_waits() -> (Records, Queue) {
    let (mut records, mut queue) = (Records::new(), Queue::default());
    records.comes(2, 4, false);
    records.pass(&mut queue, true);
    records.comes(1, 4, false);
    records.pass(&mut queue, true);
    records.tell(&mut queue);
    assert_eq!((queue.running.len(), queue.jobs.values().count()), (1, 2));
    (records, queue)
}

#[test]
fn whatever_happens_that_nobody_tells_of_is_found() {
    let untold = [
        Event::Comes(1, 0, false),
        Event::Held(0),
        Event::Moved(0, -5),
        Event::Priority(0, 7),
        Event::StopWanted(0),
        Event::StopWanted(1),
        Event::TaskEnds(0),
        Event::Ends(0),
        Event::ComesBack(0),
    ];
    for event in untold {
        let (mut records, mut queue) = one_runs_and_one_waits();
        records.happens(&event, &mut queue);
        assert!(!std::mem::take(&mut records.touched).is_empty(), "{event:?}");
        let (parts, known) = queue.differing(&records.sums());
        assert_eq!(parts, [0], "{event:?}");
        let active = records.rows.values().filter(|job| !job.row.state.is_final());
        let read = active.map(|job| job.row.id).chain(known).collect();
        queue.take_in(records.news(false, read), &records.cluster);
        assert!(queue.differing(&records.sums()).0.is_empty(), "{event:?}");
    }
}

#[test]
fn what_is_expected_of_jobs_is_looked_at_anew_once_others_have_ended() {
    let (_, mut queue) = one_runs_and_one_waits();
    queue.expect_anew();
    assert!(!queue.expect_some(), "nothing was learned");
    for id in [JobId(1), JobId(2)] {
        let like = runs::like(&queue.jobs[&id].row, runs::image(&queue.jobs[&id].spec));
        for _ in 0..20 {
            queue.past.runs.record(like.clone(), 60_000);
        }
    }
    queue.learned = true;
    queue.expect_anew();
    assert!(queue.expect_some());
    assert!(queue.running[&JobId(1)].expected_ms.is_some());
    queue.expect_anew();
    assert!(!queue.expect_some(), "it is what is expected already");
}

#[test]
fn jobs_whose_limit_does_not_count_yet_are_read_again() {
    let (mut records, mut queue) = one_runs_and_one_waits();
    assert_eq!(queue.without_a_start().count(), 0, "they have no limit");
    for job in records.rows.values_mut() {
        let mut spec = (*job.spec).clone();
        spec.time_limit = Some(TimeLimit::of_hours(1));
        job.spec = Arc::new(spec);
    }
    let both = BTreeSet::from([JobId(1), JobId(2)]);
    queue.take_in(records.news(false, both), &records.cluster);
    assert_eq!(queue.without_a_start().collect::<Vec<_>>(), [JobId(1)]);
}
