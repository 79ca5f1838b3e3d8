//! What holds for every cluster and every queue.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use proptest::prelude::*;
use protocol::cluster::NodeCondition;
use protocol::ids::{GpuType, JobId, VirtualClusterName};
use protocol::placement::TaskPlacement;
use protocol::spec::{NodeSelector, Priority, TopologyLevel};

use crate::model::{
    Answer, Demand, Placement, Plan, QosClass, Request, Running, Snapshot, WHOLE_GPU,
};
use crate::properties::events::cases;
use crate::story::{Job, NOW, Story, cluster, job};
use crate::{Admission, State, admit, plan};

pub(crate) mod events;

const TYPES: [&str; 3] = ["A100", "K80", "V100"];
const RACKS: [&str; 2] = ["one", "two"];
const CLUSTERS: [&str; 3] = ["default", "vision", "speech"];

/// What is drawn for a node: GPUs, their type, CPUs, address, condition, a broken GPU, sharing, its
/// rack.
type NodeDraw = (u32, usize, u32, usize, u8, Option<usize>, bool, usize);

fn any_node() -> impl Strategy<Value = NodeDraw> {
    (
        0..=8_u32,
        0..3_usize,
        4..=32_u32,
        0..4_usize,
        0..12_u8,
        prop::option::weighted(0.2, 0..8_usize),
        prop::bool::weighted(0.7),
        0..2_usize,
    )
}

fn add_node(story: Story, (number, draw): (usize, NodeDraw)) -> Story {
    let (gpus, kind, cpus, address, condition, broken, shares, rack) = draw;
    let condition = match condition {
        0 => NodeCondition::Draining,
        1 => NodeCondition::Unreachable,
        _ => NodeCondition::Ready,
    };
    let mut story = story.node(&format!("n{number}")).gpus(gpus, TYPES[kind]).cpus(cpus);
    story = story.ports(20_000, 20_015).condition(condition).label("rack", RACKS[rack]);
    if shares {
        story = story.shares();
    }
    if address == 0 {
        story = story.address("10.0.0.254");
    }
    match broken {
        Some(index) if index < gpus as usize => story.broken_gpu(index),
        Some(_) | None => story,
    }
}

/// What is drawn for a job: its cluster, priority, tasks, GPUs with the thousandths of each, type,
/// CPUs, a port by number, a second role, nodes by name and by rack, and whether one rack has to hold it.
type JobDraw = (
    usize,
    i32,
    u32,
    (u32, u32),
    Option<usize>,
    u32,
    Option<u16>,
    bool,
    (Vec<usize>, Option<usize>, bool),
);

fn any_job() -> impl Strategy<Value = JobDraw> {
    let few = prop_oneof![4 => Just(1_u32), 2 => 2..=3_u32, 1 => 4..=9_u32];
    let whole = prop_oneof![2 => Just(0_u32), 3 => 1..=2_u32, 2 => 3..=8_u32];
    let part = prop_oneof![2 => Just(500_u32), 1 => Just(250_u32), 1 => 1..1000_u32];
    let gpus = prop_oneof![
        3 => whole.prop_map(|gpus| (gpus, WHOLE_GPU)),
        1 => part.prop_map(|milli| (1, milli))
    ];
    let kind = prop::option::of(0..3_usize);
    let port = prop::option::weighted(0.15, 20_000..20_020_u16);
    let second = prop::bool::weighted(0.2);
    let names = prop_oneof![4 => Just(Vec::new()), 1 => prop::collection::vec(0..7_usize, 1..4)];
    let wish = (names, prop::option::weighted(0.15, 0..2_usize), prop::bool::weighted(0.2));
    (0..3_usize, 0..3_i32, few, gpus, kind, 1..=10_u32, port, second, wish)
}

