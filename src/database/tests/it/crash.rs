//! A server that is killed in the middle of writing: what it had committed is there, and nothing
//! of what it had not.

use std::io::{BufRead, BufReader, Write};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};
use database::{Database, attempts, jobs, tasks};
use protocol::ids::JobId;

use crate::stage::{Kind, a_job, a_task, attempt_of, new_url};

/// Tells a copy of this program that it is the server to be killed, and where it writes.
const VICTIM: &str = "DATABASE_TEST_VICTIM";

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn survives_a_kill_on_sqlite() -> Result<()> {
    survives(Kind::Sqlite, "crash::survives_a_kill_on_sqlite").await
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn survives_a_kill_on_postgres() -> Result<()> {
    survives(Kind::Postgres, "crash::survives_a_kill_on_postgres").await
}

async fn survives(kind: Kind, test: &str) -> Result<()> {
    if let Ok(url) = std::env::var(VICTIM) {
        return write_until_killed(&url).await;
    }
    let folder = tempfile::tempdir()?;
    let url = new_url(kind, &folder).await?;
    let mut promised = Vec::new();
    for enough in [1, 7, 40] {
        promised.extend(kill_after(test, &url, enough)?);
        let db = Database::open(&url).await?;
        for &id in &promised {
            assert!(jobs::by_id(db.read(), id).await?.is_some(), "job {id} was committed");
        }
        for job in jobs::active(db.read()).await? {
            let id = job.id;
            assert!(jobs::by_id(db.read(), id).await?.is_some(), "job {id} has its file");
            assert_eq!(attempts::of_job(db.read(), id).await?.len(), 1, "job {id} is whole");
            assert_eq!(tasks::of_job(db.read(), id).await?.len(), 3, "job {id} is whole");
        }
        db.close().await?;
    }
    Ok(())
}

/// Starts a victim, kills it after some commits and says which jobs it had promised to keep.
fn kill_after(test: &str, url: &str, enough: usize) -> Result<Vec<JobId>> {
    let mut victim = Command::new(std::env::current_exe()?)
        .args([test, "--exact", "--nocapture"])
        .env(VICTIM, url)
        .stdout(Stdio::piped())
        .spawn()?;
    let output = BufReader::new(victim.stdout.take().context("the victim has an output")?);
    let mut promised = Vec::new();
    for line in output.lines() {
        if let Some(id) = line?.strip_prefix("committed ") {
            promised.push(JobId(id.parse()?));
        }
        if promised.len() == enough {
            victim.kill()?;
        }
    }
    victim.wait()?;
    assert!(promised.len() >= enough, "the victim ended by itself after {}", promised.len());
    Ok(promised)
}

async fn write_until_killed(url: &str) -> Result<()> {
    let db = Database::open(url).await?;
    println!();
    for number in 0_u64.. {
        let tx = db.begin().await?;
        let name = format!("{}-{number}", std::process::id());
        let id = jobs::insert(&tx, &a_job("a", &name)).await?;
        attempts::insert_many(&tx, &[attempt_of(id, 0)]).await?;
        let all: Vec<_> = (0..3).map(|index| a_task(id, 0, index, "n")).collect();
        tasks::insert_many(&tx, &all).await?;
        tx.commit().await?;
        println!("committed {id}");
        std::io::stdout().flush()?;
    }
    Ok(())
}
