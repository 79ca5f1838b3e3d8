//! All that a loop over the jobs has to do with: what is stored, what is there, what is under way.

mod event;

use std::time::{Duration, Instant};

use database::attempts::Attempt;
use database::tasks::Task;
use engine::{Container, ContainerStatus, EndpointOptions, Engine};
use lifecycle::model::Action;
use protocol::cluster::GpuRuntime;
use protocol::epoch::Epoch;
use protocol::exit::{Cause, Exit};
use protocol::spec::{JobSpec, RetryLimit};
use tokio_util::sync::CancellationToken;

use super::super::*;
use crate::known::active::Active;
use crate::known::observations::Observations;
use crate::known::queue::tests::node;
use crate::loops::jobs::memory::Memory;
pub(super) use event::Event;

pub(super) const NODES: [&str; 2] = ["a", "b"];
/// Whoever writes more than this is stopped.
pub(super) const MOST: u64 = 1_000;

/// What is done to a container.
#[derive(Debug, Clone, Copy)]
enum UnderWay {
    Launch,
    Stop,
    Explain,
    Remove,
}

/// All that was stored, all that is there, and what the loop has of it.
pub(super) struct World {
    pub(super) jobs: BTreeMap<JobId, Active>,
    attempts: Vec<Attempt>,
    pub(super) tasks: BTreeMap<TaskKey, Task>,
    stored: Vec<JobId>,
    acted: HashSet<TaskKey>,
    cluster: Arc<Cluster>,
    engine: Arc<dyn Engine>,
    /// The containers of each node.
    pub(super) there: HashMap<NodeName, HashMap<TaskKey, Container>>,
    contacts: HashMap<NodeName, Arc<Contact>>,
    pub(super) observations: Observations,
    moments: u64,
    memory: Memory,
    under_way: Vec<(TaskKey, NodeName, UnderWay)>,
    written: HashMap<TaskKey, u64>,
    pub(super) now: Timestamp,
    began: Instant,
    pub(super) cases: Cases,
}

pub(super) fn spec(tasks: u32, retries: u32, limit: Option<u32>) -> JobSpec {
    let text = format!(
        r#"{{"jobName": "job", "image": "berth/base", "retryCount": 1, "taskRoles": [{{"name":
            "worker", "taskNumber": {tasks}, "cpuNumber": 1, "memoryMB": 128, "gpuNumber": 0,
            "command": "true"}}]}}"#
    );
    let mut spec = protocol::parse::parse(&text).unwrap().spec;
    spec.roles[0].task_retries = RetryLimit::Times(retries);
    spec.time_limit = limit.map(|seconds| format!("{seconds}s").parse().unwrap());
    spec
}

fn engine() -> Arc<dyn Engine> {
    let options = EndpointOptions {
        endpoint: "sim://cases".to_owned(),
        gpu_runtime: GpuRuntime::None,
        tls: None,
        network: None,
    };
    engine::connect(&options).unwrap()
}

fn name(node: usize) -> NodeName {
    NODES[node].parse().unwrap()
}

fn exit(cause: Cause) -> Exit {
    Exit { code: None, cause, evidence: Vec::new() }
}

impl World {
    pub(super) fn new() -> Self {
        Self {
            jobs: BTreeMap::new(),
            attempts: Vec::new(),
            tasks: BTreeMap::new(),
            stored: Vec::new(),
            acted: HashSet::new(),
            cluster: Arc::new(Cluster::new(NODES.map(node), Vec::new())),
            engine: engine(),
            there: [name(0), name(1)].map(|name| (name, HashMap::new())).into(),
            contacts: HashMap::new(),
            observations: Observations::default(),
            moments: 0,
            memory: Memory::default(),
            under_way: Vec::new(),
            written: HashMap::new(),
            now: Timestamp(0),
            began: Instant::now(),
            cases: Cases::default(),
        }
    }

    fn moment(&mut self) -> u64 {
        self.moments += 1;
        self.moments
    }

    fn instant(&self) -> Instant {
        self.began + Duration::from_millis(u64::try_from(self.now.0).unwrap())
    }

    /// One of the jobs of which this holds; something is stored of it.
    fn job(&mut self, at: usize, which: impl Fn(State) -> bool) -> Option<JobId> {
        let jobs = self.jobs.values().filter(|job| which(job.row.state));
        let jobs: Vec<JobId> = jobs.map(|job| job.row.id).collect();
        let job = *jobs.get(at % jobs.len().max(1))?;
        self.stored.push(job);
        Some(job)
    }

    /// One of all containers.
    fn container(&self, at: usize) -> Option<(NodeName, TaskKey)> {
        let there = [name(0), name(1)].into_iter().flat_map(|node| {
            let mut keys: Vec<TaskKey> = self.there[&node].keys().copied().collect();
            keys.sort();
            keys.into_iter().map(move |key| (node.clone(), key))
        });
        let there: Vec<_> = there.collect();
        there.get(at % there.len().max(1)).cloned()
    }

    fn set(&mut self, node: &NodeName, key: TaskKey, status: ContainerStatus) {
        let name = key.container_name("test");
        let epoch = Epoch::default();
        let container = Container { key, epoch, id: name.clone(), name, status };
        self.there.get_mut(node).unwrap().insert(key, container);
    }

    /// What is stored of these jobs, or of all.
    pub(super) fn read(&self, ids: Option<&[JobId]>) -> Vec<Case> {
        let jobs = self.jobs.values().filter(|job| {
            let state = job.row.state;
            !state.is_final() && state != State::Waiting
        });
        let jobs = jobs.filter(|job| ids.is_none_or(|ids| ids.contains(&job.row.id)));
        let jobs: Vec<Active> = jobs.cloned().collect();
        let current: HashSet<_> = jobs.iter().map(|job| (job.row.id, job.row.attempt)).collect();
        let tasks = self.tasks.values();
        let tasks = tasks.filter(|task| current.contains(&(task.key.job, Some(task.key.attempt))));
        let tasks = tasks.cloned().collect();
        Case::all(jobs, self.attempts.clone(), tasks)
    }

