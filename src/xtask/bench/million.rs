//! A database of a million jobs, each with its file, its attempt and its task: how long a start takes, what
//! pages of its list take, and how quickly old jobs are forgotten, while others look at the list and submit.

use std::path::Path;
use std::process::Command;
use std::time::{Duration, Instant};

use anyhow::{Context as _, Result, bail};

use super::berth::{Berth, small_job};
use super::figures::{Measured, part};
use super::{list, throughput};
use crate::process::output;
use crate::progress::note;

/// Jobs that run before there are a million of them.
const JOBS: u32 = 1_000;
/// Copies made of each.
const COPIES: u32 = 999;
/// Between two looks, each with a submission, while old jobs are forgotten.
const BETWEEN: Duration = Duration::from_millis(100);
/// So often it is counted how many are left.
const COUNTED: Duration = Duration::from_secs(10);
/// In such a time fewer have to be left, or nothing goes on any more.
const PATIENCE: Duration = Duration::from_secs(120);

/// What ended a week ago is forgotten.
const RETENTION: &str = "[retention]\njobs = \"7d\"\nlogs = \"7d\"\nevents = \"7d\"\n";

/// Makes jobs of earlier minutes out of each job, with all that is recorded of it but its events. What they have
/// used was counted when they ended.
const COPY: &str = r#"
import sqlite3, sys
database, copies = sqlite3.connect(sys.argv[1]), int(sys.argv[2])
database.execute("PRAGMA synchronous = OFF")
for table, key in (("jobs", "id"), ("job_files", "job"), ("attempts", "job"), ("tasks", "job")):
    columns = {row[1]: row[1] for row in database.execute(f"PRAGMA table_info({table})")}
    columns[key] = f"{key} + n * 1000000"
    if table == "jobs":
        columns["name"] = "name || '-' || n"
        columns["counted"] = "1"
        for column in ("submitted_at", "started_at", "completed_at"):
            columns[column] = f"{column} - ({copies + 1} - n) * 60000"
    database.execute(f"""
        WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < {copies})
        INSERT INTO {table} ({", ".join(columns)})
        SELECT {", ".join(columns.values())}
        FROM copies CROSS JOIN (SELECT * FROM {table} WHERE {key} < 1000000)
    """)
    database.commit()
"#;

/// Makes one of two jobs a month older.
const AGE: &str = r#"
import sqlite3, sys
database = sqlite3.connect(sys.argv[1])
for column in ("submitted_at", "started_at", "completed_at"):
    database.execute(f"UPDATE jobs SET {column} = {column} - 30 * 86400000 WHERE id / 1000000 % 2 = 1")
database.commit()
"#;

/// All of them, those that were made older, and those that were not.
const ALL: &str = "TRUE";
const OLD: &str = "id / 1000000 % 2 = 1";
const YOUNG: &str = "id / 1000000 % 2 = 0";

/// Measures, and prints each value as soon as it is there.
pub(super) fn run(binary: &Path) -> Result<()> {
    let mut berth = Berth::start(binary, &format!("{RETENTION}{}", throughput::NODES))?;
    throughput::run_jobs(&berth, JOBS)?;
    note("some jobs have run, of which a million is made");
    let mut changed = Instant::now();
    berth.interrupt(binary, |database| {
        let mut python = Command::new("python3");
        output(python.args(["-c", COPY]).arg(database).arg(COPIES.to_string()))?;
        changed = Instant::now();
        Ok(())
    })?;
    say("million_open", changed.elapsed().as_secs_f64(), "s");
    note("it is open, and its list is looked at");
    let there = count(&berth, ALL)?;
    if there < f64::from(JOBS * (COPIES + 1)) {
        bail!("the database has {there} jobs");
    }
    let size = berth.folder().join("data/berth.db").metadata()?.len() / 1_000_000;
    say("million_size", f64::from(u32::try_from(size)?), "MB");
    list::page(&berth, "million_list", "limit=20")?.print();
    list::page(&berth, "million_list_last", "limit=20&offset=999980")?.print();
    berth.interrupt(binary, |database| {
        output(Command::new("python3").args(["-c", AGE]).arg(database)).map(drop)
    })?;
    note("one of two is old, and is forgotten");
    while_swept(&berth)
}

fn say(name: &'static str, value: f64, unit: &'static str) {
    Measured { name, value, unit }.print();
}

/// Looks at the list and submits until the old jobs are forgotten.
fn while_swept(berth: &Berth) -> Result<()> {
    let (young, old) = (count(berth, YOUNG)?, count(berth, OLD)?);
    let (begun, mut counted) = (Instant::now(), Instant::now());
    let (mut left, mut fewer) = (old, Instant::now());
    let (mut looks, mut submissions) = (Vec::new(), Vec::new());
    for number in 0_u32.. {
        let asked = Instant::now();
        berth.get("/api/v2/jobs?limit=20&withTotalCount=true")?;
        looks.push(asked.elapsed().as_secs_f64() * 1e3);
        let asked = Instant::now();
        berth.submit(&small_job(&format!("new-{number}"), "any:latest", "true"))?;
        submissions.push(asked.elapsed().as_secs_f64() * 1e3);
        if counted.elapsed() > COUNTED {
            let now = count(berth, OLD)?;
            if now < left {
                (left, fewer) = (now, Instant::now());
            }
            if left < 1.0 {
                break;
            }
            if fewer.elapsed() > PATIENCE {
                bail!("{left} old jobs are left, and none has gone for {} s", PATIENCE.as_secs());
            }
            counted = Instant::now();
        }
        std::thread::sleep(BETWEEN);
    }
    say("million_swept", old, "jobs");
    say("million_swept_rate", old / begun.elapsed().as_secs_f64(), "jobs/s");
    say("million_swept_list_p99", part(&mut looks, 99), "ms");
    say("million_swept_submit_p99", part(&mut submissions, 99), "ms");
    say("million_memory", berth.memory("VmHWM")?, "MiB");
    let stayed = count(berth, YOUNG)?;
    if stayed < young {
        bail!("{} jobs were forgotten that are not old", young - stayed);
    }
    Ok(())
}

/// How many of those jobs there are that were there before.
fn count(berth: &Berth, which: &str) -> Result<f64> {
    let query = format!("SELECT count(*) FROM jobs WHERE name LIKE 'job-%' AND {which}");
    let rows = berth.ask(&query)?;
    Ok(rows.first().context("the database counts nothing")?.parse()?)
}
