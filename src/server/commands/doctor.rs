//! `berth doctor`: looks at each node, tries it from end to end with a small job, and says what to mend.

use std::io::Read;
use std::time::{Duration, Instant};

use api::cluster::{GpuView, NodeView};
use app::i18n::Language;
use clap::Args;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::gpus::GpuProblem;
use protocol::health::Grade;
use protocol::ids::{JobKey, NodeName};
use protocol::time::Timestamp;
use serde::Serialize;
use serde_json::json;

use super::client::Client;
use super::jobs::full_name;
use super::outcome::{CommandError, Outcome};
use super::reach::Common;
use super::text;
use super::words::{Doctor as Words, words};
use crate::rest::v2::execution::Execution;
use crate::rest::v2::jobs::Accepted;
use crate::rest::v2::wire::JobWire;

/// How often it is asked what became of a job.
const AGAIN: Duration = Duration::from_secs(1);

/// What the line of a job begins with that says what it found, and what the job runs for it.
const MARK: &str = "berth-doctor ";
const TRY: &str = "set -- $(df -Pk / | tail -n 1); gpus=$(nvidia-smi -L 2>&1 | grep -c 'UUID: GPU-'); \
    echo \"berth-doctor now=$(date +%s) free_kb=$4 gpus=$gpus\"";
/// So many bytes of its log are read.
const LOG: u64 = 64 * 1_024;
/// So far clocks may differ, in milliseconds.
const SLACK: i64 = 5_000;
/// So much room should be left for containers, in KiB.
const LEAST_DISK: i64 = 10 << 20;

#[derive(Debug, Args)]
pub(super) struct Doctor {
    /// The nodes; all of them when none is named
    names: Vec<NodeName>,
    /// The image of the jobs that try the nodes
    #[arg(long, default_value = "ubuntu:24.04")]
    image: String,
    /// For how many seconds each job is waited for
    #[arg(long, default_value_t = 120)]
    patience: u64,
    /// Only looks at what is known, without a job
    #[arg(long)]
    look: bool,
    #[command(flatten)]
    common: Common,
}

/// What was found out of a node.
#[derive(Debug, Serialize)]
struct Examined {
    node: NodeName,
    /// What is wrong and what helps; nothing: it is well.
    findings: Vec<String>,
}

impl Doctor {
    /// Fails when a node is not well.
    pub(super) fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        let names = match self.names.is_empty() {
            true => {
                let nodes: Vec<NodeView> = client.get("/api/v2/nodes")?;
                nodes.into_iter().map(|node| node.name).collect()
            }
            false => self.names.clone(),
        };
        let mut all = Vec::new();
        for name in names {
            let examined = self.examine(&client, name)?;
            if !self.common.json {
                say(&examined, &client.words().doctor);
            }
            all.push(examined);
        }
        if self.common.json {
            text::json(&all)?;
        }
        let sick = all.iter().filter(|examined| !examined.findings.is_empty()).count();
        match sick {
            0 => Ok(()),
            sick => {
                let said = client.words().doctor.sick;
                Err(CommandError::new(said(sick, all.len())).into())
            }
        }
    }

    fn examine(&self, client: &Client, name: NodeName) -> anyhow::Result<Examined> {
        let node: NodeView = client.get(&format!("/api/v2/nodes/{name}"))?;
        let mut findings = findings(&node, client.language);
        if node.condition == NodeCondition::Ready && !self.look {
            findings.extend(self.tried(client, &node)?);
        }
        Ok(Examined { node: name, findings })
    }

    /// Runs a task on the node, with a GPU where one is free; what went wrong, and what it found there.
    fn tried(&self, client: &Client, node: &NodeView) -> anyhow::Result<Vec<String>> {
        let name = format!("doctor-{}-{}", node.name, text::now().0);
        let gpus = i64::from(node.gpus.iter().any(is_free));
        let job = json!({
            "jobName": name,
            "image": self.image,
            "extras": { "berth": { "nodes": [node.name] } },
            "taskRoles": [{
                "name": "try", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 256,
                "gpuNumber": gpus, "command": TRY,
            }],
        });
        let _accepted: Accepted = client.post_text("/api/v2/jobs", &job.to_string())?;
        let key = full_name(client, &name)?;
        let path = format!("/api/v2/jobs/{key}");
        let (began, submitted) = (Instant::now(), text::now());
        loop {
            let job: JobWire = client.get(&path)?;
            if job.job_status.state.is_final() {
                let log = log(client, &key);
                let _deleted: Accepted = client.delete(&path)?;
                let verdict = verdict(&job, client.language).into_iter();
                let words = &client.words().doctor;
                let readings = readings(&log, (submitted, text::now()), words);
                let gpus = (gpus > 0).then(|| shown(node, &log, words)).flatten();
                return Ok(verdict.chain(readings).chain(gpus).collect());
            }
            if began.elapsed() >= Duration::from_secs(self.patience) {
                let stop = format!("{path}/executionType");
                let _stopping: Accepted = client.put(&stop, &Execution::stop())?;
                return Ok(verdict(&job, client.language).into_iter().collect());
            }
            std::thread::sleep(AGAIN);
        }
    }
}

