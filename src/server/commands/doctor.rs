//! `berth doctor`: looks at each node, tries it from end to end with a small job, and says what to mend.

use std::io::Read;
use std::time::{Duration, Instant};

use api::cluster::{GpuView, NodeView};
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
use super::{CommandError, Common, Outcome, text};
use crate::rest::v2::Execution;
use crate::rest::v2::jobs::Accepted;
use crate::rest::v2::wire::JobWire;

/// How often it is asked what became of a job.
const AGAIN: Duration = Duration::from_secs(1);

/// What the line of a job begins with that says what it found, and what the job runs for it.
const MARK: &str = "berth-doctor ";
const TRY: &str =
    "set -- $(df -Pk / | tail -n 1); echo \"berth-doctor now=$(date +%s) free_kb=$4\"";
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
                say(&examined);
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
                let message = format!("{sick} of {} nodes are not well", all.len());
                Err(CommandError::new(message).into())
            }
        }
    }

    fn examine(&self, client: &Client, name: NodeName) -> anyhow::Result<Examined> {
        let node: NodeView = client.get(&format!("/api/v2/nodes/{name}"))?;
        let mut findings = findings(&node);
        if node.condition == NodeCondition::Ready && !self.look {
            findings.extend(self.tried(client, &node)?);
        }
        Ok(Examined { node: name, findings })
    }

    /// Runs a task on the node, with a GPU where one is free; what went wrong, and what it found there.
    fn tried(&self, client: &Client, node: &NodeView) -> anyhow::Result<Vec<String>> {
        let name = format!("doctor-{}-{}", node.name, text::now().0);
        let job = json!({
            "jobName": name,
            "image": self.image,
            "extras": { "berth": { "nodes": [node.name] } },
            "taskRoles": [{
                "name": "try", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 256,
                "gpuNumber": u32::from(node.gpus.iter().any(is_free)), "command": TRY,
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
                let verdict = verdict(&job).into_iter();
                return Ok(verdict.chain(readings(&log, (submitted, text::now()))).collect());
            }
            if began.elapsed() >= Duration::from_secs(self.patience) {
                let stop = format!("{path}/executionType");
                let _stopping: Accepted = client.put(&stop, &Execution::stop())?;
                return Ok(verdict(&job).into_iter().collect());
            }
            std::thread::sleep(AGAIN);
        }
    }
}

fn say(examined: &Examined) {
    let Examined { node, findings } = examined;
    if findings.is_empty() {
        text::say(format_args!("{node}: well"));
    }
    for finding in findings {
        text::say(format_args!("{node}: {finding}"));
    }
}

fn is_free(gpu: &GpuView) -> bool {
    gpu.gpu.healthy && gpu.used == Amount::default()
}

/// What is known to be wrong with a node.
fn findings(node: &NodeView) -> Vec<String> {
    let problem = node.problem.as_deref();
    let condition = match (node.condition, &node.closed) {
        (NodeCondition::Unreachable, _) => Some(format!(
            "does not answer: see that its engine runs and that this server reaches it ({})",
            problem.unwrap_or("nothing more is known")
        )),
        (NodeCondition::Draining, Some(_)) => Some(
            "takes nothing new since it failed to start tasks: its page says which and why".into(),
        ),
        // What is wrong with it follows.
        (NodeCondition::Draining, None) if node.health.has_failed() => None,
        (NodeCondition::Draining, None) => {
            Some("takes nothing new: an administrator wants it empty".into())
        }
        (NodeCondition::Ready, _) => problem.map(str::to_owned),
    };
    let of_gpus = node.gpu_report.as_ref().and_then(|report| report.problem.as_ref());
    // Most nodes of which that is true have no GPUs.
    let of_gpus = of_gpus
        .filter(|problem| **problem != GpuProblem::NoRuntime || !node.capacity.gpus.is_empty());
    let broken = node.gpus.iter().filter(|gpu| !gpu.gpu.healthy).map(|gpu| {
        let (index, gpu_type) = (gpu.gpu.index, &gpu.gpu.gpu_type);
        format!("GPU {index} ({gpu_type}) is gone, has failed or is taken: its page says why")
    });
    let ailments = node.health.ailments.iter().map(|ailment| match ailment.grade {
        Grade::Warning => format!("{ailment}: it is the last choice while that is so"),
        Grade::Failed => format!("{ailment}: once it is mended, let it take tasks again"),
    });
    let condition = condition.into_iter().chain(ailments);
    condition.chain(of_gpus.map(ToString::to_string)).chain(broken).collect()
}

/// What a job that was to try a node tells of it; `None`: that it is well.
fn verdict(job: &JobWire) -> Option<String> {
    use protocol::state::State;

    let status = &job.job_status;
    let how = status.app_exit_diagnostics.as_deref().unwrap_or("nothing more is known");
    match status.state {
        State::Succeeded => None,
        State::Failed | State::Stopped => {
            Some(format!("a task that was tried there failed: {how}"))
        }
        State::Waiting => {
            let why = status.waiting.as_ref().map(|waiting| waiting.reason.to_string());
            let why = why.unwrap_or_else(|| "nobody knows why".to_owned());
            Some(format!("no task could be tried there, it waits: {why}"))
        }
        State::Preparing | State::Running | State::Stopping | State::Unknown => Some(
            "a task that was tried there has not ended in time: see how long its engine takes to \
             pull images and to start containers, or wait longer with --patience"
                .to_owned(),
        ),
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

/// What is wrong with what a job found between these moments.
fn readings(log: &str, (from, until): (Timestamp, Timestamp)) -> Vec<String> {
    let Some(line) = log.lines().find_map(|line| line.trim().strip_prefix(MARK)) else {
        return Vec::new();
    };
    let value = |name: &str| {
        let pair = line.split(' ').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='));
        pair.and_then(|value| value.parse::<i64>().ok())
    };
    let clock = value("now").and_then(|now| {
        let now = Timestamp(now.saturating_mul(1_000));
        let (behind, ahead) = (from.since(now), now.since(until));
        let wrong = |millis: i64, word: &str| {
            let seconds = millis / 1_000;
            format!("its clock is {seconds} s {word} this machine's: see that NTP sets both")
        };
        match (behind > SLACK, ahead > SLACK) {
            (true, _) => Some(wrong(behind, "behind")),
            (false, true) => Some(wrong(ahead, "ahead of")),
            (false, false) => None,
        }
    });
    let disk = value("free_kb").filter(|free| *free < LEAST_DISK).map(|free| {
        let free = free >> 20;
        format!("its disk has only {free} GiB left: remove images there that nobody needs")
    });
    clock.into_iter().chain(disk).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::client::tests::seen;

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
    }

    #[test]
    fn clock_and_disk_are_looked_at() {
        let of = |log: &str| readings(log, (Timestamp(100_000), Timestamp(110_000)));
        let well = "pulled\nberth-doctor now=104 free_kb=99999999\n";
        assert_eq!(of(well), Vec::<String>::new());
        assert_eq!(of("nothing"), Vec::<String>::new());
        let behind = of("berth-doctor now=90 free_kb=3145728");
        assert!(behind[0].contains("10 s behind") && behind[1].contains("only 3 GiB"));
        assert!(of("berth-doctor now=120 free_kb=")[0].contains("10 s ahead of"));
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
        let of =
            |answer: &serde_json::Value| verdict(&serde_json::from_value(answer.clone()).unwrap());
        assert!(of(&answer).unwrap().contains("failed: The command ended with an error."));
        answer["jobStatus"]["state"] = json!("SUCCEEDED");
        assert_eq!(of(&answer), None);
        answer["jobStatus"]["state"] = json!("PREPARING");
        assert!(of(&answer).unwrap().contains("--patience"));
    }
}
