//! Nodes that exist in memory only, for demonstrations, measurements and tests.
//!
//! `sim://NAME?cpus=16&memory_mb=65536&disk_gb=1000&gpus=8xA100,2xV100&duration=1.5`: all but the
//! name may be left out. Nodes live as long as the process, by name: whoever connects again finds
//! the containers that were there.
//!
//! What a container does follows from its command. `sleep N` anywhere lets it run N seconds
//! (several add up), otherwise it runs for `duration` seconds (0). `exit N` gives its exit code,
//! `kill -N $$` the code 128 + N, `tail /dev/zero` a death by memory. A command with `trap ''`
//! ignores SIGTERM. Its log repeats the command. Images with `missing` or `denied` in their name
//! cannot be pulled, those with `unfit` cannot be started, those with `private` are pulled only with the
//! password `open sesame`, and they are not there before; all others are there, unless
//! [`SimHandle::set_pull_time`] says otherwise. Saved images are where they were saved, and one has the
//! files that its container had. What runs uses what a training would that reads its data, computes, and
//! writes now and then; one job in eleven leaves its GPUs alone, one in thirteen every other of them, and one in
//! seventeen needs little of what it asked for.

mod address;
mod container;
mod faults;
mod files;
mod images;
pub mod load;
mod node;
mod plan;
mod streams;
mod volumes;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use protocol::architecture::Architecture;
use protocol::gpus::{GpuFault, Reading, Told};
use protocol::ids::TaskKey;
use protocol::image::canonical;
use protocol::resources::{Capacity, Gpu};
use protocol::spec::{GraceSignal, RegistryAuth};
use protocol::time::Timestamp;

use crate::exporter::GpuSample;
use crate::filling::{self, CLUSTER_LABEL};
use crate::{
    Container, ContainerSpec, ContainerStatus, Content, DiskRoom, Engine, EngineError, EngineInfo,
    Exec, LogChunk, LogRequest, Result, Stats, Stranger, Volume,
};
pub(crate) use address::SimAddress;
pub use container::Given;
pub use faults::{Call, Fault};
use node::Node;

/// A simulated node's engine.
#[derive(Debug, Clone)]
pub struct Simulated {
    node: Arc<Node>,
}

impl Simulated {
    pub(crate) fn open(address: &SimAddress, declared: Option<&Capacity>) -> Self {
        let node = Node::named(&address.name);
        let capacity = declared.unwrap_or(&address.capacity);
        node.configure(capacity.clone(), address.duration);
        Self { node }
    }

    /// The strings by which a test pulls at a node; the node is made if it is not there.
    #[must_use]
    pub fn handle(name: &str) -> SimHandle {
        SimHandle { node: Node::named(name) }
    }
}

/// Makes a simulated node fail.
#[derive(Debug, Clone)]
pub struct SimHandle {
    node: Arc<Node>,
}

impl SimHandle {
    /// Cuts the node off, or joins it again; its containers run on meanwhile.
    pub fn set_unreachable(&self, unreachable: bool) {
        self.node.change(|state| state.unreachable = unreachable);
    }

    /// From now on images must be pulled, and a pull takes so long; `None`: all are there.
    pub fn set_pull_time(&self, time: Option<Duration>) {
        self.node.change(|state| state.pull_time = time);
    }

    /// From now on a list of the containers takes so long.
    pub fn set_list_time(&self, time: Duration) {
        self.node.change(|state| state.list_time = time);
    }

    /// From now on a container's use is told after so long.
    pub fn set_stats_time(&self, time: Duration) {
        self.node.change(|state| state.stats_time = time);
    }

    /// From now on the saving of a container takes so long.
    pub fn set_commit_time(&self, time: Duration) {
        self.node.change(|state| state.commit_time = time);
    }

    /// What its drivers say from now on; `None`: that it has what its address says.
    pub fn set_gpus(&self, said: Option<Reading>) {
        self.node.change(|state| state.gpus = said);
    }

    /// How much room its disk has from now on; `None`: it does not tell.
    pub fn set_disk(&self, room: Option<DiskRoom>) {
        self.node.change(|state| state.disk = room);
    }

    /// How often its drivers were asked.
    #[must_use]
    pub fn probes(&self) -> u64 {
        self.node.look(|state| state.probes)
    }

    /// Names of all saved images.
    #[must_use]
    pub fn images(&self) -> Vec<String> {
        self.node.look(|state| state.images.keys().cloned().collect())
    }