fn make_job((id, draw): (usize, JobDraw)) -> Job {
    let (within, priority, tasks, gpus, kind, cpus, port, second, (names, rack, one)) = draw;
    let kinds: Vec<_> = kind.map(|kind| TYPES[kind]).into_iter().collect();
    let mut made = job(id as i64 + 1).within(CLUSTERS[within]).priority(priority).tasks(tasks);
    made = made.gpu_part(gpus.1).gpus(gpus.0, &kinds).cpus(cpus);
    made = names.iter().fold(made, |made, name| made.only(&format!("n{name}")));
    if let Some(rack) = rack {
        made = made.labelled("rack", RACKS[rack]);
    }
    if one {
        made = made.requires(TopologyLevel::Rack);
    }
    if let Some(port) = port {
        made = made.port("tb", port, 1);
    }
    if second {
        made = made.role().gpu_part(WHOLE_GPU).gpus(0, &[]).tasks(2);
    }
    made
}

/// A snapshot that is printed in few lines.
#[derive(Clone)]
pub(crate) struct Case(pub(crate) Snapshot);

impl fmt::Debug for Case {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for node in &self.0.nodes {
            let gpus: Vec<_> =
                node.capacity.gpus.iter().map(|g| (g.gpu_type.as_str(), g.healthy)).collect();
            let (cpus, condition) = (node.capacity.cpus, node.condition);
            let (name, address, labels) = (&node.name, &node.address, &node.labels);
            writeln!(f, "{name} {address} {cpus} {condition:?} {gpus:?} {labels:?}")?;
        }
        for cluster in &self.0.virtual_clusters {
            let (name, nodes, within) = (&cluster.name, &cluster.nodes, &cluster.within);
            writeln!(
                f,
                "{name} {:?} {:?} on {nodes:?} {within:?}",
                cluster.share, cluster.borrows
            )?;
        }
        for job in &self.0.running {
            write!(
                f,
                "{} {} {:?} since {}:",
                job.job, job.virtual_cluster, job.qos_class, job.started_at
            )?;
            for (task, demand) in &job.tasks {
                let Demand { cpu_milli, gpu_milli, .. } = demand;
                write!(f, " {} {:?} ({gpu_milli}) {cpu_milli}", task.node, task.gpus)?;
            }
            writeln!(f)?;
        }
        for job in &self.0.waiting {
            let (within, nodes) = (&job.virtual_cluster, &job.nodes);
            write!(f, "{} {within} {:?} {nodes}", job.job, job.priority)?;
            for role in &job.roles {
                let ports: Vec<_> =
                    role.ports.iter().map(|p| p.begin_at).filter(|p| *p > 0).collect();
                let (demand, types) = (role.demand, &role.gpu_types);
                write!(
                    f,
                    " {} x {} cpus {} gpus ({}) of {types:?} {ports:?}",
                    role.count, demand.cpu_milli, demand.gpus, demand.gpu_milli
                )?;
            }
            writeln!(f)?;
        }
        Ok(())
    }
}

