//! Checks of an administrator's own: a command in a container says whether its node is well.
//!
//! Its container is none of the installation's: no loop takes it for a task's. One that a server left behind
//! when it ended in the midst of a check goes with the next one.

use std::time::{Duration, Instant};

use database::nodes::NodeRecord;
use engine::{ContainerSpec, ContainerStatus, Engine, EngineError, GpuDevice, LogRequest};
use futures::StreamExt;
use protocol::exit::{Blame, Cause, Exit};
use protocol::health::{Check, Grade, When};
use protocol::ids::{JobId, NodeName, TaskKey};
use protocol::placement::TaskPlacement;

use super::{probe, samples};
use crate::known::capacity::said_capacity;
use crate::known::identity::Identity;
use crate::known::settings::Settings;
use crate::records::health;
use crate::shared::Shared;
use crate::wake::now;

/// Its image may take so long to come, and its container to be made and removed.
const PATIENCE: Duration = Duration::from_secs(900);
/// It is looked whether it has ended so often.
const AGAIN: Duration = Duration::from_millis(500);
/// The memory that it may use, in MiB.
const MEMORY: u64 = 4_096;
/// So many lines of its log's end are read, and so many bytes of them are told.
const LINES: u32 = 20;
const WORDS: usize = 400;

/// What a check says of its node.
#[derive(Debug, Clone, PartialEq, Eq)]
enum Verdict {
    Passed,
    Failed(String),
}

/// What a check is made with.
#[derive(Debug, Clone, Copy)]
enum With<'a> {
    /// All GPUs of the node, nothing else being there.
    All,
    /// Those of a task that has failed.
    Failed(&'a TaskPlacement),
    /// Those of a task that is about to start, of this attempt of its job.
    Starting(&'a TaskPlacement, (JobId, u32)),
}

impl With<'_> {
    fn attempt(self) -> Option<(JobId, u32)> {
        match self {
            Self::All | Self::Failed(_) => None,
            Self::Starting(_, attempt) => Some(attempt),
        }
    }

    fn has(self, gpu: u32) -> bool {
        match self {
            Self::All => true,
            Self::Failed(place) | Self::Starting(place, _) => place.gpus.contains(&gpu),
        }
    }
}

/// Has a free node go through those of its checks that are due.
pub(crate) async fn when_free(shared: &Shared, node: &NodeRecord, engine: &dyn Engine) {
    for check in &shared.settings.of_nodes.checks {
        let known = (&node.settings.name, &node.health);
        if check.is_for(&node.settings.labels)
            && shared.nodes.checks.is_due(known, check, Instant::now())
        {
            make(shared, node, engine, check, With::All).await;
        }
    }
}

/// Has the node of a task go through what comes before each attempt. Which check failed, and its words.
pub(crate) async fn before(
    shared: &Shared,
    engine: &dyn Engine,
    place: &TaskPlacement,
    attempt: (JobId, u32),
) -> Result<(), String> {
    for check in to_make(shared, place, When::Before) {
        let Some(node) = shared.nodes.cluster().node(&place.node).cloned() else { return Ok(()) };
        let verdict = make(shared, &node, engine, check, With::Starting(place, attempt)).await;
        if let Some(Verdict::Failed(words)) = verdict
            && check.grade == Grade::Failed
        {
            return Err(format!("the check {} fails: {words}", check.name));
        }
    }
    Ok(())
}