fn say(examined: &Examined, words: &Words) {
    let Examined { node, findings } = examined;
    if findings.is_empty() {
        text::say((words.well)(node.as_str()));
    }
    for finding in findings {
        text::say((words.finding)(node.as_str(), finding));
    }
}

fn is_free(gpu: &GpuView) -> bool {
    gpu.gpu.healthy && gpu.used == Amount::default()
}

/// What is known to be wrong with a node.
fn findings(node: &NodeView, language: Language) -> Vec<String> {
    let words = &words(language).doctor;
    let problem = node.problem.as_deref().map(|problem| language.told(problem));
    let condition = match (node.condition, &node.closed) {
        (NodeCondition::Unreachable, _) => {
            Some((words.silent)(problem.as_deref().unwrap_or(words.nothing_known)))
        }
        (NodeCondition::Draining, Some(_)) => Some(words.closed.to_owned()),
        // What is wrong with it follows.
        (NodeCondition::Draining, None) if node.health.has_failed() => None,
        (NodeCondition::Draining, None) => Some(words.drained.to_owned()),
        (NodeCondition::Ready, _) => problem,
    };
    let of_gpus = node.gpu_report.as_ref().and_then(|report| report.problem.as_ref());
    // Most nodes of which that is true have no GPUs.
    let of_gpus = of_gpus
        .filter(|problem| **problem != GpuProblem::NoRuntime || !node.capacity.gpus.is_empty());
    let of_gpus = of_gpus.map(|problem| language.told(&problem.to_string()));
    let broken =
        node.gpus.iter().filter(|gpu| !gpu.gpu.healthy).map(|gpu| {
            (words.gpu_broken)(&gpu.gpu.index.to_string(), &gpu.gpu.gpu_type.to_string())
        });
    let ailments = node.health.ailments.iter().map(|ailment| {
        let said = match ailment.grade {
            Grade::Warning => words.warning,
            Grade::Failed => words.failed,
        };
        said(&language.told(&ailment.to_string()))
    });
    condition.into_iter().chain(ailments).chain(of_gpus).chain(broken).collect()
}

/// What a job that was to try a node tells of it; `None`: that it is well.
fn verdict(job: &JobWire, language: Language) -> Option<String> {
    use protocol::state::State;

    let (status, words) = (&job.job_status, words(language));
    let doctor = &words.doctor;
    let how = || match &status.app_exit_diagnostics {
        Some(how) => language.told(how),
        None => doctor.nothing_known.to_owned(),
    };
    match status.state {
        State::Succeeded => None,
        State::Failed | State::Stopped => Some((doctor.task_failed)(&how())),
        State::Waiting => {
            let why = status.waiting.as_ref().map(|waiting| (words.wait)(&waiting.reason));
            Some((doctor.task_waits)(why.as_deref().unwrap_or(doctor.nobody_knows)))
        }
        State::Preparing | State::Running | State::Stopping | State::Unknown => {
            Some(doctor.task_late.to_owned())
        }
    }
}

/// What the job has written; nothing where that cannot be read.
fn log(client: &Client, key: &JobKey) -> String {
    let mut text = String::new();
    if let Ok(answer) = client.open(&format!("/api/v2/jobs/{key}/logs?follow=false")) {
        let read = answer.into_body().into_reader().take(LOG).read_to_string(&mut text);
        return read.map(|_| text).unwrap_or_default();
    }
    text
}

/// A number that the job found.
fn reading(log: &str, name: &str) -> Option<i64> {
    let line = log.lines().find_map(|line| line.trim().strip_prefix(MARK))?;
    let value = line.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
    value?.parse().ok()
}

/// What is wrong with the GPU that a job had, on a node whose driver tells of its GPUs.
fn shown(node: &NodeView, log: &str, words: &Words) -> Option<String> {
    let has_driver = node.gpu_report.as_ref().is_some_and(|report| report.driver.is_some());
    let found = reading(log, "gpus").filter(|found| has_driver && *found != 1)?;
    Some((words.gpus_seen)(found))
}

/// What is wrong with what a job found between these moments.
fn readings(log: &str, (from, until): (Timestamp, Timestamp), words: &Words) -> Vec<String> {
    let value = |name: &str| reading(log, name);
    let clock = value("now").and_then(|now| {
        let now = Timestamp(now.saturating_mul(1_000));
        let (behind, ahead) = (from.since(now), now.since(until));
        match (behind > SLACK, ahead > SLACK) {
            (true, _) => Some((words.clock_behind)(behind / 1_000)),
            (false, true) => Some((words.clock_ahead)(ahead / 1_000)),
            (false, false) => None,
        }
    });
    let disk = value("free_kb").filter(|free| *free < LEAST_DISK);
    let disk = disk.map(|free| (words.disk_full)(free >> 20));
    clock.into_iter().chain(disk).collect()
}