/// A cluster in which an earlier pass has placed some jobs, and a queue.
pub(crate) fn any_snapshot() -> impl Strategy<Value = Case> {
    let nodes = prop::collection::vec(any_node(), 1..7);
    let before = prop::collection::vec(any_job(), 0..8);
    let queue = prop::collection::vec(any_job(), 0..12);
    let cpus = prop::option::of((0..40_u64, prop::option::of(0..20_u64)));
    let pins = prop_oneof![2 => Just(Vec::new()), 1 => prop::collection::vec(0..7_usize, 1..3)];
    let pins = (pins, prop::option::weighted(0.3, 0..2_usize));
    let share = (0..3_usize, prop::option::of(0..16_u64), cpus, pins);
    (nodes, before, queue, prop::option::of(share)).prop_map(|(nodes, before, queue, share)| {
        let mut story = nodes.into_iter().enumerate().fold(cluster(), add_node);
        if let Some((kind, gpus, cpus, (pins, rack))) = share {
            let gpus: Vec<_> = gpus.map(|gpus| (TYPES[kind], gpus)).into_iter().collect();
            let pins: Vec<_> = pins.iter().map(|node| format!("n{node}")).collect();
            let pins: Vec<_> = pins.iter().map(String::as_str).collect();
            story = story.share("vision", &gpus, cpus.map(|(cpus, _)| cpus)).pinned(&pins);
            if let Some(rack) = rack {
                story = story.lies_in(TopologyLevel::Rack, RACKS[rack]);
            }
            if let Some((cpus, Some(part))) = cpus {
                story = story.share("speech", &[], Some(part.min(cpus))).part_of("vision");
            }
        }
        let before = before.into_iter().enumerate().map(make_job);
        let story = before.fold(story, Story::waits);
        let snapshot = after(&story.snapshot);
        let offset = 100;
        let queue = queue.into_iter().enumerate().map(|(id, draw)| make_job((id + offset, draw)));
        Case(queue.fold(Story { snapshot }, Story::waits).snapshot)
    })
}

/// The cluster once what the plan places runs; nobody waits any more.
pub(crate) fn after(snapshot: &Snapshot) -> Snapshot {
    let running = with(snapshot, &plan(snapshot, NOW)).running;
    Snapshot { running, waiting: Vec::new(), reserved: Vec::new(), ..snapshot.clone() }
}

/// The cluster and the rest of the queue once what the plan places runs.
pub(crate) fn with(snapshot: &Snapshot, plan: &Plan) -> Snapshot {
    let mut next = Snapshot { reserved: plan.reserved.clone(), ..snapshot.clone() };
    for placement in &plan.placements {
        let place = next.waiting.iter().position(|request| request.job == placement.job).unwrap();
        let request = next.waiting.remove(place);
        let demand = |task: &TaskPlacement| request.roles[task.role as usize].demand;
        next.running.push(Running {
            job: request.job,
            user: request.user.clone(),
            virtual_cluster: request.virtual_cluster.clone(),
            tasks: placement.tasks.iter().map(|task| (task.clone(), demand(task))).collect(),
            gpu_types: gpu_types(&request),
            qos_class: placement.qos_class,
            turn: request.turn(),
            started_at: NOW,
            limit_ms: request.limit_ms,
            expected_ms: request.expected_ms,
            gave_way: request.gave_way,
            stopping: false,
        });
    }
    // Who ran already may have got or lost his right by it.
    let mut state = State::of(snapshot);
    state.pass(NOW);
    for running in &mut next.running {
        running.qos_class = state.qos_class(running.job).unwrap_or(running.qos_class);
    }
    next
}

/// What the roles of a job insist on.
pub(crate) fn gpu_types(request: &Request) -> BTreeMap<u32, Vec<GpuType>> {
    let roles = (0..).zip(&request.roles).filter(|(_, role)| !role.gpu_types.is_empty());
    roles.map(|(number, role)| (number, role.gpu_types.clone())).collect()
}

pub(crate) fn request(snapshot: &Snapshot, job: JobId) -> &Request {
    snapshot.waiting.iter().find(|request| request.job == job).unwrap()
}

fn every_job_is_decided_whole(snapshot: &Snapshot, plan: &Plan) {
    let mut seen: BTreeSet<JobId> = plan.waiting.keys().copied().collect();
    for placement in &plan.placements {
        assert!(seen.insert(placement.job), "{} twice", placement.job);
        let asked = request(snapshot, placement.job);
        let tasks: Vec<_> = placement.tasks.iter().map(|task| (task.role, task.index)).collect();
        let wanted: Vec<_> = (0..)
            .zip(&asked.roles)
            .flat_map(|(role, asked)| (0..asked.count).map(move |index| (role, index)))
            .collect();
        assert_eq!(tasks, wanted, "a gang is whole");
        for task in &placement.tasks {
            is_as_asked(snapshot, asked, task);
        }
        is_in_one_place(snapshot, asked, &placement.tasks);
    }
    assert_eq!(seen.len(), snapshot.waiting.len());
}

