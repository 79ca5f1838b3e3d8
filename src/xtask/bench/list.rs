//! Pages of the list of a million jobs, as a client on the same machine sees them: the server's time
//! and the transfer over the loopback.

use std::path::Path;
use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use super::berth::Berth;
use super::figures::{Measured, Missed, median};
use super::throughput;
use crate::process::output;

/// Jobs that run before there are a million of them.
const JOBS: u32 = 1_000;

/// Copies made of each.
const COPIES: u32 = 999;

/// Requests whose median counts.
const REQUESTS: usize = 50;

/// What may take no longer than this, in milliseconds: the first page, and pages of those that are looked for.
const FIRST: Option<f64> = Some(50.0);
const FILTERED: Option<f64> = Some(20.0);

/// The pages measured, each with its limit if it has one: from the beginning, the middle and the end of all jobs; of
/// those of a state with a word that three of ten names have; of those with a word of one name in a hundred, and of
/// one in a thousand.
const PAGES: [(&str, &str, Option<f64>); 8] = [
    ("list", "limit=20", FIRST),
    ("list_middle", "limit=20&offset=500000", None),
    ("list_last", "limit=20&offset=999980", None),
    ("list_filtered", "limit=20&state=FAILED&keyword=train", FILTERED),
    ("list_filtered_middle", "limit=20&state=FAILED&keyword=train&offset=49500", FILTERED),
    ("list_filtered_last", "limit=20&state=FAILED&keyword=train&offset=98980", FILTERED),
    ("list_word", "limit=20&keyword=whisper", FILTERED),
    ("list_rare_word", "limit=20&keyword=job-777-", FILTERED),
];

/// Makes jobs of earlier minutes out of each job: every fifth failed, with words in their names.
const COPY: &str = r#"
import sqlite3, sys
database, copies = sqlite3.connect(sys.argv[1]), int(sys.argv[2])
columns = {row[1]: row[1] for row in database.execute("PRAGMA table_info(jobs)") if row[1] != "id"}
word = "CASE WHEN n % 100 = 1 THEN '-whisper-' WHEN n % 10 IN (0, 2, 3) THEN '-train-' ELSE '-eval-' END"
columns["name"] = f"name || {word} || n"
columns["state"] = "CASE WHEN n % 5 = 0 THEN 'FAILED' ELSE state END"
for column in ("submitted_at", "started_at", "completed_at"):
    columns[column] = f"{column} - ({copies + 1} - n) * 60000"
database.execute("PRAGMA synchronous = OFF")
database.execute(f"""
    WITH RECURSIVE copies (n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM copies WHERE n < {copies})
    INSERT INTO jobs ({", ".join(columns)})
    SELECT {", ".join(columns.values())} FROM copies CROSS JOIN (SELECT * FROM jobs)
""")
database.commit()
"#;

/// Measures and prints each page, beside its limit where it has one.
pub(super) fn run(binary: &Path, missed: &mut Missed) -> Result<()> {
    let mut berth = Berth::start(binary, throughput::NODES)?;
    throughput::run_jobs(&berth, JOBS)?;
    berth.interrupt(binary, |database| {
        let mut python = Command::new("python3");
        output(python.args(["-c", COPY]).arg(database).arg(COPIES.to_string()))?;
        Ok(())
    })?;
    for (name, query, limit) in PAGES {
        missed.print(&page(&berth, name, query)?, limit);
    }
    Ok(())
}

/// How long a page of the list takes.
pub(super) fn page(berth: &Berth, name: &'static str, query: &str) -> Result<Measured> {
    let path = format!("/api/v2/jobs?withTotalCount=true&{query}");
    let mut took = Vec::with_capacity(REQUESTS);
    for _ in 0..REQUESTS {
        let begun = Instant::now();
        let answer = berth.get(&path)?;
        took.push(begun.elapsed().as_secs_f64() * 1e3);
        let jobs = answer["data"].as_array().context("the list has no data")?.len();
        if jobs != 20 {
            bail!("{path} gave {jobs} jobs");
        }
    }
    Ok(Measured { name, value: median(took), unit: "ms" })
}
