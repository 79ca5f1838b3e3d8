//! A PostgreSQL that hangs is an outage that is told, and no wait without end.

use std::time::Duration;

use anyhow::Result;
use database::{ConnectionTrait as _, Database, Error, Limits, settings};
use tokio::io::AsyncWriteExt as _;
use tokio::net::TcpListener;

use crate::stage::{Kind, Way, new_url};

/// Long enough for anything that happens at all.
const PATIENCE: Duration = Duration::from_secs(60);

/// What a PostgreSQL may take that answers at once.
fn short() -> Limits {
    let moment = Duration::from_secs(1);
    Limits { connection: moment, answer: moment, ..Limits::default() }
}

fn assert_unavailable(error: impl Into<Error>) {
    let error = error.into();
    assert!(matches!(error, Error::Unavailable { .. }), "{error:?}");
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn a_postgres_that_hangs_is_an_outage() -> Result<()> {
    let folder = tempfile::tempdir()?;
    let way = Way::to(&new_url(Kind::Postgres, &folder).await?).await?;
    let db = Database::open_within(&way.url, short()).await?;
    let tx = db.begin().await?;
    settings::set_once(&tx, "a", "1").await?;
    let other = db.begin().await?;
    way.stuck.send(true)?;
    let outage = async {
        tokio::join!(
            tx.commit(),
            settings::set_once(&other, "b", "1"),
            settings::get(db.read(), "a"),
            db.begin(),
            db.ping(),
        )
    };
    let (committed, set, read, begun, felt) = tokio::time::timeout(PATIENCE, outage).await?;
    assert_unavailable(committed.unwrap_err());
    assert_unavailable(set.unwrap_err());
    assert_unavailable(read.unwrap_err());
    assert_unavailable(begun.unwrap_err());
    assert_unavailable(felt.unwrap_err());
    drop(other);
    way.stuck.send(false)?;
    let goes_on = async { while settings::get(db.read(), "a").await.is_err() {} };
    tokio::time::timeout(PATIENCE, goes_on).await?;
    let tx = db.begin().await?;
    settings::set_once(&tx, "c", "1").await?;
    tx.commit().await?;
    Ok(())
}

#[tokio::test]
async fn a_line_that_is_cut_amid_an_answer_is_an_outage() -> Result<()> {
    let listener = TcpListener::bind("127.0.0.1:0").await?;
    let url = format!("postgres://berth@{}/berth", listener.local_addr()?);
    let half = async {
        while let Ok((mut line, _)) = listener.accept().await {
            // To be asked for TLS it would say S or N.
            let _gone = line.write_all(&[0]).await;
        }
    };
    tokio::select! {
        opened = Database::open_within(&url, short()) => assert_unavailable(opened.unwrap_err()),
        () = half => unreachable!("it is listened for ever"),
    }
    Ok(())
}

#[tokio::test]
async fn what_takes_too_long_on_postgres_is_given_up() -> Result<()> {
    let url = new_url(Kind::Postgres, &tempfile::tempdir()?).await?;
    let db = Database::open_within(&url, short()).await?;
    let tx = db.begin().await?;
    settings::set_once(&tx, "a", "1").await?;
    tx.commit().await?;
    let change = "UPDATE settings SET value = '2' WHERE name = 'a'";
    let (holder, waiter) = (db.begin().await?, db.begin().await?);
    holder.execute_unprepared(change).await?;
    assert_unavailable(waiter.execute_unprepared(change).await.unwrap_err());
    assert_unavailable(db.read().execute_unprepared("SELECT pg_sleep(600)").await.unwrap_err());
    holder.commit().await?;
    Ok(())
}
