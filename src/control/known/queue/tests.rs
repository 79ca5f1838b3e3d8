//! What is told piece by piece comes to the same as reading everything.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use database::attempts::Attempt;
use database::jobs::{JobRow, JobUpdate, StopRequest};
use database::nodes::{NodeObserved, NodeRecord};
use database::tasks::Task;
use proptest::prelude::*;
use protocol::cluster::{GpuCount, GpuRuntime, NodeSettings, VirtualClusterSettings};
use protocol::epoch::Epoch;
use protocol::exit::{Cause, Exit};
use protocol::ids::{GpuType, JobId, JobKey, TaskKey, UserName, VirtualClusterName};
use protocol::jobs::{Hold, Retries};
use protocol::resources::{Capacity, Gpu, PortRange, Taken};
use protocol::spec::{JobSpec, Priority};
use protocol::state::State;
use protocol::time::Timestamp;
use scheduler::model::{Answer, Node, Placement, Request, Running, Snapshot};

use super::*;
use crate::known::active::Active;
use crate::known::cluster::Cluster;
use crate::known::runs;

mod compared;

/// All that was stored.
struct Records {
    rows: BTreeMap<JobId, Active>,
    attempts: BTreeMap<JobId, Attempt>,
    tasks: BTreeMap<JobId, Vec<Task>>,
    touched: BTreeSet<JobId>,
    cluster: Cluster,
    now: Timestamp,
}

#[derive(Debug, Clone)]
enum Event {
    /// Tasks, GPUs of each, whether it may be preempted.
    Comes(u32, u32, bool),
    Held(usize),
    Moved(usize, i64),
    Priority(usize, i32),
    StopWanted(usize),
    TaskEnds(usize),
    Ends(usize),
    /// Its attempt has ended, and another follows.
    ComesBack(usize),
    Drained(bool),
    /// A GPU of the second node breaks, or is mended.
    Broken(bool),
    /// The second node goes, or comes back.
    Gone(bool),
    /// All nodes are read anew.
    Read,
    /// A pass, and whether what it decided could be stored.
    Pass(bool),
}

fn any_event() -> impl Strategy<Value = Event> {
    let job = 0..64_usize;
    prop_oneof![
        6 => (1..3_u32, 0..5_u32, any::<bool>()).prop_map(|(t, g, o)| Event::Comes(t, g, o)),
        1 => job.clone().prop_map(Event::Held),
        1 => (job.clone(), -9_000..9_000_i64).prop_map(|(job, by)| Event::Moved(job, by)),
        1 => (job.clone(), 0..3_i32).prop_map(|(job, to)| Event::Priority(job, to)),
        1 => job.clone().prop_map(Event::StopWanted),
        3 => job.clone().prop_map(Event::TaskEnds),
        3 => job.clone().prop_map(Event::Ends),
        2 => job.prop_map(Event::ComesBack),
        1 => any::<bool>().prop_map(Event::Drained),
        1 => any::<bool>().prop_map(Event::Broken),
        1 => Just(Event::Read),
        2 => any::<bool>().prop_map(Event::Gone),
        8 => prop_oneof![5 => Just(true), 1 => Just(false)].prop_map(Event::Pass),
    ]
}

pub(crate) fn spec(tasks: u32, gpus: u32) -> JobSpec {
    let text = format!(
        r#"{{"jobName": "job", "image": "berth/base", "taskRoles": [{{"name": "worker",
            "taskNumber": {tasks}, "cpuNumber": 1, "memoryMB": 128, "gpuNumber": {gpus},
            "command": "true"}}]}}"#
    );
    protocol::parse::parse(&text).unwrap().spec
}

