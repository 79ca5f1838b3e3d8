//! Nodes that exist in memory only, for demonstrations, measurements and tests.
//!
//! `sim://NAME?cpus=16&memory_mb=65536&disk_gb=1000&gpus=8xA100,2xV100&duration=1.5`: all but the
//! name may be left out. Nodes live as long as the process, by name: whoever connects again finds
//! the containers that were there.
//!
//! What a container does follows from its command. `sleep N` anywhere lets it run N seconds
//! (several add up), otherwise it runs for `duration` seconds (0). `exit N` gives its exit code,
//! `kill -N $$` the code 128 + N, `tail /dev/zero` a death by memory. A command with `trap ''`
//! ignores SIGTERM. Its log repeats the command; `watch -n N` anywhere adds a line every N seconds.
//! Images with `missing` or `denied` in their name cannot be pulled, those with `unfit` cannot be
//! started, those with `private` are pulled only with the password `open sesame`, and they are not
//! there before; all others are there, unless [`SimHandle::set_pull_time`] says otherwise. Saved
//! images are where they were saved, and one has the files that its container had. What runs uses
//! what a training would that reads its data, computes, and writes now and then; one job in eleven
//! leaves its GPUs alone, one in thirteen every other of them, and one in seventeen needs little of
//! what it asked for.

mod address;
mod container;
mod faults;
mod files;
mod handle;
mod images;
pub mod load;
mod node;
mod plan;
mod shelf;
mod streams;
mod volumes;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use protocol::gpus::{GpuFault, Reading, Told};
use protocol::ids::TaskKey;
use protocol::resources::Gpu;
use protocol::spec::{GraceSignal, RegistryAuth};

use crate::engine::Engine;
use crate::exporter::GpuSample;
use crate::filling::{self, CLUSTER_LABEL};
use crate::model::{
    Container, ContainerSpec, ContainerStatus, DiskRoom, EngineInfo, Exec, LogChunk, LogRequest,
    Result, Stats, Stranger,
};
use crate::volume::{Content, Volume};
pub(crate) use address::SimAddress;
pub use container::Given;
pub use faults::{Call, Fault};
pub use handle::SimHandle;
use node::Node;

/// A simulated node's engine.
#[derive(Debug, Clone)]
pub struct Simulated {
    node: Arc<Node>,
}

impl Simulated {
    pub(crate) fn open(address: SimAddress) -> Self {
        let node = Node::named(&address.name);
        node.configure(address.capacity, address.duration);
        Self { node }
    }

    /// The strings by which a test pulls at a node; the node is made if it is not there.
    #[must_use]
    pub fn handle(name: &str) -> SimHandle {
        SimHandle { node: Node::named(name) }
    }
}

#[async_trait]
impl Engine for Simulated {
    async fn info(&self) -> Result<EngineInfo> {
        self.node.reach(|state| {
            Ok(EngineInfo {
                id: Some(
                    state.id.clone().unwrap_or_else(|| format!("simulated {}", self.node.name)),
                ),
                version: "Simulated 1".to_owned(),
                cpus: state.capacity.cpus,
                memory_mb: state.capacity.memory_mb,
                disk_gb: Some(state.capacity.disk_gb),
                gpus: state.capacity.gpus.clone(),
                architecture: state.architecture.clone(),
                tasks_address: None,
                clock: Some(state.now()),
            })
        })
    }

    async fn list(&self, cluster: &str) -> Result<Vec<Container>> {
        let panics = self.node.look(|state| std::mem::take(&mut state.next_list_panics));
        assert!(!panics, "this list was to panic");
        tokio::time::sleep(self.node.look(|state| state.list_time)).await;
        self.node.call(Call::List, |state| Ok(state.list(cluster))).await
    }

    async fn strangers(&self, cluster: &str) -> Result<Vec<Stranger>> {
        self.node.reach(|state| Ok(state.strangers(cluster)))
    }

    async fn written(&self, cluster: &str) -> Result<HashMap<TaskKey, u64>> {
        self.node.reach(|state| Ok(state.written(cluster)))
    }

    async fn inspect(&self, name: &str) -> Result<Option<Container>> {
        self.node.reach(|state| match state.inspect_error.clone() {
            Some(error) => Err(error),
            None => Ok(state.find(name).ok().map(|found| found.view(name))),
        })
    }

    async fn labels(&self, name: &str) -> Result<BTreeMap<String, String>> {
        self.node.reach(|state| Ok(state.find(name)?.kept.labels()))
    }

    async fn has_image(&self, image: &str) -> Result<bool> {
        self.node.reach(|state| Ok(state.has_image(image)))
    }

