//! The GPUs of an engine's machine: a short-lived container runs the vendor's program.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bollard::models::{ContainerCreateBody, ContainerSummary};
use bollard::query_parameters::{
    CreateContainerOptions, ListContainersOptions, ListImagesOptions, LogsOptions,
    PruneContainersOptions, RemoveContainerOptions, StartContainerOptions, WaitContainerOptions,
};
use futures::{Stream, StreamExt, TryStreamExt};
use protocol::cluster::GpuRuntime;
use protocol::gpus::{GpuProblem, Reading};

use super::connection::{CALL, WORK};
use super::failure::{classify, status_of, words};
use super::{DockerEngine, streams};
use crate::engine::Engine;
use crate::exporter::GpuSample;
use crate::filling::CLUSTER_LABEL;
use crate::model::{EngineError, LogChunk, Result};

mod amd;
mod ascend;
mod asked;
mod helper;
mod load;
mod read;

use asked::Asked;
pub(super) use helper::asking;
use helper::{LABEL, helper};

/// The program waits for drivers that are being loaded.
const DRIVER: Duration = Duration::from_secs(120);
/// The image that is named has so long to come.
const PULLED: Duration = Duration::from_secs(120);
/// So many of the node's own images are tried.
const IMAGES: usize = 4;
/// No answer has more bytes.
const LONGEST: usize = 256 * 1024;
/// How Podman counts its versions: Docker went from 1 to 17.
const PODMAN: Range<u32> = 2..17;
/// The first version of Podman that gives its containers the devices that Docker's interface asks for by
/// name, as its release notes say.
const GIVES_NAMED: (u32, u32) = (5, 4);
/// What has been there for so long was left by a server, in seconds: none takes half of that.
const FORGOTTEN: u64 = 600;

impl DockerEngine {
    /// Runs the vendor's program in the image that an administrator has named: `nvidia-smi`, which is put into
    /// every container that has a GPU of NVIDIA's, `npu-smi`, which Ascend's runtime puts there, or what AMD's
    /// driver tells everybody. Where the image cannot be had, one of the node's tells which GPUs there are and
    /// nothing else: it may be a user's, and its program may say anything.
    pub(super) async fn ask_for_gpus(&self, image: &str) -> Result<Reading> {
        if let Some(problem) = self.lacks().await? {
            return Ok(Reading::failed(problem));
        }
        self.tidy_helpers().await;
        if self.has_or_gets(image).await?
            && let Some(reading) = self.ask_in(image).await?
        {
            self.cache.set_gpu_image(image);
            return Ok(reading);
        }
        // Where it is looked first which devices there are, no user's image does that.
        let others = match self.gpu_runtime {
            GpuRuntime::Ascend => Vec::new(),
            GpuRuntime::Nvidia | GpuRuntime::Cdi | GpuRuntime::Amd | GpuRuntime::None => {
                self.largest_images().await?
            }
        };
        for other in others {
            match self.answer_in(&other, Asked::Which).await? {
                Answer::Said(words) => {
                    if let Some(reading) = Asked::reading(self.gpu_runtime, &words) {
                        return Ok(unproven(reading, image));
                    }
                }
                // These are the engine's own words.
                Answer::Refused(Some(reading)) => return Ok(reading),
                Answer::Refused(None) => {}
            }
        }
        Ok(Reading::failed(GpuProblem::NoImage(image.to_owned())))
    }

    /// What the engine lacks for its containers to get GPUs in its way.
    async fn lacks(&self) -> Result<Option<GpuProblem>> {
        let info = self.connection.call(CALL, |docker| async move { docker.info().await });
        let info = info.await.map_err(|error| classify(error, ""))?;
        let runtimes = info.runtimes.unwrap_or_default();
        Ok(match self.gpu_runtime {
            GpuRuntime::Nvidia => {
                (!runtimes.contains_key("nvidia")).then_some(GpuProblem::NoRuntime)
            }
            GpuRuntime::Ascend => {
                (!runtimes.contains_key("ascend")).then_some(GpuProblem::NoAscendRuntime)
            }
            GpuRuntime::Cdi => {
                old_podman(info.server_version.as_deref().unwrap_or_default()).map(leaves_out)
            }
            GpuRuntime::Amd | GpuRuntime::None => None,
        })
    }

    /// Whether an image is there, or comes in time.
    async fn has_or_gets(&self, image: &str) -> Result<bool> {
        if self.has_image(image).await? {
            return Ok(true);
        }
        let why = match tokio::time::timeout(PULLED, self.pull_whole(image)).await {
            Ok(Ok(())) => return Ok(true),
            Ok(Err(error)) => error.to_string(),
            Err(_late) => "it takes too long".to_owned(),
        };
        tracing::warn!(%why, image, "the image to ask for GPUs in cannot be had");
        Ok(false)
    }

