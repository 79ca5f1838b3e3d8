//! What is read of jobs and their tasks, as the scheduler is told it.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::sync::Arc;

use database::Database;
use database::attempts::Attempt;
use database::jobs::JobUpdate;
use database::tasks::Task;
use protocol::ids::{GpuType, JobId, PortLabel, UserName, VirtualClusterName};
use protocol::resources::MIN_MEMORY_MB;
use protocol::spec::{Deadline, JobSpec, NodeSelector, PortRequest, Priority, TaskRole, TimeLimit};
use protocol::time::Timestamp;
use scheduler::Like;
use scheduler::model::{Demand, GaveWay, Placement, QosClass, Request, RoleRequest, Running, Turn};

use super::state::Queue;
use crate::known::active::{Active, ActiveJobs};
use crate::known::dirty::Touched;
use crate::known::lacks::Lacks;
use crate::known::runs::{self, Past};
use crate::wake::now;

/// What was read anew.
#[derive(Debug)]
pub(crate) struct News {
    /// All jobs that have not ended were read, and not only some.
    pub(super) whole: bool,
    /// Those that have not ended.
    pub(super) jobs: Vec<Active>,
    /// Those that have ended, of all that changed.
    pub(super) gone: BTreeSet<JobId>,
    /// The current attempts of those that hold something.
    pub(super) attempts: HashMap<JobId, Attempt>,
    /// How often jobs gave way, of those that ever did.
    pub(super) gave_way: HashMap<JobId, GaveWay>,
    /// The tasks of those that hold something.
    pub(super) tasks: HashMap<JobId, Vec<Task>>,
    /// When.
    pub(super) at: Timestamp,
}

impl News {
    /// Whether it is of all jobs.
    pub(crate) fn is_whole(&self) -> bool {
        self.whole
    }

    /// Everything, with what was told of it until now.
    pub(crate) async fn whole(
        active: &ActiveJobs,
        database: &Database,
        told: &Touched,
    ) -> Result<Self, database::Error> {
        let jobs = active.all_since_start(database, told).await?;
        let others = active.damage().jobs().clone();
        let tasks = database::tasks::active_but(database.read(), &others).await?;
        Self::of(database, jobs, tasks, true).await
    }

    /// These jobs and nothing else.
    pub(crate) async fn of_jobs(
        active: &ActiveJobs,
        database: &Database,
        touched: Touched,
    ) -> Result<Self, database::Error> {
        let Touched { changed, ended } = touched;
        let changed: Vec<JobId> = changed.into_iter().collect();
        let jobs = active.of(database, &changed).await?;
        let placed: Vec<JobId> = placed(&jobs).collect();
        let tasks = database::tasks::active_of(database.read(), &placed).await?;
        let mut news = Self::of(database, jobs, tasks, false).await?;
        let there: BTreeSet<JobId> = news.jobs.iter().map(|job| job.row.id).collect();
        let gone = changed.into_iter().filter(|id| !there.contains(id));
        news.gone = gone.chain(ended).collect();
        Ok(news)
    }

    async fn of(
        database: &Database,
        jobs: Vec<Active>,
        all: Vec<Task>,
        whole: bool,
    ) -> Result<Self, database::Error> {
        let placed: Vec<JobId> = placed(&jobs).collect();
        let attempts = database::attempts::of_jobs(database.read(), &placed).await?;
        let mut gave_way = runs::gave_way(&attempts);
        let again: Vec<JobId> = waits_again(&jobs).collect();
        if !again.is_empty() {
            // What cannot be read of what is over holds nobody up.
            let reader = database.read();
            let over = database::attempts::readable_of_jobs(reader, &again).await?;
            gave_way.extend(runs::gave_way(&over));
        }
        // By number, so that of a job's attempts the last one stays.
        let attempts = attempts.into_iter().map(|attempt| (attempt.job, attempt)).collect();
        let mut tasks: HashMap<JobId, Vec<Task>> = HashMap::new();
        for task in all {
            tasks.entry(task.key.job).or_default().push(task);
        }
        Ok(Self { whole, jobs, gone: BTreeSet::new(), attempts, gave_way, tasks, at: now() })
    }
}

impl Queue {
    /// Other nodes lack storages than before, or others do no more: those wait differently that ask for these.
    /// Says whether there are any.
    pub(crate) fn set_lacks(&mut self, lacks: Arc<Lacks>) -> bool {
        if self.lacks == lacks {
            return false;
        }
        let before = std::mem::replace(&mut self.lacks, lacks);
        let mut requests = self.requests();
        requests.retain(|request| {
            let job = self.jobs.get(&request.job);
            job.is_some_and(|job| before.of_job(job) != request.lacks)
        });
        for request in &requests {
            self.tell(|state| state.submit(request));
        }
        let any = !requests.is_empty();
        if any {
            self.unsay();
        }
        any
    }

