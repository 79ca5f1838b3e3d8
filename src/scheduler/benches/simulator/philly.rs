//! Jobs of a trace on scaled nodes, event by event: those of Philly in October and November 2017, or others of
//! its form and of Helios'. A job that gives way begins again from nothing.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap};
use std::path::Path;

use protocol::cluster::{NodeCondition, Preempts, Share};
use protocol::ids::{GpuType, JobId, NodeName, VirtualClusterName};
use protocol::resources::{Capacity, Gpu, PortRange};
use protocol::time::Timestamp;
use scheduler::model::{Demand, GaveWay, Node, PastUse, Request, RoleRequest, VirtualCluster};
use scheduler::{Like, PastRuns, State};

use crate::fairness::Satisfaction;
use crate::figures::{figure, percentile};
use crate::jobs::{GPUS, Job, Nodes};
use crate::plot::{Line, plot};
use crate::{jobs, openb, rivals};

/// Those of Philly's months whose figures are published.
const MONTHS: [&str; 2] = ["10", "11"];
/// The others, each for itself: nothing was fitted to them.
const OTHERS: [&str; 2] = ["09", "12"];

/// What became of a job.
#[derive(Debug, Clone, Copy, Default)]
struct Fate {
    /// Milliseconds from submission to end.
    completion: i64,
    /// The same without the run that counted.
    queued: i64,
    preempted: u32,
    /// When its turn came: after half of the run that was expected of it.
    turn: i64,
    /// When it started first.
    started: i64,
}

fn gpu_type() -> GpuType {
    GpuType::new("P100").expect("a fixed name is valid")
}

