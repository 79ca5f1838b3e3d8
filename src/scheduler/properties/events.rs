//! What holds at every instant of a cluster in which jobs come, end, give way and nodes fail.

use std::collections::{BTreeMap, BTreeSet};

use proptest::prelude::*;
use protocol::cluster::NodeCondition;
use protocol::ids::JobId;
use protocol::placement::TaskPlacement;
use protocol::spec::TopologyLevel;
use protocol::time::Timestamp;
use protocol::wait::WaitReason;

use crate::State;
use crate::model::{
    Answer, Node, Placement, QosClass, Request, Running, Snapshot, VirtualCluster, WHOLE_GPU,
};
use crate::properties::gpu_types;
use crate::story::{Story, cluster, job};

const NAMES: [&str; 3] = ["default", "vision", "speech"];
const GPUS: u32 = 8;

/// So many cases each; more by the environment.
pub(crate) fn cases(usual: u32) -> ProptestConfig {
    let asked = std::env::var("BERTH_CASES").ok().and_then(|cases| cases.parse().ok());
    // A file of failures beside a flat crate would be taken for a crate of the workspace.
    ProptestConfig {
        cases: asked.unwrap_or(usual),
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

#[derive(Debug, Clone)]
enum Event {
    /// Virtual cluster, priority, tasks, GPUs of each and thousandths of each GPU, minutes that it
    /// may run, part of them it does, the only node that will do.
    Comes(usize, i32, u32, (u32, u32), (i64, i64), Option<usize>),
    /// One of those that run ends ahead of its time.
    Ends(usize),
    Wanted(usize),
    Condition(usize, NodeCondition),
    /// A GPU of a node breaks, or is mended.
    Breaks(usize, usize),
    /// All nodes are told anew.
    Anew,
    Minutes(i64),
}

fn any_event(failures: bool) -> impl Strategy<Value = Event> {
    let priority = prop_oneof![1 => Just(-1), 4 => Just(10), 1 => Just(100)];
    let tasks = prop_oneof![4 => Just(1_u32), 1 => 2..=3_u32];
    let gpus = prop_oneof![1 => Just(0_u32), 4 => Just(1_u32), 2 => Just(2_u32), 1 => Just(4_u32), 2 => Just(8_u32)];
    let part = prop_oneof![2 => Just(500_u32), 1 => Just(300_u32), 1 => 1..1000_u32];
    let gpus = prop_oneof![
        3 => gpus.prop_map(|gpus| (gpus, WHOLE_GPU)),
        1 => part.prop_map(|milli| (1, milli))
    ];
    let only = prop::option::weighted(0.15, 0..4_usize);
    let comes = (0..3_usize, priority, tasks, gpus, (1..120_i64, 1..=100_i64), only);
    let condition = prop_oneof![
        2 => Just(NodeCondition::Ready),
        1 => Just(NodeCondition::Draining),
        1 => Just(NodeCondition::Unreachable)
    ];
    let down = if failures { 1 } else { 0 };
    prop_oneof![
        10 => comes.prop_map(|(v, p, t, g, runs, only)| Event::Comes(v, p, t, g, runs, only)),
        3 => (0..64_usize).prop_map(Event::Ends),
        1 => (0..64_usize).prop_map(Event::Wanted),
        2 * down => (0..4_usize, condition).prop_map(|(node, condition)| Event::Condition(node, condition)),
        down => (0..4_usize, 0..8_usize).prop_map(|(node, gpu)| Event::Breaks(node, gpu)),
        down => Just(Event::Anew),
        5 => (1..60_i64).prop_map(Event::Minutes),
    ]
}

/// Nodes, GPUs that *vision* and *speech* are guaranteed, whether they borrow, whether the first node is
/// where *vision*'s share lies, whether *speech*'s lies in the rack of all others, and whether near
/// deadlines come first there.
type Draw = (u32, u32, u32, u32);

fn any_draw() -> impl Strategy<Value = Draw> {
    (2..=4_u32, 0..=12_u32, 0..=12_u32, 0..32_u32)
}

fn world((nodes, vision, speech, borrows): Draw) -> World {
    let mut story = cluster();
    for number in 0..nodes {
        story = story.node(&format!("n{number}")).gpus(GPUS, "A100").cpus(64).shares();
        if borrows & 8 != 0 {
            story = story.label("rack", &number.min(1).to_string());
        }
    }
    let all = nodes * GPUS;
    let (vision, speech) = (vision.min(all), speech.min(all - vision.min(all)));
    story = share(story, "vision", vision, borrows & 1 == 0);
    if borrows & 4 != 0 {
        story = story.pinned(&["n0"]);
    }
    story = share(story, "speech", speech, borrows & 2 == 0);
    if borrows & 8 != 0 {
        story = story.lies_in(TopologyLevel::Rack, "1");
    }
    let clusters = &mut story.snapshot.virtual_clusters;
    clusters.iter_mut().for_each(|cluster| cluster.deadlines = borrows & 16 != 0);
    World::new(story)
}

fn share(story: Story, name: &str, gpus: u32, borrows: bool) -> Story {
    let story = story.share(name, &[("A100", gpus.into())], None);
    if borrows { story } else { story.borrows_nothing() }
}

struct Job {
    request: Request,
    runs: i64,
}

/// The world as it is, beside what the scheduler thinks.
struct World {
    state: State,
    nodes: Vec<Node>,
    clusters: Vec<VirtualCluster>,
    now: Timestamp,
    jobs: BTreeMap<JobId, Job>,
    running: BTreeMap<JobId, (Placement, Timestamp)>,
    waiting: BTreeSet<JobId>,
    told_to_leave: BTreeSet<JobId>,
    /// First promise of a start that rests on limits alone.
    promised: BTreeMap<JobId, Timestamp>,
    next: i64,
}

impl World {
    fn new(story: Story) -> Self {
        let state = State::of(&story.snapshot);
        Self {
            state,
            nodes: story.snapshot.nodes,
            clusters: story.snapshot.virtual_clusters,
            now: Timestamp(0),
            jobs: BTreeMap::new(),
            running: BTreeMap::new(),
            waiting: BTreeSet::new(),
            told_to_leave: BTreeSet::new(),
            promised: BTreeMap::new(),
            next: 1,
        }
    }

    fn happens(&mut self, event: &Event) {
        match event {
            Event::Comes(within, priority, tasks, (gpus, milli), (minutes, part), only) => {
                let made = job(self.next).within(NAMES[*within]).priority(*priority).tasks(*tasks);
                let made = match only {
                    Some(node) => made.only(&format!("n{}", node % self.nodes.len())),
                    None => made,
                };
                let mut request = made.gpu_part(*milli).gpus(*gpus, &[]).request;
                request.submitted_at = self.now;
                request.limit_ms = Some(minutes * 60_000);
                // One of three is to have ended soon after it could at the earliest.
                let due = self.now.plus_millis((minutes + self.next * 7 % 45) * 60_000);
                request.deadline = (self.next % 3 == 0).then_some(due);
                let runs = (minutes * 600 * part).max(1);
                self.next += 1;
                self.submit(&request);
                self.jobs.insert(request.job, Job { request, runs });
            }
            Event::Ends(number) => {
                let picked = self.running.keys().nth(number % self.running.len().max(1)).copied();
                picked.into_iter().for_each(|job| self.end(job));
            }
            Event::Wanted(number) => {
                let picked = self.waiting.iter().nth(number % self.waiting.len().max(1)).copied();
                if let Some(job) = picked {
                    self.waiting.remove(&job);
                    self.state.cancel(job);
                }
            }
            Event::Condition(number, condition) => {
                let number = number % self.nodes.len();
                self.nodes[number].condition = *condition;
                self.state.change_nodes(&self.nodes[number..=number]);
            }
            Event::Breaks(number, gpu) => {
                let number = number % self.nodes.len();
                let gpu = &mut self.nodes[number].capacity.gpus[*gpu];
                gpu.healthy = !gpu.healthy;
                self.state.change_nodes(&self.nodes[number..=number]);
            }
            Event::Anew => self.state.set_nodes(&self.nodes),
            Event::Minutes(minutes) => self.wait(minutes * 60_000),
        }
    }

    fn end(&mut self, job: JobId) {
        self.running.remove(&job);
        self.state.ended(job);
        if self.told_to_leave.remove(&job)
            && let Some(Job { request, .. }) = self.jobs.get_mut(&job)
        {
            request.gave_way = request.gave_way.again(self.now);
            let request = request.clone();
            self.submit(&request);
        }
    }

    /// A job comes (again): whatever was promised to lower priorities is its first.
    fn submit(&mut self, request: &Request) {
        self.state.submit(request);
        self.waiting.insert(request.job);
        self.promised.retain(|job, _| self.jobs[job].request.priority >= request.priority);
    }

    /// Time passes; jobs end when they do, and a pass follows each end.
    fn wait(&mut self, millis: i64) {
        let until = self.now.plus_millis(millis);
        loop {
            let end = |(job, (_, start)): (&JobId, &(Placement, Timestamp))| {
                (start.plus_millis(self.jobs[job].runs), *job)
            };
            let Some((end, job)) =
                self.running.iter().map(end).min().filter(|(end, _)| *end <= until)
            else {
                break;
            };
            self.now = end.max(self.now);
            self.told_to_leave.remove(&job);
            self.end(job);
            self.pass();
        }
        self.now = until;
    }

    /// A pass, what it decides done, and everything looked at.
    fn pass(&mut self) {
        for round in 0.. {
            assert!(round < 100, "jobs drive each other away for ever");
            let by_right = |job: &&JobId| self.state.qos_class(**job) == Some(QosClass::Guaranteed);
            let by_right: BTreeSet<JobId> = self.running.keys().filter(by_right).copied().collect();
            let pass = self.state.pass(self.now);
            for placement in pass.placements {
                assert!(self.waiting.remove(&placement.job), "{} does not wait", placement.job);
                if let Some(promised) = self.promised.remove(&placement.job) {
                    assert!(self.now <= promised, "{} was promised {promised}", placement.job);
                }
                self.running.insert(placement.job, (placement, self.now));
            }
            for preemption in &pass.preemptions {
                let of = |job| &self.jobs[job].request;
                let (leaves, takes) = (of(&preemption.job), of(&preemption.taken_by));
                let stays = by_right.contains(&leaves.job) && !self.is_outranked(leaves);
                assert!(!stays, "{} is guaranteed its place", leaves.job);
                let own = leaves.virtual_cluster == takes.virtual_cluster;
                let outranked = own && takes.turn().outranks(&leaves.turn());
                assert_eq!(preemption.outranked, outranked);
                assert!(
                    leaves.virtual_cluster != takes.virtual_cluster
                        || leaves.turn() >= takes.turn(),
                    "{} is ahead of {} in the queue",
                    leaves.job,
                    takes.job
                );
                assert!(self.told_to_leave.insert(preemption.job), "told twice");
            }
            self.nothing_is_exceeded();
            if self.told_to_leave.is_empty() {
                break;
            }
            for job in self.told_to_leave.clone() {
                self.end(job);
            }
        }
    }

    /// Whether somebody of a higher class of its virtual cluster has places, or is about to.
    fn is_outranked(&self, request: &Request) -> bool {
        let has_places =
            |job: &JobId| self.running.contains_key(job) || self.state.pending.contains_key(job);
        let others = self.jobs.values().map(|job| &job.request);
        let mut own = others.filter(|other| other.virtual_cluster == request.virtual_cluster);
        own.any(|other| other.turn().outranks(&request.turn()) && has_places(&other.job))
    }

    fn nothing_is_exceeded(&self) {
        self.state.cluster.sanity_check();
        self.state.queue.sanity_check();
        let (mut gpus, mut ports) = (BTreeMap::<_, u32>::new(), BTreeSet::new());
        let mut cpus: BTreeMap<_, u64> = BTreeMap::new();
        for (job, (placement, _)) in &self.running {
            let request = &self.jobs[job].request;
            let wanted: u32 = request.roles.iter().map(|role| role.count).sum();
            assert_eq!(placement.tasks.len(), wanted as usize, "a gang is whole");
            for task in &placement.tasks {
                let demand = request.roles[task.role as usize].demand;
                *cpus.entry(&task.node).or_default() += demand.cpu_milli;
                assert_eq!(task.gpus.len(), demand.gpus as usize);
                for gpu in &task.gpus {
                    *gpus.entry((&task.node, *gpu)).or_default() += demand.each_gpu_milli();
                }
                let mut given = task.ports.values().flatten();
                assert!(given.all(|port| ports.insert((&task.address, *port))), "a port twice");
            }
        }
        assert!(cpus.values().all(|cpus| *cpus <= 64_000));
        assert!(gpus.values().all(|milli| *milli <= WHOLE_GPU), "a GPU twice");
    }

    /// A state that is kept knows what one that is built from the same jobs does.
    fn is_as_built_anew(&mut self) {
        let running = self.running.iter().map(|(job, (placement, since))| {
            let Job { request, .. } = &self.jobs[job];
            let demand = |task: &TaskPlacement| request.roles[task.role as usize].demand;
            Running {
                job: *job,
                user: request.user.clone(),
                virtual_cluster: request.virtual_cluster.clone(),
                tasks: placement.tasks.iter().map(|task| (task.clone(), demand(task))).collect(),
                gpu_types: gpu_types(request),
                qos_class: self.state.qos_class(*job).expect("it runs"),
                turn: request.turn(),
                started_at: *since,
                limit_ms: request.limit_ms,
                expected_ms: None,
                gave_way: request.gave_way,
                stopping: false,
            }
        });
        let mut anew = State::of(&Snapshot {
            nodes: self.nodes.clone(),
            virtual_clusters: self.clusters.clone(),
            running: running.collect(),
            waiting: self.waiting.iter().map(|job| self.jobs[job].request.clone()).collect(),
            reserved: self.state.reservations(),
            past_use: self.state.past_use().clone(),
        });
        assert_eq!(self.state.free(), anew.free());
        let waiting = |state: &State| state.queue.jobs.keys().copied().collect::<BTreeSet<_>>();
        assert_eq!(waiting(&self.state), waiting(&anew));
        let counted =
            |state: &State| state.cluster.placed_jobs.keys().copied().collect::<BTreeSet<_>>();
        assert_eq!(counted(&self.state), counted(&anew));
        for cluster in &self.clusters {
            let held = |state: &State| {
                let uses = state.uses(&cluster.name, Timestamp(0)).into_iter();
                uses.map(|of| (of.user, of.held_milli)).collect::<Vec<_>>()
            };
            assert_eq!(held(&self.state), held(&anew), "what users hold in {}", cluster.name);
        }
    }

    /// A virtual cluster that has whole nodes beside all those it uses can have one of them at once,
    /// and nobody waits who needs no more than that. Who waits for a node by name may keep a cell of
    /// his virtual cluster for when that node is free.
    fn guarantees_hold(&mut self) {
        for cluster in self.clusters.clone() {
            let whole = cluster.share.gpus.values().sum::<u64>() / u64::from(GPUS);
            let mut nodes = BTreeSet::new();
            for (job, (placement, _)) in &self.running {
                if self.jobs[job].request.virtual_cluster == cluster.name {
                    nodes.extend(placement.tasks.iter().map(|task| task.node.clone()));
                }
            }
            let own = |job: &&JobId| self.jobs[*job].request.virtual_cluster == cluster.name;
            let named = |job: &JobId| !self.jobs[job].request.nodes.is_any();
            if nodes.len() as u64 >= whole || self.waiting.iter().filter(own).any(named) {
                continue;
            }
            let mut waits = self.waiting.iter().map(|job| &self.jobs[job].request);
            let own = waits.find(|request| {
                let single = request.roles[0].count == 1 && request.priority.0 >= 0;
                request.virtual_cluster == cluster.name && single
            });
            assert!(own.is_none(), "{own:?} waits though {} has room", cluster.name);
            let probe = job(1_000_000).within(cluster.name.as_str()).gpus(GPUS, &[]).request;
            let answer = self.state.dry_run(&probe, self.now);
            let at_once = matches!(answer, Answer::Fits(..) | Answer::Preempts(_));
            let alone =
                !self.waiting.iter().any(|j| self.jobs[j].request.virtual_cluster == cluster.name);
            assert!(
                at_once || !alone,
                "{} has {whole} nodes and uses {nodes:?}: {answer:?}",
                cluster.name
            );
        }
    }

    fn notes_promises(&mut self) {
        for job in self.waiting.clone() {
            let Some(explanation) = self.state.explain(job, self.now) else {
                panic!("{job} is lost")
            };
            let held = self.state.reservations().iter().any(|reservation| reservation.job == job);
            if let Some(latest) = explanation.expected.and_then(|e| e.latest).filter(|_| held) {
                self.promised.entry(job).or_insert(latest);
            }
        }
    }

    /// Some are told the same alone as among all.
    fn says_the_same_of_some(&mut self) {
        let all = self.state.waiting(self.now);
        let mut places = self.state.places(self.now);
        for part in [2, 3] {
            let some: BTreeSet<JobId> = all.keys().copied().step_by(part).collect();
            let said = self.state.waiting_of(&some, &mut places);
            assert_eq!(said.keys().copied().collect::<BTreeSet<_>>(), some);
            said.iter().for_each(|(job, said)| assert_eq!(said, &all[job], "{job}"));
        }
    }

    /// Nobody comes any more: all that can start at all does in the end.
    fn everybody_starts(&mut self) {
        for node in &mut self.nodes {
            node.condition = NodeCondition::Ready;
            node.capacity.gpus.iter_mut().for_each(|gpu| gpu.healthy = true);
        }
        self.state.change_nodes(&self.nodes);
        self.pass();
        for _ in 0..self.jobs.len() + 2 {
            // Who gave way rests for a day at most.
            self.now = self.now.plus_millis(86_400_000);
            for job in self.running.keys().copied().collect::<Vec<_>>() {
                self.end(job);
            }
            self.pass();
        }
        for (job, waiting) in self.state.waiting(self.now) {
            let never = matches!(waiting.reason, WaitReason::Impossible { .. });
            // What fits no cell of its virtual cluster may only ever borrow: others are there first,
            // or it may not, and is told so.
            let elsewhere = matches!(waiting.reason, WaitReason::ShareElsewhere { .. });
            let gang = self.jobs[&job].request.roles[0].count > 1;
            let others = !self.running.is_empty();
            assert!(never || gang && (others || elsewhere), "{job}: {waiting:?}");
        }
    }
}

proptest! {
    #![proptest_config(cases(300))]

    #[test]
    fn guarantees_hold_at_every_instant(
        draw in any_draw(),
        events in prop::collection::vec(any_event(false), 1..60),
    ) {
        let mut world = world(draw);
        for event in events {
            world.happens(&event);
            world.pass();
            world.guarantees_hold();
        }
    }

    #[test]
    fn nothing_is_given_twice_while_nodes_come_and_go(
        draw in any_draw(),
        events in prop::collection::vec(any_event(true), 1..60),
    ) {
        let mut world = world(draw);
        for event in events {
            world.happens(&event);
            world.pass();
            world.is_as_built_anew();
        }
        world.everybody_starts();
    }

    #[test]
    fn nobody_starts_later_than_promised(
        draw in any_draw(),
        events in prop::collection::vec(any_event(false), 1..40),
    ) {
        let mut world = world(draw);
        for event in &events {
            world.happens(event);
            world.pass();
            world.notes_promises();
            world.says_the_same_of_some();
        }
        world.wait(1_000 * 3_600_000);
    }
}
