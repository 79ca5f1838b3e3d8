//! A small world in memory behind the contract.

mod cluster;
mod inside;
mod people;

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use api::changes::{Change, Changes};
use api::jobs::{
    AttemptView, CheckReport, ConfigForm, EventView, JobConfig, JobDetail, JobPage, JobQuery,
    JobSummary, Jobs, Retries, RoleView, Submission, Submitted, Syntax, TaskPlace, TaskView,
};
use api::logs::{
    JobMatches, LogLine, LogMatches, LogPlace, LogText, LogWindow, Logs, SearchAsk, TaskRef,
    Together, TogetherAsk, WindowAsk,
};
use api::metrics::IdleJob;
use api::queue::{Effect, Explanation, Queue, QueueChange};
use api::saved_views::{SavedView, SavedViews};
use api::usage::{UsageOfDay, UsageQuery};
use api::{Actor, Backend, Error, ErrorCode, Result};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::exit::{Cause, Exit};
use protocol::ids::{JobId, JobKey, Tag, UserName, VirtualClusterName};
use protocol::problem::Problem;
use protocol::resources::Resources;
use protocol::spec::{Completion, Dialect, NodeSelector, Priority, RetryLimit, TimeLimit};
use protocol::state::State;
use protocol::time::Timestamp;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;

use crate::no_files::NoFiles;
use cluster::NoImages;

/// The task whose log has no end.
pub(crate) const ENDLESS: u32 = 7;

/// Two jobs, two users, one virtual cluster.
#[derive(Clone)]
pub(crate) struct World {
    pub(crate) changes: broadcast::Sender<Change>,
    pub(crate) submitted: Arc<Mutex<Vec<Submission>>>,
    pub(crate) stopped: Arc<Mutex<Vec<JobKey>>>,
    /// How often jobs were counted.
    pub(crate) counted: Arc<AtomicUsize>,
    /// Where the tasks' port `http` is; 0: the task does not run.
    pub(crate) upstream: Arc<AtomicU16>,
    /// Whether tokens are good only to come in, not to stay.
    pub(crate) revoked: Arc<AtomicBool>,
    /// Whether everybody has been removed.
    pub(crate) gone: Arc<AtomicBool>,
}

impl World {
    pub(crate) fn new() -> Self {
        let (changes, _) = broadcast::channel(16);
        Self {
            changes,
            submitted: Arc::default(),
            stopped: Arc::default(),
            counted: Arc::default(),
            upstream: Arc::default(),
            revoked: Arc::default(),
            gone: Arc::default(),
        }
    }

    pub(crate) fn backend(&self) -> Backend {
        let all = Arc::new(self.clone());
        Backend {
            jobs: all.clone(),
            queue: all.clone(),
            logs: all.clone(),
            metrics: all.clone(),
            nodes: all.clone(),
            quarantine: all.clone(),
            servers: all.clone(),
            proxy: all.clone(),
            terminals: all.clone(),
            task_files: all.clone(),
            audit: all.clone(),
            images: Arc::new(NoImages),
            ssh: all.clone(),
            virtual_clusters: all.clone(),
            users: all.clone(),
            groups: all.clone(),
            sign_ins: all.clone(),
            notifications: all.clone(),
            files: Arc::new(NoFiles),
            storages: all.clone(),
            saved_views: all.clone(),
            templates: all.clone(),
            changes: all,
        }
    }
}

pub(crate) fn key(text: &str) -> JobKey {
    text.parse().unwrap()
}

fn no_job(key: &JobKey) -> Error {
    Error::new(ErrorCode::NoJobError, format!("Job {key} is not found."))
}

fn summary(id: i64, job: &str, state: State) -> JobSummary {
    let ended = state.is_final();
    JobSummary {
        id: JobId(id),
        key: key(job),
        state,
        stop_requested: false,
        virtual_cluster: VirtualClusterName::default(),
        priority: Priority::TEST,
        tasks: 1,
        roles: 1,
        gpus: 2.into(),
        gpu_types: Vec::new(),
        retries: Retries { user: 1, platform: 2 },
        submitted_at: Timestamp(1_000),
        started_at: Some(Timestamp(2_000)),
        completed_at: ended.then_some(Timestamp(3_000)),
        waiting: None,
        expected: None,
        held: None,
        tags: Vec::new(),
        ends_by: None,
        lately: Default::default(),
        exit: ended.then(|| Exit {
            code: Some(3),
            cause: Cause::CommandFailed,
            evidence: vec!["boom".into()],
        }),
    }
}

fn jobs() -> Vec<JobSummary> {
    vec![summary(1, "alice~train", State::Running), summary(2, "bob~sweep", State::Failed)]
}