/// A node that answers.
pub(crate) fn node(name: &str) -> NodeRecord {
    NodeRecord {
        settings: NodeSettings {
            name: name.parse().unwrap(),
            address: name.to_owned(),
            endpoint: format!("sim://{name}"),
            cpus: Some(16),
            memory_mb: Some(65_536),
            disk_gb: None,
            gpus: Some(vec![GpuCount { gpu_type: "A100".parse().unwrap(), count: 4 }]),
            gpu_runtime: GpuRuntime::None,
            ports: PortRange::default(),
            labels: BTreeMap::new(),
            links: Vec::new(),
            shares_gpus: false,
            network: None,
            metrics: None,
        },
        from_file: false,
        draining: false,
        emptied: false,
        closed: None,
        health: protocol::health::Health::default(),
        observed: Some(Arc::new(NodeObserved {
            reachable: true,
            problem: None,
            last_seen: None,
            engine: None,
            engine_id: None,
            capacity: None,
            tasks_address: None,
            gpus: None,
            taken: Taken::default(),
        })),
    }
}

/// What an engine tells of its third GPU.
fn with_gpu(healthy: bool) -> Capacity {
    let gpu = Gpu { index: 2, gpu_type: "A100".parse().unwrap(), uuid: None, healthy };
    Capacity { gpus: vec![gpu], ..Capacity::default() }
}

/// A job that was just submitted.
pub(crate) fn row(id: JobId, spec: &JobSpec, submitted_at: Timestamp) -> JobRow {
    JobRow {
        id,
        key: JobKey { user: "alice".parse().unwrap(), name: spec.name.clone() },
        state: State::Waiting,
        stop: None,
        virtual_cluster: spec.virtual_cluster.clone(),
        priority: spec.priority,
        tasks: spec.task_count(),
        roles: 1,
        gpus: spec.gpu_count(),
        gpu_types: Vec::new(),
        retries: Retries::default(),
        submitted_at,
        started_at: None,
        completed_at: None,
        exit: None,
        attempt: None,
        not_before: None,
        avoid: Vec::new(),
        held: None,
        moved_ms: 0,
        most_priority: None,
        time_limit: None,
    }
}

impl Records {
    fn new() -> Self {
        Self::within(vec![VirtualClusterSettings::new(VirtualClusterName::default())])
    }

    fn within(virtual_clusters: Vec<VirtualClusterSettings>) -> Self {
        Self {
            rows: BTreeMap::new(),
            attempts: BTreeMap::new(),
            tasks: BTreeMap::new(),
            touched: BTreeSet::new(),
            cluster: Cluster::new([node("a"), node("b")], virtual_clusters),
            now: Timestamp(0),
        }
    }

    /// One of those of which this holds, if there is any.
    fn pick(&mut self, number: usize, which: impl Fn(&JobRow) -> bool) -> Option<&mut Active> {
        let of = self.rows.values().filter(|job| which(&job.row)).map(|job| job.row.id);
        let ids: Vec<JobId> = of.collect();
        let id = *ids.get(number % ids.len().max(1))?;
        self.touched.insert(id);
        self.rows.get_mut(&id)
    }

