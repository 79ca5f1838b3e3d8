//! The GPUs of an engine's machine: a short-lived container runs the vendor's program.

use std::collections::HashMap;
use std::ops::Range;
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use bollard::models::{ContainerCreateBody, ContainerSummary, DeviceRequest, HostConfig};
use bollard::query_parameters::{
    CreateContainerOptions, ListContainersOptions, ListImagesOptions, LogsOptions,
    PruneContainersOptions, RemoveContainerOptions, StartContainerOptions, WaitContainerOptions,
};
use futures::{Stream, StreamExt, TryStreamExt};
use protocol::cluster::GpuRuntime;
use protocol::gpus::{GpuProblem, Reading};

use super::connection::{CALL, WORK};
use super::failure::{classify, status_of, words};
use super::{DockerEngine, shape, streams};
use crate::engine::Engine;
use crate::exporter::GpuSample;
use crate::filling::CLUSTER_LABEL;
use crate::model::{EngineError, LogChunk, Result};

mod load;
mod read;

/// The program waits for drivers that are being loaded.
const DRIVER: Duration = Duration::from_secs(120);
/// The image that is named has so long to come.
const PULLED: Duration = Duration::from_secs(120);
/// So many of the node's own images are tried.
const IMAGES: usize = 4;
/// The label of containers that ask for GPUs.
const LABEL: &str = "berth.gpus";
/// No answer has more bytes.
const LONGEST: usize = 256 * 1024;
/// What asks has so much memory, in bytes,
const MEMORY: i64 = 1 << 30;
/// and so many processes: programs of users' images are not to take a node that they were not given.
const PIDS: i64 = 256;
/// How Podman counts its versions: Docker went from 1 to 17.
const PODMAN: Range<u32> = 2..17;
/// The first version of Podman that gives its containers the devices that Docker's interface asks for by
/// name, as its release notes say.
const GIVES_NAMED: (u32, u32) = (5, 4);
/// What has run for so long was left by a server, in seconds, and does not end by itself.
const FORGOTTEN: u64 = 3_600;