/// What is required to be in one rack is, or on one node.
pub(crate) fn is_in_one_place(snapshot: &Snapshot, asked: &Request, tasks: &[TaskPlacement]) {
    let Some(level) = asked.nodes.topology.required else { return };
    let place = |task: &TaskPlacement| {
        let node = snapshot.nodes.iter().find(|node| node.name == task.node).unwrap();
        node.labels.get(level.name()).cloned().ok_or_else(|| node.name.clone())
    };
    let places: BTreeSet<_> = tasks.iter().map(place).collect();
    assert_eq!(places.len(), 1, "{} in {places:?}", asked.job);
}

fn is_as_asked(snapshot: &Snapshot, asked: &Request, task: &TaskPlacement) {
    let role = &asked.roles[task.role as usize];
    let node = snapshot.nodes.iter().find(|node| node.name == task.node).unwrap();
    assert_eq!(node.condition, NodeCondition::Ready);
    let NodeSelector { names, labels, topology: _ } = &asked.nodes;
    assert!(names.is_empty() || names.contains(&node.name));
    assert!(labels.iter().all(|(key, value)| node.labels.get(key) == Some(value)));
    assert_eq!(node.address, task.address);
    assert_eq!(task.gpus.len(), role.demand.gpus as usize);
    let part = role.demand.gpus > 0 && role.demand.each_gpu_milli() < WHOLE_GPU;
    assert!(node.shares_gpus || !part, "{} does not share its GPUs", node.name);
    let gpus: Vec<_> = task.gpus.iter().map(|i| &node.capacity.gpus[*i as usize]).collect();
    assert!(gpus.iter().all(|gpu| gpu.healthy && gpu.gpu_type == gpus[0].gpu_type));
    let wanted = |kind| role.gpu_types.is_empty() || role.gpu_types.contains(kind);
    assert!(gpus.iter().all(|gpu| wanted(&gpu.gpu_type)));
    for port in &role.ports {
        let given = task.ports.of(port.label.as_str()).unwrap();
        assert_eq!(given.len(), port.count as usize);
        match port.begin_at {
            0 => assert!(given.iter().all(|port| node.ports.ports().contains(port))),
            first => {
                assert_eq!(given[0], first);
                assert!(given.iter().all(|port| node.ports.ports().contains(port)));
            }
        }
    }
}