    async fn pull(
        &self,
        image: &str,
        auth: Option<&RegistryAuth>,
    ) -> Result<BoxStream<'static, Result<String>>> {
        self.node.reach(|_| Ok(()))?;
        Ok(streams::pull(Arc::clone(&self.node), image.to_owned(), auth))
    }

    async fn create(&self, spec: &ContainerSpec) -> Result<String> {
        let panics = self.node.look(|state| std::mem::take(&mut state.next_create_panics));
        assert!(!panics, "this create was to panic");
        let (id, has_run) = self.node.call(Call::Create, |state| state.create(spec)).await?;
        if has_run {
            return Ok(id);
        }
        for volume in spec.volumes() {
            if !filling::stands(self, volume).await? {
                self.remove(&spec.name()).await?;
                return Err(filling::removed(volume));
            }
        }
        Ok(id)
    }

    async fn start(&self, name: &str) -> Result<()> {
        self.node.call(Call::Start, |state| state.told_to_start(name)).await
    }

    async fn stop(&self, name: &str, grace: Duration) -> Result<()> {
        let ask = |state: &mut node::State| {
            state.stops += 1;
            Ok(state.ignores_term(name))
        };
        let ignores = self.node.call(Call::Stop, ask).await?;
        if ignores {
            tokio::time::sleep(grace).await;
        }
        let signal = if ignores { 9 } else { 15 };
        self.node.reach_and_wake(|state| {
            state.kill(name, signal);
            Ok(())
        })
    }

    async fn signal(&self, name: &str, signal: GraceSignal) -> Result<()> {
        self.node.reach_and_wake(|state| {
            *state.signals.entry(signal).or_default() += 1;
            if !state.ignores_term(name) {
                state.kill(name, signal.number());
            }
            Ok(())
        })
    }

    async fn remove(&self, name: &str) -> Result<()> {
        let remove = |state: &mut node::State| {
            state.remove(name);
            Ok(())
        };
        self.node.call(Call::Remove, remove).await
    }

    async fn changes(&self, _cluster: &str) -> Result<BoxStream<'static, Result<()>>> {
        self.node.reach(|_| Ok(()))?;
        Ok(streams::changes(Arc::clone(&self.node)))
    }

    async fn logs(
        &self,
        name: &str,
        request: LogRequest,
    ) -> Result<BoxStream<'static, Result<LogChunk>>> {
        self.node.reach(|state| state.find(name).map(drop))?;
        Ok(streams::logs(Arc::clone(&self.node), name.to_owned(), request))
    }

    async fn stats(&self, name: &str) -> Result<Stats> {
        tokio::time::sleep(self.node.look(|state| state.stats_time)).await;
        self.node.reach(|state| {
            let found = state.find(name)?;
            Ok(match found.status() {
                ContainerStatus::Running { started_at } => {
                    let asked = (found.kept.cpus, found.kept.memory_mb);
                    load::of_task(found.key.job, asked, state.now().since(started_at))
                }
                ContainerStatus::Created | ContainerStatus::Exited { .. } => Stats::default(),
            })
        })
    }

    async fn exec(&self, name: &str, command: Vec<String>, _tty: bool) -> Result<Exec> {
        let id = self.node.reach(|state| state.begin_exec(name))?;
        Ok(streams::exec(Arc::clone(&self.node), name.to_owned(), id, &command))
    }

    async fn resize_exec(&self, id: &str, _columns: u16, _rows: u16) -> Result<()> {
        self.node.reach(|state| state.exec_code(id).map(drop))
    }

    async fn exec_code(&self, id: &str) -> Result<Option<i32>> {
        self.node.reach(|state| state.exec_code(id))
    }

    async fn provide(&self, volume: &Volume, image: &str, content: &dyn Content) -> Result<String> {
        filling::provide(self, self.node.filling(), volume, image, content).await
    }

    async fn volumes(&self, cluster: &str) -> Result<Vec<Volume>> {
        let found = self.node.reach(|state| Ok(state.volumes.labelled(CLUSTER_LABEL, cluster)))?;
        Ok(filling::known(cluster, found))
    }

    async fn remove_volume(&self, name: &str) -> Result<()> {
        self.node.call(Call::RemoveVolume, |_| Ok(())).await?;
        filling::discard(self, name).await
    }

    async fn put_archive(&self, name: &str, folder: &str, tar: Bytes) -> Result<()> {
        self.node.reach(|state| state.find_mut(name)?.files.unpack(folder, &tar))
    }

    async fn get_archive(
        &self,
        name: &str,
        path: &str,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let tar = self.node.reach(|state| state.find(name)?.pack(path))?;
        Ok(stream::iter([Ok(tar)]).boxed())
    }

    async fn probe_gpus(&self, _image: &str) -> Result<Reading> {
        self.node.reach(|state| {
            state.probes += 1;
            Ok(state.gpus.clone().unwrap_or_else(|| reading(&state.capacity.gpus)))
        })
    }

    async fn gpu_samples(&self) -> Result<Vec<GpuSample>> {
        self.node.reach(|state| Ok(state.gpu_samples()))
    }

    async fn ask_gpus(&self) -> Result<Vec<GpuSample>> {
        self.node.call(Call::AskGpus, |state| Ok(state.gpu_samples())).await
    }

    async fn disk_room(&self) -> Result<Option<DiskRoom>> {
        self.node.reach(|state| Ok(state.disk))
    }
}

/// What drivers say of these GPUs.
fn reading(gpus: &[Gpu]) -> Reading {
    let told = |gpu: &Gpu| Told {
        index: gpu.index,
        uuid: gpu.uuid.clone(),
        model: Some(gpu.gpu_type.to_string()),
        profile: None,
        part_of: None,
        memory_mb: load::memory_mb(Some(&gpu.gpu_type)),
        fault: (!gpu.healthy).then_some(GpuFault::Silent),
        gpu_type: Some(gpu.gpu_type.clone()),
    };
    Reading { gpus: gpus.iter().map(told).collect(), ..Reading::default() }
}