#[cfg(test)]
mod tests {
    use protocol::gpus::GpuReport;

    use super::*;
    use crate::commands::client::tests::seen;

    fn findings(node: &NodeView) -> Vec<String> {
        super::findings(node, Language::English)
    }

    fn node(condition: &str, healthy: bool) -> NodeView {
        let gpu = json!({ "index": 0, "type": "A100", "uuid": null, "healthy": healthy });
        serde_json::from_value(json!({
            "name": "gpu-1", "address": "", "endpoint": "", "simulated": false,
            "condition": condition, "emptied": false, "problem": "connection refused",
            "last_seen": null, "engine": null,
            "capacity": { "cpus": 1, "memory_mb": 1, "disk_gb": 1, "gpus": [gpu] },
            "used": { "cpus": 0, "memory_mb": 0, "disk_gb": 0, "gpus": {} },
            "gpus": [{ "gpu": gpu, "job": null }], "ports": "10000-10009", "labels": {}, "tasks": [],
        }))
        .unwrap()
    }

    #[test]
    fn what_is_wrong_is_said_with_what_helps() {
        let silent = findings(&node("unreachable", true));
        assert!(silent[0].contains("its engine runs") && silent[0].contains("connection refused"));
        assert!(findings(&node("draining", true))[0].contains("an administrator"));
        let well = NodeView { problem: None, ..node("ready", true) };
        assert_eq!(findings(&well), Vec::<String>::new());
        let broken = NodeView { problem: None, ..node("ready", false) };
        assert!(findings(&broken)[0].starts_with("GPU 0 (A100) is gone"));
        let chinese = super::findings(&broken, Language::Chinese);
        assert!(chinese[0].starts_with("第 0 号 GPU（A100）"), "{chinese:?}");
    }

    #[test]
    fn clock_and_disk_are_looked_at() {
        let of = |log: &str| {
            readings(
                log,
                (Timestamp(100_000), Timestamp(110_000)),
                &words(Language::English).doctor,
            )
        };
        let well = "pulled\nberth-doctor now=104 free_kb=99999999\n";
        assert_eq!(of(well), Vec::<String>::new());
        assert_eq!(of("nothing"), Vec::<String>::new());
        let behind = of("berth-doctor now=90 free_kb=3145728");
        assert!(behind[0].contains("10 s behind") && behind[1].contains("only 3 GiB"));
        assert!(of("berth-doctor now=120 free_kb=")[0].contains("10 s ahead of"));
    }

    #[test]
    fn a_task_with_a_gpu_sees_it_alone() {
        let mut node = node("ready", true);
        assert_eq!(
            shown(&node, "berth-doctor gpus=0", &words(Language::English).doctor),
            None,
            "no driver tells of any"
        );
        node.gpu_report =
            Some(GpuReport { driver: Some("535".to_owned()), ..GpuReport::default() });
        assert_eq!(
            shown(&node, "berth-doctor now=1 gpus=1", &words(Language::English).doctor),
            None
        );
        assert_eq!(shown(&node, "nothing", &words(Language::English).doctor), None);
        assert!(
            shown(&node, "berth-doctor gpus=0", &words(Language::English).doctor)
                .unwrap()
                .contains("saw 0")
        );
        assert!(
            shown(&node, "berth-doctor gpus=8", &words(Language::English).doctor)
                .unwrap()
                .contains("saw 8")
        );
    }

    #[test]
    fn what_checks_and_measurements_say_is_told() {
        let mut sick = NodeView { problem: None, ..node("draining", true) };
        sick.health = serde_json::from_value(json!({ "ailments": [{
            "grade": "failed", "sign": { "check": { "name": "disk", "words": "full" } }, "since": 1,
        }] }))
        .unwrap();
        let found = findings(&sick);
        assert_eq!(found.len(), 1, "nobody wants it empty: {found:?}");
        assert!(found[0].starts_with("the check disk fails: full: once it is mended"));
    }

    #[test]
    fn a_job_that_was_tried_tells_of_its_node() {
        let mut answer = seen("v2_job");
        let of = |answer: &serde_json::Value| {
            verdict(&serde_json::from_value(answer.clone()).unwrap(), Language::English)
        };
        assert!(of(&answer).unwrap().contains("failed: The command ended with an error."));
        answer["jobStatus"]["state"] = json!("SUCCEEDED");
        assert_eq!(of(&answer), None);
        answer["jobStatus"]["state"] = json!("PREPARING");
        assert!(of(&answer).unwrap().contains("--patience"));
    }
}