fn detail(summary: JobSummary) -> JobDetail {
    let task = TaskView {
        role: "worker".parse().unwrap(),
        index: 0,
        retry: 0,
        state: summary.state,
        progress: None,
        node: "n1".parse().unwrap(),
        address: "10.0.0.1".into(),
        gpus: vec![0, 3],
        gpu_part: None,
        idle: Vec::new(),
        ports: BTreeMap::from([
            ("http".parse().unwrap(), vec![20_000]),
            ("grpc".parse().unwrap(), vec![20_001, 20_002]),
        ]),
        container: Some("c0ffee".into()),
        started_at: summary.started_at,
        completed_at: summary.completed_at,
        exit: summary.exit.clone(),
    };
    JobDetail {
        description: None,
        dialect: Dialect::Pai,
        retry_limit: RetryLimit::Times(0),
        nodes: NodeSelector::default(),
        time_limit: None,
        grace: None,
        deadline: None,
        storages: Vec::new(),
        roles: vec![RoleView {
            name: "worker".parse().unwrap(),
            count: 1,
            resources: Resources { cpus: 1, memory_mb: 100, gpus: 2.into(), disk_gb: 0 },
            shm_mb: 64,
            image: "image".into(),
            command: "true".into(),
            completion: Completion { min_failed: Some(1), min_succeeded: None },
        }],
        attempts: vec![AttemptView {
            number: 3,
            state: summary.state,
            placed_at: Timestamp(1_500),
            started_at: summary.started_at,
            completed_at: summary.completed_at,
            exit: summary.exit.clone(),
            tasks: vec![task],
        }],
        idling: None,
        may_manage: true,
        most_priority: None,
        explanation: None,
        summary,
    }
}

