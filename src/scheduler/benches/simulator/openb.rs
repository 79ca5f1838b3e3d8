//! openb: tasks arrive in a given order and never leave; one that does not fit is dropped.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};

use protocol::cluster::{NodeCondition, Preempts, Share};
use protocol::ids::{GpuType, JobId, NodeName, PortLabel, UserName, VirtualClusterName};
use protocol::resources::{Capacity, Gpu, PortRange};
use protocol::spec::{NodeSelector, PortRequest, Priority};
use protocol::time::Timestamp;
use scheduler::State;
use scheduler::model::{Demand, GaveWay, Node, Placement, Request, RoleRequest, VirtualCluster};

use crate::figures::{clock, core_seconds, figure};
use crate::plot::{Line, plot};
use crate::traces;

mod fgd;

/// One of so many tasks with GPUs insists on a type where wishes are made up.
const WISHING: usize = 6;

/// What a task asks for, and the types of GPUs that it insists on.
type Task = (Demand, Vec<GpuType>);

/// The same, and which part of all typical tasks are so.
type Typical = (Demand, Vec<GpuType>, f64);

/// A cluster and its tasks.
#[derive(Debug, Clone)]
pub(crate) struct Workload {
    nodes: Vec<Node>,
    tasks: HashMap<String, Task>,
    /// The most frequent classes that make up 95 % of the tasks.
    typical: Vec<Typical>,
    milli: u64,
}

impl Workload {
    pub(crate) fn read(nodes: &Path, pods: &Path) -> Result<Self, String> {
        let nodes: Vec<_> = traces::rows(&traces::text(nodes)?).map(|row| node(&row)).collect();
        let text = traces::text(pods)?;
        let task = |row: Vec<&str>| {
            let spec = row.get(5).copied().unwrap_or_default();
            let types = spec.split('|').filter_map(|name| GpuType::new(name).ok()).collect();
            (row[0].to_owned(), (demand(&row), types))
        };
        let tasks: HashMap<String, Task> = traces::rows(&text).map(task).collect();
        let milli = nodes.iter().map(|node| node.capacity.gpus.len() as u64 * 1000).sum();
        let typical = typical(&tasks);
        Ok(Self { nodes, tasks, typical, milli })
    }

    fn task(&self, name: &str) -> Result<&Task, String> {
        self.tasks.get(name).ok_or_else(|| format!("no task {name}"))
    }

    /// How many GPUs there are of each type.
    fn gpus(&self) -> BTreeMap<GpuType, u64> {
        let mut gpus = BTreeMap::new();
        for gpu in self.nodes.iter().flat_map(|node| &node.capacity.gpus) {
            *gpus.entry(gpu.gpu_type.clone()).or_default() += 1;
        }
        gpus
    }

    /// The same, where some tasks insist on a type: on each in turn of those that make up a hundredth
    /// of all GPUs.
    fn wishing(&self) -> Self {
        let common = |(_, gpus): &(GpuType, u64)| gpus * 1000 * 100 >= self.milli;
        let types: Vec<_> =
            self.gpus().into_iter().filter(common).map(|(gpu_type, _)| gpu_type).collect();
        let mut wishing = self.clone();
        let mut tasks: Vec<_> = wishing.tasks.iter_mut().collect();
        tasks.retain(|(_, (demand, _))| demand.gpus > 0);
        tasks.sort_by_key(|(id, _)| *id);
        let some = tasks.into_iter().step_by(WISHING).map(|(_, (_, wish))| wish);
        some.zip(types.iter().cycle()).for_each(|(wish, gpu_type)| *wish = vec![gpu_type.clone()]);
        wishing.typical = typical(&wishing.tasks);
        wishing
    }

    fn virtual_cluster(&self) -> VirtualCluster {
        VirtualCluster {
            name: VirtualClusterName::default(),
            parent: None,
            share: Share { gpus: self.gpus(), ..Share::default() },
            shapes: Vec::new(),
            nodes: Vec::new(),
            within: BTreeMap::new(),
            borrows: true,
            preempts: Preempts::Everybody,
            deadlines: false,
            limits: scheduler::model::limits::RunLimits::default(),
            groups: scheduler::model::groups::GroupShares::default(),
        }
    }
}

