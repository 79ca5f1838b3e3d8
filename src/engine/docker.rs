//! Docker Engines, by bollard.

mod cache;
mod clock;
mod commit;
mod connection;
mod create;
mod disk;
mod failure;
mod gpus;
mod identity;
mod images;
mod network;
mod observe;
mod provide;
mod pull;
mod shape;
mod ssh;
mod stats;
mod streams;

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use bollard::exec::{CreateExecOptions, ResizeExecOptions, StartExecOptions, StartExecResults};
use bollard::query_parameters::{
    DownloadFromContainerOptions, KillContainerOptions, RemoveContainerOptions,
    StartContainerOptions, StopContainerOptions,
};
use bytes::Bytes;
use futures::stream::BoxStream;
use futures::{StreamExt, TryStreamExt};
use protocol::architecture::Architecture;
use protocol::cluster::GpuRuntime;
use protocol::gpus::Reading;
use protocol::ids::TaskKey;
use protocol::spec::{GraceSignal, RegistryAuth};
use tokio::sync::{Mutex, OnceCell};

use crate::engine::Engine;
use crate::exporter::GpuSample;
use crate::filling::{self, CLUSTER_LABEL, Shelf};
use crate::model::{
    Container, ContainerSpec, ContainerStatus, DiskRoom, EngineError, EngineInfo, Exec, LogChunk,
    LogRequest, OwnNetwork, Result, Stats, Stranger,
};
use crate::volume::{Content, Volume};
use cache::Cache;
pub(crate) use connection::Transport;
use connection::{CALL, Connection, HEARTBEAT, WORK};
pub(crate) use failure::of_another_epoch;
use failure::{classify, start_failure, status_of};

/// A Docker Engine.
#[derive(Debug)]
pub(crate) struct DockerEngine {
    connection: Connection,
    gpu_runtime: GpuRuntime,
    network: Option<OwnNetwork>,
    facts: OnceCell<Facts>,
    cache: Arc<Cache>,
    /// Held while a volume is being filled.
    filling: Mutex<()>,
}

/// What does not change while the engine is up, asked once.
#[derive(Debug, Clone, Copy)]
struct Facts {
    has_init: bool,
    cpus: u32,
    /// Images are kept by containerd, and not by the engine itself.
    containerd_images: bool,
    /// Of which platform images are asked for, by engines that can be asked for one.
    platform: Option<&'static str>,
    /// The version of a Podman that leaves out devices that are asked for by name.
    old_podman: Option<(u32, u32)>,
}

impl DockerEngine {
    pub(crate) fn new(
        transport: Transport,
        gpu_runtime: GpuRuntime,
        network: Option<OwnNetwork>,
    ) -> Self {
        Self {
            connection: Connection::new(transport),
            gpu_runtime,
            network,
            facts: OnceCell::new(),
            cache: Arc::default(),
            filling: Mutex::default(),
        }
    }

    async fn facts(&self) -> Result<Facts> {
        self.facts
            .get_or_try_init(|| async {
                let info = self.connection.call(CALL, |docker| async move { docker.info().await });
                let info = info.await.map_err(|error| classify(error, ""))?;
                // Docker answers `N/A` for the version of an init binary that it cannot run.
                let init = info.init_commit.and_then(|commit| commit.id);
                let driver = info.driver_status.unwrap_or_default().concat().join(" ");
                let version = info.server_version.as_deref().unwrap_or_default();
                Ok(Facts {
                    has_init: init.as_deref() != Some("N/A"),
                    cpus: count(info.ncpu),
                    containerd_images: driver.contains("io.containerd.snapshotter"),
                    platform: pull::platform(
                        version,
                        info.architecture.as_deref().unwrap_or_default(),
                    ),
                    old_podman: gpus::old_podman(version),
                })
            })
            .await
            .copied()
    }
}

#[async_trait]
impl Engine for DockerEngine {
    async fn info(&self) -> Result<EngineInfo> {
        let info = self.connection.call(HEARTBEAT, |docker| async move { docker.info().await });
        let info = info.await.map_err(|error| classify(error, ""))?;
        let tasks_address = match &self.network {
            Some(own) => Some(network::ensure(&self.connection, own).await?),
            None => None,
        };
        Ok(EngineInfo {
            id: identity::of(info.id, info.name, info.docker_root_dir),
            tasks_address,
            clock: info.system_time.as_deref().and_then(clock::timestamp),
            version: format!("Docker {}", info.server_version.unwrap_or_default()),
            cpus: count(info.ncpu),
            memory_mb: u64::try_from(info.mem_total.unwrap_or(0)).unwrap_or(0) >> 20,
            disk_gb: None,
            gpus: Vec::new(),
            architecture: info.architecture.as_deref().and_then(Architecture::new),
        })
    }

