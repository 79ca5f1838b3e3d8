//! A server's control over simulated nodes.

use std::path::Path;
use std::sync::atomic::{AtomicU32, Ordering};
use std::time::Duration;

use api::cluster::NodeView;
use api::jobs::{JobDetail, Submission};
use api::{Actor, Backend};
use control::{Control, Options};
use database::Database;
use engine::simulated::{SimHandle, Simulated};
use futures::StreamExt;
use protocol::cluster::{GpuCount, GpuRuntime, NodeSettings};
use protocol::ids::{GpuType, JobKey, NodeName};
use protocol::resources::PortRange;
use protocol::state::State;
use storage::Storage;

/// Long enough for anything that happens at all.
pub(crate) const PATIENCE: Duration = Duration::from_secs(60);

/// Simulated nodes are known by name in the whole process: each test has its own.
static HOUSES: AtomicU32 = AtomicU32::new(0);

/// A folder with a database and the names of a few nodes.
pub(crate) struct House {
    folder: tempfile::TempDir,
    nodes: Vec<String>,
}

impl House {
    pub(crate) fn new(nodes: usize) -> Self {
        let house = HOUSES.fetch_add(1, Ordering::Relaxed);
        let process = std::process::id();
        Self {
            folder: tempfile::tempdir().unwrap(),
            nodes: (0..nodes).map(|node| format!("h{process}-{house}-{node}")).collect(),
        }
    }

    pub(crate) fn path(&self) -> &Path {
        self.folder.path()
    }

    pub(crate) fn node(&self, index: usize) -> SimHandle {
        Simulated::handle(&self.nodes[index])
    }

    pub(crate) fn index_of(&self, node: &NodeName) -> usize {
        self.nodes.iter().position(|name| name == node.as_str()).unwrap()
    }

    pub(crate) fn options(&self, database: Database) -> Options {
        let storage = Storage::open(self.path().join("storage").to_str().unwrap()).unwrap();
        Options {
            nodes: self.nodes.iter().map(|name| node(name)).collect(),
            admin_password: Some("correct horse".into()),
            ..Options::new(database, storage, self.path().to_owned())
        }
    }

    pub(crate) async fn database(&self) -> Database {
        let file = self.path().join("berth.db");
        Database::open(&format!("sqlite://{}", file.display())).await.unwrap()
    }

    pub(crate) async fn start(&self) -> Control {
        control::start(self.options(self.database().await)).await.unwrap()
    }
}

/// The end of a test, or of a server in it: what it knows is what it has stored.
pub(crate) async fn close(control: &Control) {
    control.sanity_check().await;
    control.shutdown().await;
}

fn node(name: &str) -> NodeSettings {
    NodeSettings {
        name: NodeName::new(name).unwrap(),
        address: format!("10.0.0.{}", name.rsplit('-').next().unwrap()),
        endpoint: format!("sim://{name}"),
        cpus: Some(16),
        memory_mb: Some(65_536),
        disk_gb: None,
        gpus: Some(vec![GpuCount { gpu_type: GpuType::new("TITANX").unwrap(), count: 8 }]),
        gpu_runtime: GpuRuntime::None,
        ports: PortRange::default(),
        labels: std::collections::BTreeMap::new(),
        links: Vec::new(),
        shares_gpus: false,
        network: None,
        metrics: None,
    }
}

pub(crate) fn admin() -> Actor {
    Actor { user: "admin".parse().unwrap(), admin: true }
}

pub(crate) fn key(name: &str) -> JobKey {
    JobKey { user: "admin".parse().unwrap(), name: name.parse().unwrap() }
}

/// A job of one role.
pub(crate) fn job(name: &str, tasks: u32, gpus: u32, command: &str, more: &str) -> String {
    format!(
        r#"{{"jobName": "{name}", "image": "berth/base", {more}
            "taskRoles": [{{"name": "worker", "taskNumber": {tasks}, "cpuNumber": 1,
                "memoryMB": 1024, "gpuNumber": {gpus}, "command": "{command}"}}]}}"#
    )
}

pub(crate) async fn submit(backend: &Backend, text: String) {
    let submission = Submission { text, cloned_from: None, expected_name: None };
    backend.jobs.submit(&admin(), submission).await.unwrap();
}

/// Waits for changes until the job is as wanted.
pub(crate) async fn until(
    backend: &Backend,
    name: &str,
    wanted: impl Fn(&JobDetail) -> bool,
) -> JobDetail {
    let mut changes = backend.changes.subscribe(&admin());
    let waiting = async {
        loop {
            let detail = backend.jobs.get(&admin(), &key(name)).await.unwrap();
            if wanted(&detail) {
                return detail;
            }
            changes.next().await;
        }
    };
    match tokio::time::timeout(PATIENCE, waiting).await {
        Ok(detail) => detail,
        Err(_) => {
            let detail = backend.jobs.get(&admin(), &key(name)).await.unwrap();
            panic!("{name} is not as wanted but {detail:#?}");
        }
    }
}

pub(crate) async fn until_state(backend: &Backend, name: &str, state: State) -> JobDetail {
    until(backend, name, |detail| detail.summary.state == state).await
}

/// Waits for changes until the node is as wanted.
pub(crate) async fn until_node(
    backend: &Backend,
    name: &NodeName,
    wanted: impl Fn(&NodeView) -> bool,
) -> NodeView {
    let mut changes = backend.changes.subscribe(&admin());
    let waiting = async {
        loop {
            let node = backend.nodes.get(&admin(), name).await.unwrap();
            if wanted(&node) {
                return node;
            }
            changes.next().await;
        }
    };
    tokio::time::timeout(PATIENCE, waiting).await.unwrap()
}