    /// The next `create` fails so.
    pub fn fail_next_create(&self, error: EngineError) {
        self.node.change(|state| state.next_create_error = Some(error));
    }

    /// The next `create` panics, as whatever is not written for what it meets.
    pub fn panic_next_create(&self) {
        self.node.change(|state| state.next_create_panics = true);
    }

    /// The next list of the containers panics.
    pub fn panic_next_list(&self) {
        self.node.change(|state| state.next_list_panics = true);
    }

    /// The next `start` fails so.
    pub fn fail_next_start(&self, error: EngineError) {
        self.node.change(|state| state.next_start_error = Some(error));
    }

    /// From now on each `inspect` fails so; `None`: none does.
    pub fn set_inspect_error(&self, error: Option<EngineError>) {
        self.node.change(|state| state.inspect_error = error);
    }

    /// From now on each `start` fails so; `None`: none does.
    pub fn set_start_error(&self, error: Option<EngineError>) {
        self.node.change(|state| state.start_error = error);
    }

    /// From now on its clock is so many milliseconds ahead of the right one.
    pub fn set_clock_ahead(&self, millis: i64) {
        self.node.change(|state| state.clock_ahead = millis);
    }

    /// From now on its processors are said to be these.
    pub fn set_architecture(&self, architecture: Option<Architecture>) {
        self.node.change(|state| state.architecture = architecture);
    }

    /// From now on an image is said to be made for these processors.
    pub fn set_image_architecture(&self, image: &str, architecture: Architecture) {
        let image = canonical(image);
        self.node.change(|state| drop(state.image_architectures.insert(image, architecture)));
    }

    /// The machine goes down and is up again: what ran was asked to end.
    pub fn reboot(&self) {
        self.node.change(node::State::reboot);
    }

    /// All containers are gone, as after a disk was changed.
    pub fn lose_containers(&self) {
        self.node.change(node::State::lose);
    }

    /// A container writes these lines into its log at some moment.
    pub fn write_log(&self, container: &str, at: Timestamp, lines: impl Iterator<Item = String>) {
        self.node.change(|state| state.write(container, lines.map(|line| (at, line))));
    }

    /// A container that runs has run since then already.
    pub fn backdate(&self, container: &str, since: Timestamp) {
        self.node.change(|state| state.backdate(container, since));
    }

    /// How many bytes of logs were read on this node.
    #[must_use]
    pub fn log_bytes(&self) -> u64 {
        self.node.look(|state| state.log_bytes)
    }

    /// Names of all containers, of whatever cluster.
    #[must_use]
    pub fn containers(&self) -> Vec<String> {
        self.node.look(|state| state.names())
    }

    /// What containers have of the node's folders.
    #[must_use]
    pub fn given(&self) -> Vec<Given> {
        self.node.look(|state| state.given())
    }

    /// Waits until there is no container, of whatever cluster.
    pub async fn until_empty(&self) {
        let mut changes = self.node.watch();
        while !self.containers().is_empty() {
            if changes.changed().await.is_err() {
                return;
            }
        }
    }

    /// How often the container was made that was made most often: more than once means that a
    /// task ran twice in one attempt.
    #[must_use]
    pub fn most_made(&self) -> u32 {
        self.node.look(|state| state.made.values().copied().max().unwrap_or(0))
    }

    /// How many containers this node ever started.
    #[must_use]
    pub fn starts(&self) -> u64 {
        self.node.look(|state| state.starts)
    }

    /// How often containers of this node were sent which signals.
    #[must_use]
    pub fn signals(&self) -> BTreeMap<GraceSignal, u64> {
        self.node.look(|state| state.signals.clone())
    }

    /// How often this node was asked to stop a container.
    #[must_use]
    pub fn stops(&self) -> u64 {
        self.node.look(|state| state.stops)
    }
}

#[async_trait]
impl Engine for Simulated {
    async fn info(&self) -> Result<EngineInfo> {
        self.node.reach(|state| {
            Ok(EngineInfo {
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
        self.node.reach(|state| Ok(state.find(name)?.kept.labels.clone()))
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
        let tar = self.node.reach(|state| state.find(name)?.files.pack(path))?;
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
        memory_mb: load::MEMORY_MB,
        fault: (!gpu.healthy).then_some(GpuFault::Silent),
        gpu_type: Some(gpu.gpu_type.clone()),
    };
    Reading { gpus: gpus.iter().map(told).collect(), ..Reading::default() }
}