    async fn list(&self, cluster: &str) -> Result<Vec<Container>> {
        self.list_containers(cluster).await
    }

    async fn strangers(&self, cluster: &str) -> Result<Vec<Stranger>> {
        self.list_strangers(cluster).await
    }

    async fn written(&self, cluster: &str) -> Result<HashMap<TaskKey, u64>> {
        self.written_by_containers(cluster).await
    }

    async fn inspect(&self, name: &str) -> Result<Option<Container>> {
        Ok(self.inspect_raw(name).await?.and_then(|found| observe::container(&found)))
    }

    async fn labels(&self, name: &str) -> Result<BTreeMap<String, String>> {
        let found = self.inspect_raw(name).await?;
        let found = found.ok_or_else(|| EngineError::NoContainer(name.to_owned()))?;
        let labels = found.config.and_then(|config| config.labels).unwrap_or_default();
        Ok(labels.into_iter().collect())
    }

    async fn has_image(&self, image: &str) -> Result<bool> {
        match self.inspect_image(image).await {
            Ok(_) => Ok(true),
            Err(EngineError::NoImage { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    async fn pull(
        &self,
        image: &str,
        auth: Option<&RegistryAuth>,
    ) -> Result<BoxStream<'static, Result<String>>> {
        let platform = self.facts().await?.platform;
        Ok(pull::pull(self.connection.docker(WORK)?, (image, platform), auth))
    }

    async fn create(&self, spec: &ContainerSpec) -> Result<String> {
        self.create_container(spec).await
    }

    async fn start(&self, name: &str) -> Result<()> {
        // Docker would run an ended container a second time.
        let found = self.inspect(name).await?;
        match found.map(|container| container.status) {
            None => return Err(EngineError::NoContainer(name.to_owned())),
            Some(ContainerStatus::Running { .. }) => return Ok(()),
            Some(ContainerStatus::Exited { started_at: Some(_), .. }) => return Ok(()),
            Some(ContainerStatus::Created)
            | Some(ContainerStatus::Exited { started_at: None, .. }) => {}
        }
        let call = self.connection.call(WORK, |docker| async move {
            docker.start_container(name, None::<StartContainerOptions>).await
        });
        match call.await {
            Err(error) if failure::no_guest(&error) => {
                self.without_guest(name).await?;
                Err(EngineError::Failed(failure::words(&error)))
            }
            started => started.map_err(|error| start_failure(error, name)),
        }
    }

    async fn stop(&self, name: &str, grace: Duration) -> Result<()> {
        let seconds = grace.as_secs() + u64::from(grace.subsec_nanos() > 0);
        let options = StopContainerOptions {
            t: Some(i32::try_from(seconds).unwrap_or(i32::MAX)),
            signal: None,
        };
        let wait = grace.saturating_add(WORK);
        let call = self
            .connection
            .call(wait, |docker| async move { docker.stop_container(name, Some(options)).await });
        gone_is_fine(call.await, name)
    }

    async fn signal(&self, name: &str, signal: GraceSignal) -> Result<()> {
        let options = KillContainerOptions { signal: signal.to_string() };
        let call = self
            .connection
            .call(WORK, |docker| async move { docker.kill_container(name, Some(options)).await });
        match call.await {
            // It does not run.
            Err(error) if status_of(&error) == Some(409) => Ok(()),
            other => gone_is_fine(other, name),
        }
    }

    async fn remove(&self, name: &str) -> Result<()> {
        let options = RemoveContainerOptions { force: true, v: true, link: false };
        let call = self
            .connection
            .call(WORK, |docker| async move { docker.remove_container(name, Some(options)).await });
        match call.await {
            // Somebody is removing it already.
            Err(error) if status_of(&error) == Some(409) => Ok(()),
            other => gone_is_fine(other, name),
        }
    }

    async fn changes(&self, cluster: &str) -> Result<BoxStream<'static, Result<()>>> {
        streams::changes(&self.connection, &self.cache, cluster).await
    }

    async fn logs(
        &self,
        name: &str,
        request: LogRequest,
    ) -> Result<BoxStream<'static, Result<LogChunk>>> {
        if self.inspect_raw(name).await?.is_none() {
            return Err(EngineError::NoContainer(name.to_owned()));
        }
        streams::logs(&self.connection, name, request)
    }

    async fn stats(&self, name: &str) -> Result<Stats> {
        self.usage(name).await
    }

    async fn exec(&self, name: &str, command: Vec<String>, tty: bool) -> Result<Exec> {
        let options = CreateExecOptions {
            attach_stdin: Some(true),
            attach_stdout: Some(true),
            attach_stderr: Some(true),
            tty: Some(tty),
            cmd: Some(command),
            ..Default::default()
        };
        let call = self.connection.call(WORK, |docker| async move {
            let id = docker.create_exec(name, options).await?.id;
            let how = StartExecOptions { detach: false, tty, output_capacity: None };
            Ok((docker.start_exec(&id, Some(how)).await?, id))
        });
        let (started, id) = call.await.map_err(|error| classify(error, name))?;
        match started {
            StartExecResults::Attached { output, input } => {
                let subject = name.to_owned();
                let output = output
                    .map_ok(streams::chunk)
                    .map_err(move |error| classify(error, &subject))
                    .boxed();
                Ok(Exec { input, output, id })
            }
            StartExecResults::Detached => {
                Err(EngineError::Failed("the engine ran the command without us".to_owned()))
            }
        }
    }

    async fn resize_exec(&self, id: &str, columns: u16, rows: u16) -> Result<()> {
        let size = ResizeExecOptions { height: rows, width: columns };
        let call =
            self.connection.call(CALL, |docker| async move { docker.resize_exec(id, size).await });
        call.await.map_err(|error| classify(error, id))
    }

    async fn exec_code(&self, id: &str) -> Result<Option<i32>> {
        let call =
            self.connection.call(CALL, |docker| async move { docker.inspect_exec(id).await });
        let found = call.await.map_err(|error| classify(error, id))?;
        let code = found.exit_code.and_then(|code| i32::try_from(code).ok());
        Ok(if found.running == Some(true) { None } else { code })
    }

    async fn provide(&self, volume: &Volume, image: &str, content: &dyn Content) -> Result<String> {
        filling::provide(self, &self.filling, volume, image, content).await
    }

    async fn volumes(&self, cluster: &str) -> Result<Vec<Volume>> {
        Ok(filling::known(cluster, self.labelled(CLUSTER_LABEL, cluster).await?))
    }

    async fn remove_volume(&self, name: &str) -> Result<()> {
        filling::discard(self, name).await
    }

    async fn put_archive(&self, name: &str, folder: &str, tar: Bytes) -> Result<()> {
        provide::upload(&self.connection, name, folder, tar.tar().await?).await
    }

    async fn get_archive(
        &self,
        name: &str,
        path: &str,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let options = DownloadFromContainerOptions { path: path.to_owned() };
        let subject = name.to_owned();
        let stream = self
            .connection
            .docker(WORK)?
            .download_from_container(name, Some(options))
            .map_err(move |error| classify(error, &subject));
        // The first piece tells whether container and path exist.
        let mut stream = Box::pin(streams::moving(stream.boxed(), WORK).peekable());
        let first = stream.as_mut().peek().await;
        match first {
            Some(Err(error)) => Err(error.clone()),
            Some(Ok(_)) | None => Ok(stream),
        }
    }

    async fn probe_gpus(&self, image: &str) -> Result<Reading> {
        self.find_gpus(image).await
    }

    async fn ask_gpus(&self) -> Result<Vec<GpuSample>> {
        self.ask_what_gpus_do().await
    }

    async fn disk_room(&self) -> Result<Option<DiskRoom>> {
        self.ask_for_room().await
    }
}

fn gone_is_fine(
    outcome: std::result::Result<(), bollard::errors::Error>,
    name: &str,
) -> Result<()> {
    match outcome {
        Ok(()) => Ok(()),
        Err(error) if matches!(status_of(&error), Some(304 | 404)) => Ok(()),
        Err(error) => Err(classify(error, name)),
    }
}

fn count(number: Option<i64>) -> u32 {
    number.and_then(|number| u32::try_from(number).ok()).unwrap_or(0)
}
