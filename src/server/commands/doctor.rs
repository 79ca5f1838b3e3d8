//! `berth doctor`: looks at each node, tries it from end to end with a small job, and says what to mend.

use std::time::Duration;

use api::cluster::{GpuView, NodeView};
use app::i18n::Language;
use clap::Args;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;
use protocol::gpus::GpuProblem;
use protocol::health::Grade;
use protocol::ids::NodeName;
use serde::Serialize;
use serde_json::json;

use super::client::Client;
use super::outcome::{CommandError, Outcome};
use super::reach::Common;
use super::text;
use super::words::{Doctor as Words, words};
use crate::rest::v2::jobs::Accepted;

mod trial;

/// Docker Engines from this version on are tried with each change of Berth.
const LEAST_ENGINE: (u32, u32) = (20, 10);

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
    /// Has nothing pulled, for nodes without a registry whose images are put there by hand
    #[arg(long)]
    no_pull: bool,
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
            findings.extend(self.pulled(client, &name));
            let patience = Duration::from_secs(self.patience);
            findings.extend(trial::tried(client, &node, &self.image, patience)?);
        }
        Ok(Examined { node: name, findings })
    }

    /// What keeps its engine from pulling the image, which it may have already.
    fn pulled(&self, client: &Client, node: &NodeName) -> Option<String> {
        if self.no_pull {
            return None;
        }
        let path = format!("/api/v2/nodes/{node}/pull");
        let tried = client.post::<Accepted>(&path, &json!({ "image": self.image }));
        tried.err().map(|error| (client.words().doctor.pull_failed)(&error.to_string()))
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
        (NodeCondition::Draining, None) => problem.or_else(|| Some(words.drained.to_owned())),
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
    let (major, minor) = LEAST_ENGINE;
    let old = node.engine.as_deref().filter(|engine| is_old(engine));
    let old = old.map(|engine| (words.engine_old)(engine, &format!("{major}.{minor:02}")));
    condition.into_iter().chain(old).chain(ailments).chain(of_gpus).chain(broken).collect()
}

/// Whether this is a Docker Engine older than those that are tried. What speaks as it does and is another,
/// such as Podman, counts its versions otherwise.
fn is_old(engine: &str) -> bool {
    let Some(version) = engine.strip_prefix("Docker ") else { return false };
    let mut numbers = version.split('.').map(str::parse::<u32>);
    match (numbers.next(), numbers.next()) {
        (Some(Ok(1)), Some(Ok(_))) => true,
        (Some(Ok(major)), Some(Ok(minor))) => major >= 17 && (major, minor) < LEAST_ENGINE,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn findings(node: &NodeView) -> Vec<String> {
        super::findings(node, Language::English)
    }

    pub(super) fn node(condition: &str, healthy: bool) -> NodeView {
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
        let useless = node("draining", true);
        assert_eq!(findings(&useless), ["connection refused"], "nobody wants it empty");
        let drained = NodeView { problem: None, ..useless };
        assert!(findings(&drained)[0].contains("an administrator"));
        let well = NodeView { problem: None, ..node("ready", true) };
        assert_eq!(findings(&well), Vec::<String>::new());
        let broken = NodeView { problem: None, ..node("ready", false) };
        assert!(findings(&broken)[0].starts_with("GPU 0 (A100) is gone"));
        let chinese = super::findings(&broken, Language::Chinese);
        assert!(chinese[0].starts_with("第 0 号 GPU（A100）"), "{chinese:?}");
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
    fn engines_that_are_too_old_are_told() {
        for old in ["Docker 1.13.1", "Docker 18.09.1", "Docker 20.09.0"] {
            let node = NodeView { engine: Some(old.into()), problem: None, ..node("ready", true) };
            let found = findings(&node);
            assert!(found[0].contains(old) && found[0].contains("20.10"), "{found:?}");
        }
        // The last but one is Podman's.
        for new in ["Docker 20.10.24+dfsg1", "Docker 29.1.2", "Docker 4.3.1", "Simulated 1"] {
            assert!(!is_old(new), "{new}");
        }
    }
}