/// Whose fault it is that a task has failed: where its node is found not to be well, it is the node's.
pub(crate) async fn blamed(
    shared: &Shared,
    engine: &dyn Engine,
    place: &TaskPlacement,
    exit: Exit,
) -> Exit {
    if exit.cause.blame() != Blame::User {
        return exit;
    }
    let name = &place.node;
    let Some(node) = shared.nodes.cluster().node(name).cloned() else { return exit };
    if !place.gpus.is_empty() {
        let exporter = node.settings.metrics.as_deref();
        let samples = samples::read(&shared.nodes, &shared.readings, name, exporter, engine).await;
        samples::note(shared, name, &samples).await;
    }
    for check in to_make(shared, place, When::After) {
        make(shared, &node, engine, check, With::Failed(place)).await;
    }
    let cluster = shared.nodes.cluster();
    match cluster.node(name).and_then(|node| failure(node, &place.gpus)) {
        Some(message) => Exit { cause: Cause::NodeUnwell { node: name.clone(), message }, ..exit },
        None => exit,
    }
}

/// What has failed of a node or of these of its GPUs: by what was measured and checked, or as its driver said when
/// they were looked for last.
fn failure(node: &NodeRecord, gpus: &[u32]) -> Option<String> {
    if let Some(ailment) = node.health.failure(gpus) {
        return Some(ailment.to_string());
    }
    let report = node.observed.as_ref()?.gpus.as_ref()?;
    let mut held = report.gpus.iter().filter(|found| gpus.contains(&found.gpu.index));
    held.find_map(|found| Some(format!("GPU {}: {}", found.gpu.index, found.fault?)))
}

/// The checks that are made then on a task's node.
fn to_make<'a>(
    shared: &'a Shared,
    place: &TaskPlacement,
    when: When,
) -> impl Iterator<Item = &'a Check> {
    let cluster = shared.nodes.cluster();
    let labels = cluster.node(&place.node).map(|node| node.settings.labels.clone());
    let checks = shared.settings.of_nodes.checks.iter().filter(move |check| check.when == when);
    checks.filter(move |check| labels.as_ref().is_some_and(|labels| check.is_for(labels)))
}

/// Makes a check and stores what it says of the node; none: it could not be made.
async fn make(
    shared: &Shared,
    node: &NodeRecord,
    engine: &dyn Engine,
    check: &Check,
    with: With<'_>,
) -> Option<Verdict> {
    let name = &node.settings.name;
    let turn = shared.nodes.checks.turn(name);
    let _turn = turn.lock().await;
    // Another task of the attempt may have waited for the same.
    if with.attempt().is_some_and(|attempt| shared.nodes.checks.has_passed(name, check, attempt)) {
        return Some(Verdict::Passed);
    }
    match tried(&shared.identity, &shared.settings, node, engine, (check, with)).await {
        Ok(verdict) => {
            conclude(shared, name, (check, with), &verdict).await;
            Some(verdict)
        }
        // That a node starts nothing is found out by other means.
        Err(error) => {
            tracing::warn!(node = %name, check = check.name, %error, "a check cannot be made");
            shared.nodes.checks.not_made(name, check, Instant::now());
            None
        }
    }
}

