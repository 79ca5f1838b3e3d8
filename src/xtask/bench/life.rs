//! A day in the life of a cluster, in a part of the time: 100 users, 64 simulated nodes that are drained, come
//! and go, jobs that give way to others. The server keeps no time but the world's, so it is the cluster that is
//! quicker: a minute of its jobs and of what people do takes a second, or what `--speed` says. What the server
//! does by the clock (looks at nodes, pauses, time limits) is as slow as ever.
//!
//! Meanwhile memory and open files have to stay as they are, and a job has to take as much of the database in the
//! end as in the beginning. Then all of it is made two days older than it may become, and has to go; and what
//! comes after it has to find its place in what has become free.

mod sample;
mod town;

use std::path::Path;
use std::process::Command;
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Result, bail};
use clap::Args;

use self::sample::{LEAST, Sample};
use self::town::Town;
use super::berth::Berth;
use super::figures::Course;
use super::random::Random;
use crate::process::output;
use crate::progress::note;

/// Hours of a life, if nobody says.
const HOURS: f64 = 24.0;
/// Minutes of an hour.
const MINUTES: u32 = 60;
/// One of so many parts of the time is lived again after the old jobs are gone.
const AFTERLIFE: u64 = 4;
/// All jobs have ended by then, and what is old is gone, or something is wrong.
const PATIENCE: Duration = Duration::from_secs(3_600);
/// Between two looks.
const BETWEEN: Duration = Duration::from_secs(5);
/// States of jobs that have not ended.
const GOING_ON: [&str; 5] = ["WAITING", "PREPARING", "RUNNING", "STOPPING", "UNKNOWN"];

/// What happens in such a day, and the rows that tell of it.
const HAPPENS: [(&str, &str); 4] = [
    ("succeeded", "jobs WHERE state = 'SUCCEEDED'"),
    ("failed", "jobs WHERE state = 'FAILED'"),
    ("stopped", "jobs WHERE state = 'STOPPED'"),
    ("gave_way", "events WHERE kind = 'preempted'"),
];

/// Makes everything that has happened older by two days, where what ended a day ago is forgotten.
const AGE: &str = r#"
import sqlite3, sys
TIMES = {
    "jobs": ["submitted_at", "started_at", "completed_at"],
    "attempts": ["placed_at", "started_at", "completed_at"],
    "tasks": ["started_at", "completed_at"],
    "events": ["at"],
    "audit": ["at"],
}
database = sqlite3.connect(sys.argv[1])
for table, columns in TIMES.items():
    changes = ", ".join(f"{column} = {column} - 2 * 86400000" for column in columns)
    database.execute(f"UPDATE {table} SET {changes}")
database.commit()
"#;

/// How quick the cluster is.
#[derive(Debug, Args)]
pub(crate) struct Pace {
    /// `life`: the cluster lives so many times faster than it would.
    #[arg(long, default_value_t = 60.0)]
    speed: f64,
}

/// Lives, prints how large the server is after each hour, and fails where it grows.
pub(super) fn run(binary: &Path, course: Course, options: &Pace) -> Result<()> {
    let minute = Duration::try_from_secs_f64(60.0 / options.speed)?;
    let hours = course.hours.unwrap_or(HOURS);
    let hours = Duration::try_from_secs_f64(hours * 3_600.0)?.as_secs() / 3_600;
    if hours < LEAST {
        bail!("--hours {hours}: whether something grows is seen in {LEAST} hours at least");
    }
    println!("life_seed {}", course.seed);
    println!("life_speed {} times", options.speed);
    let mut berth = Berth::start(binary, &town::settings()?)?;
    let mut town = Town::found(&berth, Random::new(course.seed), minute)?;
    let mut wrong = sample::growth(&live(&berth, &mut town, hours, "hour")?);
    rest(&berth, &mut town)?;
    let old = Sample::take(&berth)?;
    old.print("in_the_end");
    happened(&berth)?;
    berth.interrupt(binary, |database| {
        output(Command::new("python3").args(["-c", AGE]).arg(database)).map(drop)
    })?;
    wrong.extend(forgotten(&berth, &old)?);
    let after = live(&berth, &mut town, hours.div_ceil(AFTERLIFE), "hour_after")?;
    wrong.extend(after.last().and_then(|last| last.outgrows(&old)));
    for said in &wrong {
        note(said);
    }
    if !wrong.is_empty() {
        bail!("what is told above is not as it should be; --seed {} lives alike", course.seed);
    }
    Ok(())
}

/// Lives for so many hours, and looks how large the server is after each.
fn live(berth: &Berth, town: &mut Town, hours: u64, name: &str) -> Result<Vec<Sample>> {
    let mut samples = Vec::new();
    for hour in 1..=hours {
        for _ in 0..MINUTES {
            town.live(berth)?;
        }
        let sample = Sample::take(berth)?;
        sample.print(&format!("{name}_{hour}"));
        samples.push(sample);
    }
    Ok(samples)
}

/// Lets all nodes take tasks and all jobs end.
fn rest(berth: &Berth, town: &mut Town) -> Result<()> {
    town.rest(berth)?;
    let begun = Instant::now();
    loop {
        let counts = GOING_ON.into_iter().map(|state| berth.count(state));
        let going_on: u64 = counts.sum::<Result<u64>>()?;
        if going_on == 0 {
            return Ok(());
        }
        if begun.elapsed() > PATIENCE {
            bail!("{going_on} jobs do not end");
        }
        thread::sleep(BETWEEN);
    }
}

/// Prints how often each happened, and fails where something never did: then nothing is known of what it costs.
fn happened(berth: &Berth) -> Result<()> {
    for (name, rows) in HAPPENS {
        let times = sample::number(&berth.ask(&format!("SELECT count(*) FROM {rows}"))?)?;
        println!("life_{name} {times} times");
        if times == 0 {
            bail!("no job has {name}");
        }
    }
    Ok(())
}

/// Waits until what is too old has gone, and says what stays.
fn forgotten(berth: &Berth, old: &Sample) -> Result<Vec<String>> {
    let begun = Instant::now();
    loop {
        let sample = Sample::take(berth)?;
        let stays = sample.stays_of(old);
        if stays.is_empty() || begun.elapsed() > PATIENCE {
            sample.print("forgotten");
            println!("life_forgetting {:.0} s", begun.elapsed().as_secs_f64());
            return Ok(stays);
        }
        thread::sleep(BETWEEN);
    }
}