/// Nothing is given twice and nothing exceeded by all that runs.
fn nothing_is_exceeded(snapshot: &Snapshot) {
    let mut ports = BTreeSet::new();
    let mut gpus: BTreeMap<_, u32> = BTreeMap::new();
    let mut used: BTreeMap<_, Demand> = BTreeMap::new();
    for (task, demand) in snapshot.running.iter().flat_map(|running| &running.tasks) {
        for port in task.ports.values().flatten() {
            assert!(ports.insert((&task.address, *port)), "port {port} twice");
        }
        for gpu in &task.gpus {
            let milli = gpus.entry((&task.node, *gpu)).or_default();
            *milli += demand.each_gpu_milli();
            assert!(*milli <= WHOLE_GPU, "{milli} of GPU {gpu} of {}", task.node);
        }
        let sum = used.entry(&task.node).or_default();
        sum.cpu_milli += demand.cpu_milli;
        sum.memory_mb += demand.memory_mb;
    }
    for node in &snapshot.nodes {
        let used = used.get(&node.name).copied().unwrap_or_default();
        assert!(
            used.cpu_milli <= u64::from(node.capacity.cpus) * 1000
                && used.memory_mb <= node.capacity.memory_mb
        );
    }
    for settings in &snapshot.virtual_clusters {
        let tasks = |name: &VirtualClusterName| -> Vec<_> {
            let jobs = snapshot.running.iter().filter(|job| job.virtual_cluster == *name);
            let guaranteed = jobs.filter(|job| job.qos_class == QosClass::Guaranteed);
            guaranteed.flat_map(|job| &job.tasks).collect()
        };
        let cpus = |name| -> u64 {
            tasks(name).into_iter().map(|(_, demand)| demand.cpu_milli / 1000).sum()
        };
        let parts = snapshot
            .virtual_clusters
            .iter()
            .filter(|part| part.parent.as_ref() == Some(&settings.name));
        let of_parts: u64 = parts.clone().filter_map(|part| part.share.cpus).sum();
        let by_parts: u64 = parts.map(|part| cpus(&part.name)).sum();
        if let Some(share) = settings.share.cpus.filter(|_| settings.parent.is_none()) {
            assert!(cpus(&settings.name) <= share - of_parts, "its parts' is set aside");
            assert!(cpus(&settings.name) + by_parts <= share);
        }
        let mut by_type: BTreeMap<_, u64> = BTreeMap::new();
        for (task, demand) in tasks(&settings.name) {
            let node = snapshot.nodes.iter().find(|node| node.name == task.node).unwrap();
            for gpu in &task.gpus {
                *by_type.entry(&node.capacity.gpus[*gpu as usize].gpu_type).or_default() +=
                    u64::from(demand.each_gpu_milli());
            }
        }
        for (kind, milli) in by_type {
            let share = settings.share.gpus.get(kind).copied().unwrap_or(0);
            assert!(settings.share.gpus.is_empty() || milli <= share * u64::from(WHOLE_GPU));
        }
    }
}

/// The same cluster in which only this job waits.
pub(crate) fn alone(snapshot: &Snapshot, job: JobId) -> Snapshot {
    Snapshot { waiting: vec![request(snapshot, job).clone()], ..snapshot.clone() }
}

/// Whether the first job comes before the second in the queue.
fn ahead(snapshot: &Snapshot, first: JobId, second: JobId) -> bool {
    let place = |job| {
        let request = request(snapshot, job);
        (std::cmp::Reverse(request.priority), request.submitted_at, request.job)
    };
    place(first) < place(second)
}

pub(crate) fn starts(snapshot: &Snapshot, job: JobId) -> bool {
    plan(snapshot, NOW).placements.iter().any(|placement| placement.job == job)
}

fn starts_guaranteed(snapshot: &Snapshot, job: JobId) -> bool {
    let starts =
        |placement: &Placement| placement.job == job && placement.qos_class == QosClass::Guaranteed;
    plan(snapshot, NOW).placements.iter().any(starts)
}

