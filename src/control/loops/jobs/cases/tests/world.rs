//! All that a loop over the jobs has to do with: what is stored, what is there, what is under way.

use std::time::{Duration, Instant};

use database::attempts::{Attempt, AttemptUpdate};
use database::jobs::StopRequest;
use database::tasks::Task;
use engine::{ContainerStatus, EndpointOptions, Engine};
use lifecycle::model::Action;
use protocol::cluster::GpuRuntime;
use protocol::epoch::Epoch;
use protocol::exit::{Cause, Exit};
use protocol::placement::TaskPlacement;
use protocol::spec::{JobSpec, RetryLimit};
use tokio_util::sync::CancellationToken;

use super::super::*;
use crate::known::active::Active;
use crate::known::observations::Observations;
use crate::known::queue::tests::{node, row};
use crate::loops::jobs::memory::{Known, Memory};

pub(super) const NODES: [&str; 2] = ["a", "b"];
/// Whoever writes more than this is stopped.
pub(super) const MOST: u64 = 1_000;

/// What is done to a container.
#[derive(Debug, Clone, Copy)]
enum Doing {
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
    pub(super) there: HashMap<NodeName, Containers>,
    contacts: HashMap<NodeName, Arc<Contact>>,
    pub(super) observations: Observations,
    moments: u64,
    memory: Memory,
    under_way: Vec<(TaskKey, NodeName, Doing)>,
    written: HashMap<TaskKey, u64>,
    pub(super) now: Timestamp,
    began: Instant,
    pub(super) cases: Cases,
}

#[derive(Debug, Clone)]
pub(super) enum Event {
    /// A job gets its place: its tasks, how often each is tried again, seconds that it may run.
    Placed(u32, u32, Option<u32>),
    /// One that waits for another attempt gets it.
    PlacedAgain(usize),
    StopWanted(usize),
    /// It has to give way.
    Leaves(usize),
    ContainerEnds(usize, i32),
    ContainerVanishes(usize),
    /// Somebody has left a container there.
    Stray(usize),
    Looked(usize),
    Lost(usize),
    NotLookedAt(usize),
    /// Whether a node is to be empty, and whether there is one of its name.
    Cluster(usize, bool, bool),
    /// How it ends, of five ways.
    ActionEnds(usize, u32),
    Writes(usize, u64),
    Passes(i64),
    Doubted,
    /// And whether all was as it was thought to be.
    Pass(bool),
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
        declared: None,
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
            there: [name(0), name(1)].map(|name| (name, Containers::new())).into(),
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

    pub(super) fn happens(&mut self, event: &Event) {
        self.now = self.now.plus_millis(10);
        let placed = |state: State| !state.is_final() && state != State::Waiting;
        match *event {
            Event::Placed(tasks, retries, limit) => self.comes(&spec(tasks, retries, limit)),
            Event::PlacedAgain(at) => {
                let job = self.job(at, |state| state == State::Waiting);
                job.into_iter().for_each(|job| self.place(job));
            }
            Event::StopWanted(at) => {
                let stop = StopRequest { by: "alice".parse().unwrap(), at: self.now };
                if let Some(job) = self.job(at, placed) {
                    self.jobs.get_mut(&job).unwrap().row.stop = Some(stop);
                }
            }
            Event::Leaves(at) => {
                let Some(job) = self.job(at, placed) else { return };
                let last = self.attempts.iter_mut().rfind(|attempt| attempt.job == job).unwrap();
                if last.exit.is_none() {
                    let exit = Some(exit(Cause::Preempted));
                    AttemptUpdate { exit, ..AttemptUpdate::to(State::Stopping) }.apply(last);
                }
            }
            Event::ContainerEnds(at, code) => self.ends(at, code),
            Event::ContainerVanishes(at) => {
                if let Some((node, key)) = self.container(at) {
                    self.there.get_mut(&node).unwrap().remove(&key);
                }
            }
            Event::Stray(node) => {
                let job = JobId(1_000 + i64::try_from(self.moment()).unwrap());
                let key = TaskKey { job, attempt: 0, role: 0, index: 0, retry: 0 };
                self.set(&name(node), key, ContainerStatus::Created);
            }
            Event::Looked(node) => self.looked(&name(node)),
            Event::Lost(node) => {
                self.contacts.remove(&name(node));
                self.observations.insert(name(node), Observation::Silent);
            }
            Event::NotLookedAt(node) => {
                self.contacts.remove(&name(node));
                self.observations.remove(&name(node));
            }
            Event::Cluster(at, emptied, there) => {
                let mut nodes = vec![node(NODES[1 - at])];
                nodes.extend(there.then(|| node(NODES[at])));
                nodes.iter_mut().for_each(|node| node.emptied = emptied);
                self.cluster = Arc::new(Cluster::new(nodes, Vec::new()));
            }
            Event::ActionEnds(at, how) => self.action_ends(at, how),
            Event::Writes(at, bytes) => {
                let Some((_, key)) = self.container(at) else { return };
                self.written.insert(key, bytes);
                self.acted.extend((bytes > MOST).then_some(key));
            }
            Event::Passes(millis) => self.now = self.now.plus_millis(millis),
            Event::Doubted => self.cases.doubt(),
            Event::Pass(as_known) => self.pass(as_known),
        }
    }