fn nodes(count: u32) -> Vec<Node> {
    let node = |number: u32| {
        let gpu = |index| Gpu { index, gpu_type: gpu_type(), uuid: None, healthy: true };
        Node {
            name: NodeName::new(format!("n{number}")).expect("a number is valid in a name"),
            address: format!("n{number}"),
            condition: NodeCondition::Ready,
            capacity: Capacity {
                cpus: 64,
                memory_mb: 1 << 19,
                disk_gb: 0,
                gpus: (0..GPUS).map(gpu).collect(),
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

/// As few tasks as possible.
fn request(id: usize, job: &Job) -> Request {
    let mut request = openb::request(id as i64, Demand::default(), &[]);
    request.virtual_cluster = job.cluster.clone();
    request.user = job.user.clone();
    request.submitted_at = Timestamp(job.submitted);
    let ports = request.roles[0].ports.clone();
    let role = |count, gpus| RoleRequest {
        count,
        demand: Demand {
            cpu_milli: u64::from(gpus) * 4000,
            memory_mb: 1024,
            disk_gb: 0,
            gpus,
            gpu_milli: 1000,
        },
        gpu_types: Vec::new(),
        ports: ports.clone(),
    };
    request.roles = vec![role(job.gpus / GPUS, GPUS), role(1, job.gpus % GPUS)];
    request.roles.retain(|role| role.count > 0 && role.demand.gpus > 0);
    request
}

/// A moment of a plot.
#[derive(Debug, Clone, Copy)]
struct Point {
    at: i64,
    gpus_in_use: u32,
    jobs_that_wait: u32,
    fragmented_milli: u64,
}

/// What goes on in a cluster, event by event.
struct Simulation<'a> {
    jobs: &'a [Job],
    state: State,
    past: PastRuns,
    /// End, job, and which of its starts it belongs to.
    ends: BinaryHeap<Reverse<(i64, usize, u32)>>,
    starts: HashMap<usize, (i64, u32)>,
    fates: Vec<Fate>,
    used: u32,
    waiting: u32,
    /// GPU-milliseconds in use, those lost to preemption among them.
    work: i64,
    lost: i64,
    last: i64,
    satisfaction: Satisfaction,
    /// Only what is drawn is looked at.
    draws: bool,
    points: Vec<Point>,
}

impl<'a> Simulation<'a> {
    fn new(jobs: &'a [Job], clusters: &Nodes, half_life_ms: i64) -> Self {
        let cluster = |(name, nodes): (&VirtualClusterName, &u32)| VirtualCluster {
            name: name.clone(),
            parent: None,
            share: Share {
                gpus: BTreeMap::from([(gpu_type(), u64::from(nodes * GPUS))]),
                ..Share::default()
            },
            shapes: Vec::new(),
            nodes: Vec::new(),
            within: BTreeMap::new(),
            borrows: true,
            preempts: Preempts::Everybody,
            deadlines: false,
            limits: scheduler::model::limits::RunLimits::default(),
            groups: scheduler::model::groups::GroupShares::default(),
        };
        let nodes = nodes(clusters.values().sum());
        let mut state = State::new(&nodes, clusters.iter().map(cluster).collect());
        state.remember(PastUse::new(half_life_ms));
        Self {
            jobs,
            state,
            past: PastRuns::default(),
            ends: BinaryHeap::new(),
            starts: HashMap::new(),
            fates: vec![Fate::default(); jobs.len()],
            used: 0,
            waiting: 0,
            work: 0,
            lost: 0,
            last: 0,
            satisfaction: Satisfaction::default(),
            draws: false,
            points: Vec::new(),
        }
    }

    fn run(mut self) -> Self {
        let mut next = 0;
        while next < self.jobs.len() || !self.ends.is_empty() {
            let arrival = self.jobs.get(next).map(|job| job.submitted);
            let end = self.ends.peek().map(|Reverse((end, ..))| *end);
            let now = arrival.into_iter().chain(end).min().unwrap_or(self.last);
            self.work += i64::from(self.used) * (now - self.last);
            self.satisfaction.lasts(now - self.last);
            self.last = now;
            while self.ends.peek().is_some_and(|Reverse((end, ..))| *end <= now) {
                if let Some(Reverse((_, job, start))) = self.ends.pop() {
                    self.end(job, start, now);
                }
            }
            while self.jobs.get(next).is_some_and(|job| job.submitted <= now) {
                let Job { user, gpus, .. } = &self.jobs[next];
                self.satisfaction.changes(user, 0, i64::from(*gpus));
                self.submit(next);
                next += 1;
            }
            self.pass(now);
            if self.draws {
                self.points.push(Point {
                    at: now,
                    gpus_in_use: self.used,
                    jobs_that_wait: self.waiting,
                    fragmented_milli: self.state.fragmented_milli(),
                });
            }
        }
        self
    }

    fn submit(&mut self, job: usize) {
        let mut request = request(job, &self.jobs[job]);
        request.expected_ms = self.past.expect(Like::from(&request), request.limit_ms);
        let times = self.fates[job].preempted;
        request.gave_way = GaveWay { times, last: Timestamp(self.last) };
        if times == 0 {
            self.fates[job].turn = request.turn().rank;
        }
        self.waiting += 1;
        self.state.submit(&request);
    }

    fn end(&mut self, job: usize, start: u32, now: i64) {
        let Some((began, _)) = self.starts.get(&job).copied().filter(|(_, s)| *s == start) else {
            return;
        };
        self.starts.remove(&job);
        self.state.ended(JobId(job as i64));
        let Job { user, submitted, runs, gpus, .. } = &self.jobs[job];
        self.used -= gpus;
        self.satisfaction.changes(user, -i64::from(*gpus), -i64::from(*gpus));
        self.past.record(Like::from(&request(job, &self.jobs[job])), now - began);
        let fate = &mut self.fates[job];
        (fate.completion, fate.queued) = (now - submitted, now - submitted - runs);
    }

    fn pass(&mut self, now: i64) {
        loop {
            let pass = self.state.pass(Timestamp(now));
            for placement in pass.placements {
                let job = placement.job.0 as usize;
                let start = self.fates[job].preempted;
                self.starts.insert(job, (now, start));
                self.ends.push(Reverse((now + self.jobs[job].runs, job, start)));
                self.used += self.jobs[job].gpus;
                self.waiting -= 1;
                if start == 0 {
                    self.fates[job].started = now;
                }
                let Job { user, gpus, .. } = &self.jobs[job];
                self.satisfaction.changes(user, i64::from(*gpus), 0);
            }
            if pass.preemptions.is_empty() {
                return;
            }
            for preemption in pass.preemptions {
                let job = preemption.job.0 as usize;
                if let Some((began, _)) = self.starts.remove(&job) {
                    self.fates[job].preempted += 1;
                    self.used -= self.jobs[job].gpus;
                    let Job { user, gpus, .. } = &self.jobs[job];
                    self.satisfaction.changes(user, -i64::from(*gpus), 0);
                    self.lost += i64::from(self.jobs[job].gpus) * (now - began);
                    self.state.ended(preemption.job);
                    self.submit(job);
                }
            }
        }
    }
}

/// The virtual clusters with fewer nodes. What is larger than its virtual cluster would be refused
/// at the door.
fn scaled(jobs: &[Job], clusters: &Nodes, divisor: u32) -> (Vec<Job>, Nodes) {
    let clusters: Nodes =
        clusters.iter().map(|(name, nodes)| (name.clone(), nodes / divisor)).collect();
    let fits = |job: &&Job| job.gpus > 0 && job.gpus <= clusters[&job.cluster] * GPUS;
    (jobs.iter().filter(fits).cloned().collect(), clusters)
}

/// How much the mean at a quarter of the nodes depends on single jobs: with another fiftieth of them
/// left out each time.
pub(crate) fn spread(folder: &Path) -> Result<(), String> {
    let (jobs, clusters) = jobs::philly(folder, &MONTHS)?;
    let (jobs, clusters) = scaled(&jobs, &clusters, 4);
    for part in 0..5 {
        let rest = jobs.iter().enumerate().filter(|(at, _)| at % 50 != part);
        let rest: Vec<_> = rest.map(|(_, job)| job.clone()).collect();
        let fates = Simulation::new(&rest, &clusters, 0).run().fates;
        let queued = fates.iter().map(|fate| fate.queued).sum::<i64>() as f64 / 1000.0;
        figure(&format!("philly0.25.mean_queue.without{part}"), queued / fates.len() as f64, "s");
    }
    Ok(())
}

/// Replays at all, at half and at a quarter of the nodes.
pub(crate) fn published(folder: &Path, plots: Option<&Path>) -> Result<(), String> {
    let mut most = replay("philly", &jobs::philly(folder, &MONTHS)?, 0, plots)?;
    for month in OTHERS {
        let of = jobs::philly(folder, &[month])?;
        if !of.0.is_empty() {
            most = most.max(replay(&format!("philly_{month}_"), &of, 0, plots)?);
        }
    }
    figure("sharing_loss.max", most, "s");
    Ok(())
}

/// Replays all months of another trace of Philly's form.
pub(crate) fn other(folder: &Path, half_life_ms: i64, plots: Option<&Path>) -> Result<(), String> {
    replay("trace", &jobs::philly(folder, &[])?, half_life_ms, plots).map(drop)
}

/// Replays a trace of Helios' form.
pub(crate) fn helios(folder: &Path, half_life_ms: i64, plots: Option<&Path>) -> Result<(), String> {
    replay("helios", &jobs::helios(folder)?, half_life_ms, plots).map(drop)
}

/// Gives the largest sharing loss.
fn replay(
    trace: &str,
    (jobs, clusters): &(Vec<Job>, Nodes),
    half_life_ms: i64,
    plots: Option<&Path>,
) -> Result<f64, String> {
    let mut most = f64::MIN;
    for (part, divisor) in [("1", 1), ("0.5", 2), ("0.25", 4)] {
        let (name, (jobs, clusters)) = (format!("{trace}{part}"), scaled(jobs, clusters, divisor));
        figure(&format!("{name}.jobs"), jobs.len() as f64, "jobs");
        let draws = plots.is_some();
        let new = Simulation::new(&jobs, &clusters, half_life_ms);
        let shared = Simulation { draws, ..new }.run();
        print(&name, &shared, clusters.values().sum::<u32>() * GPUS);
        rivals::print(&name, &jobs, &clusters);
        if divisor > 1 {
            most = most.max(loss(&name, (&jobs, &clusters), half_life_ms, &shared.fates));
        }
        if let Some(folder) = plots {
            draw(&folder.join(format!("{name}.svg")), &shared)?;
        }
    }
    Ok(most)
}

fn print(name: &str, of: &Simulation, gpus: u32) {
    let seconds = |value: i64| value as f64 / 1000.0;
    let mean = |value: fn(&Fate) -> i64| {
        seconds(of.fates.iter().map(value).sum::<i64>()) / of.fates.len() as f64
    };
    let at = |value: fn(&Fate) -> i64, percent| percentile(of.fates.iter().map(value), percent);
    let say = |what: &str, value, unit| figure(&format!("{name}.{what}"), value, unit);
    say("mean_completion", mean(|fate| fate.completion), "s");
    say("mean_queue", mean(|fate| fate.queued), "s");
    say("median_completion", at(|fate| fate.completion, 50), "s");
    say("median_queue", at(|fate| fate.queued, 50), "s");
    say("p99_completion", at(|fate| fate.completion, 99), "s");
    say("p99_queue", at(|fate| fate.queued, 99), "s");
    say("longest_queue", at(|fate| fate.queued, 100), "s");
    let preempted = f64::from(of.fates.iter().map(|fate| fate.preempted).sum::<u32>());
    say("preemptions", preempted, "jobs");
    say("preemptions_per_job", preempted / of.fates.len() as f64, "times");
    let most = of.fates.iter().map(|fate| fate.preempted).max().unwrap_or(0);
    say("preemptions_of_one", most.into(), "times");
    let busy = of.work as f64 / (f64::from(gpus) * of.last as f64);
    say("utilisation", busy * 100.0, "%");
    say("lost_work", of.lost as f64 * 100.0 / of.work as f64, "%");
    say("jain", of.satisfaction.jain(), "index");
    say("longest_overtaken", seconds(longest_overtaken(of.jobs, &of.fates)), "s");
}

/// For how long at most a job was overtaken after its turn had come: until when somebody of its virtual cluster
/// started before it who came after that. Who was backfilled and delayed nobody counts as well.
fn longest_overtaken(jobs: &[Job], fates: &[Fate]) -> i64 {
    let mut clusters: BTreeMap<&VirtualClusterName, Vec<usize>> = BTreeMap::new();
    for (at, job) in jobs.iter().enumerate() {
        clusters.entry(&job.cluster).or_default().push(at);
    }
    let overtaken = |all: &[usize], at: usize| {
        let Fate { turn, started, .. } = fates[at];
        let later = all.partition_point(|other| jobs[*other].submitted <= turn);
        let came = all[later..].iter().take_while(|other| jobs[**other].submitted < started);
        let starts = came.map(|other| fates[*other].started).filter(|start| *start < started);
        starts.max().map_or(0, |start| start - turn)
    };
    let mut longest = 0;
    for all in clusters.values() {
        for at in all {
            longest = longest.max(overtaken(all.as_slice(), *at));
        }
    }
    longest
}

/// For each virtual cluster: its mean delay, less that with its own nodes for itself under the same
/// policy; the largest. The same of the 99th percentile is printed.
fn loss(name: &str, (jobs, clusters): (&[Job], &Nodes), half_life_ms: i64, shared: &[Fate]) -> f64 {
    let (mut most, mut most_p99) = (f64::MIN, f64::MIN);
    for (cluster, nodes) in clusters {
        let own: Vec<_> = jobs.iter().filter(|job| job.cluster == *cluster).cloned().collect();
        if own.is_empty() {
            continue;
        }
        let alone = BTreeMap::from([(cluster.clone(), *nodes)]);
        let private = Simulation::new(&own, &alone, half_life_ms).run();
        let mean = |sum: i64| sum as f64 / own.len() as f64 / 1000.0;
        let of = jobs.iter().zip(shared).filter(|(job, _)| job.cluster == *cluster);
        let queued = || of.clone().map(|(_, fate)| fate.queued);
        let own_queued = || private.fates.iter().map(|fate| fate.queued);
        let p99 = percentile(queued(), 99) - percentile(own_queued(), 99);
        figure(&format!("{name}.sharing_loss_p99.{cluster}"), p99, "s");
        let (shared, private) = (mean(queued().sum()), mean(own_queued().sum()));
        figure(&format!("{name}.private_queue.{cluster}"), private, "s");
        figure(&format!("{name}.sharing_loss.{cluster}"), shared - private, "s");
        (most, most_p99) = (most.max(shared - private), most_p99.max(p99));
    }
    figure(&format!("{name}.sharing_loss_p99.max"), most_p99, "s");
    figure(&format!("{name}.sharing_loss.max"), most, "s");
    most
}

fn draw(path: &Path, of: &Simulation) -> Result<(), String> {
    let every = (of.points.len() / 800).max(1);
    let line = |name: &str, value: fn(&Point) -> f64| {
        let days = |point: &Point| point.at as f64 / 86_400_000.0;
        let points = of.points.iter().step_by(every).map(|point| (days(point), value(point)));
        Line { name: name.to_owned(), points: points.collect() }
    };
    let lines = [
        line("GPUs in use", |point| point.gpus_in_use.into()),
        line("jobs that wait", |point| point.jobs_that_wait.into()),
        line("fragmented GPUs", |point| point.fragmented_milli as f64 / 1000.0),
    ];
    plot(path, "By day", &lines)
}