    async fn pull_whole(&self, image: &str) -> Result<()> {
        let mut lines = self.pull(image, None).await?;
        while lines.try_next().await?.is_some() {}
        Ok(())
    }

    /// The largest images that are there.
    pub(super) async fn largest_images(&self) -> Result<Vec<String>> {
        let call = self.connection.call(CALL, |docker| async move {
            docker.list_images(None::<ListImagesOptions>).await
        });
        let mut there = call.await.map_err(|error| classify(error, ""))?;
        there.sort_by_key(|image| std::cmp::Reverse(image.size));
        Ok(there.into_iter().take(IMAGES).map(|image| image.id).collect())
    }

    /// What the program says in a container of this image; none: the image cannot run it.
    async fn ask_in(&self, image: &str) -> Result<Option<Reading>> {
        match self.answer_in(image, Asked::Which).await? {
            Answer::Said(words) => Ok(Asked::reading(self.gpu_runtime, &words)),
            Answer::Refused(reading) => Ok(reading),
        }
    }

    /// What the GPUs do, asked in the image that was named and could tell of them.
    pub(super) async fn ask_what_gpus_do(&self) -> Result<Vec<GpuSample>> {
        let Some(image) = self.cache.gpu_image() else { return Ok(Vec::new()) };
        match self.answer_in(&image, Asked::Load).await? {
            Answer::Said(words) => Ok(Asked::samples(self.gpu_runtime, &words)),
            Answer::Refused(_) => Err(EngineError::Failed(format!(
                "a container of {image} that asks what GPUs do is refused"
            ))),
        }
    }

    /// What the vendor's program says in a container of this image that has all GPUs.
    async fn answer_in(&self, image: &str, asked: Asked) -> Result<Answer> {
        let body = match self.gpu_runtime {
            GpuRuntime::Ascend => match self.answer_of(image, ascend::look(image), DRIVER).await? {
                Answer::Said(words) => match ascend::devices(&words).as_deref() {
                    None => return Ok(Answer::Refused(None)),
                    Some([]) => {
                        return Ok(Answer::Refused(Some(Reading::failed(GpuProblem::NoNpus))));
                    }
                    Some(devices) => ascend::helper(image, devices),
                },
                refused @ Answer::Refused(_) => return Ok(refused),
            },
            runtime @ (GpuRuntime::Nvidia
            | GpuRuntime::Cdi
            | GpuRuntime::Amd
            | GpuRuntime::None) => helper(image, runtime, asked.script(runtime)),
        };
        self.answer_of(image, body, DRIVER).await
    }

    /// What a container that is made so says within this time; it is gone then.
    pub(super) async fn answer_of(
        &self,
        image: &str,
        body: ContainerCreateBody,
        patience: Duration,
    ) -> Result<Answer> {
        let call = self.connection.call(WORK, |docker| async move {
            docker.create_container(None::<CreateContainerOptions>, body).await
        });
        let id = match call.await {
            Ok(made) => made.id,
            Err(error) => return Answer::of(&error).ok_or_else(|| classify(error, image)),
        };
        let told = self.run_helper(&id, patience).await;
        self.remove_helper(&id).await;
        match told {
            Ok(words) => Ok(Answer::Said(words)),
            Err(error) => Answer::of(&error).ok_or_else(|| classify(error, &id)),
        }
    }

    async fn remove_helper(&self, id: &str) {
        let options = RemoveContainerOptions { force: true, v: true, link: false };
        let call = self
            .connection
            .call(WORK, |docker| async move { docker.remove_container(id, Some(options)).await });
        if let Err(error) = call.await {
            tracing::warn!(%error, container = id, "a container that asked for GPUs stays for now");
        }
    }

    async fn run_helper(
        &self,
        id: &str,
        patience: Duration,
    ) -> std::result::Result<String, bollard::errors::Error> {
        let call = self.connection.call(patience, |docker| async move {
            docker.start_container(id, None::<StartContainerOptions>).await?;
            let mut end = docker.wait_container(id, None::<WaitContainerOptions>);
            // How it ended, its answer tells.
            let _code = end.next().await;
            let tail = "all".to_owned();
            let options = LogsOptions { stdout: true, stderr: true, tail, ..Default::default() };
            gathered(docker.logs(id, Some(options)).map_ok(streams::chunk)).await
        });
        Ok(String::from_utf8_lossy(&call.await?).into_owned())
    }