fn typical(tasks: &HashMap<String, Task>) -> Vec<Typical> {
    let mut counts: BTreeMap<(u64, u32, u32, &[GpuType]), u32> = BTreeMap::new();
    for (demand, types) in tasks.values() {
        let class = (demand.cpu_milli, demand.gpus, demand.gpu_milli, types.as_slice());
        *counts.entry(class).or_default() += 1;
    }
    let mut counts: Vec<_> = counts.into_iter().collect();
    counts.sort_by(|(a, many), (b, others)| others.cmp(many).then(a.cmp(b)));
    let (mut typical, mut sum) = (Vec::new(), 0);
    for ((cpu_milli, gpus, gpu_milli, types), count) in counts {
        if f64::from(sum) >= 0.95 * tasks.len() as f64 {
            break;
        }
        sum += count;
        let types = types.to_vec();
        let demand = Demand { cpu_milli, gpus, gpu_milli, ..Demand::default() };
        typical.push((demand, types, f64::from(count)));
    }
    typical.iter_mut().for_each(|(_, _, part)| *part /= f64::from(sum));
    typical
}

fn node(row: &[&str]) -> Node {
    let gpu_type = GpuType::new(row.get(4).copied().unwrap_or_default());
    let gpu = |index| {
        let gpu_type = gpu_type.clone().expect("a node with GPUs names their model");
        Gpu { index, gpu_type, uuid: None, healthy: true }
    };
    let count = u32::try_from(traces::number(row, 3)).unwrap_or(0);
    Node {
        name: NodeName::new(row[0]).expect("the trace's node names are valid"),
        address: row[0].to_owned(),
        condition: NodeCondition::Ready,
        capacity: Capacity {
            cpus: u32::try_from(traces::number(row, 1) / 1000).unwrap_or(0),
            memory_mb: traces::number(row, 2),
            disk_gb: 0,
            gpus: (0..count).map(gpu).collect(),
            architecture: None,
        },
        ports: PortRange::default(),
        labels: BTreeMap::new(),
        links: Vec::new(),
        shares_gpus: true,
        doubtful: false,
        known: true,
    }
}

fn demand(row: &[&str]) -> Demand {
    let small = |column| u32::try_from(traces::number(row, column)).unwrap_or(0);
    Demand {
        cpu_milli: traces::number(row, 1),
        memory_mb: traces::number(row, 2),
        disk_gb: 0,
        gpus: small(3),
        gpu_milli: small(4),
    }
}

/// A request as the server makes them: with the two ports that every task has.
pub(crate) fn request(job: i64, demand: Demand, types: &[GpuType]) -> Request {
    let port = |label| PortRequest {
        label: PortLabel::new(label).expect("a fixed name is valid"),
        begin_at: 0,
        count: 1,
    };
    Request {
        job: JobId(job),
        user: UserName::new("ann").expect("a fixed name is valid"),
        virtual_cluster: VirtualClusterName::default(),
        priority: Priority::TEST,
        submitted_at: Timestamp(job),
        moved_ms: 0,
        held: false,
        not_before: None,
        deadline: None,
        gave_way: GaveWay::default(),
        limit_ms: None,
        expected_ms: None,
        avoid: Vec::new(),
        lacks: BTreeMap::new(),
        nodes: NodeSelector::default(),
        roles: vec![RoleRequest {
            count: 1,
            demand,
            gpu_types: types.to_vec(),
            ports: vec![port("http"), port("ssh")],
        }],
    }
}