    pub(super) fn comes(&mut self, spec: &JobSpec) {
        let id = JobId(i64::try_from(self.jobs.len()).unwrap() + 1);
        let row = row(id, spec, self.now);
        self.jobs.insert(id, Active { row, spec: spec.clone().into() });
        self.place(id);
    }

    fn place(&mut self, id: JobId) {
        let job = self.jobs.get_mut(&id).unwrap();
        let number = job.row.attempt.map_or(0, |last| last + 1);
        (job.row.state, job.row.attempt) = (State::Preparing, Some(number));
        self.attempts.push(Attempt {
            job: id,
            number,
            state: State::Preparing,
            borrowed: false,
            placed_at: self.now,
            started_at: None,
            completed_at: None,
            exit: None,
            lease: None,
        });
        let role = &job.spec.roles[0];
        for index in 0..role.count {
            let key = TaskKey { job: id, attempt: number, role: 0, index, retry: 0 };
            let task = Task {
                key,
                epoch: Epoch::default(),
                role_name: role.name.clone(),
                state: State::Preparing,
                placement: TaskPlacement {
                    role: 0,
                    index,
                    node: NODES[(id.0 as usize + index as usize) % NODES.len()].parse().unwrap(),
                    address: String::new(),
                    gpus: Vec::new(),
                    ports: BTreeMap::new(),
                },
                resources: role.resources,
                container: None,
                progress: None,
                intent: None,
                started_at: None,
                completed_at: None,
                exit: None,
            };
            self.tasks.insert(key, task);
        }
        self.stored.push(id);
    }

    fn ends(&mut self, at: usize, code: i32) {
        let Some((node, key)) = self.container(at) else { return };
        if let ContainerStatus::Running { started_at } = self.there[&node][&key].status {
            self.exits(&node, key, (started_at, code));
        }
    }

    pub(super) fn exits(
        &mut self,
        node: &NodeName,
        key: TaskKey,
        (started_at, code): (Timestamp, i32),
    ) {
        let ended = ContainerStatus::Exited {
            started_at: Some(started_at),
            finished_at: self.now,
            code,
            oom_killed: false,
            error: None,
        };
        self.set(node, key, ended);
    }

    pub(super) fn looked(&mut self, node: &NodeName) {
        let contact = self.contacts.entry(node.clone());
        let contact = Arc::clone(contact.or_insert_with(|| Contact::new(&self.there[node]).into()));
        let observation = Observation::Answers {
            engine: Arc::clone(&self.engine),
            looked: self.moment(),
            containers: Arc::new(self.there[node].clone()),
            look: Arc::default(),
            contact,
        };
        self.observations.insert(node.clone(), observation);
    }

    fn action_ends(&mut self, at: usize, how: u32) {
        if self.under_way.is_empty() {
            return;
        }
        let (key, node, doing) = self.under_way.remove(at % self.under_way.len());
        let failed = how == 3;
        let status = self.there[&node].get(&key).map(|container| container.status.clone());
        match (doing, status) {
            (Doing::Launch, None | Some(ContainerStatus::Created)) if how < 3 => {
                self.set(&node, key, ContainerStatus::Running { started_at: self.now });
            }
            (Doing::Stop, Some(ContainerStatus::Running { started_at })) if !failed => {
                self.exits(&node, key, (started_at, 143));
            }
            (Doing::Remove, _) if !failed => {
                self.there.get_mut(&node).unwrap().remove(&key);
            }
            _ => {}
        }
        let (at, pause) = (self.now, self.instant() + Duration::from_millis(700));
        let moment = self.moment();
        self.memory.ended(key, moment, |known: &mut Known| match doing {
            _ if failed => known.not_before = Some(pause),
            Doing::Launch if how == 4 => known.launch_failed = Some((at, exit(Cause::PortTaken))),
            Doing::Explain => known.explained = Some(exit(Cause::CommandFailed)),
            Doing::Launch | Doing::Stop | Doing::Remove => {}
        });
        self.acted.insert(key);
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
            Action::Launch(key) => (key, Doing::Launch),
            Action::Stop(key) => (key, Doing::Stop),
            Action::Explain(key) => (key, Doing::Explain),
        };
        // A run that was decided on just now is read first.
        let task = self.cases.get(key.job).and_then(|case| case.task(key));
        let Some(task) = task.filter(|task| task.key == *key) else { return };
        let node = task.placement.node.clone();
        self.act(*key, node, doing);
    }

    fn act(&mut self, key: TaskKey, node: NodeName, doing: Doing) {
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
            let row = &mut self.jobs.get_mut(job).unwrap().row;
            assert_eq!(row.state, *from, "{job:?}");
            update.apply(row);
        }
    }

    fn tidy(&mut self) {
        let left: Vec<_> = self.cases.left().map(|(key, node)| (key, node.clone())).collect();
        for (key, node) in left {
            let task = self.tasks.get(&key);
            assert!(task.is_none_or(|task| task.state.is_final()), "{key:?} has not ended");
            self.act(key, node, Doing::Remove);
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

    /// Somebody sets the clock, and that is stored of the attempts as the loop stores it.
    pub(super) fn clock_is_set(&mut self, millis: i64) {
        self.now = self.now.plus_millis(millis);
        let running = self.attempts.iter_mut().filter(|attempt| attempt.completed_at.is_none());
        for started_at in running.filter_map(|attempt| attempt.started_at.as_mut()) {
            *started_at = started_at.plus_millis(millis);
        }
        self.cases.doubt();
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
