//! What it costs to look: a browser opens pages of a cluster in which something changes ten times a
//! second, once on the demonstration's nodes and once on ten thousand GPUs. Those that people leave open
//! are watched for a while; of all others the demonstration shows what it takes to open them.

use std::fmt::Write as _;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::json;

use super::berth::{Berth, small_job};
use super::figures::Missed;
use crate::node;
use crate::process::{find_program, output};
use crate::workspace::Workspace;

/// How long each page is watched, in seconds.
const WATCHED: u32 = 20;
/// A job that comes and goes changes four times: it waits, is prepared, runs, ends.
const BETWEEN_JOBS: Duration = Duration::from_millis(400);
/// Nodes of the large cluster, eight GPUs each.
pub(super) const NODES: u32 = 1250;
/// Its jobs that stay, ten nodes each.
const JOBS: u32 = 100;
/// The job whose page is watched, and what it does: it writes five lines a second.
const WATCHED_JOB: &str = "watched";
const WRITES: &str = "watch -n 0.2 date & sleep 7200";

/// Pages in which a program of others is shown, an editor and a reader of documents: they take what those take.
const PROGRAMS: [&str; 2] = ["submit_editor", "reference"];

/// A page, and whether it is left open for a while.
#[derive(Debug, Clone, Serialize)]
struct Page {
    name: String,
    path: String,
    watched: bool,
}

impl Page {
    fn watched(name: &str, path: &str) -> Self {
        Self { name: name.to_owned(), path: path.to_owned(), watched: true }
    }

    fn opened(name: &str, path: &str) -> Self {
        Self { watched: false, ..Self::watched(name, path) }
    }
}

/// What is measured of a page.
#[derive(Debug, Deserialize)]
struct Cost {
    name: String,
    /// Of one that is left open.
    requests_per_second: Option<f64>,
    kb_per_second: Option<f64>,
    html_kb: f64,
    elements: f64,
    code_kb: f64,
    cold_requests: f64,
    cold_kb: f64,
    /// Opened anew, until it shows something and until it answers to what one does.
    paint_ms: f64,
    alive_ms: f64,
}

/// Measures both clusters and prints each figure, beside its limit where it has one.
pub(super) fn run(workspace: &Workspace, binary: &Path, missed: &mut Missed) -> Result<()> {
    let demonstration = Berth::start_with(binary, "", &["--demo"])?;
    let further = further(&demonstration)?;
    measure(workspace, &demonstration, ("demo", further), missed)?;
    drop(demonstration);
    let large = Berth::start(binary, &nodes())?;
    for number in 0..JOBS {
        large.submit(&wide_job(number))?;
    }
    measure(workspace, &large, ("large", Vec::new()), missed)
}

pub(super) fn nodes() -> String {
    let mut text = String::new();
    for number in 1..=NODES {
        let (third, fourth) = (number / 250, number % 250 + 1);
        // Writing to a text never fails.
        let _written = write!(
            text,
            "[[nodes]]\nname = \"node-{number:04}\"\naddress = \"10.0.{third}.{fourth}\"\n\
             endpoint = \"sim://node-{number:04}\"\ncpus = 128\nmemory_mb = 1048576\n\
             disk_gb = 2000\ngpus = [{{ type = \"A100\", count = 8 }}]\n"
        );
    }
    text
}

fn wide_job(number: u32) -> serde_json::Value {
    let mut job = small_job(&format!("wide-{number}"), "any:latest", "sleep 7200");
    let role = &mut job["taskRoles"][0];
    role["taskNumber"] = json!(10);
    role["gpuNumber"] = json!(8);
    job
}

fn measure(
    workspace: &Workspace,
    berth: &Berth,
    (cluster, further): (&str, Vec<Page>),
    missed: &mut Missed,
) -> Result<()> {
    berth.submit(&small_job(WATCHED_JOB, "any:latest", WRITES))?;
    let over = AtomicBool::new(false);
    let costs = thread::scope(|scope| {
        let changes = scope.spawn(|| change(berth, &over));
        let costs = look(workspace, berth, &[left_open(), further].concat());
        over.store(true, Ordering::Relaxed);
        changes.join().ok().context("the changes ended early")??;
        costs
    })?;
    for cost in costs {
        cost.print(cluster, missed);
    }
    Ok(())
}

/// Lets short jobs come and go.
fn change(berth: &Berth, over: &AtomicBool) -> Result<()> {
    for number in 0.. {
        if over.load(Ordering::Relaxed) {
            break;
        }
        berth.submit(&small_job(&format!("short-{number}"), "any:latest", "sleep 1"))?;
        thread::sleep(BETWEEN_JOBS);
    }
    Ok(())
}

