use std::collections::BTreeMap;
use std::process::Command;
use std::str::FromStr;

use anyhow::Context;
use clap::Args;
use serde_json::Value;

use super::replace;
use super::task::{TaskName, Way};
use crate::commands::client::Client;
use crate::commands::{CommandError, Common, Outcome, text};

#[derive(Debug, Args)]
pub(in crate::commands) struct Forward {
    /// The job, or one of its tasks: `train`, `train/worker-0`
    task: TaskName,
    /// Ports of the task, by label or number, each with the port here before it if that is to be
    /// another one: `tensorboard`, `8888:http`, `6006`
    #[arg(required = true)]
    ports: Vec<Asked>,
    #[command(flatten)]
    common: Common,
}

/// A port of the task, and the one here.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Asked {
    here: Option<u16>,
    there: String,
}

impl FromStr for Asked {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let (here, there) = match text.split_once(':') {
            Some((here, there)) => {
                let here = here.parse().map_err(|_| format!("{here:?} is no port: 1 to 65535"))?;
                (Some(here), there)
            }
            None => (None, text),
        };
        if there.is_empty() {
            return Err("name a port of the task by its label or its number".to_owned());
        }
        Ok(Self { here, there: there.to_owned() })
    }
}

impl Forward {
    pub(in crate::commands) fn run(self) -> Outcome {
        let client = Client::signed_in(&self.common)?;
        let way = Way::find(&client, &self.task)?;
        let labels = ports(&client, &way)?;
        let mut ssh = Command::new("ssh");
        ssh.args(way.options()).arg(format!("-oPort={}", way.port));
        ssh.args(["-N", "-oExitOnForwardFailure=yes", "-oServerAliveInterval=30"]);
        for asked in &self.ports {
            let there = number(&asked.there, &labels)?;
            let here = asked.here.unwrap_or(there);
            ssh.arg(format!("-L127.0.0.1:{here}:127.0.0.1:{there}"));
            text::say(format_args!(
                "127.0.0.1:{here} -> {} of {}/{}",
                asked.there, way.job, way.task
            ));
        }
        replace(ssh.arg(way.destination()))
    }
}

/// The task's ports by their labels.
fn ports(client: &Client, way: &Way) -> anyhow::Result<BTreeMap<String, u16>> {
    let job: Value = client.get(&format!("/api/v2/jobs/{}", way.job))?;
    let (role, index) = way.task.rsplit_once('-').context("the server names no task")?;
    let tasks = job["taskRoles"][role]["taskStatuses"].as_array().into_iter().flatten();
    let index: u64 = index.parse().context("the server names no task")?;
    let task = tasks.into_iter().find(|task| task["taskIndex"].as_u64() == Some(index));
    let ports = task.and_then(|task| task["containerPorts"].as_object());
    let ports = ports.into_iter().flatten().filter_map(|(label, list)| {
        let first = list.as_str()?.split(',').next()?.trim();
        Some((label.clone(), first.parse().ok()?))
    });
    Ok(ports.collect())
}

fn number(asked: &str, labels: &BTreeMap<String, u16>) -> Result<u16, CommandError> {
    let port = labels.get(asked).copied().or_else(|| asked.parse().ok());
    port.filter(|port| *port > 0).ok_or_else(|| {
        let known: Vec<_> = labels.keys().map(String::as_str).collect();
        CommandError::new(format!("the task has no port {asked:?}; it has {}", known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ports_are_named_by_label_or_number() {
        let labels = BTreeMap::from([("http".to_owned(), 20_001)]);
        assert_eq!(number("http", &labels).unwrap(), 20_001);
        assert_eq!(number("6006", &labels).unwrap(), 6006);
        for bad in ["jupyter", "0", "70000"] {
            let error = number(bad, &labels).unwrap_err().to_string();
            assert!(error.contains("it has http"), "{error}");
        }
        let asked: Asked = "8888:http".parse().unwrap();
        assert_eq!(asked, Asked { here: Some(8888), there: "http".to_owned() });
        for bad in ["x:http", "8888:", ""] {
            assert!(bad.parse::<Asked>().is_err(), "{bad}");
        }
    }
}
