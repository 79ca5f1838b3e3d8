//! How far down it could go at most: the rows of the jobs that a server has just run, written into a file of
//! SQLite by a bare loop, in as many transactions, each of which waits for the disk as the server's do.

use std::process::Command;

use anyhow::{Context, Result};

use super::berth::Berth;
use crate::process::output;

/// Prints how many jobs a second it wrote. A job is stored, placed, about to be launched, and over.
const LOOP: &str = r#"
import sqlite3, sys, time
source = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, timeout=60)
file = sqlite3.connect(sys.argv[2], isolation_level=None)
file.execute("PRAGMA journal_mode = wal")
file.execute("PRAGMA synchronous = full")
together = int(sys.argv[3])
tables = {"jobs": "id", "job_files": "job", "attempts": "job", "tasks": "job", "events": "job"}
for table in tables:
    made = "SELECT sql FROM sqlite_master WHERE tbl_name = ? AND sql IS NOT NULL ORDER BY type DESC"
    for (sql,) in source.execute(made, (table,)):
        file.execute(sql)
ids = [id for (id,) in source.execute("SELECT id FROM jobs ORDER BY id")]
rows = {table: {id: [] for id in ids} for table in tables}
for table, key in tables.items():
    for job, *row in source.execute(f"SELECT {key}, * FROM {table} WHERE {key} IS NOT NULL"):
        rows[table][job].append(row)
def insert(table, all):
    file.executemany(f"INSERT INTO {table} VALUES ({', '.join('?' * len(all[0]))})", all)
def write(jobs, insertions, changes):
    file.execute("BEGIN IMMEDIATE")
    for table, some in insertions:
        insert(table, [row for job in jobs for row in rows[table][job][some]])
    for sql in changes:
        file.executemany(sql, [(job,) for job in jobs])
    file.execute("COMMIT")
state = "UPDATE {} SET state = '{}' WHERE {} = ?"
begun = time.monotonic()
for at in range(0, len(ids), together):
    jobs = ids[at:at + together]
    write(jobs, [("jobs", slice(None)), ("job_files", slice(None)), ("events", slice(0, 1))], [])
    write(jobs, [("attempts", slice(None)), ("tasks", slice(None)), ("events", slice(1, 2))],
          [state.format("jobs", "PREPARING", "id")])
    write(jobs, [], ["UPDATE tasks SET intent = 'launch' WHERE job = ?"])
    write(jobs, [("events", slice(2, None))],
          [state.format(table, "SUCCEEDED", tables[table]) for table in ("tasks", "attempts", "jobs")])
print(len(ids) / (time.monotonic() - begun))
"#;

/// Jobs a second of the bare loop, so many in a transaction.
pub(super) fn measure(berth: &Berth, together: u32) -> Result<f64> {
    let (from, to) = (berth.folder().join("data/berth.db"), berth.folder().join("floor.db"));
    let mut python = Command::new("python3");
    let python = python.args(["-c", LOOP]).arg(from).arg(to).arg(together.to_string());
    output(python)?.trim().parse().context("the bare loop prints a number")
}
