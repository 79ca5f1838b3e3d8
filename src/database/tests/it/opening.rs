use std::fs;
use std::io::{Seek, SeekFrom, Write};
use std::time::Duration;

use anyhow::Result;
use database::{ConnectionTrait as _, Database, Error, Limits, jobs, settings};
use sea_orm::{DbBackend, Statement};
use tempfile::TempDir;

use crate::stage::{Kind, Stage, a_job, new_url, on_both, write};

on_both! {
    async fn everything_is_there_after_a_restart(stage) {
        let id = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j")));
        let before = jobs::by_id(stage.db.read(), id).await?;
        let stage = stage.reopened().await?;
        stage.db.ping().await?;
        assert!(stage.db.size().await? > 4_096, "it takes some bytes");
        assert_eq!(jobs::by_id(stage.db.read(), id).await?, before);
        let next = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "k")));
        assert!(next > id);
    }
}

on_both! {
    async fn gpus_of_before_they_had_parts_are_whole_ones(stage) {
        let id = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j")));
        let before = jobs::by_id(stage.db.read(), id).await?;
        let tx = stage.begin().await?;
        for statement in [
            "ALTER TABLE jobs RENAME COLUMN gpu_milli TO gpus",
            "UPDATE jobs SET gpus = 4",
            "ALTER TABLE tasks RENAME COLUMN gpu_milli TO gpus",
            "DELETE FROM seaql_migrations WHERE version = 'm0008_gpu_parts'",
        ] {
            tx.execute_unprepared(statement).await?;
        }
        tx.commit().await?;
        let stage = stage.reopened().await?;
        assert_eq!(before.as_ref().map(|job| job.row.gpus), Some(4.into()));
        assert_eq!(jobs::by_id(stage.db.read(), id).await?, before);
    }
}

#[tokio::test]
async fn servers_that_start_together_on_postgres_agree_on_the_tables() -> Result<()> {
    let url = new_url(Kind::Postgres, &tempfile::tempdir()?).await?;
    let (a, b, c) = tokio::join!(Database::open(&url), Database::open(&url), Database::open(&url));
    let (a, b, c) = (a?, b?, c?);
    let tx = a.begin().await?;
    settings::set_once(&tx, "cluster", "c1").await?;
    tx.commit().await?;
    for other in [b, c] {
        assert_eq!(settings::get(other.read(), "cluster").await?.as_deref(), Some("c1"));
    }
    Ok(())
}

#[tokio::test]
async fn a_second_server_on_a_sqlite_file_refuses() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    let error = Database::open(&stage.url).await.unwrap_err();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
    assert!(error.to_string().contains("another server uses"), "{error}");
    assert!(error.to_string().contains("berth.db"), "{error}");
    drop(stage.db);
    Database::open(&stage.url).await?;
    Ok(())
}

#[tokio::test]
async fn a_file_that_is_no_database_is_named_and_left_alone() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("notes.txt");
    let text = "these are my notes, ".repeat(500);
    fs::write(&path, &text)?;
    let error = Database::open(&format!("sqlite://{}", path.display())).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    assert_eq!(fs::read_to_string(&path)?, text);
    Ok(())
}

/// The URL of a file with a damaged middle, and the folder that it is in.
async fn damaged() -> Result<(String, TempDir)> {
    let stage = Stage::new(Kind::Sqlite).await?;
    let news: Vec<_> = (0..500).map(|n| a_job("a", &format!("j{n}"))).collect();
    write!(stage, |tx| jobs::insert_many(&tx, &news));
    let Stage { db, url, folder, .. } = stage;
    db.close().await?;
    let path = folder.path().join("berth.db");
    let middle = fs::metadata(&path)?.len() / 2 / 4096 * 4096;
    let mut file = fs::File::options().write(true).open(&path)?;
    file.seek(SeekFrom::Start(middle))?;
    file.write_all(&[0x5a; 4 * 4096])?;
    Ok((url, folder))
}

#[tokio::test]
async fn a_damaged_file_is_noticed_at_the_start() -> Result<()> {
    let (url, folder) = damaged().await?;
    let path = folder.path().join("berth.db");
    let error = Database::open(&url).await.unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    Ok(())
}

/// What takes long is done beside everything else.
#[tokio::test]
async fn a_large_file_is_looked_through_after_the_start() -> Result<()> {
    let (url, folder) = damaged().await?;
    let path = folder.path().join("berth.db");
    let limits = Limits { looked_through: 4096, ..Limits::default() };
    let db = Database::open_within(&url, limits).await?;
    db.ping().await?;
    let error = db.look_through().await.unwrap_err();
    assert!(matches!(error, Error::Corrupt { .. }), "{error:?}");
    assert!(error.to_string().contains(&path.display().to_string()), "{error}");
    assert_eq!(db.ping().await.unwrap_err().to_string(), error.to_string());
    let stage = Stage::new(Kind::Sqlite).await?;
    stage.db.look_through().await?;
    Ok(())
}

#[tokio::test]
async fn a_database_that_cannot_be_had_is_unavailable() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let nowhere = format!("sqlite://{}/missing/berth.db", folder.path().display());
    let limits = Limits { connection: Duration::from_millis(200), ..Limits::default() };
    for url in ["mysql://localhost/berth", "postgres://u@127.0.0.1:1/berth", &nowhere] {
        let error = Database::open_within(url, limits).await.unwrap_err();
        assert!(matches!(error, Error::Unavailable { .. }), "{url}: {error:?}");
    }
    Ok(())
}

/// As `.cargo/config.toml` asks for it: a build that does not see it is a slower server, and nothing else says so.
#[tokio::test]
async fn connections_to_sqlite_share_no_pages_and_no_account_of_their_memory() -> Result<()> {
    let stage = Stage::new(Kind::Sqlite).await?;
    let options = "SELECT compile_options FROM pragma_compile_options";
    let statement = Statement::from_string(DbBackend::Sqlite, options);
    let rows = stage.db.read().query_all_raw(statement).await?;
    let options: Vec<String> =
        rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
    assert!(options.iter().any(|option| option == "DEFAULT_MEMSTATUS=0"), "{options:?}");
    assert!(!options.iter().any(|option| option == "ENABLE_MEMORY_MANAGEMENT"), "{options:?}");
    Ok(())
}
