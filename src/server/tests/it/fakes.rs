//! A small world in memory behind the contract.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU16, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use api::audit::{Audit, AuditEntry, AuditNote};
use api::changes::{Change, Changes};
use api::cluster::{
    Drain, FreeGpus, NodeView, Nodes, Promise, Silent, Usage, VirtualClusterView, VirtualClusters,
};
use api::groups::{GroupView, Groups};
use api::images::{ImageSize, Images, SaveImage, SavedImageView, TaskOfJob};
use api::jobs::{
    AttemptView, CheckReport, ConfigForm, EventView, JobConfig, JobDetail, JobPage, JobQuery,
    JobSummary, Jobs, Retries, RoleView, Submission, Submitted, Syntax, TaskView,
};
use api::logs::{
    LogLine, LogMatches, LogPlace, LogText, LogWindow, Logs, SearchAsk, TaskRef, Together,
    TogetherAsk, WindowAsk,
};
use api::metrics::{JobMetrics, Metrics, MetricsAsk};
use api::node_map::{NodeMap, NodeQuery};
use api::proxy::{Proxy, TaskPort, Upstream};
use api::quarantine::{Quarantine, Quarantined};
use api::queue::{Effect, Explanation, Queue, QueueChange};
use api::sign_ins::SignIns;
use api::ssh::{KeyPair, PublicKeyView, Ssh, SshAccess, SshTask};
use api::task_files::{Content, TaskFile, TaskFiles};
use api::terminals::{
    Terminal, TerminalControls, TerminalEnd, TerminalEvent, TerminalId, TerminalRequest,
    TerminalSize, Terminals,
};
use api::usage::{UsageOfDay, UsageQuery};
use api::users::{Bearer, Means, NewToken, NewUser, PasswordChange, TokenView, UserView, Users};
use api::{Actor, Backend, Error, ErrorCode, Result};
use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;
use protocol::cluster::{NodeSettings, VirtualClusterSettings};
use protocol::exit::{Cause, Exit};
use protocol::ids::{GroupName, JobId, JobKey, NodeName, UserName, VirtualClusterName};
use protocol::person::Person;
use protocol::problem::Problem;
use protocol::resources::Resources;
use protocol::spec::{Completion, Dialect, NodeWish, Priority, RetryLimit};
use protocol::state::State;
use protocol::time::Timestamp;
use tokio::sync::broadcast;
use tokio_stream::wrappers::BroadcastStream;

use crate::no_files::NoFiles;
use crate::way::Local;

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
            files: Arc::new(NoFiles),
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
        nodes: NodeWish::default(),
        time_limit: None,
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
        Ok(LogText { text: "one\ntwo\n".into(), offset: 0, end: 8, complete: false })
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
}