    /// A job that was given its place is stored so. That is all that is new of it, and need not be read.
    pub(crate) fn begins(&mut self, job: JobId, stored: &JobUpdate) {
        self.jobs.apply(job, stored);
    }
}

/// Those that have been given their place.
fn placed(jobs: &[Active]) -> impl Iterator<Item = JobId> {
    use protocol::state::State;
    jobs.iter().filter(|job| job.row.state != State::Waiting).map(|job| job.row.id)
}

/// Those that wait and have been given a place before.
fn waits_again(jobs: &[Active]) -> impl Iterator<Item = JobId> {
    use protocol::state::State;
    let again = |job: &&Active| job.row.state == State::Waiting && job.row.attempt.is_some();
    jobs.iter().filter(again).map(|job| job.row.id)
}

/// A job that holds something. By what right it does is known since it was placed, and of those
/// that are new to this server the records say it.
pub(super) fn running_of_job(
    job: &Active,
    attempt: Option<&Attempt>,
    tasks: Vec<Task>,
    known: Option<&Running>,
    (past, at): (&Past, Timestamp),
) -> Running {
    let borrowed = attempt.is_some_and(|attempt| attempt.borrowed);
    let ending = known.is_some_and(|known| known.stopping)
        || attempt.is_some_and(|attempt| attempt.exit.is_some());
    let started_at = attempt.map_or(job.row.submitted_at, |attempt| attempt.placed_at);
    // The limit counts from the first container, for which the images have to come first.
    let current = tasks.iter().filter(|task| Some(task.key.attempt) == job.row.attempt);
    let begun = current.filter_map(|task| task.started_at).min().unwrap_or(at);
    let limit = job.spec.time_limit.map(|limit| limit.millis() + begun.since(started_at));
    let expected_ms = past.runs.expect(like(job), limit);
    let held = tasks.into_iter().filter(|task| !task.state.is_final());
    let mut held: Vec<_> =
        held.map(|task| (task.placement, Demand::from(task.resources))).collect();
    // It lies where more of each task lay before.
    held.shrink_to_fit();
    Running {
        job: job.row.id,
        user: job.row.key.user.clone(),
        virtual_cluster: job.row.virtual_cluster.clone(),
        tasks: held,
        gpu_types: gpu_types(&job.spec),
        qos_class: known.map_or_else(|| qos_class(borrowed), |known| known.qos_class),
        turn: turn(job, expected_ms),
        started_at,
        limit_ms: limit,
        expected_ms,
        gave_way: past.gave_way(job.row.id),
        stopping: ending || job.row.stop.is_some(),
    }
}

/// What makes runs like those of a job.
fn like(job: &Active) -> Like {
    runs::like(&job.row, runs::image(&job.spec))
}

/// Its place in the queue, should it wait again.
fn turn(job: &Active, expected_ms: Option<i64>) -> Turn {
    let expected = expected_ms.or(job.spec.time_limit.map(TimeLimit::millis));
    Turn::new(job.row.priority, job.row.submitted_at, job.row.moved_ms, expected)
}

/// By what right an attempt runs.
fn qos_class(borrowed: bool) -> QosClass {
    if borrowed { QosClass::Borrowed } else { QosClass::Guaranteed }
}

/// A job that has just been given its place.
pub(super) fn running_of_placement(
    job: &Active,
    placement: &Placement,
    (past, at): (&Past, Timestamp),
) -> Running {
    let tasks = placement.tasks.iter().filter_map(|task| {
        let role = job.spec.roles.get(task.role as usize)?;
        Some((task.clone(), Demand::from(role.resources)))
    });
    let limit = job.spec.time_limit.map(TimeLimit::millis);
    let expected_ms = past.runs.expect(like(job), limit);
    Running {
        job: placement.job,
        user: job.row.key.user.clone(),
        virtual_cluster: job.row.virtual_cluster.clone(),
        tasks: tasks.collect(),
        gpu_types: gpu_types(&job.spec),
        qos_class: placement.qos_class,
        turn: turn(job, expected_ms),
        started_at: at,
        limit_ms: limit,
        expected_ms,
        gave_way: past.gave_way(job.row.id),
        stopping: false,
    }
}