/// The pages that people leave open.
fn left_open() -> Vec<Page> {
    let job = format!("/jobs/admin/{WATCHED_JOB}");
    let logs = format!("{job}/logs");
    [
        ("home", "/"),
        ("jobs", "/jobs"),
        ("job", &job),
        ("job_logs", &logs),
        ("job_logs_zh", &logs),
        ("nodes", "/nodes"),
        ("node_table", "/nodes?view=table"),
        ("submit", "/submit"),
        ("submit_zh", "/submit"),
        ("admin_nodes", "/admin/nodes"),
        ("admin_nodes_zh", "/admin/nodes"),
    ]
    .map(|(name, path)| Page::watched(name, path))
    .into()
}

/// All others.
fn further(berth: &Berth) -> Result<Vec<Page>> {
    let job = format!("/jobs/admin/{WATCHED_JOB}");
    let tabs = ["tasks", "metrics", "terminal", "connect", "events", "config", "logs?task=*"];
    let mut pages: Vec<Page> = tabs
        .map(|tab| {
            let name = tab.replace("?task=*", "_of_all");
            Page::opened(&format!("job_{name}"), &format!("{job}/{tab}"))
        })
        .into();
    for state in ["WAITING", "FAILED"] {
        let newest = berth.get(&format!("/api/v2/jobs?state={state}&limit=1"))?;
        let named = |key: &str| newest[0][key].as_str();
        let (user, name) = named("username").zip(named("name")).context("there is no such job")?;
        let page = format!("job_{}", state.to_lowercase());
        pages.push(Page::opened(&page, &format!("/jobs/{user}/{name}")));
    }
    pages.extend(
        [
            ("submit_editor", "/submit?way=editor"),
            ("submit_file", "/submit?way=file"),
            ("clusters", "/clusters"),
            ("node", "/nodes/sim-v100-01"),
            ("files", "/files"),
            ("compare", "/compare"),
            ("usage", "/usage"),
            ("profile", "/profile"),
            ("admin_users", "/admin"),
            ("admin_groups", "/admin/groups"),
            ("admin_clusters", "/admin/clusters"),
            ("admin_storages", "/admin/storages"),
            ("admin_audit", "/admin/audit"),
            ("reference", "/reference"),
        ]
        .map(|(name, path)| Page::opened(name, path)),
    );
    Ok(pages)
}

/// Lets a browser look at the pages one after the other.
fn look(workspace: &Workspace, berth: &Berth, pages: &[Page]) -> Result<Vec<Cost>> {
    let folder = workspace.root.join("end2end");
    node::ensure_packages(&folder)?;
    let chromium = find_program("chromium")
        .or_else(|| find_program("chromium-browser"))
        .context("there is no `chromium` here (Debian: apt-get install chromium)")?;
    let mut browser = node::node(&folder);
    browser
        .arg("cost.mjs")
        .env("BENCH_URL", berth.url(""))
        .env("BENCH_SECONDS", WATCHED.to_string())
        .env("BENCH_PAGES", serde_json::to_string(pages)?)
        .env("BENCH_CREDENTIALS", berth.credentials().to_string())
        .env("CHROMIUM", chromium);
    let said = output(&mut browser)?;
    said.lines().map(|line| serde_json::from_str(line).context("cost.mjs")).collect()
}

impl Cost {
    fn print(&self, cluster: &str, missed: &mut Missed) {
        let page = &self.name;
        let program = PROGRAMS.contains(&page.as_str());
        let own = |limit: f64| (!program).then_some(limit);
        let watched = [
            ("requests", self.requests_per_second, "1/s", 1.0),
            ("transfer", self.kb_per_second, "kB/s", 20.0),
        ];
        let watched =
            watched.map(|(what, value, unit, limit)| Some((what, value?, unit, Some(limit))));
        let opened = [
            ("html", self.html_kb, "kB", Some(100.0)),
            ("elements", self.elements, "elements", Some(3000.0)),
            ("code", self.code_kb, "kB", own(450.0)),
            ("cold_requests", self.cold_requests, "requests", own(15.0)),
            ("paint", self.paint_ms, "ms", Some(300.0)),
            ("alive", self.alive_ms, "ms", Some(1000.0)),
        ];
        for (what, value, unit, limit) in watched.into_iter().flatten().chain(opened) {
            let name = format!("pages_{cluster}_{page}_{what}");
            match limit {
                Some(limit) => missed.named(&name, (value, unit), limit),
                None => println!("{name} {value:.2} {unit}"),
            }
        }
        println!("pages_{cluster}_{page}_cold_transfer {:.2} kB", self.cold_kb);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_large_cluster_has_ten_thousand_gpus() {
        let text = nodes();
        assert_eq!(text.matches("[[nodes]]").count() * 8, 10_000);
        let addresses: std::collections::BTreeSet<_> =
            text.lines().filter(|line| line.starts_with("address")).collect();
        assert_eq!(addresses.len(), 1250);
        assert_eq!(wide_job(3)["taskRoles"][0]["gpuNumber"], 8);
    }
}
