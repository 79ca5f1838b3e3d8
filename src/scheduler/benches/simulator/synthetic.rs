//! Made-up loads: how the cost of a pass, a dry run and a waiting task grows.

use std::alloc::{GlobalAlloc, Layout, System};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicIsize, Ordering};

use protocol::cluster::{NodeCondition, Preempts, Share};
use protocol::ids::{GpuType, JobId, NodeName, VirtualClusterName};
use protocol::resources::{Capacity, Gpu, PortRange};
use protocol::time::Timestamp;
use scheduler::model::{Demand, Node, Request, VirtualCluster};
use scheduler::{Admission, State};

use crate::figures::{clock, core_seconds, figure};
use crate::openb::request;

/// Virtual clusters that share the nodes.
const CLUSTERS: u32 = 10;
/// Tasks that wait.
const WAITING: u32 = 100_000;

fn gpu_type() -> GpuType {
    GpuType::new("A100").expect("a fixed name is valid")
}

fn name(number: u32) -> VirtualClusterName {
    VirtualClusterName::new(format!("vc{}", number % CLUSTERS))
        .expect("a number is valid in a name")
}

/// Nodes of 8 GPUs.
pub(crate) fn nodes(count: u32) -> Vec<Node> {
    let node = |number: u32| {
        let gpu = |index| Gpu { index, gpu_type: gpu_type(), uuid: None, healthy: true };
        Node {
            name: NodeName::new(format!("node-{number}")).expect("a number is valid in a name"),
            address: format!("10.{}.{}.1", number / 256, number % 256),
            condition: NodeCondition::Ready,
            capacity: Capacity {
                cpus: 96,
                memory_mb: 786_432,
                disk_gb: 0,
                gpus: (0..8).map(gpu).collect(),
                architecture: None,
            },
            ports: PortRange::default(),
            labels: BTreeMap::new(),
            links: Vec::new(),
            shares_gpus: true,
            doubtful: false,
            known: true,
        }
    };
    (0..count).map(node).collect()
}

/// Each has its part of all GPUs.
fn clusters(nodes: u32) -> Vec<VirtualCluster> {
    let share = u64::from(nodes * 8 / CLUSTERS);
    let cluster = |number| VirtualCluster {
        name: name(number),
        parent: None,
        share: Share { gpus: BTreeMap::from([(gpu_type(), share)]), ..Share::default() },
        shapes: Vec::new(),
        nodes: Vec::new(),
        within: BTreeMap::new(),
        borrows: true,
        preempts: Preempts::Everybody,
        deadlines: false,
        limits: scheduler::model::limits::RunLimits::default(),
        groups: scheduler::model::groups::GroupShares::default(),
    };
    (0..CLUSTERS).map(cluster).collect()
}

/// Sizes as on a busy cluster: a half of them one GPU, some a part of one, few a whole node.
fn asked(number: u32) -> Demand {
    let (gpus, gpu_milli) = match number % 20 {
        0..4 => (1, [250, 500][number as usize % 2]),
        4..14 => (1, 1000),
        14..17 => (2, 1000),
        17..19 => (4, 1000),
        _ => (8, 1000),
    };
    let cpu_milli = u64::from(gpus) * [4_000, 8_000, 12_000][number as usize % 3];
    Demand { cpu_milli, memory_mb: u64::from(gpus) * 65_536, disk_gb: 0, gpus, gpu_milli }
}

fn wanted(number: u32, count: u32) -> Request {
    let mut request = request(i64::from(number), asked(number), &[]);
    request.virtual_cluster = name(number / 20);
    request.roles[0].count = count;
    request
}

/// A full cluster with a long queue: again and again some jobs end and others start.
pub(crate) fn placements(count: u32) {
    let mut state = State::new(&nodes(count), clusters(count));
    for number in 0..WAITING + count * 8 {
        state.submit(&wanted(number, 1));
    }
    let mut running: Vec<JobId> = Vec::new();
    let (fill, core) = (clock(), core_seconds(clock()));
    let pass = state.pass(Timestamp(1));
    let filled = pass.placements.len();
    figure(&format!("nodes{count}.fill"), filled as f64 / (core_seconds(fill) - core), "/s");
    running.extend(pass.placements.iter().map(|placement| placement.job));
    let (mut placed, mut at, mut passes, mut slowest) = (0, 0, 0_u32, 0.0_f64);
    let began = clock();
    let core = core_seconds(began);
    while placed < 20_000 && began.elapsed().as_secs() < 20 {
        let (now, one) = (Timestamp(2 + i64::from(passes)), clock());
        for job in running.iter().skip(at).take(64) {
            state.ended(*job);
        }
        at += 64;
        let mut pass = state.pass(now);
        for preemption in std::mem::take(&mut pass.preemptions) {
            state.ended(preemption.job);
        }
        placed += pass.placements.len();
        running.extend(pass.placements.iter().map(|placement| placement.job));
        slowest = slowest.max(one.elapsed().as_secs_f64());
        passes += 1;
    }
    let seconds = core_seconds(began) - core;
    figure(&format!("nodes{count}.placements"), placed as f64 / seconds, "/s");
    figure(&format!("nodes{count}.slowest_pass"), slowest * 1e3, "ms");
    flaps(count, &mut state);
    dry_runs(count, &mut state);
    admissions(count);
}