/// A job that holds something, with what is expected of it now.
pub(super) fn expected_anew(job: &Active, running: &Running, past: &Past) -> Running {
    let expected_ms = past.runs.expect(like(job), running.limit_ms);
    Running { expected_ms, turn: turn(job, expected_ms), ..running.clone() }
}

/// A job that waits.
pub(super) fn request_of_job(job: &Active, past: &Past, lacks: &Lacks) -> Request {
    let limit = job.spec.time_limit.map(TimeLimit::millis);
    Request {
        expected_ms: past.runs.expect(like(job), limit),
        gave_way: past.gave_way(job.row.id),
        job: job.row.id,
        submitted_at: job.row.submitted_at,
        priority: job.row.priority,
        moved_ms: job.row.moved_ms,
        held: job.row.held.is_some(),
        not_before: job.row.not_before,
        avoid: job.row.avoid.clone(),
        lacks: lacks.of_job(job),
        ..request(&job.spec, &job.row.key.user)
    }
}

/// A job that is not stored yet, with what is expected of it.
pub(crate) fn wanted(queue: &Queue, spec: &JobSpec, user: &UserName) -> Request {
    let request = request(spec, user);
    let (name, image) = (Some(spec.name.clone()), runs::image(spec).map(str::to_owned));
    let like = Like { name, image, ..Like::from(&request) };
    let expected_ms = queue.past.runs.expect(like, request.limit_ms);
    let lacks = queue.lacks.of(spec, user, None);
    Request { expected_ms, lacks, ..request }
}

/// A spec as the scheduler sees it; for a job that is not stored yet.
pub(crate) fn request(spec: &JobSpec, user: &UserName) -> Request {
    Request {
        job: JobId(i64::MAX),
        user: user.clone(),
        virtual_cluster: spec.virtual_cluster.clone(),
        priority: spec.priority,
        submitted_at: now(),
        moved_ms: 0,
        held: false,
        not_before: None,
        deadline: spec.deadline.map(Deadline::at),
        gave_way: GaveWay::default(),
        limit_ms: spec.time_limit.map(TimeLimit::millis),
        expected_ms: None,
        avoid: Vec::new(),
        lacks: BTreeMap::new(),
        nodes: spec.nodes.clone(),
        roles: spec
            .roles
            .iter()
            .map(|role| RoleRequest {
                count: role.count,
                demand: Demand::from(role.resources),
                gpu_types: types_for(spec, role).to_vec(),
                ports: ports(&role.ports),
            })
            .collect(),
    }
}

/// GPU types that will do for a role; none named: any.
fn types_for<'a>(spec: &'a JobSpec, role: &'a TaskRole) -> &'a [GpuType] {
    if role.gpu_types.is_empty() { &spec.gpu_types } else { &role.gpu_types }
}

/// By role, of those with GPUs that name any.
fn gpu_types(spec: &JobSpec) -> BTreeMap<u32, Vec<GpuType>> {
    let roles = (0..).zip(&spec.roles).filter(|(_, role)| role.resources.gpu_devices() > 0);
    let named = roles.map(|(number, role)| (number, types_for(spec, role).to_vec()));
    named.filter(|(_, types)| !types.is_empty()).collect()
}

/// Somebody who has nothing.
fn anybody() -> UserName {
    UserName::new("anybody").expect("a fixed name is valid")
}

/// A user's, or anybody's, job of one task with the least that a job file may ask for, to be asked with
/// GPUs.
pub(super) fn least(
    within: &VirtualClusterName,
    user: Option<&UserName>,
    now: Timestamp,
) -> Request {
    let demand = Demand { cpu_milli: 1000, memory_mb: MIN_MEMORY_MB, ..Demand::default() };
    let demand = Demand { gpu_milli: scheduler::model::WHOLE_GPU, ..demand };
    let role = RoleRequest { count: 1, demand, gpu_types: Vec::new(), ports: ports(&[]) };
    Request {
        job: JobId(i64::MAX),
        user: user.cloned().unwrap_or_else(anybody),
        virtual_cluster: within.clone(),
        priority: Priority::default(),
        submitted_at: now,
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
        roles: vec![role],
    }
}

/// The ports of a role's tasks: `http` and `ssh` are always there.
fn ports(asked: &[PortRequest]) -> Vec<PortRequest> {
    let mut ports = asked.to_vec();
    for label in ["http", "ssh"] {
        if !ports.iter().any(|port| port.label.as_str() == label) {
            let label = PortLabel::new(label).expect("http and ssh are valid port labels");
            ports.push(PortRequest { label, begin_at: 0, count: 1 });
        }
    }
    ports
}
