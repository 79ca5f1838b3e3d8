//! A job that tries a node: how it went, what it found there, and whether the server reaches its ports.

use std::io::Read;
use std::time::{Duration, Instant};

use api::cluster::{NodeView, Trial};
use app::i18n::Language;
use protocol::ids::JobKey;
use protocol::state::State;
use protocol::time::Timestamp;
use serde_json::{Value, json};

use super::is_free;
use crate::commands::client::Client;
use crate::commands::jobs::full_name;
use crate::commands::text;
use crate::commands::words::{Doctor as Words, words};
use crate::rest::v2::execution::Execution;
use crate::rest::v2::jobs::Accepted;
use crate::rest::v2::wire::JobWire;

/// How often it is asked what became of a job.
const AGAIN: Duration = Duration::from_secs(1);
/// A job that has had its time is ended, seen to be gone and deleted within so long. It goes even where
/// nobody does that any more.
const FAREWELL: Duration = Duration::from_secs(60);
/// A task's SSH server listens so long after the task runs, and what it wrote is there.
const BEGINS: Duration = Duration::from_secs(15);

/// The job's one role, and a port that every task has. Nothing listens there: what is tried is the way.
const ROLE: &str = "try";
const PORT: &str = "http";
/// What the line of a job begins with that says what it found, and what the job runs for it. AMD's GPUs and Ascend's are
/// known by the devices that a container has, NVIDIA's by their driver's command, which comes with them.
const MARK: &str = "berth-doctor ";
const TRY: &str = "set -- $(df -Pk / | tail -n 1); \
    if [ -e /dev/kfd ]; then gpus=$(ls /dev/dri | grep -c '^renderD'); \
    elif [ -e /dev/davinci_manager ]; then gpus=$(ls /dev | grep -c '^davinci[0-9]'); \
    else gpus=$(nvidia-smi -L 2>&1 | grep -c 'UUID: GPU-'); fi; \
    echo \"berth-doctor now=$(date +%s) free_kb=$4 gpus=$gpus\"";
/// So many bytes of its log are read.
const LOG: u64 = 64 * 1_024;
/// So far clocks may differ, in milliseconds.
const SLACK: i64 = 5_000;
/// So much room should be left for containers, in KiB.
const LEAST_DISK: i64 = 10 << 20;

/// Runs a task on the node, with a GPU where one is free; what went wrong, and what it found there.
pub(super) fn tried(
    client: &Client,
    node: &NodeView,
    image: &str,
    patience: Duration,
) -> anyhow::Result<Vec<String>> {
    let name = format!("doctor-{}-{}", node.name, text::now().0);
    let gpus = i64::from(node.gpus.iter().any(is_free));
    // It stays for its ports to be tried. Simulated tasks have none.
    let command = match node.simulated {
        true => TRY.to_owned(),
        false => format!("{TRY}; exec sleep {}", patience.as_secs()),
    };
    let job = json!({
        "jobName": name,
        "image": image,
        "extras": { "berth": { "nodes": [node.name] } },
        "taskRoles": [{
            "name": ROLE, "taskNumber": 1, "cpuNumber": 1, "memoryMB": 256,
            "gpuNumber": gpus, "command": command,
        }],
    });
    let seconds = patience.saturating_add(FAREWELL).as_secs().min(Trial::LONGEST.into());
    let trial = json!({ "job": name, "seconds": seconds });
    let _begun: Accepted = client.post(&format!("/api/v2/nodes/{}/trial", node.name), &trial)?;
    let _accepted: Accepted = client.post_text("/api/v2/jobs", &job.to_string())?;
    let key = full_name(client, &name)?;
    let path = format!("/api/v2/jobs/{key}");
    let attempt = Attempt { client, node, key, path, submitted: text::now(), has_gpu: gpus > 0 };
    attempt.findings(patience)
}

/// A job that was submitted to try a node.
struct Attempt<'a> {
    client: &'a Client,
    node: &'a NodeView,
    key: JobKey,
    /// Its address.
    path: String,
    submitted: Timestamp,
    has_gpu: bool,
}

