//! `berth submit`, `jobs`, `job` and `stop`.

use std::io::Read;
use std::path::PathBuf;

use anyhow::Context;
use clap::Args;
use serde_json::{Value, json};

use super::client::Client;
use super::table::print_json;
use super::{CommandError, Common, Outcome, text};

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
        let answer = Client::signed_in(&self.common)?.post_text("/api/v2/jobs", &text)?;
        if self.common.json {
            return print_json(&answer);
        }
        text::say(answer["message"].as_str().unwrap_or("submitted"));
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
        let jobs: Vec<Value> =
            Client::signed_in(&self.common)?.get(&format!("/api/v2/jobs?{query}"))?;
        if self.common.json {
            return print_json(&jobs);
        }
        let rows: Vec<_> = jobs.iter().map(row).collect();
        text::table(&["NAME", "USER", "STATE", "VC", "TASKS", "GPUS", "SUBMITTED", "EXIT"], &rows);
        Ok(())
    }
}

fn row(job: &Value) -> Vec<String> {
    let word = |key: &str| job[key].as_str().unwrap_or_default().to_owned();
    let number = |key: &str| job[key].as_i64().map(|n| n.to_string()).unwrap_or_default();
    vec![
        word("name"),
        word("username"),
        word("state"),
        word("virtualCluster"),
        number("totalTaskNumber"),
        number("totalGpuNumber"),
        job["submissionTime"].as_i64().map(|at| text::ago(at) + " ago").unwrap_or_default(),
        number("appExitCode"),
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
        let job: Value = client.get(&path)?;
        if self.common.json {
            return print_json(&job);
        }
        let status = &job["jobStatus"];
        let word = |key: &str| status[key].as_str().unwrap_or("-");
        text::say(format_args!("{}~{}: {}", word("username"), self.name, word("state")));
        text::say(format_args!("virtual cluster  {}", word("virtualCluster")));
        if let Some(why) = status.get("waiting") {
            text::say(format_args!("waits            {}", why["reason"]));
        }
        if status["appExitDiagnostics"].is_string() {
            text::say(format_args!("ended            {}", word("appExitDiagnostics")));
        }
        text::say("");
        text::table(&["TASK", "STATE", "NODE", "ADDRESS", "PORTS", "EXIT"], &task_rows(&job));
        Ok(())
    }
}

fn task_rows(job: &Value) -> Vec<Vec<String>> {
    let mut rows = Vec::new();
    for (role, value) in job["taskRoles"].as_object().into_iter().flatten() {
        for task in value["taskStatuses"].as_array().into_iter().flatten() {
            let word = |key: &str| task[key].as_str().unwrap_or("-").to_owned();
            let ports = task["containerPorts"].as_object().into_iter().flatten();
            let ports =
                ports.map(|(label, list)| format!("{label}={}", list.as_str().unwrap_or("")));
            rows.push(vec![
                format!("{role}-{}", task["taskIndex"]),
                word("taskState"),
                word("containerNodeName"),
                word("containerIp"),
                ports.collect::<Vec<_>>().join(" "),
                task["containerExitCode"].as_i64().map(|n| n.to_string()).unwrap_or_default(),
            ]);
        }
    }
    rows
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
        let mut failed = Vec::new();
        for name in &self.names {
            let stopped = full_name(&client, name).and_then(|name| {
                let path = format!("/api/v2/jobs/{name}/executionType");
                client.put(&path, &json!({ "value": "STOP" }))
            });
            match stopped {
                Ok(answer) if self.common.json => print_json(&answer)?,
                Ok(_) => text::say(format_args!("{name}: stopping")),
                Err(error) => failed.push(format!("{name}: {error:#}")),
            }
        }
        match failed.len() {
            0 => Ok(()),
            1 => Err(CommandError::new(failed.remove(0)).into()),
            count => Err(CommandError {
                message: format!("{count} jobs could not be stopped"),
                problems: failed,
            }
            .into()),
        }
    }
}

/// `user~name` of a job that may be named without its owner.
pub(super) fn full_name(client: &Client, name: &str) -> anyhow::Result<String> {
    if name.contains('~') {
        return Ok(name.to_owned());
    }
    let job: Value = client.get(&format!("/api/v1/jobs/{name}"))?;
    let user = job["jobStatus"]["username"].as_str();
    let user = user.with_context(|| format!("the server does not say whose job {name} is"))?;
    Ok(format!("{user}~{name}"))
}
