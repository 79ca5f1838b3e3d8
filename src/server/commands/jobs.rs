//! `berth submit`, `jobs`, `job`, `stop` and `delete`.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use app::i18n::Language;
use clap::Args;
use protocol::ids::{InvalidName, JobKey, NodeName, RoleName};
use protocol::time::Timestamp;

use super::client::Client;
use super::outcome::{CommandError, Outcome};
use super::reach::Common;
use super::text;
use super::words::{Counted, Named, Words, words};
use crate::rest::v1;
use crate::rest::v2::execution::Execution;
use crate::rest::v2::jobs::Accepted;
use crate::rest::v2::wire::{JobItem, JobWire, TaskWire};

#[derive(Debug, Args)]
pub(super) struct Submit {
    /// The job file, `-` for standard input
    file: PathBuf,
    #[command(flatten)]
    common: Common,
}

impl Submit {
    pub(super) fn run(self) -> Outcome {
        let text = if self.file.as_os_str() == "-" {
            let mut text = String::new();
            std::io::stdin().read_to_string(&mut text).context("standard input")?;
            text
        } else {
            std::fs::read_to_string(&self.file).with_context(|| self.file.display().to_string())?
        };
        let client = Client::signed_in(&self.common)?;
        let answer: Accepted = client.post_text("/api/v2/jobs", &text)?;
        if self.common.json {
            return text::json(&answer);
        }
        text::say(client.language.told(&answer.message));
        Ok(())
    }
}

#[derive(Debug, Args)]
pub(super) struct List {
    /// Only jobs of these owners, with commas
    #[arg(long)]
    user: Option<String>,
    /// Only jobs in these states, with commas
    #[arg(long)]
    state: Option<String>,
    /// Only jobs of these virtual clusters, with commas
    #[arg(long)]
    vc: Option<String>,
    /// Only jobs that a filter finds, written as on the pages: "gpu:>=4 since:7d resnet"
    #[arg(long)]
    filter: Option<String>,
    /// At most so many
    #[arg(long, default_value_t = 50)]
    limit: u64,
    #[command(flatten)]
    common: Common,
}

impl List {
    pub(super) fn run(self) -> Outcome {
        let mut query = vec![("limit", self.limit.to_string())];
        let filters = [
            ("username", &self.user),
            ("state", &self.state),
            ("vc", &self.vc),
            ("q", &self.filter),
        ];
        for (name, value) in filters {
            query.extend(value.clone().map(|value| (name, value)));
        }
        let query = serde_urlencoded::to_string(query)?;
        let client = Client::signed_in(&self.common)?;
        client.show(&self.common, &format!("/api/v2/jobs?{query}"), |jobs: Vec<JobItem>| {
            let (now, words) = (text::now(), client.words());
            let rows: Vec<_> = jobs.iter().map(|job| row(job, now, words)).collect();
            text::table(&words.jobs_heading, &rows);
        })
    }
}

fn row(job: &JobItem, now: Timestamp, words: &Words) -> Vec<String> {
    vec![
        job.name.to_string(),
        job.username.to_string(),
        (words.state)(job.state).to_owned(),
        job.virtual_cluster.to_string(),
        job.total_task_number.to_string(),
        job.total_gpu_number.to_string(),
        (words.ago)(now.since(job.submission_time)),
        job.app_exit_code.map(|code| code.to_string()).unwrap_or_default(),
    ]
}

#[derive(Debug, Args)]
pub(super) struct Show {
    /// The job: its name, or `user~name`
    name: String,
    #[command(flatten)]
    common: Common,
}

impl Show {
    pub(super) fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        let path = format!("/api/v2/jobs/{}", full_name(&client, &self.name)?);
        client.show(&self.common, &path, |job: JobWire| {
            for line in about(&job, client.language) {
                text::say(line);
            }
            text::say("");
            let words = client.words();
            text::table(&words.tasks_heading, &task_rows(&job, words));
        })
    }
}

/// What is said of a job before its tasks, one line each.
fn about(job: &JobWire, language: Language) -> Vec<String> {
    let (status, words) = (&job.job_status, words(language));
    let state = (words.state)(status.state);
    let mut lines = vec![format!("{}~{}: {state}", status.username, job.name)];
    let mut tell = |what: &str, said: &str| {
        let said = said.lines().enumerate();
        let what = |first: bool| text::padded(if first { what } else { "" }, 15);
        lines.extend(said.map(|(at, line)| format!("{}  {line}", what(at == 0))));
    };
    tell(words.cluster, status.virtual_cluster.as_str());
    if let Some(why) = &status.waiting {
        tell(words.waits, &(words.wait)(&why.reason));
        if let Some(place) = why.place() {
            tell(words.place, &place.to_string());
        }
    }
    if let Some(how) = &status.app_exit_diagnostics {
        let what = if status.state.is_final() { words.ended } else { words.last_attempt };
        tell(what, &language.told(how));
    }
    lines
}

fn task_rows(job: &JobWire, words: &Words) -> Vec<Vec<String>> {
    let roles = job.task_roles.iter();
    let tasks = roles.flat_map(|(role, wire)| wire.task_statuses.iter().map(move |it| (role, it)));
    tasks.map(|(role, task)| task_row(role, task, words)).collect()
}

