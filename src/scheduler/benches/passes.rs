//! What a pass of the scheduler costs. Run with `cargo bench -p scheduler`.

use criterion::{Criterion, criterion_group, criterion_main};
use protocol::cluster::{NodeCondition, Share, VirtualClusterSettings};
use protocol::ids::{GpuType, JobId, NodeName, PortLabel, UserName, VirtualClusterName};
use protocol::placement::TaskPlacement;
use protocol::resources::{Capacity, Gpu, PortRange, Resources};
use protocol::spec::{PortRequest, Priority};
use protocol::time::Timestamp;
use scheduler::model::{Node, Request, RoleRequest, Running, Snapshot};

const NOW: Timestamp = Timestamp(0);

fn gpu_type(number: u32) -> GpuType {
    GpuType::new(["A100", "V100"][number as usize % 2]).expect("a fixed name is valid")
}

fn node(number: u32) -> Node {
    let gpu = |index| Gpu { index, gpu_type: gpu_type(number), uuid: None, healthy: true };
    let gpus = (0..8).map(gpu).collect();
    Node {
        name: NodeName::new(format!("node-{number}")).expect("a number is valid in a name"),
        address: format!("10.{}.{}.1", number / 256, number % 256),
        condition: NodeCondition::Ready,
        capacity: Capacity { cpus: 64, memory_mb: 524_288, disk_gb: 1000, gpus },
        ports: PortRange::default(),
    }
}

/// `count` tasks of `gpus` GPUs each; what a job of each id asks for differs a little.
fn request(id: i64, count: u32, gpus: u32, differ: u32) -> Request {
    let port = |label| PortRequest {
        label: PortLabel::new(label).expect("a fixed name is valid"),
        begin_at: 0,
        count: 1,
    };
    let memory_mb = 1024 + id.unsigned_abs() % u64::from(differ);
    let resources = Resources { cpus: gpus.max(1), memory_mb, gpus, disk_gb: 1 };
    let role = RoleRequest {
        count,
        resources,
        gpu_types: Vec::new(),
        ports: vec![port("http"), port("ssh")],
    };
    Request {
        job: JobId(id),
        user: UserName::new("ann").expect("a fixed name is valid"),
        virtual_cluster: VirtualClusterName::default(),
        priority: Priority::TEST,
        submitted_at: Timestamp(id),
        not_before: None,
        avoid: Vec::new(),
        roles: vec![role],
    }
}

fn snapshot(nodes: u32) -> Snapshot {
    let share =
        Share { gpus: [(gpu_type(0), 1 << 20), (gpu_type(1), 1 << 20)].into(), ..Share::default() };
    let default = VirtualClusterName::default();
    Snapshot {
        nodes: (0..nodes).map(node).collect(),
        virtual_clusters: vec![VirtualClusterSettings { name: default, share, users: Vec::new() }],
        ..Snapshot::default()
    }
}

/// So many nodes with one job of 6 GPUs on each.
fn busy(nodes: u32) -> Snapshot {
    let mut snapshot = snapshot(nodes);
    let running = |(id, node): (usize, &Node)| {
        let placement = TaskPlacement {
            role: 0,
            index: 0,
            node: node.name.clone(),
            address: node.address.clone(),
            gpus: (0..6).collect(),
            ports: Default::default(),
        };
        let resources = Resources { cpus: 48, memory_mb: 65_536, gpus: 6, disk_gb: 10 };
        Running {
            job: JobId(1_000_000 + id as i64),
            virtual_cluster: VirtualClusterName::default(),
            tasks: vec![(placement, resources)],
        }
    };
    snapshot.running = snapshot.nodes.iter().enumerate().map(running).collect();
    snapshot
}

fn passes(criterion: &mut Criterion) {
    let mut fitting = snapshot(1000);
    fitting.waiting = (0..1000).map(|id| request(id, 1, 1, 1)).collect();
    criterion.bench_function("1000 nodes, 1000 jobs that fit", |bench| {
        bench.iter(|| scheduler::plan(&fitting, NOW));
    });
    let mut alike = busy(1000);
    alike.waiting = (0..10_000).map(|id| request(id, 1, 4, 1)).collect();
    criterion.bench_function("1000 nodes, 10000 alike that do not fit", |bench| {
        bench.iter(|| scheduler::plan(&alike, NOW));
    });
    let mut different = busy(1000);
    different.waiting = (0..10_000).map(|id| request(id, 1, 4, 1 << 20)).collect();
    criterion.bench_function("1000 nodes, 10000 different that do not fit", |bench| {
        bench.iter(|| scheduler::plan(&different, NOW));
    });
    let mut gangs = snapshot(1000);
    gangs.waiting = (0..250).map(|id| request(id, 4, 8, 1)).collect();
    criterion.bench_function("1000 nodes, 250 gangs of 4 times 8 GPUs", |bench| {
        bench.iter(|| scheduler::plan(&gangs, NOW));
    });
    let mut wide = busy(1000);
    wide.waiting = vec![request(0, 900, 8, 1)];
    criterion.bench_function("1000 nodes, a gang of 900 nodes is given its reservation", |bench| {
        bench.iter(|| scheduler::plan(&wide, NOW));
    });
    let asked = request(5_000, 1, 4, 1);
    criterion.bench_function("a dry run behind 10000 others", |bench| {
        bench.iter(|| scheduler::dry_run(&alike, &asked, NOW));
    });
}

criterion_group!(benches, passes);
criterion_main!(benches);