    /// Removes those that a server left, those that have ended meanwhile and those that never do.
    pub(super) async fn tidy_helpers(&self) {
        let filter = |name: &str, value: &str| (name.to_owned(), vec![value.to_owned()]);
        let filters =
            HashMap::from([filter("label", LABEL), filter("until", &format!("{FORGOTTEN}s"))]);
        let options = PruneContainersOptions { filters: Some(filters) };
        let call = self.connection.call(WORK, |docker| async move {
            docker.prune_containers(Some(options)).await.map(drop)
        });
        if let Err(error) = call.await {
            tracing::debug!(%error, "cannot remove old containers that asked for GPUs");
        }
        let running = ListContainersOptions::default();
        let running = self.rows_with(LABEL.to_owned(), CALL, running).await.unwrap_or_default();
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_secs();
        for row in running.iter().filter(|row| is_forgotten(row, now)) {
            if let Some(id) = &row.id {
                self.remove_helper(id).await;
            }
        }
    }

    /// What is found where containers get GPUs in this engine's way.
    pub(super) async fn find_gpus(&self, image: &str) -> Result<Reading> {
        match self.gpu_runtime {
            GpuRuntime::None => Ok(Reading::default()),
            GpuRuntime::Nvidia | GpuRuntime::Cdi | GpuRuntime::Amd | GpuRuntime::Ascend => {
                match self.ask_for_gpus(image).await {
                    Err(
                        EngineError::Failed(words)
                        | EngineError::Refused(words)
                        | EngineError::Broken(words),
                    ) => Ok(Reading::failed(GpuProblem::Failed(words))),
                    other => other,
                }
            }
        }
    }
}

/// The version of a Podman that leaves out what is asked for by name, of an engine that has this one.
pub(super) fn old_podman(version: &str) -> Option<(u32, u32)> {
    let mut numbers = version.split('.').map(str::parse::<u32>);
    let found = (numbers.next()?.ok()?, numbers.next()?.ok()?);
    (PODMAN.contains(&found.0) && found < GIVES_NAMED).then_some(found)
}

/// What that means to its node.
pub(super) fn leaves_out((major, minor): (u32, u32)) -> GpuProblem {
    GpuProblem::OldPodman(format!("{major}.{minor}"))
}

/// Which GPUs there are, as a program says that may be a user's: nothing of how well they are.
fn unproven(said: Reading, image: &str) -> Reading {
    let told = said.gpus.into_iter().filter(|told| told.fault.is_none());
    Reading {
        driver: None,
        gpus: told.collect(),
        links: Vec::new(),
        problem: Some(GpuProblem::Unproven(image.to_owned())),
    }
}

/// Whether one was left that asked, at this second. A task whose image has our label is none.
fn is_forgotten(row: &ContainerSummary, now: u64) -> bool {
    let of_cluster = row.labels.as_ref().and_then(|labels| labels.get(CLUSTER_LABEL));
    let created = row.created.and_then(|created| u64::try_from(created).ok());
    of_cluster.is_none_or(String::is_empty)
        && created.is_some_and(|created| now.saturating_sub(created) > FORGOTTEN)
}

/// What was written, as much of it as an answer may have: a program of an image's may write without end.
async fn gathered<E>(
    told: impl Stream<Item = std::result::Result<LogChunk, E>>,
) -> std::result::Result<Vec<u8>, E> {
    let mut told = std::pin::pin!(told);
    let mut bytes = Vec::new();
    while let Some(chunk) = told.try_next().await? {
        bytes.extend_from_slice(&chunk.bytes);
        if bytes.len() >= LONGEST {
            break;
        }
    }
    Ok(bytes)
}

/// What came of a container that asks.
pub(super) enum Answer {
    /// What it wrote.
    Said(String),
    /// What it means that the engine refused it; none: the image has no shell.
    Refused(Option<Reading>),
}

impl Answer {
    /// None: nothing that is known.
    fn of(error: &bollard::errors::Error) -> Option<Self> {
        refused(error).map(Self::Refused)
    }
}

/// What it means that the engine refused the container; none: nothing that is known, and inside:
/// that the image has no shell.
fn refused(error: &bollard::errors::Error) -> Option<Option<Reading>> {
    status_of(error)?;
    let said = words(error);
    match read::problem(&said) {
        GpuProblem::Failed(_) if said.contains("/bin/sh") => Some(None),
        GpuProblem::Failed(_) => None,
        known => Some(Some(Reading::failed(known))),
    }
}

#[cfg(test)]
mod tests;
