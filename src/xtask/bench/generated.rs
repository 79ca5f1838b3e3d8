//! Requests that are made from the server's own document, right ones and wrong ones, by an administrator,
//! who may do all: each has an answer, and none of them says that the server failed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use anyhow::{Context, Result, anyhow, bail};
use clap::Args;
use serde_json::Value;

use super::berth::Berth;
use super::figures::Course;
use super::throughput;
use crate::packages;
use crate::process::output;
use crate::progress::{note, step};
use crate::workspace::Workspace;

/// What makes them.
const PACKAGE: &str = "schemathesis==4.32.5";
/// What would have no end, or would end the token that asks: names of users are learnt from answers.
const LEFT_OUT: &str = r"^(getEvents|deleteV\d(AuthnBasicLogout|Tokens?Token|Users?UserAccess))$";
/// So many ask at the same time, each a program with one thread: in several threads of one, Python before
/// 3.11.9 fails now and then at what it reads of its own ("AST constructor recursion depth mismatch").
const ASKERS: u64 = 2;

/// How many.
#[derive(Debug, Args)]
pub(crate) struct Requests {
    /// `generated`: at least so many.
    #[arg(long, default_value_t = 20_000)]
    requests: u64,
}

/// Asks until the server has answered as many as are wanted.
pub(super) fn run(
    workspace: &Workspace,
    binary: &Path,
    course: Course,
    wanted: &Requests,
) -> Result<()> {
    let generator = installed(workspace)?;
    let berth = Berth::start(binary, throughput::NODES)?;
    let document = berth.get("/api/openapi.json")?;
    // Each operation is asked so often in a round, and less often where there is little to choose from.
    let each = wanted.requests.div_ceil(operations(&document)? * ASKERS).max(1);
    note(&format!("--seed {}", course.seed));
    let begun = answered(&berth)?;
    let mut asked = 0;
    for round in 0.. {
        let seeds = (round * ASKERS..).map(|n| course.seed.wrapping_add(n));
        let mut askers = Vec::new();
        for (asker, seed) in (0..ASKERS).zip(seeds) {
            let folder = berth.folder().join(format!("asker-{asker}"));
            fs::create_dir_all(&folder)?;
            let mut requests = questions(&generator, &berth, (each, seed));
            requests.current_dir(folder);
            askers.push(requests);
        }
        together(askers)?;
        let before = asked;
        asked = answered(&berth)? - begun;
        if asked >= wanted.requests {
            break;
        }
        if asked == before {
            bail!("nothing more was asked after {asked} requests");
        }
    }
    well(&berth)?;
    println!("generated {asked} requests");
    Ok(())
}

/// What asks each operation so often, by what this seed makes.
fn questions(generator: &Path, berth: &Berth, (each, seed): (u64, u64)) -> Command {
    let mut requests = Command::new(generator);
    requests.arg("run").arg(berth.url("/api/openapi.json"));
    requests.args(["--url", &berth.url(""), "--phases", "coverage,fuzzing", "--workers", "1"]);
    requests.args(["--header", &format!("Authorization: Bearer {}", berth.token())]);
    requests.args(["--generation-with-security-parameters", "false"]);
    requests.args(["--checks", "not_a_server_error", "--continue-on-failure"]);
    requests.args(["--exclude-operation-id-regex", LEFT_OUT]);
    requests.args(["--max-examples", &each.to_string(), "--request-timeout", "30"]);
    requests.args(["--seed", &seed.to_string(), "--suppress-health-check", "all"]);
    requests.args(["--warnings", "off", "--generation-database", "none"]);
    requests
}

/// Runs them at the same time, and shows what each has said when it has ended.
fn together(askers: Vec<Command>) -> Result<()> {
    let begin = |mut asker: Command| thread::spawn(move || said(&mut asker));
    let running: Vec<_> = askers.into_iter().map(begin).collect();
    // All are waited for, whatever one of them says.
    let ended: Vec<_> = running.into_iter().map(thread::JoinHandle::join).collect();
    for ended in ended {
        ended.map_err(|_| anyhow!("a thread that waits for a program panicked"))??;
    }
    Ok(())
}

fn said(asker: &mut Command) -> Result<()> {
    let output = asker.stdin(Stdio::null()).stderr(Stdio::inherit()).output();
    let output = output.context("cannot start what makes the requests")?;
    println!("{}", String::from_utf8_lossy(&output.stdout));
    if !output.status.success() {
        bail!("requests were answered otherwise than they should be ({})", output.status);
    }
    Ok(())
}

/// The program that makes them, installed once.
fn installed(workspace: &Workspace) -> Result<PathBuf> {
    packages::ensure(&packages::PYTHON)?;
    let folder = workspace.target.join("python").join(PACKAGE);
    let whole = folder.join("installed");
    if !whole.exists() {
        step(&format!("Python package {PACKAGE}"), || {
            output(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder))?;
            let mut pip = Command::new(folder.join("bin/python"));
            pip.args(["-m", "pip", "install", "--quiet", PACKAGE]);
            output(&mut pip).context("pip needs its registry: see `pip config list`")?;
            fs::write(&whole, "")?;
            Ok(())
        })?;
    }
    Ok(folder.join("bin/schemathesis"))
}

/// How many operations a document has.
fn operations(document: &Value) -> Result<u64> {
    let paths = document["paths"].as_object().context("the document has no paths")?;
    let count: usize = paths.values().filter_map(Value::as_object).map(serde_json::Map::len).sum();
    if count == 0 {
        bail!("the document has no operations");
    }
    Ok(count as u64)
}

/// How many requests of REST the server has answered, as it says itself.
fn answered(berth: &Berth) -> Result<u64> {
    let asked = berth.agent().get(berth.url("/metrics"));
    let asked = asked.header("Authorization", format!("Bearer {}", berth.token()));
    let mut answer = asked.call().context("the server does not answer")?;
    if !answer.status().is_success() {
        bail!("measurements are answered by {}: is the token still good?", answer.status());
    }
    Ok(requests(&answer.body_mut().read_to_string()?))
}

/// What the server's measurements say of requests of REST.
fn requests(told: &str) -> u64 {
    let of_rest = |line: &&str| {
        line.starts_with("berth_http_requests_total{") && line.contains("route=\"/api/")
    };
    let counts = told.lines().filter(of_rest);
    counts.filter_map(|line| line.rsplit_once(' ')?.1.parse::<u64>().ok()).sum()
}

/// Whether the server is as it was.
fn well(berth: &Berth) -> Result<()> {
    let log = fs::read_to_string(berth.folder().join("berth.log"))?;
    if let Some(line) = log.lines().find(|line| line.contains("panicked")) {
        bail!("the server went on, but: {line}");
    }
    if !berth.is_ready() {
        bail!("the server is not ready any more");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn requests_of_rest_are_counted() {
        let told = "# TYPE berth_http_requests counter\n\
            berth_http_requests_total{method=\"GET\",route=\"/api/v2/jobs/{key}\",status=\"200\"} 3\n\
            berth_http_requests_total{method=\"PUT\",route=\"/api/v1/jobs\",status=\"400\"} 40\n\
            berth_http_requests_total{method=\"GET\",route=\"/metrics\",status=\"200\"} 500\n";
        assert_eq!(requests(told), 43);
    }

    #[test]
    fn operations_are_methods_of_paths() {
        let paths = json!({ "/a": { "get": {}, "put": {} }, "/b": { "get": {} } });
        assert_eq!(operations(&json!({ "paths": paths })).unwrap(), 3);
        assert!(operations(&json!({ "paths": {} })).is_err());
    }
}