#[async_trait]
impl Proxy for World {
    async fn upstream(&self, actor: &Actor, port: &TaskPort) -> Result<Upstream> {
        if actor.user != port.job.user && !actor.admin {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        if port.port.as_str() != "http" {
            return Err(Error::new(ErrorCode::NoTaskError, "no such port"));
        }
        match self.upstream.load(Ordering::SeqCst) {
            0 => Err(Error::new(ErrorCode::UnavailableError, "worker-0 does not run")),
            port => {
                let way = Arc::new(Local(port));
                Ok(Upstream { address: "127.0.0.1".into(), port, way })
            }
        }
    }
    async fn enter(&self, actor: &Actor, port: &TaskPort, _: &str) -> Result<()> {
        self.upstream(actor, port).await.map(drop)
    }
}

/// A shell that repeats what is typed, and tells its size when that changes.
struct Parrot(tokio::sync::mpsc::Sender<TerminalEvent>);

#[async_trait]
impl TerminalControls for Parrot {
    async fn write(&self, bytes: Bytes) -> bool {
        self.0.send(TerminalEvent::Output(bytes)).await.is_ok()
    }
    async fn resize(&self, size: TerminalSize) {
        let text = format!("[{}x{}]", size.columns, size.rows);
        let _ = self.0.send(TerminalEvent::Output(text.into())).await;
    }
    async fn received(&self, bytes: u64) {
        let _ = self.0.send(TerminalEvent::Output(format!("[{bytes}]").into())).await;
    }
    async fn close(&self) {
        let _ = self.0.send(TerminalEvent::Ended(TerminalEnd::Closed)).await;
    }
}

#[async_trait]
impl Terminals for World {
    async fn open(&self, actor: &Actor, request: TerminalRequest) -> Result<Terminal> {
        if actor.user != request.job.user {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        if request.index > 0 {
            return Err(Error::new(ErrorCode::UnavailableError, "worker-1 does not run"));
        }
        let (said, output) = tokio::sync::mpsc::channel(16);
        let resumed = request.back_to.is_some();
        let (id, offset) = request.back_to.unwrap_or((TerminalId("shell".into()), 0));
        let output = tokio_stream::wrappers::ReceiverStream::new(output).boxed();
        Ok(Terminal { id, resumed, offset, output, controls: Box::new(Parrot(said)) })
    }
}

#[async_trait]
impl Metrics for World {
    async fn of_job(&self, _: &Actor, ask: &MetricsAsk) -> Result<JobMetrics> {
        let attempt = ask.attempt.unwrap_or_default();
        let points = ask.points.unwrap_or_default();
        let from = ask.from.unwrap_or_default();
        Ok(JobMetrics { attempt, from, points, ..JobMetrics::default() })
    }
}

#[async_trait]
impl TaskFiles for World {
    async fn read(&self, actor: &Actor, file: &TaskFile) -> Result<Content> {
        if actor.user != file.job.user {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        let bytes = Bytes::from(format!("what is in {}", file.path));
        Ok(Content { size: bytes.len() as u64, bytes: futures::stream::iter([Ok(bytes)]).boxed() })
    }
    async fn write(
        &self,
        actor: &Actor,
        file: &TaskFile,
        mut bytes: BoxStream<'static, Result<Bytes>>,
    ) -> Result<u64> {
        self.read(actor, file).await?;
        let mut written = 0;
        while let Some(piece) = bytes.next().await {
            written += piece?.len() as u64;
        }
        Ok(written)
    }
}

#[async_trait]
impl Audit for World {
    async fn list(&self, _: &Actor, _: Option<i64>, _: u64) -> Result<Vec<AuditEntry>> {
        Err(Error::new(ErrorCode::ForbiddenUserError, "only administrators may do this"))
    }
    async fn note(&self, _: AuditNote) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Ssh for World {
    async fn access(&self, actor: &Actor, key: &JobKey) -> Result<SshAccess> {
        if actor.user != key.user {
            return Err(Error::new(ErrorCode::ForbiddenUserError, "not yours"));
        }
        Ok(SshAccess {
            user: "root".into(),
            keys: KeyPair {
                file_name: key.to_string(),
                public: "ssh-ed25519 AAAA alice~train".into(),
                private: "the private half".into(),
                putty: "PuTTY's private half".into(),
            },
            folder: "file:///files/Container/alice/train/ssh/application_1_0001/.ssh".into(),
            tasks: vec![SshTask {
                role: "worker".parse().unwrap(),
                index: 0,
                container: "berth-x-1-a0-r0-t0-n0".into(),
                address: "10.0.0.8".into(),
                port: 34235,
                state: State::Running,
            }],
            host_key: "ssh-ed25519 BBBB".into(),
        })
    }
    async fn public_keys(&self, _: &Actor) -> Result<Vec<PublicKeyView>> {
        Ok(Vec::new())
    }
    async fn add_public_key(&self, _: &Actor, label: &str, _: &str) -> Result<PublicKeyView> {
        Ok(PublicKeyView {
            id: 7,
            label: label.into(),
            kind: "ssh-ed25519".into(),
            fingerprint: "SHA256:abc".into(),
            created_at: Timestamp(5),
        })
    }
    async fn remove_public_key(&self, _: &Actor, id: i64) -> Result<()> {
        match id {
            7 => Ok(()),
            _ => Err(Error::new(ErrorCode::InvalidParametersError, "you have no such key")),
        }
    }
}

/// Nobody has saved anything.
#[derive(Debug)]
struct NoImages;

#[async_trait]
impl Images for NoImages {
    async fn size(&self, _: &Actor, _: &TaskOfJob) -> Result<ImageSize> {
        Ok(ImageSize { own: 5, whole: 9 })
    }
    async fn save(&self, _: &Actor, _: &SaveImage) -> Result<SavedImageView> {
        Err(Error::new(ErrorCode::ConflictImageError, "taken"))
    }
    async fn list(&self, _: &Actor) -> Result<Vec<SavedImageView>> {
        Ok(Vec::new())
    }
    async fn remove(&self, _: &Actor, _: i64) -> Result<()> {
        Err(Error::new(ErrorCode::NoImageError, "none"))
    }
}

#[async_trait]
impl Nodes for World {
    async fn list(&self, _: &Actor) -> Result<Vec<NodeView>> {
        Ok(Vec::new())
    }
    async fn map(&self, _: &Actor, _: &NodeQuery) -> Result<NodeMap> {
        Ok(NodeMap::default())
    }
    async fn get(&self, _: &Actor, _: &NodeName) -> Result<NodeView> {
        Err(Error::new(ErrorCode::NoNodeError, "no such node"))
    }
    async fn silent(&self, _: &Actor) -> Result<Silent> {
        Ok(Silent::default())
    }
    async fn settings(&self, _: &Actor, _: &NodeName) -> Result<NodeSettings> {
        Err(Error::new(ErrorCode::NoNodeError, "no such node"))
    }
    async fn save_effect(&self, _: &Actor, _: NodeSettings) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn remove_effect(&self, _: &Actor, _: &NodeName) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn save(&self, _: &Actor, _: NodeSettings) -> Result<()> {
        Ok(())
    }
    async fn drain(&self, _: &Actor, _: &NodeName, _: Drain) -> Result<()> {
        Ok(())
    }
    async fn drain_effect(&self, _: &Actor, _: &NodeName, _: Drain) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn probe(&self, _: &Actor, _: &NodeName) -> Result<()> {
        Ok(())
    }
    async fn remove(&self, _: &Actor, _: &NodeName) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Quarantine for World {
    async fn list(&self, _: &Actor, _: Option<&NodeName>) -> Result<Vec<Quarantined>> {
        Ok(Vec::new())
    }
    async fn stop(&self, _: &Actor, _: &NodeName, _: &str) -> Result<()> {
        Err(Error::new(ErrorCode::NoTaskError, "no such container"))
    }
    async fn remove(&self, _: &Actor, _: &NodeName, _: &str) -> Result<()> {
        Err(Error::new(ErrorCode::NoTaskError, "no such container"))
    }
}

#[async_trait]
impl VirtualClusters for World {
    async fn list(&self, _: &Actor) -> Result<Vec<VirtualClusterView>> {
        let amount = |cpus, gpus: u64| Usage {
            cpus,
            memory_mb: 100 * cpus,
            disk_gb: 0,
            gpus: BTreeMap::from([("A100".parse().unwrap(), gpus.into())]),
        };
        Ok(vec![VirtualClusterView {
            settings: VirtualClusterSettings::new(VirtualClusterName::default()),
            usable: true,
            used: amount(2, 1),
            borrowed: amount(0, 0),
            total: amount(8, 4),
            free: BTreeMap::from([(
                "A100".parse().unwrap(),
                FreeGpus { gpus: 3, on_one_node: 2, borrowed: 1 },
            )]),
            running_jobs: 1,
            waiting_jobs: 2,
        }])
    }
    async fn get(&self, actor: &Actor, name: &VirtualClusterName) -> Result<VirtualClusterView> {
        let all = VirtualClusters::list(self, actor).await?;
        let found = all.into_iter().find(|view| view.settings.name == *name);
        found.ok_or_else(|| Error::new(ErrorCode::NoVirtualClusterError, "no such cluster"))
    }
    async fn save(&self, _: &Actor, _: VirtualClusterSettings) -> Result<()> {
        Ok(())
    }
    async fn save_effect(&self, _: &Actor, _: VirtualClusterSettings) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn promises(&self, _: &Actor, _: Option<VirtualClusterSettings>) -> Result<Vec<Promise>> {
        Ok(Vec::new())
    }
    async fn remove(&self, _: &Actor, _: &VirtualClusterName) -> Result<()> {
        Ok(())
    }
}

fn person(name: &str) -> Option<Actor> {
    let admin = name == "admin";
    ["alice", "bob", "admin"].contains(&name).then(|| Actor { user: name.parse().unwrap(), admin })
}

#[async_trait]
impl Users for World {
    async fn sign_in(&self, name: &str, password: &str) -> Result<Actor> {
        person(name)
            .filter(|_| password == "correct-horse")
            .ok_or_else(|| Error::new(ErrorCode::IncorrectPasswordError, "Password is incorrect."))
    }
    async fn token_actor(&self, token: &str) -> Result<Option<Bearer>> {
        let actor = token.strip_prefix("token-of-").and_then(person);
        Ok(actor.map(|actor| Bearer { actor, token: 1 }))
    }
    async fn token_lasts(&self, _: &UserName, _: i64) -> Result<bool> {
        Ok(!self.revoked.load(Ordering::SeqCst))
    }
    async fn actor(&self, name: &UserName) -> Result<Option<Actor>> {
        Ok(person(name.as_str()).filter(|_| !self.gone.load(Ordering::SeqCst)))
    }
    async fn create_token(
        &self,
        actor: &Actor,
        _: &Means,
        label: &str,
        lifetime: Option<u64>,
    ) -> Result<NewToken> {
        let expires_at = lifetime.map(|seconds| Timestamp(seconds as i64 * 1000));
        let view = TokenView { id: 1, label: label.into(), created_at: Timestamp(0), expires_at };
        Ok(NewToken { token: format!("token-of-{}", actor.user), view })
    }
    async fn tokens(&self, _: &Actor) -> Result<Vec<TokenView>> {
        Ok(Vec::new())
    }
    async fn revoke_token(&self, _: &Actor, _: i64) -> Result<()> {
        Ok(())
    }
    async fn list(&self, actor: &Actor) -> Result<Vec<UserView>> {
        let name = actor.user.clone();
        let virtual_clusters = vec![VirtualClusterName::default()];
        Ok(vec![UserView {
            name,
            admin: false,
            virtual_clusters,
            groups: Vec::new(),
            provider: None,
            mail: None,
            created_at: Timestamp(0),
        }])
    }
    async fn create(&self, _: &Actor, _: NewUser) -> Result<()> {
        Err(Error::new(ErrorCode::ForbiddenUserError, "Non-admin is not allowed to do this."))
    }
    async fn set_password(&self, _: &Actor, _: PasswordChange) -> Result<()> {
        Ok(())
    }
    async fn set_admin(&self, _: &Actor, _: &UserName, _: bool) -> Result<()> {
        Ok(())
    }
    async fn end_access(&self, _: &Actor, _: &UserName) -> Result<()> {
        Ok(())
    }
    async fn remove(&self, _: &Actor, _: &UserName) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Groups for World {
    async fn list(&self, _: &Actor) -> Result<Vec<GroupView>> {
        Ok(Vec::new())
    }
    async fn set(&self, _: &Actor, _: &UserName, _: Vec<GroupName>) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl SignIns for World {
    async fn enter(&self, _: Person) -> Result<Actor> {
        Err(Error::new(ErrorCode::ForbiddenUserError, "nobody vouches for anybody here"))
    }
    async fn session_seconds(&self, _: &UserName) -> Result<Option<u64>> {
        Ok(None)
    }
}

impl Changes for World {
    fn subscribe(&self, _: &Actor) -> BoxStream<'static, Change> {
        let changes = BroadcastStream::new(self.changes.subscribe());
        changes.map(|change| change.unwrap_or(Change::Missed)).boxed()
    }
}
