//! A disk that is full for a while: nothing is promised that is not kept, and everything goes on when
//! there is room again.

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Duration;

use anyhow::{Context, Result, ensure};
use database::{ConnectionTrait as _, Database, Error, jobs, settings};
use protocol::ids::JobId;
use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};

use crate::stage::{Kind, Stage, a_job, new_url, write};

/// Tells a copy of this program that it is the server whose disk is full, and where it writes.
const VICTIM: &str = "DATABASE_TEST_FULL_DISK";
const TEST: &str = "full_disk::what_is_promised_around_a_full_disk_is_kept";

/// Refuses what would make a file larger, as a full disk does, instead of ending the process.
const LIMITED: &str = r#"trap "" XFSZ; exec "$0" "$@""#;

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn what_is_promised_around_a_full_disk_is_kept() -> Result<()> {
    if let Ok(url) = std::env::var(VICTIM) {
        return write_around_a_full_disk(&url).await;
    }
    let folder = tempfile::tempdir()?;
    let url = new_url(Kind::Sqlite, &folder).await?;
    let mut victim = Command::new("/bin/sh")
        .args(["-c", LIMITED])
        .arg(std::env::current_exe()?)
        .args([TEST, "--exact", "--nocapture"])
        .env(VICTIM, &url)
        .stdout(Stdio::piped())
        .spawn()?;
    let output = BufReader::new(victim.stdout.take().context("the victim has an output")?);
    let mut promised = Vec::new();
    for line in output.lines() {
        if let Some(id) = line?.strip_prefix("promised ") {
            promised.push(JobId(id.parse()?));
        }
    }
    ensure!(victim.wait()?.success(), "the victim failed");
    assert_eq!(promised.len(), 20);
    let db = Database::open(&url).await?;
    for id in promised {
        assert!(jobs::by_id(db.read(), id).await?.is_some(), "job {id} was promised");
    }
    Ok(())
}

async fn write_around_a_full_disk(url: &str) -> Result<()> {
    let db = Database::open(url).await?;
    println!();
    for number in 0..10 {
        promise(store(&db, number).await?)?;
    }
    let file = url.strip_prefix("sqlite://").context("it is SQLite's")?;
    room(Some(Path::new(&format!("{file}-wal")).metadata()?.len()))?;
    for number in 10..14 {
        let error = store(&db, number).await.unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    }
    assert!(db.ping().await.is_err(), "what it writes is not stored");
    assert_eq!(jobs::active(db.read()).await?.len(), 10, "it can be read");
    room(None)?;
    for number in 10..20 {
        let id = store(&db, number).await?;
        assert!(jobs::by_id(db.read(), id).await?.is_some(), "{id} is seen by others");
        promise(id)?;
    }
    db.ping().await?;
    Ok(())
}

async fn store(db: &Database, number: u32) -> Result<JobId, Error> {
    let tx = db.begin().await?;
    let id = jobs::insert(&tx, &a_job("a", &format!("j{number}"))).await?;
    tx.commit().await?;
    Ok(id)
}

fn promise(id: JobId) -> Result<()> {
    println!("promised {id}");
    Ok(std::io::stdout().flush()?)
}

/// No file of this process grows beyond so many bytes.
fn room(bytes: Option<u64>) -> Result<()> {
    let Rlimit { maximum, .. } = getrlimit(Resource::Fsize);
    Ok(setrlimit(Resource::Fsize, Rlimit { current: bytes, maximum })?)
}

/// SQLite forgets a transaction when there is no room for one of its statements, and would store by
/// itself each that follows.
#[tokio::test]
async fn what_follows_a_statement_without_room_is_not_stored() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    let tx = stage.begin().await?;
    settings::set_once(&tx, "before", "1").await?;
    tx.execute_unprepared("PRAGMA max_page_count = 1").await?;
    let error = settings::set_once(&tx, "large", &"x".repeat(1 << 20)).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    settings::set_once(&tx, "after", "1").await.unwrap_err();
    tx.commit().await.unwrap_err();
    for name in ["before", "large", "after"] {
        assert_eq!(settings::get(stage.db.read(), name).await?, None, "{name}");
    }
    // The connection is another one, and so without that limit.
    write!(stage, |tx| settings::set_once(&tx, "large", &"x".repeat(1 << 20)));
    assert!(settings::get(stage.db.read(), "large").await?.is_some());
    Ok(())
}

/// What came after them was answered as done, and was part of a transaction that never ended.
#[tokio::test]
async fn after_transactions_that_failed_the_next_one_is_kept() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    let tx = stage.begin().await?;
    tx.execute_unprepared("PRAGMA max_page_count = 1").await?;
    settings::set_once(&tx, "large", &"x".repeat(1 << 20)).await.unwrap_err();
    drop(tx);
    for _ in 0..2 {
        let tx = stage.begin().await?;
        settings::set_once(&tx, "refused", "1").await?;
        tx.execute_unprepared("PRAGMA defer_foreign_keys = on").await?;
        let orphan = "INSERT INTO secrets (job, name, ciphertext) VALUES (7, 'a', '')";
        tx.execute_unprepared(orphan).await?;
        tx.commit().await.unwrap_err();
    }
    write!(stage, |tx| settings::set_once(&tx, "kept", "1"));
    assert_eq!(settings::get(stage.db.read(), "kept").await?.as_deref(), Some("1"));
    let stage = stage.reopened().await?;
    assert_eq!(settings::get(stage.db.read(), "refused").await?, None);
    assert_eq!(settings::get(stage.db.read(), "kept").await?.as_deref(), Some("1"));
    Ok(())
}

/// Who asks often is answered, and the disk is written to once a second at most.
#[tokio::test]
async fn a_pulse_is_felt_once_for_all_who_ask() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    let asked = std::time::Instant::now();
    for _ in 0..100 {
        stage.db.ping().await?;
    }
    let beats = settings::get(stage.db.read(), "pulse").await?.context("it was written")?;
    let seconds = asked.elapsed().max(Duration::from_secs(1)).as_secs();
    assert!(beats.parse::<u64>()? <= seconds + 1, "{beats} in {seconds} s");
    Ok(())
}
