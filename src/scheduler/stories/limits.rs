//! What users and groups may have running, told by example.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use protocol::ids::{JobId, UserName};
use protocol::time::Timestamp;
use protocol::wait::{Limited, WaitReason};

use super::reason;
use crate::model::limits::{GroupLimit, RunLimit};
use crate::model::{Answer, FreeGpus, Request};
use crate::properties::events::cases;
use crate::story::{Job, NOW, Story, cluster, gpu_type, job, virtual_cluster};
use crate::{State, dry_run};

const HOUR: i64 = 3_600_000;
const USERS: [&str; 3] = ["ann", "bob", "carol"];

fn user(name: &str) -> UserName {
    name.parse().unwrap()
}

fn of(name: &str, job: Job) -> Job {
    Job { request: Request { user: user(name), ..job.request } }
}

/// Eight GPUs, where each user may have so much.
fn eight(gpus: Option<u32>, jobs: Option<u32>) -> Story {
    cluster().node("a").gpus(8, "A100").share("default", &[], None).limits(gpus, jobs)
}

fn started(story: &Story) -> Vec<i64> {
    let mut jobs: Vec<_> = story.plan().placements.iter().map(|place| place.job.0).collect();
    jobs.sort_unstable();
    jobs
}

fn limit(limited: Limited, running: u64, needs: u64, most: u32) -> WaitReason {
    WaitReason::UserLimit {
        virtual_cluster: virtual_cluster("default"),
        group: None,
        limited,
        needs: needs.into(),
        running: running.into(),
        most,
    }
}

#[test]
fn who_would_go_beyond_his_limit_waits_and_the_next_start() {
    let story = eight(Some(4), None).running(9, "default", &[("a", &[0, 1, 2], 3)]);
    let story = story.waits(job(1).gpus(2, &[])).waits(of("bob", job(2).gpus(2, &[])));
    let story = story.waits(job(3).gpus(1, &[])).waits(job(4).cpus(1));
    assert_eq!(started(&story), [2, 3, 4], "one more GPU, and none, are within it");
    let plan = story.plan();
    let waiting = &plan.waiting[&JobId(1)];
    assert_eq!(waiting.reason, limit(Limited::Gpus, 4, 2, 4));
    assert_eq!((waiting.place(), waiting.expected_start), (None, None));
    assert_eq!(plan.reserved, []);
}

#[test]
fn one_pass_starts_no_more_than_may_run() {
    let story = (1..=5).fold(eight(None, Some(2)), |story, id| story.waits(job(id).gpus(1, &[])));
    assert_eq!(started(&story), [1, 2]);
    assert_eq!(reason(&story, 3), limit(Limited::Jobs, 2, 1, 2));
    let mut state = State::of(&story.snapshot);
    assert_eq!(state.pass(NOW).placements.len(), 2);
    state.ended(JobId(1));
    let next: Vec<_> = state.pass(NOW).placements.iter().map(|place| place.job.0).collect();
    assert_eq!(next, [3]);
    assert_eq!(state.explain(JobId(4), NOW).unwrap().waiting.reason, reason(&story, 3));
}

#[test]
fn nothing_is_kept_for_who_waits_for_his_own_jobs() {
    let story = eight(None, Some(1)).running(9, "default", &[("a", &[0, 1, 2, 3], 4)]);
    let story = story.waits(job(1).gpus(8, &[])).waits(of("bob", job(2).gpus(4, &[])));
    assert_eq!(started(&story), [2]);
    assert_eq!(story.plan().reserved, []);
    let others = story.waits(of("carol", job(3).gpus(8, &[])));
    assert_eq!(others.plan().waiting[&JobId(3)].position, 1);
}

#[test]
fn who_comes_to_his_limit_gives_up_what_was_kept_for_him() {
    let story = eight(None, Some(2)).running(9, "default", &[("a", &[0, 1, 2, 3, 4, 5], 6)]);
    let story = story.ends_in(3 * HOUR);
    let story = story.waits(job(1).gpus(8, &[])).waits(job(2).gpus(8, &[]));
    let mut state = State::of(&story.snapshot);
    state.pass(NOW);
    let kept: Vec<_> = state.reservations().iter().map(|kept| kept.job.0).collect();
    assert_eq!(kept, [1]);
    state.submit(&job(3).gpus(2, &[]).limited(HOUR).request);
    assert_eq!(state.pass(NOW).placements.len(), 1);
    assert_eq!(state.reservations(), []);
}

#[test]
fn members_of_a_group_share_its_limit() {
    let mut story = eight(None, None).running(9, "default", &[("a", &[0], 1)]);
    let limits = &mut story.snapshot.virtual_clusters[0].limits;
    let limit = RunLimit { gpus: None, jobs: Some(2) };
    let (group, members) = ("vision".parse().unwrap(), BTreeSet::from([user("ann"), user("bob")]));
    limits.groups = vec![GroupLimit { group, members, limit }];
    let story = story.waits(of("bob", job(1).gpus(1, &[]))).waits(of("bob", job(2).gpus(1, &[])));
    let story = story.waits(of("carol", job(3).gpus(1, &[])));
    assert_eq!(started(&story), [1, 3]);
    let WaitReason::UserLimit { group: Some(group), running, .. } = reason(&story, 2) else {
        panic!("{:?}", reason(&story, 2))
    };
    assert_eq!((group.as_str(), running), ("vision", 2.into()));
}