fn task_row(role: &RoleName, task: &TaskWire, words: &Words) -> Vec<String> {
    let or_dash = |text: Option<&str>| text.unwrap_or("-").to_owned();
    let ports = task.container_ports.iter().map(|(label, list)| format!("{label}={list}"));
    vec![
        format!("{role}-{}", task.task_index),
        (words.state)(task.task_state).to_owned(),
        or_dash(task.container_node_name.as_ref().map(NodeName::as_str)),
        or_dash(task.container_ip.as_deref()),
        ports.collect::<Vec<_>>().join(" "),
        task.container_exit_code.map(|code| code.to_string()).unwrap_or_default(),
    ]
}

#[derive(Debug, Args)]
pub(super) struct Stop {
    /// The jobs: names, or `user~name`
    #[arg(required = true)]
    names: Vec<String>,
    #[command(flatten)]
    common: Common,
}

impl Stop {
    /// Stops as many as it can, and fails when one could not be stopped.
    pub(super) fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        let stop = |job: JobKey| {
            let path = format!("/api/v2/jobs/{job}/executionType");
            client.put::<Accepted>(&path, &Execution::stop())
        };
        let Words { stopping, not_stopped, .. } = client.words();
        each(&client, &self.common, &self.names, (*stopping, *not_stopped), stop)
    }
}

#[derive(Debug, Args)]
pub(super) struct Delete {
    /// The jobs, which have ended: names, or `user~name`
    #[arg(required = true)]
    names: Vec<String>,
    #[command(flatten)]
    common: Common,
}

impl Delete {
    /// Deletes as many as it can, and fails when one could not be deleted.
    pub(super) fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        let delete = |job: JobKey| client.delete::<Accepted>(&format!("/api/v2/jobs/{job}"));
        let Words { deleted, not_deleted, .. } = client.words();
        each(&client, &self.common, &self.names, (*deleted, *not_deleted), delete)
    }
}

/// Does something with each of these jobs, and says of which it is being done, or why not.
fn each(
    client: &Client,
    common: &Common,
    names: &[String],
    (done, not_done): (Named, Counted),
    act: impl Fn(JobKey) -> anyhow::Result<Accepted>,
) -> Outcome {
    let mut failed = Vec::new();
    for name in names {
        match full_name(client, name).and_then(&act) {
            Ok(answer) if common.json => text::json(&answer)?,
            Ok(_) => text::say(done(name)),
            Err(error) => failed.push(format!("{name}: {error:#}")),
        }
    }
    match failed.len() {
        0 => Ok(()),
        1 => Err(CommandError::new(failed.remove(0)).into()),
        count => {
            let message = not_done(count);
            Err(CommandError { message, problems: failed }.into())
        }
    }
}

/// The job that is meant by a name, which may be said without its owner.
pub(super) fn full_name(client: &Client, name: &str) -> anyhow::Result<JobKey> {
    if name.contains('~') {
        let refused = |error: InvalidName| client.language.told(&error.to_string());
        return name.parse::<JobKey>().map_err(|error| CommandError::new(refused(error)).into());
    }
    let job: v1::wire::JobWire = client.get(&format!("/api/v1/jobs/{name}"))?;
    Ok(JobKey { user: job.job_status.username, name: job.name })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::commands::client::tests::seen;

    #[test]
    fn a_row_says_what_part_of_a_gpu_a_job_has() {
        let mut answer = seen("v2_jobs")["data"][0].take();
        answer["totalGpuNumber"] = json!(0.25);
        let job = serde_json::from_value(answer).unwrap();
        let row = |language| row(&job, Timestamp(61_000), words(language));
        let english = ["train", "alice", "RUNNING", "default", "1", "0.25", "1m ago", ""];
        assert_eq!(row(Language::English), english);
        let chinese = ["train", "alice", "运行中", "default", "1", "0.25", "1 分钟前", ""];
        assert_eq!(row(Language::Chinese), chinese);
    }

    #[test]
    fn a_waiting_job_says_why_in_a_sentence() {
        let mut answer = seen("v2_job");
        let status = &mut answer["jobStatus"];
        status["state"] = json!("WAITING");
        status["waiting"] = json!({
            "reason": { "code": "short", "resource": "cpu", "needs": 8, "best_node": 7 },
            "position": 3,
            "expected_start": null,
        });
        let expected = [
            "bob~sweep: WAITING",
            "virtual cluster  default",
            "waits            A task needs 8 CPU cores, but the best node has 7 CPU cores free.",
            "place in queue   3",
            "last attempt     The command failed.",
            "                 boom",
        ];
        let job = serde_json::from_value(answer).unwrap();
        assert_eq!(about(&job, Language::English), expected);
        let chinese = about(&job, Language::Chinese);
        assert_eq!(chinese[0], "bob~sweep: 排队中");
        assert!(chinese[2].starts_with("排队原因         CPU"), "{chinese:?}");
        assert_eq!(chinese[3], "队列位置         3");
    }

    #[test]
    fn the_owner_is_named_once_and_each_task_with_its_place() {
        let job: JobWire = serde_json::from_value(seen("v2_job")).unwrap();
        let lines = about(&job, Language::English);
        assert_eq!(lines[0], "bob~sweep: FAILED");
        assert_eq!(lines[2], "ended            The command failed.");
        let ports = "grpc=20001,20002 http=20000";
        let rows = task_rows(&job, words(Language::English));
        assert_eq!(rows, [["worker-0", "FAILED", "n1", "10.0.0.1", ports, "3"]]);
    }
}