    /// As the loop takes in what it is told.
    pub(super) fn tell(&mut self) {
        let (stored, acted) = (std::mem::take(&mut self.stored), std::mem::take(&mut self.acted));
        if self.cases.is_doubtful() {
            let read = self.read(None);
            self.cases.begin_anew(self.observations.all(), read);
            self.memory.forget_all_but(|key| self.cases.concerns(key));
        } else {
            for (node, observation) in self.observations.news() {
                self.cases.see(&node, observation);
            }
            let read = self.read(Some(&stored));
            self.cases.take_in(&stored, read);
        }
        acted.iter().for_each(|task| self.cases.look_at(task));
        self.cases.set_cluster(&self.cluster);
        self.cases.take_over(&acted).iter().for_each(|task| self.memory.forget(task));
        self.cases.wake_due(self.now);
        self.nothing_is_missed();
    }

    fn pass(&mut self, as_known: bool) {
        self.tell();
        let (written, instant) = (self.written.clone(), self.instant());
        let decided = self.cases.decide(Beside {
            memory: &self.memory,
            cluster: &self.cluster,
            written: &|task| written.get(task).copied(),
            most_written: MOST,
            lease: &|_| None,
            now: self.now,
            instant,
        });
        if !as_known {
            self.stored.extend(decided.iter().map(|(job, _)| *job));
            return;
        }
        let writes = {
            let case = |job: JobId| self.cases.get(job).unwrap();
            let of_cases = decided.iter().map(|(job, decision)| (case(*job), decision.clone()));
            let of_cases = of_cases.collect::<Vec<_>>();
            Writes::of(&of_cases, self.cases.seen(), Epoch::default())
        };
        for (_, decision) in &decided {
            decision.actions.iter().for_each(|action| self.begin(action));
        }
        self.store(&writes);
        self.cases.apply(&writes);
        self.tidy();
    }

    fn begin(&mut self, action: &Action) {
        let (key, doing) = match action {
            Action::Launch(key) => (key, UnderWay::Launch),
            Action::Stop(key) | Action::LetFinish(key, _) => (key, UnderWay::Stop),
            Action::Discard(key) => (key, UnderWay::Remove),
            Action::Explain(key) => (key, UnderWay::Explain),
        };
        // A run that was decided on just now is read first.
        let task = self.cases.get(key.job).and_then(|case| case.task(key));
        let Some(task) = task.filter(|task| task.key == *key) else { return };
        let node = task.placement.node.clone();
        self.act(*key, node, doing);
    }

    fn act(&mut self, key: TaskKey, node: NodeName, doing: UnderWay) {
        let Some(Observation::Answers { looked, .. }) = self.observations.get(&node) else {
            return;
        };
        let pending = self.memory.pending(&key, *looked, self.instant());
        if pending.is_none() && self.memory.begin(key, CancellationToken::new()) {
            self.under_way.push((key, node, doing));
        }
    }

    fn store(&mut self, writes: &Writes) {
        for (key, from, update) in writes.intents.iter().chain(&writes.tasks) {
            let task = self.tasks.get_mut(key).unwrap();
            assert_eq!(task.state, *from, "{key:?}");
            update.apply(task);
        }
        for task in &writes.again {
            self.stored.push(task.key.job);
            assert!(self.tasks.insert(task.key, task.clone()).is_none());
        }
        for (job, number, from, update) in &writes.attempts {
            let mut of_job = self.attempts.iter_mut().filter(|attempt| attempt.job == *job);
            let attempt = of_job.find(|attempt| attempt.number == *number).unwrap();
            assert_eq!(attempt.state, *from, "{job:?}");
            update.apply(attempt);
        }
        for (job, from, update) in &writes.jobs {
            let row = self.jobs.get_mut(job).unwrap().row_mut();
            assert_eq!(row.state, *from, "{job:?}");
            update.apply(row);
        }
    }

    fn tidy(&mut self) {
        let left: Vec<_> = self.cases.left().map(|(key, node)| (key, node.clone())).collect();
        for (key, node) in left {
            let task = self.tasks.get(&key);
            assert!(task.is_none_or(|task| task.state.is_final()), "{key:?} has not ended");
            self.act(key, node, UnderWay::Remove);
        }
    }

    /// With all others than those that are looked at nothing is to be done.
    fn nothing_is_missed(&self) {
        let awake: HashSet<JobId> = self.cases.awake().map(Case::id).collect();
        let beside = Beside {
            memory: &self.memory,
            cluster: &self.cluster,
            written: &|task| self.written.get(task).copied(),
            most_written: MOST,
            lease: &|_| None,
            now: self.now,
            instant: self.instant(),
        };
        for case in self.cases.cases.values().filter(|case| !awake.contains(&case.id())) {
            let (decision, _) = case.decide(&self.cases.seen, beside);
            assert_eq!(decision, Decision::default(), "{case:?} sleeps");
        }
    }

    /// Looks at both nodes.
    pub(super) fn look(&mut self) {
        (0..NODES.len()).for_each(|node| self.looked(&name(node)));
    }

    /// Looks at both nodes, ends all that is under way and passes, until nothing is done any more.
    pub(super) fn settle(&mut self) {
        for _ in 0..6 {
            while !self.under_way.is_empty() {
                self.action_ends(0, 0);
            }
            self.look();
            self.pass(true);
        }
    }
}