proptest! {
    #![proptest_config(cases(500))]

    #[test]
    fn plans_are_sound(Case(snapshot) in any_snapshot()) {
        let plan = plan(&snapshot, NOW);
        every_job_is_decided_whole(&snapshot, &plan);
        nothing_is_exceeded(&with(&snapshot, &plan));
    }

    #[test]
    fn the_same_input_gives_the_same_output(Case(snapshot) in any_snapshot()) {
        let mut shuffled = snapshot.clone();
        shuffled.waiting.reverse();
        prop_assert_eq!(plan(&snapshot, NOW), plan(&shuffled, NOW));
    }

    #[test]
    fn positions_count_from_one(Case(snapshot) in any_snapshot()) {
        let plan = plan(&snapshot, NOW);
        for name in CLUSTERS {
            let mut own: Vec<_> = snapshot
                .waiting
                .iter()
                .filter(|r| r.virtual_cluster.as_str() == name && plan.waiting.contains_key(&r.job))
                .collect();
            own.sort_by_key(|r| (std::cmp::Reverse(r.priority), r.submitted_at));
            let mut positions: Vec<_> = own.iter().map(|r| plan.waiting[&r.job].position).collect();
            positions.sort_unstable();
            prop_assert_eq!(positions, (1..=own.len() as u32).collect::<Vec<_>>());
        }
    }

    /// The head is a job with a reservation: once all that ran at its turn has ended, it
    /// starts beside all that was let past it, in however many passes. (Where nodes share an
    /// address it may wait for a port that a task on another node has; that is not reserved.)
    #[test]
    fn what_is_let_past_the_head_is_never_in_its_way(
        Case(mut snapshot) in any_snapshot(),
        passes in 1..6_usize,
        classes in any::<bool>(),
    ) {
        snapshot.nodes.iter_mut().for_each(|node| node.address = node.name.to_string());
        if classes {
            let all = [Priority::TEST, Priority::PRODUCTION, Priority::CRITICAL];
            let of = |drawn: &mut Priority| *drawn = all[drawn.0 as usize];
            snapshot.waiting.iter_mut().for_each(|request| of(&mut request.priority));
            snapshot.running.iter_mut().for_each(|running| of(&mut running.turn.priority.0));
        }
        let idle = Snapshot { running: Vec::new(), ..snapshot.clone() };
        let first = plan(&snapshot, NOW);
        let reserved = first.reserved.iter().map(|reservation| reservation.job);
        let mut heads = reserved.filter(|job| starts_guaranteed(&alone(&idle, *job), *job));
        let Some(head) = heads.next() else { return Ok(()) };
        let now = (0..passes).fold(snapshot.clone(), |now, _| with(&now, &plan(&now, NOW)));
        if now.waiting.iter().all(|request| request.job != head) {
            return Ok(());
        }
        let past = |job| snapshot.waiting.iter().any(|r| r.job == job) && ahead(&snapshot, head, job);
        let mut then = alone(&now, head);
        then.running.retain(|running| past(running.job));
        let plan = plan(&then, NOW);
        let starts = plan.placements.iter().any(|placement| placement.job == head);
        // What is backfilled gives way.
        let takes_back = plan.preemptions.iter().any(|preemption| preemption.taken_by == head);
        prop_assert!(starts || takes_back, "{head} is delayed by {:?}", then.running);
    }

    #[test]
    fn what_is_refused_at_the_door_never_starts_and_what_starts_is_not_refused(
        Case(snapshot) in any_snapshot(),
    ) {
        let idle = Snapshot { running: Vec::new(), ..snapshot };
        for asked in &idle.waiting {
            let starts = starts(&alone(&idle, asked.job), asked.job);
            prop_assert!(!starts || admit(&idle, asked).is_ok(), "{:?}", admit(&idle, asked));
        }
    }

    /// So that one answer does however long, and nobody has to be kept from scheduling for it.
    #[test]
    fn what_is_refused_at_the_door_depends_on_nothing_that_comes_and_goes(
        Case(snapshot) in any_snapshot(),
        out in prop::collection::vec(any::<bool>(), 7),
    ) {
        let admission = Admission::new(&snapshot.nodes, &snapshot.virtual_clusters);
        let mut state = State::of(&snapshot);
        state.pass(NOW);
        let mut nodes = snapshot.nodes.clone();
        for (node, out) in nodes.iter_mut().zip(out) {
            node.condition =
                if out { NodeCondition::Unreachable } else { NodeCondition::Ready };
            node.capacity.gpus.iter_mut().for_each(|gpu| gpu.healthy = !out);
        }
        let later = Admission::new(&nodes, &snapshot.virtual_clusters);
        for asked in &snapshot.waiting {
            let refused = admission.admit(asked).err();
            prop_assert_eq!(&later.admit(asked).err(), &refused);
            let another = Request { job: JobId(10_000), ..asked.clone() };
            let never = match state.dry_run(&another, NOW) {
                Answer::Never(reason) => Some(reason),
                Answer::Fits(..) | Answer::Preempts(_) | Answer::Waits(_) => None,
            };
            prop_assert_eq!(never, refused);
        }
    }
}