    fn happens(&mut self, event: &Event, queue: &mut Queue) {
        self.now = self.now.plus_millis(1_000);
        let waits = |row: &JobRow| row.state == State::Waiting && row.stop.is_none();
        let runs = |row: &JobRow| row.state != State::Waiting && !row.state.is_final();
        let by = || "admin".parse().unwrap();
        let at = self.now;
        match *event {
            Event::Comes(tasks, gpus, opportunistic) => self.comes(tasks, gpus, opportunistic),
            Event::Held(number) => {
                if let Some(job) = self.pick(number, waits) {
                    let held = job.row_mut().held.take();
                    job.row_mut().held =
                        held.is_none().then(|| Hold { by: by(), at, administrator: true }.into());
                }
            }
            Event::Moved(number, by) => {
                self.pick(number, waits).into_iter().for_each(|job| job.row_mut().moved_ms = by);
            }
            Event::Priority(number, to) => {
                let job = self.pick(number, waits);
                job.into_iter().for_each(|job| job.row_mut().priority = Priority(to));
            }
            Event::StopWanted(number) => {
                let stop = StopRequest { by: by(), at };
                let job = self.pick(number, |row| !row.state.is_final());
                job.into_iter().for_each(|job| job.row_mut().stop = Some(Box::new(stop.clone())));
            }
            Event::TaskEnds(number) => {
                let id = self.pick(number, runs).map(|job| job.row.id);
                let tasks = id.and_then(|id| self.tasks.get_mut(&id)).into_iter().flatten();
                let first = tasks.filter(|task| !task.state.is_final()).take(1);
                first.for_each(|task| task.state = State::Succeeded);
            }
            Event::Ends(number) => {
                self.pick(number, runs)
                    .into_iter()
                    .for_each(|job| job.row_mut().state = State::Failed);
            }
            Event::ComesBack(number) => {
                if let Some(job) = self.pick(number, runs) {
                    job.row_mut().state = State::Waiting;
                    job.row_mut().not_before = Some(at);
                    let id = job.row.id;
                    self.tasks.remove(&id);
                    self.attempts.remove(&id);
                }
            }
            Event::Drained(draining) => {
                let drained = NodeRecord { draining, ..node("a") };
                self.cluster =
                    self.cluster.with_node(&drained.settings.name, Some(drained.clone()));
            }
            Event::Broken(broken) => {
                if let Some(mut second) = self.cluster.node(&node("b").settings.name).cloned() {
                    let seen = Arc::make_mut(second.observed.as_mut().unwrap());
                    seen.capacity = Some(with_gpu(!broken));
                    self.cluster = self.cluster.with_node(&node("b").settings.name, Some(second));
                }
            }
            Event::Gone(gone) => {
                let second = node("b");
                let name = second.settings.name.clone();
                self.cluster = self.cluster.with_node(&name, (!gone).then_some(second));
            }
            Event::Read => {
                let nodes: Vec<_> = self.cluster.records().cloned().collect();
                let read = Cluster::new(nodes, self.cluster.virtual_clusters.clone());
                self.cluster = self.cluster.renewed(read);
            }
            Event::Pass(stored) => self.pass(queue, stored),
        }
    }

    fn comes(&mut self, tasks: u32, gpus: u32, opportunistic: bool) {
        let mut spec = spec(tasks, gpus);
        let clusters = &self.cluster.virtual_clusters;
        spec.virtual_cluster.clone_from(&clusters[self.rows.len() % clusters.len()].name);
        let id = JobId(i64::try_from(self.rows.len()).unwrap() + 1);
        let mut row = row(id, &spec, self.now);
        if opportunistic {
            row.priority = Priority::OPPORTUNISTIC;
        }
        self.touched.insert(id);
        self.rows.insert(id, Active { row: row.into(), spec: spec.into() });
    }

    /// A pass of the kept queue; what it decides is stored, or the queue is told that it was not.
    fn pass(&mut self, queue: &mut Queue, stored: bool) {
        self.tell(queue);
        let decided = queue.decide(self.now);
        if !stored {
            queue.doubt();
            return;
        }
        for job in decided.stopped {
            self.touched.insert(job.row.id);
            self.rows.get_mut(&job.row.id).unwrap().row_mut().state = State::Stopped;
        }
        for (job, placement) in decided.placed {
            let id = job.row.id;
            let row = self.rows.get_mut(&id).unwrap().row_mut();
            assert!(row.held.is_none() && row.stop.is_none(), "{id} shall not start");
            let number = row.attempt.map_or(0, |last| last + 1);
            let begins = JobUpdate { attempt: Some(number), ..JobUpdate::to(State::Preparing) };
            begins.apply(row);
            queue.begins(id, &begins);
            self.attempts.insert(id, attempt(&placement, number, self.now));
            let tasks = placement.tasks.iter().map(|place| task(&job, number, place));
            self.tasks.insert(id, tasks.collect());
        }
        self.nothing_is_given_twice();
        for (preemption, _) in decided.preempted {
            let exit = Exit { code: None, cause: Cause::Preempted, evidence: Vec::new() };
            self.attempts.get_mut(&preemption.job).unwrap().exit = Some(exit.into());
            queue.ends(preemption.job);
        }
    }

