//! What every engine keeps, whatever it is made of.

mod images;
mod inside;
mod life;

use std::collections::BTreeMap;
use std::future::Future;
use std::sync::Arc;
use std::time::Duration;

use engine::{Container, ContainerSpec, ContainerStatus, Engine, LogRequest, Network};
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use protocol::cluster::GpuRuntime;
use protocol::epoch::Epoch;
use protocol::ids::{JobId, TaskKey};

/// Longer than anything here takes; a hang fails the test instead of keeping it.
pub(crate) const LIMIT: Duration = Duration::from_secs(90);

/// An engine and an image it has.
#[derive(Debug, Clone)]
pub(crate) struct World {
    pub(crate) engine: Arc<dyn Engine>,
    pub(crate) image: String,
}

impl World {
    pub(crate) fn spec(&self, job: i64, command: &str) -> ContainerSpec {
        ContainerSpec {
            cluster: "test".into(),
            key: TaskKey { job: JobId(job), attempt: 0, role: 1, index: 2, retry: 0 },
            epoch: Epoch::default().next(7),
            labels: BTreeMap::from([("berth.user".into(), "alice".into())]),
            image: self.image.clone(),
            command: command.into(),
            guest: None,
            job_env: Arc::from([("GREETING".into(), "a bad day".into())]),
            env: vec![("GREETING".into(), "good day".into())],
            cpus: 1,
            memory_mb: 64,
            shm_mb: 16,
            gpus: Vec::new(),
            gpu_runtime: GpuRuntime::None,
            infiniband: false,
            code: None,
            folders: Vec::new(),
            shares: Vec::new(),
            network: Network::Host,
        }
    }

    /// Makes and starts a container; gives its name.
    pub(crate) async fn run(&self, job: i64, command: &str) -> String {
        let spec = self.spec(job, command);
        self.engine.create(&spec).await.unwrap();
        self.engine.start(&spec.name()).await.unwrap();
        spec.name()
    }

    pub(crate) async fn see(&self, name: &str) -> Container {
        self.engine.inspect(name).await.unwrap().expect("the container is there")
    }

    /// Waits for the end by the engine's own changes.
    pub(crate) async fn end(&self, name: &str) -> ContainerStatus {
        let waiting = async {
            let mut changes = self.engine.changes("test").await.unwrap();
            loop {
                let status = self.see(name).await.status;
                if matches!(status, ContainerStatus::Exited { .. }) {
                    return status;
                }
                changes.next().await.expect("the engine lives").unwrap();
            }
        };
        tokio::time::timeout(LIMIT, waiting).await.expect("the container ends")
    }

    pub(crate) async fn code(&self, name: &str) -> i32 {
        match self.end(name).await {
            ContainerStatus::Exited { code, .. } => code,
            ContainerStatus::Created | ContainerStatus::Running { .. } => unreachable!("it ended"),
        }
    }

    pub(crate) async fn log(&self, name: &str, request: LogRequest) -> String {
        let reading = async {
            let chunks = self.engine.logs(name, request).await.unwrap();
            let chunks: Vec<_> = chunks.try_collect().await.unwrap();
            chunks.into_iter().flat_map(|chunk| chunk.bytes).collect::<Vec<u8>>()
        };
        let bytes = tokio::time::timeout(LIMIT, reading).await.expect("the log ends");
        String::from_utf8(bytes).unwrap()
    }

    /// What a task writes that ends well.
    pub(crate) async fn said(&self, spec: &ContainerSpec) -> String {
        self.engine.create(spec).await.unwrap();
        self.engine.start(&spec.name()).await.unwrap();
        let code = self.code(&spec.name()).await;
        let log = self.log(&spec.name(), LogRequest::default()).await;
        assert_eq!(code, 0, "{log}");
        log
    }

    async fn names(&self) -> Vec<String> {
        let list = self.engine.list("test").await.unwrap();
        list.into_iter().map(|container| container.name).collect()
    }
}

/// Runs all cases side by side and tells every one that failed.
pub(crate) async fn keeps_the_contract(world: World) {
    let mut cases = Cases { world, running: Vec::new() };
    cases.add("created twice", life::created_twice);
    cases.add("another epoch", life::another_epoch);
    cases.add("strangers", life::strangers);
    cases.add("started twice", life::started_twice);
    cases.add("exit codes", life::exit_codes);
    cases.add("memory", life::memory);
    cases.add("stop", life::stop);
    cases.add("signal", life::signal);
    cases.add("stop by force", life::stop_by_force);
    cases.add("removed twice", life::removed_twice);
    cases.add("no image", images::no_image);
    cases.add("nothing there", life::nothing_there);
    cases.add("written", inside::written);
    cases.add("log", inside::log);
    cases.add("log followed", inside::log_followed);
    cases.add("stats", inside::stats);
    cases.add("exec", inside::exec);
    cases.add("archive", inside::archive);
    cases.add("images", images::images);
    cases.add("volumes", images::volumes);
    cases.add("changes", life::changes);
    cases.add("an end is seen", life::an_end_is_seen);
    cases.add("info", info);
    cases.finish().await;
}

pub(crate) struct Cases {
    pub(crate) world: World,
    pub(crate) running: Vec<(&'static str, tokio::task::JoinHandle<()>)>,
}

impl Cases {
    pub(crate) fn add<F: Future<Output = ()> + Send + 'static>(
        &mut self,
        name: &'static str,
        case: impl FnOnce(World) -> F,
    ) {
        self.running.push((name, tokio::spawn(case(self.world.clone()))));
    }

    pub(crate) async fn finish(self) {
        let mut failed = Vec::new();
        for (name, case) in self.running {
            if case.await.is_err() {
                failed.push(name);
            }
        }
        assert!(failed.is_empty(), "failed, with their reasons above: {failed:?}");
        for name in self.world.names().await {
            self.world.engine.remove(&name).await.unwrap();
        }
        assert_eq!(self.world.names().await, Vec::<String>::new());
    }
}

async fn follow(world: &World, name: &str) -> BoxStream<'static, String> {
    let request = LogRequest { follow: true, ..Default::default() };
    let log = world.engine.logs(name, request).await.unwrap();
    log.map(|chunk| String::from_utf8_lossy(&chunk.unwrap().bytes).into_owned()).boxed()
}

async fn info(world: World) {
    let info = world.engine.info().await.unwrap();
    assert!(info.cpus > 0 && info.memory_mb > 100 && !info.version.is_empty(), "{info:?}");
}