impl DockerEngine {
    /// Runs `nvidia-smi`, which is put into every container that has a GPU of NVIDIA's, in the image that
    /// an administrator has named. Where that cannot be had, an image of the node's tells which GPUs there
    /// are and nothing else: it may be a user's, and its program may say anything.
    pub(super) async fn ask_for_gpus(&self, image: &str) -> Result<Reading> {
        let info = self.connection.call(CALL, |docker| async move { docker.info().await });
        let info = info.await.map_err(|error| classify(error, ""))?;
        let is_there = info.runtimes.unwrap_or_default().contains_key("nvidia");
        if self.gpu_runtime == GpuRuntime::Nvidia && !is_there {
            return Ok(Reading::failed(GpuProblem::NoRuntime));
        }
        let old = old_podman(info.server_version.as_deref().unwrap_or_default());
        if let (GpuRuntime::Cdi, Some(version)) = (self.gpu_runtime, old) {
            return Ok(Reading::failed(leaves_out(version)));
        }
        self.tidy_helpers().await;
        if self.has_or_gets(image).await?
            && let Some(reading) = self.ask_in(image).await?
        {
            self.cache.set_gpu_image(image);
            return Ok(reading);
        }
        for other in self.largest_images().await? {
            match self.answer_in(&other, read::SCRIPT).await? {
                Answer::Said(words) => {
                    if let Some(reading) = read::read(&words) {
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
        match self.answer_in(image, read::SCRIPT).await? {
            Answer::Said(words) => Ok(read::read(&words)),
            Answer::Refused(reading) => Ok(reading),
        }
    }

    /// What the GPUs do, asked in the image that was named and could tell of them.
    pub(super) async fn ask_what_gpus_do(&self) -> Result<Vec<GpuSample>> {
        let Some(image) = self.cache.gpu_image() else { return Ok(Vec::new()) };
        match self.answer_in(&image, load::SCRIPT).await? {
            Answer::Said(words) => Ok(load::read(&words)),
            Answer::Refused(_) => Err(EngineError::Failed(format!(
                "a container of {image} that asks what GPUs do is refused"
            ))),
        }
    }

    /// What a script says in a container of this image that has all GPUs.
    async fn answer_in(&self, image: &str, script: &str) -> Result<Answer> {
        self.answer_of(image, helper(image, self.gpu_runtime, script), DRIVER).await
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
        let filters = HashMap::from([filter("label", LABEL), filter("until", "1h")]);
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
            GpuRuntime::Amd | GpuRuntime::Ascend | GpuRuntime::None => Ok(Reading::default()),
            GpuRuntime::Nvidia | GpuRuntime::Cdi => match self.ask_for_gpus(image).await {
                Err(
                    EngineError::Failed(words)
                    | EngineError::Refused(words)
                    | EngineError::Broken(words),
                ) => Ok(Reading::failed(GpuProblem::Failed(words))),
                other => other,
            },
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

fn helper(image: &str, runtime: GpuRuntime, script: &str) -> ContainerCreateBody {
    let mut body = asking(image, script);
    if let Some(host) = &mut body.host_config {
        host.device_requests = Some(vec![all_gpus(runtime)]);
    }
    body
}

fn all_gpus(runtime: GpuRuntime) -> DeviceRequest {
    match runtime {
        GpuRuntime::Cdi => shape::cdi(vec!["all".to_owned()]),
        GpuRuntime::Nvidia | GpuRuntime::Amd | GpuRuntime::Ascend | GpuRuntime::None => {
            shape::nvidia(None)
        }
    }
}

/// A container that runs a script of ours and has nothing else.
pub(super) fn asking(image: &str, script: &str) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(["/bin/sh", "-c", script].map(str::to_owned).to_vec()),
        cmd: Some(Vec::new()),
        user: Some("0:0".to_owned()),
        // Whatever the image wants of the driver, it is only asked.
        env: Some(vec!["NVIDIA_DISABLE_REQUIRE=1".to_owned()]),
        labels: Some(HashMap::from([(LABEL.to_owned(), "1".to_owned())])),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_owned()),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            memory: Some(MEMORY),
            memory_swap: Some(MEMORY),
            nano_cpus: Some(1_000_000_000),
            pids_limit: Some(PIDS),
            ..Default::default()
        }),
        ..Default::default()
    }
}

#[cfg(test)]
mod tests {
    use bollard::container::LogOutput;
    use bollard::errors::Error;
    use protocol::gpus::{GpuFault, Told};

    use super::*;

    fn answer(message: &str) -> Error {
        Error::DockerResponseServerError { status_code: 500, message: message.to_owned() }
    }

    #[test]
    fn what_the_engine_refuses_is_understood() {
        let toolkit = "could not select device driver \"nvidia\" with capabilities: [[gpu]]";
        let reading = Reading::failed(GpuProblem::NoToolkit);
        assert_eq!(refused(&answer(toolkit)), Some(Some(reading)));
        let no_shell = "exec: \"/bin/sh\": stat /bin/sh: no such file or directory: unknown";
        assert_eq!(refused(&answer(no_shell)), Some(None));
        assert_eq!(refused(&answer("no space left on device")), None);
        assert_eq!(refused(&Error::RequestTimeoutError), None);
    }

    #[test]
    fn an_image_that_nobody_named_says_nothing_of_how_well_gpus_are() {
        let gpu = |index, fault| Told {
            index,
            uuid: Some(format!("GPU-{index}")),
            model: Some("NVIDIA A100-SXM4-80GB".to_owned()),
            profile: None,
            part_of: None,
            memory_mb: 81_920,
            fault,
            gpu_type: None,
        };
        let said = Reading {
            driver: Some("1".to_owned()),
            gpus: vec![gpu(0, None), gpu(1, Some(GpuFault::Memory))],
            links: vec![vec![0, 1]],
            problem: None,
        };
        let problem = Some(GpuProblem::Unproven("named".to_owned()));
        let expected = Reading { gpus: vec![gpu(0, None)], problem, ..Reading::default() };
        assert_eq!(unproven(said, "named"), expected);
        let lost = unproven(Reading::failed(GpuProblem::NoDriver), "named");
        assert_eq!(lost, Reading { gpus: Vec::new(), ..expected }, "it may have none of its own");
    }