    fn nothing_is_given_twice(&self) {
        let running = |job: &&Active| {
            let row = &job.row;
            row.state != State::Waiting && !row.state.is_final()
        };
        let jobs = self.rows.values().filter(running).map(|job| job.row.id);
        let tasks = jobs.filter_map(|id| self.tasks.get(&id)).flatten();
        let mut given = BTreeSet::new();
        for task in tasks.filter(|task| !task.state.is_final()) {
            for gpu in &task.placement.gpus {
                let node = &task.placement.node;
                assert!(given.insert((node, gpu)), "GPU {gpu} of {node} is given twice");
            }
        }
    }

    fn news(&self, whole: bool, ids: BTreeSet<JobId>) -> News {
        let active = |job: &&Active| !job.row.state.is_final();
        let asked = |job: &&Active| whole || ids.contains(&job.row.id);
        let jobs: Vec<Active> = self.rows.values().filter(active).filter(asked).cloned().collect();
        let there: BTreeSet<JobId> = jobs.iter().map(|job| job.row.id).collect();
        News {
            whole,
            jobs,
            gone: ids.into_iter().filter(|id| !there.contains(id)).collect(),
            attempts: self.attempts.clone().into_iter().collect(),
            gave_way: HashMap::new(),
            tasks: self.tasks.clone().into_iter().collect(),
            at: Timestamp(0),
        }
    }

    /// Tells what was touched, or everything where that is needed.
    fn tell(&mut self, queue: &mut Queue) {
        let touched = std::mem::take(&mut self.touched);
        let whole = queue.is_doubtful();
        queue.take_in(self.news(whole, touched), &self.cluster);
    }
}

fn attempt(placement: &Placement, number: u32, at: Timestamp) -> Attempt {
    Attempt {
        job: placement.job,
        number,
        state: State::Preparing,
        borrowed: placement.qos_class == scheduler::model::QosClass::Borrowed,
        placed_at: at,
        started_at: None,
        completed_at: None,
        exit: None,
        lease: None,
        weighed_milli: None,
    }
}

fn task(job: &Active, attempt: u32, place: &protocol::placement::TaskPlacement) -> Task {
    let role = &job.spec.roles[0];
    Task {
        key: TaskKey { job: job.row.id, attempt, role: 0, index: place.index, retry: 0 },
        epoch: Epoch::default(),
        role_name: role.name.clone(),
        state: State::Running,
        placement: place.clone(),
        resources: role.resources,
        container: None,
        progress: None,
        intent: None,
        started_at: None,
        completed_at: None,
        exit: None,
    }
}

/// What of a snapshot does not depend on when it was put together.
fn essence(queue: &Queue) -> (Vec<Node>, Vec<Running>, Vec<Request>) {
    let Snapshot { nodes, mut running, mut waiting, .. } = queue.snapshot();
    waiting.sort_by_key(|request| request.job);
    running.sort_by_key(|running| running.job);
    for running in &mut running {
        // Borrowed work comes to count on a share, which the records do not tell.
        running.qos_class = scheduler::model::QosClass::Borrowed;
    }
    (nodes, running, waiting)
}

/// Two virtual clusters that are alike, one that is guaranteed half of the GPUs, and one that is guaranteed
/// one and borrows nothing.
fn four_clusters() -> Vec<VirtualClusterSettings> {
    let named = |name: &str| VirtualClusterSettings::new(name.parse().unwrap());
    let guaranteed = |name: &str, gpus: u64| {
        let mut settings = named(name);
        settings.share.gpus.insert("A100".parse().unwrap(), gpus);
        settings
    };
    let alone = VirtualClusterSettings { borrows: false, ..guaranteed("alone", 1) };
    vec![named("default"), named("other"), guaranteed("vision", 4), alone]
}