/// What it costs to find that a job could start some day, in microseconds.
fn admissions(count: u32) {
    let admission = Admission::new(&nodes(count), &clusters(count));
    let began = clock();
    let admitted = (0..1_000).filter(|number| admission.admit(&wanted(*number, 1)).is_ok()).count();
    figure(&format!("nodes{count}.admit"), began.elapsed().as_secs_f64() * 1e3, "µs");
    assert_eq!(admitted, 1_000, "all of them may start");
}

/// Nodes that take nothing for a moment, one after the other: what each change costs with the pass
/// that follows.
fn flaps(count: u32, state: &mut State) {
    let mut times = Vec::new();
    for node in nodes(count).into_iter().take(20) {
        for condition in [NodeCondition::Unreachable, NodeCondition::Ready] {
            let changed = Node { condition, ..node.clone() };
            let began = clock();
            state.change_nodes(std::slice::from_ref(&changed));
            let _ = state.pass(Timestamp(1_000_000));
            times.push(began.elapsed().as_secs_f64() * 1e3);
        }
    }
    times.sort_by(f64::total_cmp);
    figure(&format!("nodes{count}.flap"), times[times.len() / 2], "ms");
    figure(&format!("nodes{count}.flap_max"), times[times.len() - 1], "ms");
}

/// The middle and the slowest of a hundred dry runs and explanations behind a long queue.
fn dry_runs(count: u32, state: &mut State) {
    let (mut dry, mut explained) = (Vec::new(), Vec::new());
    for number in 0..100 {
        let request = wanted(10_000_000 + number * 7, 1 + number % 4);
        let began = clock();
        let _ = state.dry_run(&request, Timestamp(1_000_000));
        dry.push(began.elapsed().as_secs_f64() * 1e3);
        let began = clock();
        let _ = state.explain(JobId(i64::from(WAITING - number * 11)), Timestamp(1_000_000));
        explained.push(began.elapsed().as_secs_f64() * 1e3);
    }
    for (what, mut times) in [("dry_run", dry), ("explain", explained)] {
        times.sort_by(f64::total_cmp);
        figure(&format!("nodes{count}.{what}"), times[times.len() / 2], "ms");
        figure(&format!("nodes{count}.{what}_max"), times[times.len() - 1], "ms");
    }
}

/// Gangs of four tasks on 5 000 nodes.
pub(crate) fn gangs() {
    let mut state = State::new(&nodes(5_000), clusters(5_000));
    for number in 0..2_500 {
        state.submit(&wanted(number, 4));
    }
    let began = clock();
    let core = core_seconds(began);
    let placed = state.pass(Timestamp(1)).placements.len();
    figure("gang4.tasks", placed as f64 * 4.0 / (core_seconds(began) - core), "/s");
}

/// What a waiting task costs in memory.
pub(crate) fn memory() {
    let mut state = State::new(&nodes(10), clusters(10));
    let before = HELD.load(Ordering::Relaxed);
    for number in 0..WAITING {
        state.submit(&wanted(number, 1));
    }
    let bytes = HELD.load(Ordering::Relaxed) - before;
    figure("waiting.bytes", bytes as f64 / f64::from(WAITING), "B");
}

/// Counts what is held.
#[derive(Debug)]
struct Counting;

static HELD: AtomicIsize = AtomicIsize::new(0);

#[global_allocator]
static ALLOCATOR: Counting = Counting;

#[expect(unsafe_code, reason = "an allocator is unsafe by its contract; this one only counts")]
// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        HELD.fetch_add(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: as the caller promised us.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        HELD.fetch_sub(layout.size().cast_signed(), Ordering::Relaxed);
        // SAFETY: as the caller promised us.
        unsafe { System.dealloc(pointer, layout) }
    }
}