#[async_trait]
impl Jobs for World {
    async fn submit(&self, actor: &Actor, request: Submission) -> Result<Submitted> {
        match request.text.as_str() {
            "panic" => panic!("a handler's mistake"),
            "taken" => return Err(Error::new(ErrorCode::ConflictJobError, "Job exists.")),
            "bad" => {
                return Err(Error::invalid_job(vec![Problem {
                    path: "taskRoles[0].cpuNumber".into(),
                    line: 3,
                    column: 7,
                    message: "0 is too small".into(),
                    allowed: "1 or more".into(),
                }]));
            }
            _ => {}
        }
        self.submitted.lock().unwrap().push(request);
        let key = JobKey { user: actor.user.clone(), name: "fresh".parse().unwrap() };
        Ok(Submitted { id: JobId(9), key, warnings: vec!["retryCount is large".into()] })
    }
    async fn check(&self, _: &Actor, _: &str) -> Result<CheckReport> {
        Ok(CheckReport { problems: Vec::new(), warnings: Vec::new(), dry_run: None })
    }
    async fn list(&self, _: &Actor, query: &JobQuery) -> Result<JobPage> {
        let mut found = jobs();
        found.retain(|job| query.users.is_empty() || query.users.contains(&job.key.user));
        found.retain(|job| job.key.to_string().contains(&query.keyword));
        let total = found.len() as u64;
        let page = found.into_iter().skip(query.offset as usize).take(query.limit as usize);
        Ok(JobPage { jobs: page.collect(), total })
    }
    async fn get(&self, _: &Actor, key: &JobKey) -> Result<JobDetail> {
        let job = jobs().into_iter().find(|job| job.key == *key);
        job.map(detail).ok_or_else(|| no_job(key))
    }
    async fn runs(&self, actor: &Actor, key: &JobKey, place: &TaskPlace) -> Result<Vec<TaskView>> {
        let attempts = Jobs::get(self, actor, key).await?.attempts.into_iter();
        let of_attempt = attempts.filter(|attempt| attempt.number == place.attempt);
        let mut tasks: Vec<_> = of_attempt.flat_map(|attempt| attempt.tasks).collect();
        tasks.retain(|task| task.role == place.role && task.index == place.index);
        Ok(tasks)
    }
    async fn config(&self, _: &Actor, _: &JobKey, form: ConfigForm) -> Result<JobConfig> {
        Ok(match form {
            ConfigForm::Written => {
                JobConfig { text: "{} // as written".into(), syntax: Syntax::Json }
            }
            ConfigForm::Json => JobConfig { text: "{}".into(), syntax: Syntax::Json },
            ConfigForm::Yaml => {
                JobConfig { text: "protocolVersion: 2".into(), syntax: Syntax::Yaml }
            }
        })
    }
    async fn stop(&self, actor: &Actor, key: &JobKey) -> Result<()> {
        if actor.user != key.user && !actor.admin {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        self.stopped.lock().unwrap().push(key.clone());
        Ok(())
    }
    async fn delete(&self, _: &Actor, key: &JobKey) -> Result<()> {
        Err(no_job(key))
    }
    async fn add_tag(&self, _: &Actor, _: &JobKey, _: &Tag) -> Result<()> {
        Ok(())
    }
    async fn remove_tag(&self, _: &Actor, _: &JobKey, _: &Tag) -> Result<()> {
        Ok(())
    }
    async fn keep(&self, _: &Actor, _: &JobKey, _: u32) -> Result<()> {
        Ok(())
    }
    async fn set_time_limit(&self, _: &Actor, _: &JobKey, _: TimeLimit) -> Result<()> {
        Ok(())
    }
    async fn idle(&self, _: &Actor, _: Option<&UserName>) -> Result<Vec<IdleJob>> {
        Ok(Vec::new())
    }
    async fn events(&self, _: &Actor, _: &JobKey) -> Result<Vec<EventView>> {
        Ok(Vec::new())
    }
    async fn counts(&self, _: &Actor, _: &JobQuery) -> Result<BTreeMap<State, u64>> {
        self.counted.fetch_add(1, Ordering::SeqCst);
        Ok(BTreeMap::from([(State::Running, 1), (State::Failed, 1)]))
    }
    async fn usage(&self, _: &Actor, _: &UsageQuery) -> Result<Vec<UsageOfDay>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl Queue for World {
    async fn change(&self, _: &Actor, _: &JobKey, _: QueueChange) -> Result<()> {
        Ok(())
    }
    async fn effect(&self, _: &Actor, _: &JobKey, _: QueueChange) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn explain(&self, _: &Actor, _: &JobKey) -> Result<Option<Explanation>> {
        Ok(None)
    }
}

#[async_trait]
impl Logs for World {
    async fn tail(&self, _: &Actor, _: &TaskRef, _: u64) -> Result<LogText> {
        Ok(LogText { text: "one\ntwo\n".into(), end: 8, ..LogText::default() })
    }
    async fn follow(
        &self,
        _: &Actor,
        task: &TaskRef,
        offset: u64,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let text = Bytes::from_static(b"one\ntwo\n").slice(offset as usize..);
        let text = futures::stream::iter([Ok(text)]);
        match task.index {
            ENDLESS => Ok(text.chain(futures::stream::pending()).boxed()),
            _ => Ok(text.boxed()),
        }
    }
    async fn whole(&self, _: &Actor, _: &TaskRef) -> Result<BoxStream<'static, Result<Bytes>>> {
        Ok(futures::stream::iter([Ok(Bytes::from_static(b"one\ntwo\n"))]).boxed())
    }
    async fn whole_of_all(
        &self,
        _: &Actor,
        _: &JobKey,
        _: Option<u32>,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let text = Bytes::from_static(b"==> worker-0 <==\none\ntwo\n\n");
        Ok(futures::stream::iter([Ok(text)]).boxed())
    }
    async fn window(&self, _: &Actor, _: &TaskRef, ask: &WindowAsk) -> Result<LogWindow> {
        let line = |(number, text): (u64, &str)| LogLine {
            number,
            at: None,
            text: text.to_owned(),
            cut: false,
        };
        let first = match ask.place {
            LogPlace::From(first) | LogPlace::Around(first) => first,
            LogPlace::End | LogPlace::Time(_) => 1,
        };
        let lines = (1..).zip(["one", "two"]).skip_while(|(number, _)| *number < first);
        let lines = lines.take(ask.count as usize).map(line).collect();
        Ok(LogWindow { lines, total: 2, bytes: 8, complete: true, ..LogWindow::default() })
    }
    async fn together(
        &self,
        _: &Actor,
        _: &JobKey,
        _: Option<u32>,
        _: &TogetherAsk,
    ) -> Result<Together> {
        Ok(Together { tasks: vec!["worker-0".into()], complete: true, ..Together::default() })
    }
    async fn search(&self, _: &Actor, _: &TaskRef, ask: &SearchAsk) -> Result<LogMatches> {
        let found = |(_, text): &(u64, &str)| text.contains(&ask.text);
        let lines = (1..).zip(["one", "two"]).filter(found).map(|(number, _)| number);
        let lines: Vec<u64> = lines.collect();
        let count = lines.len() as u64;
        Ok(LogMatches { count, before: 0, lines, searched: 2, all: true })
    }
    async fn search_all(
        &self,
        _: &Actor,
        _: &JobKey,
        _: Option<u32>,
        _: u32,
        _: &SearchAsk,
    ) -> Result<JobMatches> {
        Ok(JobMatches { all: true, ..JobMatches::default() })
    }
}

#[async_trait]
impl SavedViews for World {
    async fn list(&self, _: &Actor) -> Result<Vec<SavedView>> {
        Ok(Vec::new())
    }
    async fn save(&self, _: &Actor, view: SavedView) -> Result<()> {
        view.check()
    }
    async fn rename(&self, _: &Actor, _: &str, _: &str) -> Result<()> {
        Ok(())
    }
    async fn remove(&self, _: &Actor, _: &str) -> Result<()> {
        Ok(())
    }
}

impl Changes for World {
    fn subscribe(&self, _: &Actor) -> BoxStream<'static, Change> {
        let changes = BroadcastStream::new(self.changes.subscribe());
        changes.map(|change| change.unwrap_or(Change::Missed)).boxed()
    }
}