/// The published orders of arrival.
pub(crate) fn published(folder: &Path, plots: Option<&Path>) -> Result<(), String> {
    let nodes = folder.join("openb_node_list_gpu_node.csv");
    let workload = Workload::read(&nodes, &folder.join("openb_pod_list_default.csv"))?;
    let arrivals: Vec<_> =
        (42..47).map(|seed| folder.join(format!("arrival_default_seed{seed}.txt.gz"))).collect();
    replay_all("openb", &workload, &arrivals, plots)?;
    replay_all("openb_wishes", &workload.wishing(), &arrivals, None)
}

/// Replays each order of arrival; the figures, whose names begin with this, are means of all, the
/// speed is that of the quickest.
pub(crate) fn replay_all(
    name: &str,
    workload: &Workload,
    arrivals: &[PathBuf],
    plots: Option<&Path>,
) -> Result<(), String> {
    let mut replays = Vec::new();
    for path in arrivals {
        let text = traces::text(path)?;
        let names: Vec<_> =
            text.lines().map(|name| name.split("-tuned").next().unwrap_or(name)).collect();
        replays.push(replay(workload, &names, plots.is_some())?);
    }
    let mean =
        |of: &dyn Fn(&Replay) -> f64| replays.iter().map(of).sum::<f64>() / replays.len() as f64;
    for percent in [100, 130] {
        let (own, fgd) = (mean(&|r| r.allocated.at(percent)), mean(&|r| r.by_fgd.at(percent)));
        figure(&format!("{name}.alloc{percent}"), own, "%");
        figure(&format!("{name}.fgd.alloc{percent}"), fgd, "%");
        figure(&format!("{name}.beyond_fgd{percent}"), own - fgd, "points");
    }
    figure(&format!("{name}.frag_amount"), mean(&|r| r.fragmented * 100.0), "%");
    figure(
        &format!("{name}.frag_ratio"),
        mean(&|r| r.fragmented * 100.0 / (1.0 - r.allocated.last / 100.0)),
        "%",
    );
    let quickest = replays.iter().map(|replay| replay.per_second).fold(0.0, f64::max);
    figure(&format!("{name}.placements"), quickest, "/s");
    if let Some(folder) = plots {
        draw(folder, &replays)?;
    }
    Ok(())
}

fn draw(folder: &Path, replays: &[Replay]) -> Result<(), String> {
    let lines = |of: fn(&Replay) -> &[f64]| -> Vec<Line> {
        let points = |replay| of(replay).iter().enumerate().map(|(x, y)| (x as f64, *y)).collect();
        replays.iter().map(|r| Line { name: String::new(), points: points(r) }).collect()
    };
    plot(
        &folder.join("openb-allocation.svg"),
        "openb: allocated GPUs (%) by arrived demand (%)",
        &lines(|replay| &replay.allocated.by_demand),
    )?;
    plot(
        &folder.join("openb-fragmentation.svg"),
        "openb: fragmented GPUs (%) by arrived demand (%)",
        &lines(|replay| &replay.fragmentation),
    )
}

/// Percent of all GPUs allocated.
struct Allocated {
    /// By percent of demand arrived.
    by_demand: Vec<f64>,
    last: f64,
}

impl Allocated {
    /// By tasks that arrive with so many thousandths of GPUs each, and find room or not.
    fn of(workload: &Workload, tasks: impl Iterator<Item = (u64, bool)>) -> Self {
        let (mut arrived, mut held, mut by_demand) = (0, 0, vec![0.0]);
        let percent = |held: u64| held as f64 * 100.0 / workload.milli as f64;
        for (milli, placed) in tasks {
            arrived += milli;
            held += if placed { milli } else { 0 };
            while arrived * 100 >= by_demand.len() as u64 * workload.milli {
                by_demand.push(percent(held));
            }
        }
        Self { by_demand, last: percent(held) }
    }

    fn at(&self, percent: usize) -> f64 {
        self.by_demand.get(percent).copied().unwrap_or(self.last)
    }
}

struct Replay {
    allocated: Allocated,
    /// What fragmentation gradient descent comes to with the same tasks.
    by_fgd: Allocated,
    /// Percent of all GPUs that are free and fragmented for the tasks that came so far, likewise;
    /// only for plots.
    fragmentation: Vec<f64>,
    /// Fragmented GPUs at the end, as a part of all.
    fragmented: f64,
    per_second: f64,
}