    #[test]
    fn the_helper_has_all_gpus_and_nothing_else() {
        let made = serde_json::to_value(helper("i", GpuRuntime::Nvidia, "true")).unwrap();
        assert_eq!(made["Entrypoint"], serde_json::json!(["/bin/sh", "-c", "true"]));
        let request = &made["HostConfig"]["DeviceRequests"][0];
        assert_eq!(request["Driver"], "nvidia");
        assert_eq!(request["Count"], -1);
        let by_name = serde_json::to_value(helper("i", GpuRuntime::Cdi, "true")).unwrap();
        let devices = &by_name["HostConfig"]["DeviceRequests"][0]["DeviceIDs"];
        assert_eq!(devices[0], "nvidia.com/gpu=all");
        assert_eq!(made["HostConfig"]["NetworkMode"], "none");
        assert_eq!(made["HostConfig"]["Privileged"], serde_json::Value::Null);
    }

    #[test]
    fn a_podman_that_leaves_out_what_is_named_is_known_by_its_version() {
        for (old, version) in [("4.3.1", (4, 3)), ("5.3.2", (5, 3)), ("4.9.4-rhel", (4, 9))] {
            assert_eq!(old_podman(old), Some(version), "{old}");
        }
        // Docker's older ones refuse what they do not know.
        for other in ["5.4.0", "5.10.1", "6.0.0-dev", "20.10.24+dfsg1", "1.13.1", "28.0.1", ""] {
            assert_eq!(old_podman(other), None, "{other}");
        }
        let said = leaves_out((4, 3)).to_string();
        assert!(said.starts_with("Podman 4.3 leaves out") && !leaves_out((4, 3)).is_doubt());
    }

    #[test]
    fn what_asks_has_little_of_its_node() {
        let made = serde_json::to_value(asking("i", "true")).unwrap();
        let host = &made["HostConfig"];
        assert_eq!(host["Memory"], MEMORY);
        assert_eq!(host["MemorySwap"], MEMORY);
        assert_eq!(host["PidsLimit"], PIDS);
        assert_eq!(host["NanoCpus"], 1_000_000_000);
    }

    #[test]
    fn what_asks_for_ever_is_removed_and_no_task() {
        let made = |created, labels: &[(&str, &str)]| {
            let labels = labels.iter().map(|(key, said)| ((*key).to_owned(), (*said).to_owned()));
            ContainerSummary { created, labels: Some(labels.collect()), ..Default::default() }
        };
        let asks = made(Some(1_000), &[(LABEL, "1")]);
        assert!(is_forgotten(&asks, 1_001 + FORGOTTEN) && !is_forgotten(&asks, 1_000 + FORGOTTEN));
        assert!(is_forgotten(&made(Some(1), &[(LABEL, "1"), (CLUSTER_LABEL, "")]), u64::MAX));
        let task = made(Some(1), &[(LABEL, "1"), (CLUSTER_LABEL, "a cluster")]);
        assert!(!is_forgotten(&task, u64::MAX) && !is_forgotten(&made(None, &[]), u64::MAX));
    }

    #[tokio::test]
    async fn an_answer_without_end_is_read_no_further() {
        let line = || Ok::<_, ()>(streams::chunk(LogOutput::StdOut { message: "y\n".into() }));
        let endless = futures::stream::iter(std::iter::repeat_with(line));
        assert_eq!(gathered(endless).await.unwrap().len(), LONGEST);
    }
}
