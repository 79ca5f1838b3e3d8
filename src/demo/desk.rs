//! Where the lives of jobs are put together and written, thousands by few statements.

use std::collections::BTreeSet;

use database::attempts::Attempt;
use database::events::NewEvent;
use database::jobs::{JobUpdate, NewJob};
use database::tasks::{Intent, Task};
use database::{Transaction, attempts, events, jobs, tasks};
use protocol::epoch::Epoch;
use protocol::exit::{Blame, Exit};
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::jobs::Hold;
use protocol::placement::{TaskPlacement, TaskPorts};
use protocol::state::State;
use protocol::time::Timestamp;

/// A job and what became of it; ids are given when it is written.
#[derive(Debug, Clone)]
pub(crate) struct Life {
    pub(crate) job: NewJob,
    /// `None`: it waits.
    pub(crate) update: Option<JobUpdate>,
    pub(crate) hold: Option<Hold>,
    pub(crate) attempts: Vec<Attempt>,
    pub(crate) tasks: Vec<Task>,
    pub(crate) events: Vec<NewEvent>,
}

/// When something was placed, ran and ended.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Times {
    pub(crate) placed: Timestamp,
    pub(crate) started: Timestamp,
    pub(crate) ended: Option<Timestamp>,
}

/// One attempt: where, when and how it ended.
#[derive(Debug, Clone)]
pub(crate) struct Run {
    pub(crate) places: Vec<TaskPlacement>,
    pub(crate) times: Times,
    pub(crate) exit: Option<Exit>,
    pub(crate) borrowed: bool,
}

/// The state in which an end leaves something.
pub(crate) fn state_of(exit: Option<&Exit>) -> State {
    match exit.map(|exit| exit.cause.blame()) {
        None => State::Running,
        Some(Blame::None) => State::Succeeded,
        Some(Blame::User | Blame::Platform) => State::Failed,
        Some(Blame::Stop) => State::Stopped,
    }
}

impl Life {
    /// A job that waits.
    pub(crate) fn waiting(job: NewJob) -> Self {
        let by = job.key.user.clone();
        let mut life = Self {
            update: None,
            hold: None,
            attempts: Vec::new(),
            tasks: Vec::new(),
            events: Vec::new(),
            job,
        };
        let at = life.job.submitted_at;
        life.tell(at, "submitted", format!("submitted by {by}"));
        life.events[0].actor = Some(by);
        life
    }

    pub(crate) fn tell(&mut self, at: Timestamp, kind: &str, message: String) {
        self.events.push(NewEvent {
            job: None,
            at,
            kind: kind.to_owned(),
            message,
            attempt: None,
            warning: false,
            actor: None,
        });
    }

    /// Adds an attempt; the last one says how the job stands.
    pub(crate) fn add(&mut self, run: Run) {
        let number = u32::try_from(self.attempts.len()).unwrap_or(u32::MAX);
        let state = state_of(run.exit.as_ref());
        let Times { placed, started, ended } = run.times;
        self.note(&run, number);
        self.attempts.push(Attempt {
            job: JobId(0),
            number,
            state,
            borrowed: run.borrowed,
            placed_at: placed,
            started_at: Some(started),
            completed_at: ended,
            exit: run.exit.clone().map(Box::new),
            lease: None,
            weighed_milli: None,
        });
        let tasks = run.places.into_iter().zip(1_u64..).filter_map(|(placement, at)| {
            let role = self.job.spec.roles.get(placement.role as usize)?;
            let (role_at, index) = (placement.role, placement.index);
            Some(Task {
                key: TaskKey { job: JobId(0), attempt: number, role: role_at, index, retry: 0 },
                epoch: Epoch::default(),
                role_name: role.name.clone(),
                state,
                placement,
                resources: role.resources,
                container: Some(format!("{at:016x}")),
                progress: None,
                intent: Some(Intent::Launch),
                started_at: Some(started),
                completed_at: ended,
                exit: run.exit.clone().map(Box::new),
            })
        });
        self.tasks.extend(tasks);
        let first = self.attempts.first().and_then(|attempt| attempt.started_at);
        self.update = Some(JobUpdate {
            started_at: first,
            completed_at: ended,
            exit: run.exit,
            attempt: Some(number),
            ..JobUpdate::to(state)
        });
    }

    /// What is said of an attempt.
    fn note(&mut self, run: &Run, number: u32) {
        let from = self.events.len();
        let nodes: BTreeSet<_> = run.places.iter().map(|place| &place.node).collect();
        let nodes: Vec<_> = nodes.into_iter().map(NodeName::as_str).collect();
        self.tell(run.times.placed, "placed", format!("placed on {}", nodes.join(", ")));
        for place in &run.places {
            let message = format!("worker-{} started", place.index);
            self.tell(run.times.started, "task started", message);
        }
        if let (Some(exit), Some(ended)) = (&run.exit, run.times.ended) {
            let state = state_of(Some(exit));
            self.tell(ended, "completed", format!("{state:?}: {}", exit.cause));
            if let Some(last) = self.events.last_mut() {
                last.warning = state == State::Failed;
            }
        }
        self.events[from..].iter_mut().for_each(|event| event.attempt = Some(number));
    }
}

/// Writes them, and says the ids they have.
pub(crate) async fn write(
    transaction: &Transaction,
    lives: &mut [Life],
) -> Result<(), database::Error> {
    let new: Vec<NewJob> = lives.iter().map(|life| life.job.clone()).collect();
    let mut updates = Vec::new();
    for (life, id) in lives.iter_mut().zip(jobs::insert_many(transaction, &new).await?) {
        let id = id?;
        life.attempts.iter_mut().for_each(|attempt| attempt.job = id);
        life.tasks.iter_mut().for_each(|task| task.key.job = id);
        life.events.iter_mut().for_each(|event| event.job = Some(id));
        updates.extend(life.update.clone().map(|update| (id, State::Waiting, update)));
        if let Some(hold) = &life.hold {
            jobs::hold(transaction, id, hold).await?;
        }
    }
    jobs::update_many(transaction, &updates).await?;
    let all: Vec<Attempt> = lives.iter().flat_map(|life| life.attempts.clone()).collect();
    attempts::insert_many(transaction, &all).await?;
    let all: Vec<Task> = lives.iter().flat_map(|life| life.tasks.clone()).collect();
    tasks::insert_many(transaction, &all).await?;
    let mut all: Vec<NewEvent> = lives.iter().flat_map(|life| life.events.clone()).collect();
    all.sort_by_key(|event| event.at);
    events::insert_many(transaction, &all).await
}

/// Ports that every task has.
pub(crate) fn ports(first: u16) -> TaskPorts {
    let label = |name: &str| name.parse().expect("a word is a valid port label");
    TaskPorts::from([(label("http"), vec![first]), (label("ssh"), vec![first + 1])])
}
