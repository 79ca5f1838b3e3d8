//! What is told piece by piece comes to the same as reading everything, and with whom nothing is to
//! be done is not looked at.

use proptest::prelude::*;

use super::*;

mod world;

use world::{Event, MOST, NODES, World, spec};

fn any_event() -> impl Strategy<Value = Event> {
    let (one, node) = (0..64_usize, 0..NODES.len());
    let limit = prop_oneof![3 => Just(None), 1 => (1..5_u32).prop_map(Some)];
    let placed = (1..4_u32, 0..3_u32, limit);
    let code = prop_oneof![2 => Just(0), 1 => Just(1), 1 => Just(137)];
    prop_oneof![
        6 => placed.prop_map(|(tasks, retries, limit)| Event::Placed(tasks, retries, limit)),
        2 => one.clone().prop_map(Event::PlacedAgain),
        1 => one.clone().prop_map(Event::StopWanted),
        1 => one.clone().prop_map(Event::Leaves),
        4 => (one.clone(), code).prop_map(|(at, code)| Event::ContainerEnds(at, code)),
        1 => one.clone().prop_map(Event::ContainerVanishes),
        1 => node.clone().prop_map(Event::Stray),
        8 => node.clone().prop_map(Event::Looked),
        1 => node.clone().prop_map(Event::Lost),
        1 => node.clone().prop_map(Event::NotLookedAt),
        1 => (node, any::<bool>(), prop_oneof![4 => Just(true), 1 => Just(false)])
            .prop_map(|(node, emptied, there)| Event::Cluster(node, emptied, there)),
        8 => (one.clone(), 0..5_u32).prop_map(|(at, how)| Event::ActionEnds(at, how)),
        1 => (one, 1..2 * MOST).prop_map(|(at, bytes)| Event::Writes(at, bytes)),
        2 => (1..4_000_i64).prop_map(Event::Passes),
        1 => Just(Event::Doubted),
        8 => prop_oneof![6 => Just(true), 1 => Just(false)].prop_map(Event::Pass),
    ]
}

/// All that is kept, but for who is awake.
fn essence(cases: &Cases) -> Vec<String> {
    let of_case = |case: &Case| {
        let again: BTreeMap<_, _> = case.again.iter().collect();
        format!("{:?}", (&case.job.row, &case.attempt, &case.tasks, case.in_a_row, again))
    };
    let on_node = |(node, jobs): (&NodeName, &HashSet<JobId>)| {
        let jobs: BTreeSet<_> = jobs.iter().collect();
        (node.clone(), format!("{jobs:?}"))
    };
    let on_nodes: BTreeMap<_, _> = cases.on_nodes.iter().map(on_node).collect();
    let rest = [format!("{on_nodes:?}"), format!("{:?}", cases.left)];
    cases.cases.values().map(Box::as_ref).map(of_case).chain(rest).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_told_comes_to_the_same_as_reading_everything(
        events in prop::collection::vec(any_event(), 1..120),
    ) {
        let mut world = World::new();
        for event in events {
            world.happens(&event);
        }
        world.tell();
        let mut anew = Cases::default();
        anew.begin_anew(world.observations.all(), world.read(None));
        prop_assert_eq!(essence(&world.cases), essence(&anew));
    }
}

#[test]
fn a_pass_looks_at_those_only_of_which_it_is_told() {
    let mut world = World::new();
    (0..100).for_each(|_| world.comes(&spec(2, 0, None)));
    world.settle();
    assert!(world.jobs.values().all(|job| job.row.state == State::Running));
    world.look();
    world.tell();
    assert_eq!(world.cases.awake().count(), 0, "the others only run");

    let key = TaskKey { job: JobId(7), attempt: 0, role: 0, index: 0, retry: 0 };
    let node = world.tasks[&key].placement.node.clone();
    world.exits(&node, key, (world.now, 0));
    world.looked(&node);
    world.tell();
    assert_eq!(world.cases.awake().map(Case::id).collect::<Vec<_>>(), [JobId(7)]);
    world.settle();
    assert_eq!(world.jobs[&JobId(7)].row.state, State::Running, "its other task runs");
    assert!(!world.there[&node].contains_key(&key), "what has ended is removed");
    assert!(world.cases.left.is_empty());
}

#[test]
fn a_clock_that_is_set_ends_no_job() {
    const HOUR: i64 = 3_600_000;
    for millis in [HOUR, -HOUR] {
        let mut world = World::new();
        world.now = Timestamp(2 * HOUR);
        world.comes(&spec(1, 0, Some(5)));
        world.settle();
        world.clock_is_set(millis);
        world.settle();
        assert_eq!(world.jobs[&JobId(1)].row.state, State::Running, "set by {millis}");
        world.now = world.now.plus_millis(5_100);
        world.settle();
        assert_eq!(world.jobs[&JobId(1)].row.state, State::Stopped, "set by {millis}");
    }
}

#[test]
fn a_job_is_looked_at_when_its_time_is_over() {
    let mut world = World::new();
    world.comes(&spec(1, 0, Some(5)));
    world.settle();
    let awake = |world: &mut World| {
        world.tell();
        world.cases.awake().count()
    };
    assert_eq!(awake(&mut world), 0);
    world.now = world.now.plus_millis(4_900);
    assert_eq!(awake(&mut world), 0, "it has a moment left");
    world.now = world.now.plus_millis(200);
    assert_eq!(awake(&mut world), 1);
    world.settle();
    assert_eq!(world.jobs[&JobId(1)].row.state, State::Stopped);
}
