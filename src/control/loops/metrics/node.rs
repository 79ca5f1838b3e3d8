//! What runs on one node.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use api::metrics::{IdleGpu, Metric};
use engine::exporter::GpuSample;
use engine::{Engine, Stats};
use protocol::ids::{NodeName, TaskKey};
use protocol::time::Timestamp;
use tokio::sync::Semaphore;

use super::idle;
use crate::container::samples;
use crate::known::capacity::gpu_indices;
use crate::known::identity::Identity;
use crate::known::metrics::{History, MOST_GPUS, Use, together};
use crate::known::readings::Readings;
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

/// A node may take so long for all that is asked of it.
const PATIENCE: Duration = Duration::from_secs(60);
/// An engine may take so long for one task.
const PATIENCE_EACH: Duration = Duration::from_secs(5);
/// What ran for so long when it is seen first may have been measured before, in milliseconds.
const BEFORE: i64 = 30_000;

/// So many tasks begin to be measured at the same time: each is looked up, and thousands may have begun to run.
static BEGINNINGS: Semaphore = Semaphore::const_new(32);

/// A node, and what is seen to run on it.
#[derive(Debug)]
pub(super) struct Node {
    pub(super) name: NodeName,
    pub(super) engine: Arc<dyn Engine>,
    /// Tasks, and since when they run.
    pub(super) running: Vec<(TaskKey, Timestamp)>,
    /// Where its GPUs are told of.
    pub(super) exporter: Option<String>,
    /// Its driver is asked of them.
    pub(super) asked: bool,
}

/// What a task begins to be measured with.
struct Begun {
    since: i64,
    gpus: Vec<u32>,
    /// What was kept of it before the server was away.
    kept: Option<History>,
}

impl Node {
    /// Measures what runs, and gives the node's name back.
    pub(super) async fn measure(self, shared: &Shared) -> NodeName {
        if tokio::time::timeout(PATIENCE, self.ask(shared)).await.is_err() {
            tracing::debug!(node = %self.name, "what runs on it could not be measured in time");
        }
        self.name
    }

    async fn ask(&self, shared: &Shared) {
        let (exporter, engine) = (self.exporter.as_deref(), self.engine.as_ref());
        let gpus =
            samples::read(&shared.nodes, &shared.readings, &self.name, exporter, engine).await;
        samples::note(shared, &self.name, &gpus).await;
        let measured = self.exporter.is_some() || self.asked || !gpus.is_empty();
        let mut uses = Vec::new();
        for (key, started_at) in &self.running {
            let Some(stats) = self.stats(&shared.identity, key).await else { continue };
            let at = now();
            if !shared.readings.measured.holds(key) {
                let begun = self.begun(&shared.store, key, (*started_at, at), measured).await;
                let Some(Begun { since, gpus, kept }) = begun else { continue };
                shared.readings.measured.begin(*key, since, gpus, at);
                if let Some(kept) = kept {
                    shared.readings.measured.remember(key, &kept, at);
                    shared.readings.lately.of_jobs.remember(&key.job, &kept, at);
                }
            }
            uses.extend(shared.readings.measured.note(key, at, &stats, &gpus));
            shared.readings.lately.of_jobs.note(
                &key.job,
                at,
                &shared.readings.measured.loads(key, &gpus),
            );
        }
        let at = now();
        let loads: Vec<f32> = gpus.iter().filter_map(|gpu| gpu.load).collect();
        shared.readings.lately.of_nodes.note(&self.name, at, &loads);
        self.note(shared, at, &uses, &gpus).await;
        shared.readings.loads.note(&self.name, at, &gpus, &self.idle(&shared.readings, at));
        idle::tell(shared, &self.name, &self.running, at).await;
    }

    /// Notes what the node does with all that runs there.
    async fn note(&self, shared: &Shared, at: Timestamp, uses: &[Use], samples: &[GpuSample]) {
        let mut gpus = shared.nodes.cluster().node(&self.name).map(gpu_indices).unwrap_or_default();
        gpus.truncate(MOST_GPUS);
        if !shared.readings.measured_nodes.has_gpus(&self.name, &gpus) {
            let kept = match shared.store.storage.kept_node_metrics(&self.name).await {
                Ok(kept) => kept.and_then(|kept| History::from_bytes(&kept)),
                Err(error) => {
                    tracing::debug!(node = %self.name, %error, "what was measured cannot be read");
                    return;
                }
            };
            // With other GPUs than before it begins anew.
            let kept = kept.filter(|kept| kept.gpus() == gpus);
            let since = kept.as_ref().map_or(at.0, History::since);
            shared.readings.measured_nodes.begin(self.name.clone(), since, gpus, at);
            if let Some(kept) = kept {
                shared.readings.lately.of_nodes.remember(&self.name, &kept, at);
            }
        }
        let uses = match self.running.is_empty() {
            true => [Some(0.0); Metric::OF_TASK.len()],
            false => together(uses),
        };
        shared.readings.measured_nodes.push(&self.name, at, uses, samples);
    }

    /// The GPUs that do nothing for any of those who hold them, and since when.
    fn idle(&self, readings: &Readings, at: Timestamp) -> HashMap<u32, Timestamp> {
        let mut idle = HashMap::new();
        let of_tasks = self.running.iter().flat_map(|(key, _)| readings.measured.idle(key, at));
        for IdleGpu { gpu, since } in of_tasks {
            let latest = idle.entry(gpu).or_insert(since);
            *latest = since.max(*latest);
        }
        idle
    }

    async fn stats(&self, identity: &Identity, key: &TaskKey) -> Option<Stats> {
        let name = key.container_name(&identity.installation);
        match tokio::time::timeout(PATIENCE_EACH, self.engine.stats(&name)).await {
            Ok(Ok(stats)) => Some(stats),
            // It has just ended, or the node is about to be silent: its watcher tells of both.
            Ok(Err(_)) | Err(_) => None,
        }
    }

    /// Since when a task is measured and which GPUs it has, as its file says or as it is now where GPUs
    /// are measured; `None`: that cannot be told now.
    async fn begun(
        &self,
        store: &Store,
        key: &TaskKey,
        (started_at, at): (Timestamp, Timestamp),
        measured: bool,
    ) -> Option<Begun> {
        let _permit = BEGINNINGS.acquire().await.ok()?;
        let anew = |gpus| Begun { since: at.0, gpus, kept: None };
        if at.since(started_at) > BEFORE {
            match store.storage.kept_metrics(key).await {
                Ok(Some(kept)) => {
                    if let Some(history) = History::from_bytes(&kept) {
                        let (since, gpus) = (history.since(), history.gpus().to_vec());
                        return Some(Begun { since, gpus, kept: Some(history) });
                    }
                    tracing::warn!(?key, "what was measured before is damaged; it begins anew");
                }
                Ok(None) => {}
                Err(error) => {
                    tracing::warn!(?key, %error, "what was measured before cannot be read");
                    return None;
                }
            }
        }
        if !measured {
            return Some(anew(Vec::new()));
        }
        let task = database::tasks::get(store.database.read(), key).await.ok()?;
        Some(anew(task.map_or_else(Vec::new, |task| task.placement.gpus)))
    }
}
