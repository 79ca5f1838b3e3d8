//! Where tests take place: an empty database of either kind, and things to put into it.

mod make;
mod postgres;
mod way;

use anyhow::Result;
use database::{Database, Transaction};
use tempfile::TempDir;

pub(crate) use make::{a_job, a_task, at, attempt_of, exit, job_name, node, user, vc};
pub(crate) use postgres::new_database;
pub(crate) use way::Way;

/// The kinds of database.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Sqlite,
    Postgres,
}

/// An empty database of its own.
pub(crate) struct Stage {
    pub(crate) kind: Kind,
    pub(crate) url: String,
    pub(crate) db: Database,
    pub(crate) folder: TempDir,
}

impl Stage {
    pub(crate) async fn new(kind: Kind) -> Result<Self> {
        let folder = tempfile::tempdir()?;
        let url = new_url(kind, &folder).await?;
        Ok(Self { kind, db: Database::open(&url).await?, url, folder })
    }

    pub(crate) async fn begin(&self) -> Result<Transaction> {
        Ok(self.db.begin().await?)
    }

    /// As after a restart of the server.
    pub(crate) async fn reopened(self) -> Result<Self> {
        let Self { kind, url, db, folder } = self;
        db.close().await?;
        Ok(Self { kind, db: Database::open(&url).await?, url, folder })
    }
}

/// The URL of a database that is not there yet or empty.
pub(crate) async fn new_url(kind: Kind, folder: &TempDir) -> Result<String> {
    match kind {
        Kind::Sqlite => Ok(format!("sqlite://{}", folder.path().join("berth.db").display())),
        Kind::Postgres => new_database().await,
    }
}

/// Makes one test for each kind of database out of `async fn name(stage) { … }`.
macro_rules! on_both {
    ($(async fn $name:ident($stage:pat_param) $body:block)*) => {$(
        async fn $name($stage: $crate::stage::Stage) -> anyhow::Result<()> {
            $body
            Ok(())
        }

        mod $name {
            use $crate::stage::{Kind, Stage};

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_sqlite() -> anyhow::Result<()> {
                super::$name(Stage::new(Kind::Sqlite).await?).await
            }

            #[tokio::test(flavor = "multi_thread", worker_threads = 2)]
            async fn on_postgres() -> anyhow::Result<()> {
                super::$name(Stage::new(Kind::Postgres).await?).await
            }
        }
    )*};
}
pub(crate) use on_both;

/// Writes in a transaction of its own and gives what the query answered.
macro_rules! write {
    ($stage:expr, |$tx:ident| $query:expr) => {{
        let $tx = $stage.begin().await?;
        let answer = $query.await?;
        $tx.commit().await?;
        answer
    }};
}
pub(crate) use write;
