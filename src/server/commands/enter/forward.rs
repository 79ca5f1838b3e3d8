use std::collections::BTreeMap;
use std::process::Command;
use std::str::FromStr;

use anyhow::Context;
use clap::Args;

use super::replace::replace;
use super::task::{TaskName, Way};
use crate::commands::client::Client;
use crate::commands::outcome::{CommandError, Outcome};
use crate::commands::reach::Common;
use crate::commands::text;
use crate::commands::words::Words;
use crate::rest::v2::wire::{JobWire, TaskWire};

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
        let (labels, words) = (ports(&client, &way)?, client.words());
        let mut ssh = Command::new("ssh");
        ssh.args(way.options()).arg(format!("-oPort={}", way.port));
        ssh.args(["-N", "-oExitOnForwardFailure=yes", "-oServerAliveInterval=30"]);
        for asked in &self.ports {
            let there = number(&asked.there, &labels, words)?;
            let here = asked.here.unwrap_or(there);
            ssh.arg(format!("-L127.0.0.1:{here}:127.0.0.1:{there}"));
            let task = format!("{}/{}", way.job, way.task);
            text::say((words.forwards)(here, &asked.there, &task));
        }
        replace(ssh.arg(way.destination()), words)
    }
}

/// The task's ports by their labels.
fn ports(client: &Client, way: &Way) -> anyhow::Result<BTreeMap<String, u16>> {
    let job: JobWire = client.get(&format!("/api/v2/jobs/{}", way.job))?;
    let (role, index) = way.task.rsplit_once('-').context("the server names no task")?;
    let index: u32 = index.parse().context("the server names no task")?;
    let role = job.task_roles.iter().find(|(name, _)| name.as_str() == role);
    let mut tasks = role.into_iter().flat_map(|(_, role)| &role.task_statuses);
    Ok(tasks.find(|task| task.task_index == index).map(first_ports).unwrap_or_default())
}

/// The first port of each label.
fn first_ports(task: &TaskWire) -> BTreeMap<String, u16> {
    let ports = task.container_ports.iter().filter_map(|(label, list)| {
        let first = list.split(',').next()?.trim();
        Some((label.to_string(), first.parse().ok()?))
    });
    ports.collect()
}

fn number(asked: &str, labels: &BTreeMap<String, u16>, words: &Words) -> Result<u16, CommandError> {
    let port = labels.get(asked).copied().or_else(|| asked.parse().ok());
    port.filter(|port| *port > 0).ok_or_else(|| {
        let known: Vec<_> = labels.keys().map(String::as_str).collect();
        CommandError::new((words.port_absent)(asked, &known.join(", ")))
    })
}

#[cfg(test)]
mod tests {
    use app::i18n::Language;

    use super::*;
    use crate::commands::client::tests::seen;
    use crate::commands::words::words;

    #[test]
    fn the_first_port_of_a_label_is_the_labels() {
        let job: JobWire = serde_json::from_value(seen("v2_job")).unwrap();
        let task = &job.task_roles.values().next().unwrap().task_statuses[0];
        let expected = [("grpc", 20_001), ("http", 20_000)];
        let expected = expected.map(|(label, port)| (label.to_owned(), port));
        assert_eq!(first_ports(task), BTreeMap::from(expected));
    }

    #[test]
    fn ports_are_named_by_label_or_number() {
        let labels = BTreeMap::from([("http".to_owned(), 20_001)]);
        let number = |asked: &str| number(asked, &labels, words(Language::English));
        assert_eq!(number("http").unwrap(), 20_001);
        assert_eq!(number("6006").unwrap(), 6006);
        for bad in ["jupyter", "0", "70000"] {
            let error = number(bad).unwrap_err().to_string();
            assert!(error.contains("it has http"), "{error}");
        }
        let asked: Asked = "8888:http".parse().unwrap();
        assert_eq!(asked, Asked { here: Some(8888), there: "http".to_owned() });
        for bad in ["x:http", "8888:", ""] {
            assert!(bad.parse::<Asked>().is_err(), "{bad}");
        }
    }
}