/// What a job of so many tasks with so many GPUs each would find, were it submitted now.
fn fits(queue: &mut Queue, within: &VirtualClusterName, asked: (u32, u32), now: Timestamp) -> bool {
    let mut spec = spec(asked.0, asked.1);
    spec.virtual_cluster.clone_from(within);
    let wanted = wanted(queue, &spec, &"alice".parse().unwrap());
    let request = Request { submitted_at: now, ..wanted };
    matches!(queue.state.dry_run(&request, now), Answer::Fits(..))
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn what_is_told_comes_to_the_same_as_reading_everything(
        events in prop::collection::vec(any_event(), 1..60),
    ) {
        let (mut records, mut queue) = (Records::new(), Queue::default());
        for event in events {
            records.happens(&event, &mut queue);
            queue.sanity_check();
        }
        records.tell(&mut queue);
        let mut anew = Queue::default();
        anew.take_in(records.news(true, BTreeSet::new()), &records.cluster);
        prop_assert_eq!(essence(&queue), essence(&anew));
        for running in queue.running() {
            prop_assert!(queue.state.has_place(running.job), "{} runs", running.job);
        }
        for request in queue.requests() {
            let said = queue.state.explain(request.job, records.now);
            prop_assert!(said.is_some(), "{} waits", request.job);
        }
    }

    /// Whoever has asked before, and of whomever.
    #[test]
    fn what_is_said_of_some_who_wait_is_what_is_said_among_all(
        events in prop::collection::vec(any_event(), 1..40),
    ) {
        let (mut records, mut queue) = (Records::new(), Queue::default());
        for event in events {
            records.happens(&event, &mut queue);
            let ids: Vec<JobId> = queue.requests().iter().map(|request| request.job).collect();
            queue.waiting(&ids, records.now);
            records.pass(&mut queue, true);
            queue.waiting(&ids, records.now);
            queue.unsay();
            for part in [3, 2, 1] {
                let some: Vec<JobId> = ids.iter().copied().step_by(part).collect();
                queue.said.of(&mut queue.state, &some, records.now);
            }
            let among_all = queue.state.waiting(records.now);
            for job in ids {
                prop_assert_eq!(queue.said.get(job), among_all.get(&job), "{}", job);
            }
        }
    }

    /// Whoever has asked before, and whatever has happened since.
    #[test]
    fn what_is_said_to_be_free_is_what_a_dry_run_of_the_same_user_finds(
        events in prop::collection::vec(any_event(), 1..40),
    ) {
        let clusters = four_clusters();
        let (mut records, mut queue) = (Records::within(clusters.clone()), Queue::default());
        let alice: UserName = "alice".parse().unwrap();
        let a100: GpuType = "A100".parse().unwrap();
        for event in events {
            records.happens(&event, &mut queue);
            records.pass(&mut queue, true);
            let now = records.now;
            for VirtualClusterSettings { name, .. } in &clusters {
                let Some(said) = queue.free(name, &alice, now).get(&a100).copied() else {
                    prop_assert!(!fits(&mut queue, name, (1, 1), now), "{} has some", name);
                    continue;
                };
                let mut fits = |tasks, gpus| fits(&mut queue, name, (tasks, gpus), now);
                prop_assert!(said.gpus == 0 || fits(said.gpus, 1), "{}: {:?}", name, said);
                prop_assert!(!fits(said.gpus + 1, 1), "{}: {:?}", name, said);
                prop_assert!(said.on_one_node == 0 || fits(1, said.on_one_node), "{}", name);
                prop_assert!(!fits(1, said.on_one_node + 1), "{}: {:?}", name, said);
            }
        }
    }
}