impl Attempt<'_> {
    /// Waits until it has ended or takes too long; what is wrong with its node.
    fn findings(&self, patience: Duration) -> anyhow::Result<Vec<String>> {
        let (began, mut stopped, mut found) = (Instant::now(), false, Vec::new());
        loop {
            let job: JobWire = self.client.get(&self.path)?;
            let state = job.job_status.state;
            let verdict = || verdict(&job, stopped, self.client.language);
            if state.is_final() {
                let log = self.log();
                let _deleted: Accepted = self.client.delete(&self.path)?;
                found.extend(verdict().into_iter().chain(self.of_log(&log)));
                return Ok(found);
            }
            if began.elapsed() >= patience || cannot_begin(&job) {
                self.stop()?;
                found.extend(verdict());
                return Ok(found);
            }
            if state == State::Running && !stopped && !self.node.simulated {
                found.extend(self.ports()?);
                self.until_it_spoke();
                self.stop()?;
                stopped = true;
            }
            std::thread::sleep(AGAIN);
        }
    }

    fn stop(&self) -> anyhow::Result<()> {
        let path = format!("{}/executionType", self.path);
        let _stopping: Accepted = self.client.put(&path, &Execution::stop())?;
        Ok(())
    }

    /// What keeps the server from the ports of the node's tasks, where something does.
    fn ports(&self) -> anyhow::Result<Option<String>> {
        let path = format!("/proxy/{}/{ROLE}/0/{PORT}/", self.key);
        let began = Instant::now();
        while is_out_of_reach(&self.client.said(&path)?) {
            if began.elapsed() >= BEGINS {
                let address = self.node.tasks_address.map(|address| address.to_string());
                let address = address.as_deref().unwrap_or(&self.node.address);
                let said = self.client.words().doctor.ports_closed;
                return Ok(Some(said(address, &self.node.ports.to_string())));
            }
            std::thread::sleep(AGAIN);
        }
        Ok(None)
    }

    /// Waits until it wrote what it found, or so long that it will not.
    fn until_it_spoke(&self) {
        let began = Instant::now();
        while reading(&self.log(), "now").is_none() && began.elapsed() < BEGINS {
            std::thread::sleep(AGAIN);
        }
    }

    /// What it has written; nothing where that cannot be read.
    fn log(&self) -> String {
        let mut text = String::new();
        if let Ok(answer) = self.client.open(&format!("{}/logs?follow=false", self.path)) {
            let read = answer.into_body().into_reader().take(LOG).read_to_string(&mut text);
            return read.map(|_| text).unwrap_or_default();
        }
        text
    }

    /// What is wrong with what it found.
    fn of_log(&self, log: &str) -> Vec<String> {
        let words = &self.client.words().doctor;
        let mut found = readings(log, (self.submitted, text::now()), words);
        found.extend(self.has_gpu.then(|| shown(self.node, log, words)).flatten());
        found
    }
}

/// Whether the proxy's answer says that it does not reach the task.
fn is_out_of_reach(answer: &Value) -> bool {
    answer["reached"] == false
}

/// Whether it was tried on its node in vain. It would be tried again and again, without counting.
fn cannot_begin(job: &JobWire) -> bool {
    job.job_status.state == State::Waiting && job.job_status.app_exit_diagnostics.is_some()
}

/// What a job that was to try a node tells of it, which may have been stopped since it was done; `None`:
/// that it is well.
fn verdict(job: &JobWire, stopped: bool, language: Language) -> Option<String> {
    let (status, words) = (&job.job_status, words(language));
    let doctor = &words.doctor;
    let how = || match &status.app_exit_diagnostics {
        Some(how) => language.told(how),
        None => doctor.nothing_known.to_owned(),
    };
    match status.state {
        State::Succeeded => None,
        State::Stopped if stopped => None,
        State::Failed | State::Stopped => Some((doctor.task_failed)(&how())),
        State::Waiting if cannot_begin(job) => Some((doctor.task_failed)(&how())),
        State::Waiting => {
            let why = status.waiting.as_ref().map(|waiting| (words.wait)(&waiting.reason));
            Some((doctor.task_waits)(why.as_deref().unwrap_or(doctor.nobody_knows)))
        }
        State::Preparing | State::Running | State::Stopping | State::Unknown => {
            Some(doctor.task_late.to_owned())
        }
    }
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

    use super::super::tests::node;
    use super::*;
    use crate::commands::client::tests::seen;

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
    fn gpus_of_each_vendor_are_counted() {
        let count = |files: &[&str]| {
            let folder = tempfile::tempdir().unwrap();
            let devices = folder.path().join("dev");
            std::fs::create_dir_all(devices.join("dri")).unwrap();
            for file in files {
                std::fs::write(devices.join(file), "").unwrap();
            }
            let script = TRY.replace("/dev", devices.to_str().unwrap());
            let said = std::process::Command::new("sh").args(["-c", &script]).output().unwrap();
            reading(&String::from_utf8(said.stdout).unwrap(), "gpus")
        };
        assert_eq!(count(&["kfd", "dri/card0", "dri/renderD128", "dri/renderD131"]), Some(2));
        assert_eq!(count(&["davinci_manager", "davinci0", "davinci12"]), Some(2));
        assert_eq!(count(&["dri/renderD128"]), Some(0), "the machine's own, which is no GPU");
    }

    #[test]
    fn a_job_that_was_tried_tells_of_its_node() {
        let mut answer = seen("v2_job");
        let of = |answer: &Value, stopped| {
            let job = serde_json::from_value(answer.clone()).unwrap();
            verdict(&job, stopped, Language::English)
        };
        assert!(of(&answer, false).unwrap().contains("failed: The command failed."));
        assert!(of(&answer, true).is_some(), "it failed before it could be stopped");
        answer["jobStatus"]["state"] = json!("WAITING");
        let begun = of(&answer, false).unwrap();
        assert!(begun.contains("failed: The command failed."), "{begun}");
        answer["jobStatus"]["state"] = json!("SUCCEEDED");
        assert_eq!(of(&answer, false), None);
        answer["jobStatus"]["state"] = json!("PREPARING");
        assert!(of(&answer, false).unwrap().contains("--patience"));
        answer["jobStatus"]["state"] = json!("STOPPED");
        assert_eq!(of(&answer, true), None, "the doctor has seen enough");
        assert!(of(&answer, false).is_some(), "somebody else did");
    }

    #[test]
    fn a_task_at_whose_port_nothing_listens_is_reached() {
        for (answer, out_of_reach) in [
            (json!({ "code": "UnavailableError", "message": "m", "reached": false }), true),
            (json!({ "code": "UnavailableError", "message": "m", "reached": true }), false),
            (json!({ "code": "ForbiddenUserError", "message": "m" }), false),
            (Value::Null, false),
        ] {
            assert_eq!(is_out_of_reach(&answer), out_of_reach, "{answer}");
        }
    }
}
