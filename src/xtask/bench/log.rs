//! A log of a million lines (70 MB), while its task runs and when it is kept: opened at its end, at
//! places all over it, and looked through.

use std::path::Path;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};
use serde_json::{Value, json};

use super::berth::{Berth, small_job};
use super::figures::{Measured, Missed};
use super::submit_to_start;
use crate::base_image::IMAGE;
use crate::docker::PrivateEngine;
use crate::progress::note;
use crate::setup;
use crate::workspace::Workspace;

/// How many lines it has.
const LINES: u64 = 1_000_000;
/// Places that are looked at.
const PLACES: u64 = 50;
/// How long anything may take at all.
const LIMIT: Duration = Duration::from_secs(300);
/// What is measured is looked at so often, and what is only waited for.
const SOON: Duration = Duration::from_millis(10);
const NOW_AND_THEN: Duration = Duration::from_millis(500);
const LOG: &str = "/api/v2/jobs/admin~long/logs";

/// What may take no longer than this, in milliseconds: to open the log at its end, to see any other place of it, to
/// look through all of it.
const END: f64 = 1_000.0;
const ANYWHERE: f64 = 200.0;
const SEARCH: f64 = 2_000.0;

/// Measures and prints each figure, beside its limit where it has one.
pub(super) fn run(workspace: &Workspace, binary: &Path, missed: &mut Missed) -> Result<()> {
    let archive = setup::for_testing(workspace)?;
    let private = PrivateEngine::start(&PrivateEngine::folder())?;
    private.engine().load(&archive)?;
    let berth = Berth::start(binary, &submit_to_start::node(private.engine()))?;
    let said = format!(
        "seq -f 'step %.0f of a training run that says very much, loss=0.123456789' 1 {LINES}; \
         touch /tmp/said; sleep 1000"
    );
    berth.submit(&small_job("long", IMAGE, &said))?;
    wait("the job runs", NOW_AND_THEN, || is(&berth, "RUNNING"))?;
    // As long as it is written the engine's end of it moves.
    let last = format!("step {LINES} ");
    let written = took("log_written", || {
        wait("all lines are written", NOW_AND_THEN, || {
            Ok(end_says(&berth.get(&format!("{LOG}/lines?count=1"))?, &last))
        })
    })?;
    written.print();
    let read = took("log_read_at_all", || {
        // What came while the first of it was read is read after it.
        wait("all lines are read", SOON, || {
            let window = berth.get(&format!("{LOG}/lines?count=1"))?;
            Ok(window["reading"] == json!(false) && window["total"].as_u64() >= Some(LINES))
        })
    })?;
    read.print();
    places(&berth, ["log_end", "log_anywhere", "log_text", "log_pattern"], missed)?;
    berth.put("/api/v2/jobs/admin~long/executionType", &json!({ "value": "STOP" }))?;
    wait("the job is stopped", SOON, || is(&berth, "STOPPED"))?;
    let complete = took("log_complete_after_end", || {
        wait("the log is complete", SOON, || {
            Ok(berth.get(&format!("{LOG}/lines?count=1"))?["complete"] == json!(true))
        })
    })?;
    complete.print();
    let kept = ["log_kept_end", "log_kept_anywhere", "log_kept_text", "log_kept_pattern"];
    places(&berth, kept, missed)?;
    Measured { name: "log_server_memory", value: berth.memory("VmHWM")?, unit: "MiB" }.print();
    Ok(())
}

/// The end, the slowest of places all over the log, and two searches.
fn places(berth: &Berth, names: [&'static str; 4], missed: &mut Missed) -> Result<()> {
    let [end, anywhere, text, pattern] = names;
    let end = took(end, || berth.get(&format!("{LOG}/lines?count=200")).map(drop))?;
    let mut slowest: f64 = 0.0;
    for place in 0..PLACES {
        // A number without a pattern to it, and the same each time.
        let line = place * 7_919_333 % (LINES - 300) + 1;
        let one = took(anywhere, || {
            let window = berth.get(&format!("{LOG}/lines?count=200&from={line}"))?;
            let first = window["lines"][0]["text"].as_str().unwrap_or_default();
            if !first.starts_with(&format!("step {line} ")) {
                bail!("line {line} says {first:?}");
            }
            Ok(())
        })?;
        slowest = slowest.max(one.value);
    }
    let text = took(text, || found(berth, "text=step%20777777%20of", 1))?;
    let pattern =
        took(pattern, || found(berth, "pattern=true&text=step%20%5Cd%2B77%20.*loss", 9_999))?;
    let anywhere = Measured { name: anywhere, value: slowest, unit: "ms" };
    for (figure, limit) in [(end, END), (anywhere, ANYWHERE), (text, SEARCH), (pattern, SEARCH)] {
        missed.at_most(&figure, limit);
    }
    Ok(())
}

fn found(berth: &Berth, search: &str, wanted: u64) -> Result<()> {
    let found = berth.get(&format!("{LOG}/search?{search}"))?;
    if found["count"].as_u64() != Some(wanted) || found["all"] != json!(true) {
        bail!("{search}: found in {} lines, not in {wanted}", found["count"]);
    }
    Ok(())
}

fn end_says(window: &Value, text: &str) -> bool {
    window["lines"][0]["text"].as_str().is_some_and(|line| line.starts_with(text))
}

/// Whether the job is in a state. In another one that is its end it never will be.
fn is(berth: &Berth, wanted: &str) -> Result<bool> {
    let job = berth.get("/api/v1/jobs/long")?;
    let state = job["jobStatus"]["state"].as_str().context("the job has no state")?;
    if state != wanted && ["SUCCEEDED", "FAILED", "STOPPED"].contains(&state) {
        bail!("the job is not {wanted}: {job}");
    }
    Ok(state == wanted)
}

fn took(name: &'static str, work: impl FnOnce() -> Result<()>) -> Result<Measured> {
    let begun = Instant::now();
    work()?;
    Ok(Measured { name, value: begun.elapsed().as_secs_f64() * 1000.0, unit: "ms" })
}

/// Waits for something, and says when it is so: what takes long is seen while it does.
fn wait(what: &str, pause: Duration, done: impl Fn() -> Result<bool>) -> Result<()> {
    let begun = Instant::now();
    while !done()? {
        if begun.elapsed() > LIMIT {
            bail!("{what}: not within {} s", LIMIT.as_secs());
        }
        thread::sleep(pause);
    }
    note(&format!("{what}, after {:.1} s", begun.elapsed().as_secs_f64()));
    Ok(())
}