async fn conclude(
    shared: &Shared,
    name: &NodeName,
    (check, with): (&Check, With<'_>),
    verdict: &Verdict,
) {
    let passed = *verdict == Verdict::Passed;
    let passes = shared.nodes.checks.made(name, check, (passed, with.attempt()), Instant::now());
    // What had some of the GPUs says nothing of the others.
    let gpus = check.gpus && matches!(with, With::All);
    let (check, at) = (Check { gpus, ..check.clone() }, now());
    let stored = match verdict {
        Verdict::Failed(words) => {
            health::change(
                &shared.store,
                &shared.live,
                &shared.jobs,
                &shared.nodes,
                name,
                |known| known.check_failed(&check, words.clone(), at),
            )
            .await
        }
        Verdict::Passed if passes >= check.passes => {
            health::change(
                &shared.store,
                &shared.live,
                &shared.jobs,
                &shared.nodes,
                name,
                |known| known.check_passed(&check, at),
            )
            .await
        }
        Verdict::Passed => Ok(()),
    };
    if let Err(error) = stored {
        tracing::error!(node = %name, %error, "what a check says cannot be stored");
    }
}

async fn tried(
    identity: &Identity,
    settings: &Settings,
    node: &NodeRecord,
    engine: &dyn Engine,
    (check, with): (&Check, With<'_>),
) -> engine::Result<Verdict> {
    let spec = spec(identity, settings, node, check, with)?;
    let name = spec.name();
    let whole = PATIENCE + Duration::from_secs(u64::from(check.seconds));
    let tried = tokio::time::timeout(whole, run(engine, &spec, check)).await;
    if let Err(error) = engine.remove(&name).await {
        tracing::warn!(node = %node.settings.name, %error, "a container of ours stays there");
    }
    let silent = || EngineError::Unreachable(format!("no answer within {} s", whole.as_secs()));
    tried.unwrap_or_else(|_| Err(silent()))
}

fn spec(
    identity: &Identity,
    settings: &Settings,
    node: &NodeRecord,
    check: &Check,
    with: With<'_>,
) -> engine::Result<ContainerSpec> {
    // As their driver has them: whether what has failed is well again is asked here.
    let gpus = said_capacity(node).gpus.into_iter();
    let gpus = gpus.filter(|gpu| check.gpus && gpu.healthy && with.has(gpu.index));
    Ok(ContainerSpec {
        key: TaskKey { job: JobId(0), attempt: 0, role: probe::CHECK, index: 0, retry: 0 },
        command: check.command.as_str().into(),
        memory_mb: MEMORY,
        gpus: gpus.map(|gpu| GpuDevice { index: gpu.index, uuid: gpu.uuid }).collect(),
        ..probe::spec(identity, settings, node, &check.image)?
    })
}

async fn run(engine: &dyn Engine, spec: &ContainerSpec, check: &Check) -> engine::Result<Verdict> {
    let name = spec.name();
    engine.remove(&name).await?;
    if let Err(EngineError::NoImage { .. }) = engine.create(spec).await {
        let mut progress = engine.pull(&spec.image, None).await?;
        while let Some(line) = progress.next().await {
            line?;
        }
    }
    // It is taken as it is where it was made already.
    engine.create(spec).await?;
    engine.start(&name).await?;
    let limit = Duration::from_secs(u64::from(check.seconds));
    match tokio::time::timeout(limit, ended(engine, &name)).await {
        Ok(Ok(0)) => Ok(Verdict::Passed),
        Ok(Ok(code)) => {
            let words = last_words(engine, &name).await;
            let words = words.unwrap_or_else(|| format!("it ended with exit code {code}"));
            Ok(Verdict::Failed(words))
        }
        Ok(Err(error)) => Err(error),
        Err(_) => Ok(Verdict::Failed(format!("it has not ended within {} s", check.seconds))),
    }
}

/// Waits for its end, and gives its exit code.
async fn ended(engine: &dyn Engine, name: &str) -> engine::Result<i32> {
    loop {
        let container = engine.inspect(name).await?;
        let gone = || EngineError::NoContainer(name.to_owned());
        match container.ok_or_else(gone)?.status {
            ContainerStatus::Exited { code, .. } => return Ok(code),
            ContainerStatus::Created | ContainerStatus::Running { .. } => {
                tokio::time::sleep(AGAIN).await;
            }
        }
    }
}

/// The last line that it wrote, if it wrote any.
async fn last_words(engine: &dyn Engine, name: &str) -> Option<String> {
    let request = LogRequest { tail_lines: Some(LINES), ..LogRequest::default() };
    let mut chunks = engine.logs(name, request).await.ok()?;
    let mut end = Vec::new();
    while let Some(Ok(chunk)) = chunks.next().await {
        end.extend_from_slice(&chunk.bytes);
        let more = end.len().saturating_sub(WORDS);
        end.drain(..more);
    }
    let text = String::from_utf8_lossy(&end);
    let line = text.lines().rev().map(str::trim).find(|line| !line.is_empty())?;
    Some(line.to_owned())
}
