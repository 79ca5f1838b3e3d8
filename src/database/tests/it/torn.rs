//! A log of SQLite whose end was not written, as a machine leaves it that loses its power.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;
use database::{Database, jobs};

use crate::stage::{Kind, Stage, a_job, write};

/// Jobs, each stored by itself.
const JOBS: usize = 6;

/// How many jobs are found beside a log that has these bytes.
async fn found(database: &[u8], log: &[u8]) -> Result<usize> {
    let folder = tempfile::tempdir()?;
    let file = folder.path().join("berth.db");
    fs::write(&file, database)?;
    fs::write(log_of(&file), log)?;
    let db = Database::open(&format!("sqlite://{}", file.display())).await?;
    let found = jobs::active(db.read()).await?.len();
    // Whoever goes on with it stores what comes.
    let tx = db.begin().await?;
    jobs::insert(&tx, &a_job("a", "next")).await?;
    tx.commit().await?;
    assert_eq!(jobs::active(db.read()).await?.len(), found + 1);
    db.close().await?;
    Ok(found)
}

fn log_of(file: &Path) -> PathBuf {
    file.with_extension("db-wal")
}

#[tokio::test]
async fn of_a_torn_log_only_what_was_not_stored_is_lost() -> Result<()> {
    // The file has the tables, and the log what comes now.
    let stage = Stage::new(Kind::Sqlite).await?.reopened().await?;
    let file = stage.folder.path().join("berth.db");
    write!(stage, |tx| jobs::insert(&tx, &a_job("a", "first")));
    let mut ends = vec![fs::metadata(log_of(&file))?.len()];
    for number in 0..JOBS {
        write!(stage, |tx| jobs::insert(&tx, &a_job("a", &format!("j{number}"))));
        ends.push(fs::metadata(log_of(&file))?.len());
    }
    let (database, log) = (fs::read(&file)?, fs::read(log_of(&file))?);
    for (whole, end) in ends.iter().enumerate() {
        let next = ends.get(whole + 1).copied().unwrap_or(*end);
        for length in [*end, end.midpoint(next), next.saturating_sub(1).max(*end)] {
            let length = usize::try_from(length)?;
            assert_eq!(found(&database, &log[..length]).await?, 1 + whole, "{length} bytes");
        }
    }
    // Its last bytes were not written, though the file is as long as it was to be.
    let mut garbled = log.clone();
    let last = garbled.len() - 10;
    garbled[last..].fill(0x5a);
    assert_eq!(found(&database, &garbled).await?, JOBS);
    Ok(())
}