fn replay(workload: &Workload, names: &[&str], draws: bool) -> Result<Replay, String> {
    let mut state = State::new(&workload.nodes, vec![workload.virtual_cluster()]);
    let mut requests = Vec::with_capacity(names.len());
    for (job, name) in names.iter().enumerate() {
        let (demand, types) = workload.task(name)?;
        requests.push(request(job as i64, *demand, types));
    }
    let mut placed: Vec<Option<Placement>> = Vec::with_capacity(names.len());
    let (mut demanded, mut fragmentation) = (0, Vec::new());
    let began = clock();
    let core = core_seconds(began);
    for request in &requests {
        if draws {
            while demanded * 100 >= fragmentation.len() as u64 * workload.milli {
                let fragmented = state.fragmented_milli() as f64;
                fragmentation.push(fragmented * 100.0 / workload.milli as f64);
            }
            demanded += milli(request);
        }
        state.submit(request);
        let started = state.pass(Timestamp(request.job.0)).placements.pop();
        if started.is_none() {
            state.cancel(request.job);
        }
        placed.push(started);
    }
    let per_second = names.len() as f64 / (core_seconds(began) - core);
    let demands = || requests.iter().map(milli);
    let allocated = Allocated::of(workload, demands().zip(placed.iter().map(Option::is_some)));
    let by_fgd = Allocated::of(workload, demands().zip(fgd::places(workload, names)?));
    let fragmented = fragmented(workload, &requests, &placed);
    Ok(Replay { allocated, by_fgd, fragmentation, fragmented, per_second })
}

/// Thousandths of GPUs that a task asks for.
fn milli(request: &Request) -> u64 {
    let demand = request.roles[0].demand;
    u64::from(demand.gpus) * u64::from(demand.gpu_milli)
}

/// The part of all GPUs that is free and that a typical task could not use (as FGD defines it).
fn fragmented(workload: &Workload, requests: &[Request], placed: &[Option<Placement>]) -> f64 {
    let mut free: HashMap<&NodeName, (u64, Vec<u32>)> = workload
        .nodes
        .iter()
        .map(|node| {
            let gpus = vec![1000; node.capacity.gpus.len()];
            (&node.name, (u64::from(node.capacity.cpus) * 1000, gpus))
        })
        .collect();
    for (request, placed) in requests.iter().zip(placed) {
        for task in placed.iter().flat_map(|placed| &placed.tasks) {
            let demand = request.roles[0].demand;
            let Some((cpus, gpus)) = free.get_mut(&task.node) else { continue };
            *cpus -= demand.cpu_milli;
            task.gpus.iter().for_each(|gpu| gpus[*gpu as usize] -= demand.gpu_milli);
        }
    }
    let mut sum = 0.0;
    for node in &workload.nodes {
        let (cpus, gpus) = &free[&node.name];
        let model = node.capacity.gpus.first().map(|gpu| &gpu.gpu_type);
        sum += lost(&workload.typical, model, *cpus, gpus);
    }
    sum / workload.milli as f64
}

/// Thousandths of GPUs that are left on a node and that a typical task could not use.
fn lost(typical: &[Typical], model: Option<&GpuType>, cpu_milli: u64, gpus: &[u32]) -> f64 {
    let of = |(demand, types, part): &Typical| {
        let wanted = types.is_empty() || model.is_some_and(|model| types.contains(model));
        let large = gpus.iter().filter(|left| **left >= demand.gpu_milli).count();
        let fits = demand.gpus > 0
            && wanted
            && cpu_milli >= demand.cpu_milli
            && large >= demand.gpus as usize;
        let lost: u32 = gpus.iter().filter(|left| !fits || **left < demand.gpu_milli).sum();
        part * f64::from(lost)
    };
    typical.iter().map(of).sum()
}