#[test]
fn limits_by_name_go_before_everybodys() {
    let mut story = eight(Some(1), None);
    let limits = &mut story.snapshot.virtual_clusters[0].limits;
    limits.users.insert(user("ann"), RunLimit { gpus: Some(6), jobs: None });
    let story = story.waits(job(1).gpus(6, &[])).waits(of("bob", job(2).gpus(2, &[])));
    assert_eq!(started(&story), [1]);
    assert_eq!(reason(&story, 2), limit(Limited::Gpus, 0, 2, 1));
}

#[test]
fn what_is_asked_beforehand_knows_the_limit_of_who_asks() {
    let story = eight(Some(4), None).running(9, "default", &[("a", &[0, 1, 2], 3)]);
    let asked = job(5).gpus(2, &[]);
    let Answer::Waits(why) = dry_run(&story.snapshot, &asked.request, NOW) else {
        panic!("ann has three of four")
    };
    assert_eq!(why.waiting.reason, limit(Limited::Gpus, 3, 2, 4));
    let bobs = dry_run(&story.snapshot, &of("bob", asked).request, NOW);
    assert!(matches!(bobs, Answer::Fits(..)), "{bobs:?}");
    let mut state = State::of(&story.snapshot);
    state.pass(NOW);
    for (name, gpus) in [("ann", 1), ("bob", 4)] {
        let free = state.free_gpus(&of(name, job(5)).request, &gpu_type("A100"), NOW);
        assert_eq!(free, Some(FreeGpus { gpus, on_one_node: gpus, borrowed: 0 }), "{name}");
    }
}

/// What happens: a user submits a job of this priority for so much, or (3) the oldest job ends.
type Event = (usize, u32, bool);

/// When which jobs of others start, where ann runs all that she may, and wants more or does not.
fn starts_of_others(events: &[Event], ann_wants_more: bool) -> Vec<(usize, i64)> {
    let mut story = cluster().node("a").share("default", &[], None);
    let limits = &mut story.snapshot.virtual_clusters[0].limits;
    limits.users.insert(user("ann"), RunLimit { gpus: None, jobs: Some(1) });
    let mut state = State::of(&story.running(9, "default", &[("a", &[], 4)]).snapshot);
    let (mut running, mut starts) = (BTreeSet::new(), Vec::new());
    for (step, (who, cpus, _)) in events.iter().enumerate() {
        let id = step as i64 + 10;
        match USERS.get(*who) {
            None => {
                if let Some(ended) = running.pop_first() {
                    state.ended(JobId(ended));
                }
            }
            Some(name) if *name != "ann" || ann_wants_more => {
                state.submit(&of(name, job(id).cpus(*cpus)).request);
            }
            Some(_) => {}
        }
        for placement in state.pass(Timestamp(id * 1000)).placements {
            running.insert(placement.job.0);
            starts.push((step, placement.job.0));
        }
    }
    starts
}

fn any_events() -> impl Strategy<Value = Vec<Event>> {
    prop::collection::vec((0..4_usize, 1..=16_u32, any::<bool>()), 1..60)
}

proptest! {
    #![proptest_config(cases(100))]

    #[test]
    fn who_is_at_his_limit_delays_nobody(events in any_events()) {
        prop_assert_eq!(starts_of_others(&events, true), starts_of_others(&events, false));
    }

    #[test]
    fn nobody_ever_has_more_running_than_he_may(
        events in any_events(),
        (most_gpus, most_jobs) in (1..=8_u32, 1..=4_u32),
    ) {
        let story = cluster().node("a").gpus(8, "A100").node("b").gpus(8, "A100");
        let story = story.share("default", &[], None).limits(Some(most_gpus), Some(most_jobs));
        let mut state = State::of(&story.snapshot);
        let mut wanted: BTreeMap<i64, Job> = BTreeMap::new();
        let mut running: BTreeSet<i64> = BTreeSet::new();
        for (step, (who, gpus, urgent)) in events.into_iter().enumerate() {
            let id = step as i64 + 10;
            if let Some(name) = USERS.get(who) {
                let asked = job(id).gpus(gpus % 7, &[]).priority(if urgent { 100 } else { 0 });
                let asked = of(name, asked);
                state.submit(&asked.request);
                wanted.insert(id, asked);
            } else if let Some(ended) = running.pop_first() {
                state.ended(JobId(ended));
            }
            loop {
                let pass = state.pass(Timestamp(id * 1000));
                running.extend(pass.placements.iter().map(|placement| placement.job.0));
                for name in USERS {
                    let own = running.iter().map(|id| &wanted[id].request);
                    let own: Vec<_> = own.filter(|of| of.user.as_str() == name).collect();
                    let gpus: u32 = own.iter().map(|of| of.roles[0].demand.gpus).sum();
                    prop_assert!(gpus <= most_gpus && own.len() <= most_jobs as usize);
                }
                if pass.preemptions.is_empty() {
                    break;
                }
                for preemption in pass.preemptions {
                    running.remove(&preemption.job.0);
                    state.ended(preemption.job);
                    state.submit(&wanted[&preemption.job.0].request);
                }
            }
        }
    }
}
