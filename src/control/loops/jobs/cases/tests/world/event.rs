//! What happens to jobs, containers, nodes and clocks, without the loop having a hand in it.

use database::attempts::AttemptUpdate;
use database::jobs::StopRequest;
use protocol::placement::{TaskPlacement, TaskPorts};

use super::*;
use crate::known::queue::tests::row;
use crate::loops::jobs::memory::{Explained, Known};

#[derive(Debug, Clone)]
pub(in super::super) enum Event {
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

impl World {
    pub(in super::super) fn happens(&mut self, event: &Event) {
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
                    self.jobs.get_mut(&job).unwrap().row_mut().stop = Some(Box::new(stop));
                }
            }
            Event::Leaves(at) => {
                let Some(job) = self.job(at, placed) else { return };
                let last = self.attempts.iter_mut().rfind(|attempt| attempt.job == job).unwrap();
                if last.exit.is_none() {
                    let exit = Some(exit(Cause::Preempted).into());
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

    pub(in super::super) fn comes(&mut self, spec: &JobSpec) {
        let id = JobId(i64::try_from(self.jobs.len()).unwrap() + 1);
        let row = row(id, spec, self.now);
        self.jobs.insert(id, Active { row: row.into(), spec: spec.clone().into() });
        self.place(id);
    }

    fn place(&mut self, id: JobId) {
        let job = self.jobs.get_mut(&id).unwrap();
        let number = job.row.attempt.map_or(0, |last| last + 1);
        let row = job.row_mut();
        (row.state, row.attempt) = (State::Preparing, Some(number));
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
            weighed_milli: None,
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
                    ports: TaskPorts::default(),
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

    pub(in super::super) fn exits(
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

    pub(in super::super) fn looked(&mut self, node: &NodeName) {
        let containers: Containers = self.there[node].values().cloned().collect();
        let contact = self.contacts.entry(node.clone());
        let contact = Arc::clone(contact.or_insert_with(|| Contact::new(&containers).into()));
        let observation = Observation::Answers {
            engine: Arc::clone(&self.engine),
            looked: self.moment(),
            containers: containers.into(),
            look: Arc::default(),
            probe: Arc::default(),
            contact,
        };
        self.observations.insert(node.clone(), observation);
    }

    pub(super) fn action_ends(&mut self, at: usize, how: u32) {
        if self.under_way.is_empty() {
            return;
        }
        let (key, node, doing) = self.under_way.remove(at % self.under_way.len());
        let failed = how == 3;
        let status = self.there[&node].get(&key).map(|container| container.status.clone());
        match (doing, status) {
            (UnderWay::Launch, None | Some(ContainerStatus::Created)) if how < 3 => {
                self.set(&node, key, ContainerStatus::Running { started_at: self.now });
            }
            (UnderWay::Stop, Some(ContainerStatus::Running { started_at })) if !failed => {
                self.exits(&node, key, (started_at, 143));
            }
            (UnderWay::Remove, _) if !failed => {
                self.there.get_mut(&node).unwrap().remove(&key);
            }
            _ => {}
        }
        let (at, pause) = (self.now, self.instant() + Duration::from_millis(700));
        let moment = self.moment();
        let unseen = self.contacts.get(&node).is_some_and(|contact| contact.ended_before(&key));
        self.memory.ended(key, moment, |known: &mut Known| match doing {
            _ if failed => known.not_before = Some(pause),
            UnderWay::Launch if how == 4 => {
                known.launch_failed = Some(Box::new((at, exit(Cause::PortTaken))));
            }
            UnderWay::Explain => {
                let exit = exit(Cause::CommandFailed);
                known.explained = Some(Box::new(Explained { exit, unseen }));
            }
            UnderWay::Launch | UnderWay::Stop | UnderWay::Remove => {}
        });
        self.acted.insert(key);
    }

    /// Somebody sets the clock, and that is stored of the attempts as the loop stores it.
    pub(in super::super) fn clock_is_set(&mut self, millis: i64) {
        self.now = self.now.plus_millis(millis);
        let running = self.attempts.iter_mut().filter(|attempt| attempt.completed_at.is_none());
        for started_at in running.filter_map(|attempt| attempt.started_at.as_mut()) {
            *started_at = started_at.plus_millis(millis);
        }
        self.cases.doubt();
    }
}
