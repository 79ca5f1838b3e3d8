//! Time from submission to the container's start, over a bare `docker run` of the same image.
//!
//! Both are measured in turn on the same engine, by the engine's own time of the start event.

use std::io::{BufRead as _, BufReader, Lines};
use std::path::Path;
use std::process::{Child, ChildStdout, Stdio};
use std::thread;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::{Context, Result, bail};

use super::berth::{Berth, small_job};
use super::figures::{Measured, median};
use crate::base_image::IMAGE;
use crate::docker::{Engine, PrivateEngine};
use crate::process::output;
use crate::setup;
use crate::workspace::Workspace;

/// Measured pairs.
const PAIRS: usize = 25;

/// Pairs before them, which warm caches on both sides.
const WARM_UP: usize = 3;

/// The label of containers that are not Berth's.
const BARE: &str = "bare-docker-run";

pub(super) fn measure(workspace: &Workspace, binary: &Path) -> Result<Vec<Measured>> {
    let archive = setup::for_testing(workspace)?;
    let private = PrivateEngine::start(&PrivateEngine::folder())?;
    let engine = private.engine();
    engine.load(&archive)?;
    let berth = Berth::start(binary, &node(engine))?;
    let mut starts = Starts::watch(engine)?;
    let (mut ours, mut bare) = (Vec::new(), Vec::new());
    for pair in 0..WARM_UP + PAIRS {
        let berth_took = by_berth(&berth, &mut starts, pair)?;
        let docker_took = by_docker(engine, &mut starts)?;
        if pair >= WARM_UP {
            ours.push(berth_took);
            bare.push(docker_took);
        }
    }
    let (ours, bare) = (median(ours), median(bare));
    Ok(vec![
        Measured { name: "submit_to_start", value: ours - bare, unit: "ms" },
        Measured { name: "submit_to_start_berth", value: ours, unit: "ms" },
        Measured { name: "submit_to_start_docker", value: bare, unit: "ms" },
    ])
}

/// A node with this engine.
pub(super) fn node(engine: &Engine) -> String {
    format!(
        "allow_tasks_at_portal = true\n\
         [[nodes]]\nname = \"quay\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         network = \"host\"\ngpu_runtime = \"none\"\ngpus = []\n",
        engine.endpoint()
    )
}

/// One job, from before its submission; in milliseconds.
fn by_berth(berth: &Berth, starts: &mut Starts, number: usize) -> Result<f64> {
    let name = format!("start-{number}");
    let job = small_job(&name, IMAGE, "true");
    let begun = now()?;
    berth.submit(&job)?;
    let started = starts.next("berth.job")?;
    wait_for_end(berth, &name)?;
    milliseconds(begun, started)
}

/// One `docker run` with the same limits; in milliseconds.
fn by_docker(engine: &Engine, starts: &mut Starts) -> Result<f64> {
    let mut docker = engine.client()?;
    docker.args(["run", "--rm", "--network", "host", "--cpus", "1", "--memory", "256m"]);
    docker.args(["--label", BARE]);
    docker.args([IMAGE, "bash", "-c", "true"]);
    let begun = now()?;
    output(&mut docker)?;
    milliseconds(begun, starts.next(BARE)?)
}

/// The next measurement begins on a quiet machine.
fn wait_for_end(berth: &Berth, name: &str) -> Result<()> {
    let deadline = Instant::now() + Duration::from_secs(60);
    while Instant::now() < deadline {
        let job = berth.get(&format!("/api/v1/jobs/{name}"))?;
        match job["jobStatus"]["state"].as_str() {
            Some("SUCCEEDED") => return Ok(()),
            Some("FAILED" | "STOPPED") => bail!("the job {name} did not succeed: {job}"),
            Some(_) | None => thread::sleep(Duration::from_millis(50)),
        }
    }
    bail!("the job {name} did not end within a minute")
}

/// The engine's start events as they happen.
struct Starts {
    watcher: Child,
    lines: Lines<BufReader<ChildStdout>>,
}

impl Starts {
    fn watch(engine: &Engine) -> Result<Self> {
        // A moment of the past: events between now and the subscription come as well.
        let since = (now()? / 1_000_000_000).to_string();
        let mut watcher = engine
            .client()?
            .args(["events", "--filter", "type=container", "--filter", "event=start"])
            .args(["--format", "{{.TimeNano}} {{.Actor.Attributes}}", "--since", &since])
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()?;
        let stdout = watcher.stdout.take().context("the events' output was not piped")?;
        Ok(Self { watcher, lines: BufReader::new(stdout).lines() })
    }

    /// When the next container with a label started, in nanoseconds since 1970. A server starts others for itself.
    fn next(&mut self, label: &str) -> Result<u128> {
        loop {
            let line = self.lines.next().context("the engine's events ended")??;
            let (time, attributes) = line.split_once(' ').unwrap_or((&line, ""));
            if attributes.contains(label) {
                return time.parse().with_context(|| format!("no time: {line:?}"));
            }
        }
    }
}

impl Drop for Starts {
    fn drop(&mut self) {
        // It may have ended with its engine; then there is nothing to end.
        let _ = self.watcher.kill();
        let _ = self.watcher.wait();
    }
}

fn now() -> Result<u128> {
    Ok(SystemTime::now().duration_since(UNIX_EPOCH)?.as_nanos())
}

#[expect(clippy::cast_precision_loss, reason = "nanoseconds of one start are far below 2^52")]
fn milliseconds(begun: u128, ended: u128) -> Result<f64> {
    let nanoseconds = ended.checked_sub(begun).context("the container started before its job")?;
    Ok(nanoseconds as f64 / 1e6)
}
