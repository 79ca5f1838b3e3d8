use std::sync::Arc;
use std::time::Duration;

use sea_orm::{ConnectionTrait, DatabaseConnection};

use crate::bounded::{Bounded, within};
use crate::jobs::Listing;
use crate::lead::FencingToken;
use crate::transaction::begin_writing;
use crate::{Error, Result, Transaction};
use connections::Connections;
use pulse::Pulse;
use sqlite::SqliteFile;

mod connections;
mod limits;
mod postgres;
mod pulse;
mod sqlite;

pub use limits::Limits;

tokio::task_local! {
    /// Set while somebody only looks.
    static LOOKING: ();
}

/// Does what somebody asks who only looks and waits for it: what it reads of a [`Database`], it reads by
/// connections that are kept for that, and does not stand in line behind what thousands of jobs read that come
/// and go meanwhile.
pub async fn looking<T>(look: impl Future<Output = T>) -> T {
    LOOKING.scope((), look).await
}

/// An open database.
///
/// SQLite has one writer, so writes have one connection of their own and wait for each other in
/// turn, while reads go on beside them. PostgreSQL has one pool for both. Either has some connections more for who
/// is [`looking`].
#[derive(Debug)]
pub struct Database {
    reader: Bounded<DatabaseConnection>,
    /// For who only looks.
    looker: Bounded<DatabaseConnection>,
    writer: DatabaseConnection,
    listing: Arc<Listing>,
    pulse: Pulse,
    file: Option<SqliteFile>,
    fencing_token: FencingToken,
}

impl Database {
    /// Opens `sqlite:///path/file.db` (made if it is not there) or `postgres://…`, and brings its
    /// tables up to date.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when it cannot be reached, is in use by another server, was made by a
    /// newer version or the URL is neither; [`Error::Corrupt`], naming the file, when it is no
    /// database or a damaged one.
    pub async fn open(url: &str) -> Result<Self> {
        Self::open_within(url, Limits::default()).await
    }

    /// The same with other limits.
    ///
    /// # Errors
    /// Those of [`Database::open`].
    pub async fn open_within(url: &str, limits: Limits) -> Result<Self> {
        Self::open_by(url, limits, FencingToken::default()).await
    }

    /// The same for a server that leads: once another one does, nothing that this one writes is stored.
    ///
    /// # Errors
    /// Those of [`Database::open`].
    pub async fn open_by(url: &str, limits: Limits, fencing_token: FencingToken) -> Result<Self> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            let (connections, file) = sqlite::open(path.as_ref(), limits).await?;
            Ok(Self::new(connections, None, Some(file), fencing_token))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            let (connections, most) = postgres::open(url, limits).await?;
            Ok(Self::new(connections, Some(most), None, fencing_token))
        } else {
            Err(Error::unavailable(
                "its address must begin with sqlite:// (as in sqlite:///var/lib/berth/berth.db) \
                 or postgres://",
            ))
        }
    }

    fn new(
        connections: Connections,
        most: Option<Duration>,
        file: Option<SqliteFile>,
        fencing_token: FencingToken,
    ) -> Self {
        let Connections { writer, reader, looker } = connections;
        let [reader, looker] = [reader, looker].map(|inner| Bounded::new(inner, most));
        let (listing, pulse) = (Arc::default(), Pulse::default());
        Self { reader, looker, writer, listing, pulse, file, fencing_token }
    }

    /// By what right it is written.
    #[must_use]
    pub fn fencing_token(&self) -> &FencingToken {
        &self.fencing_token
    }

    /// What reads take.
    #[must_use]
    pub fn read(&self) -> &impl ConnectionTrait {
        let only_looks = LOOKING.try_with(|()| ()).is_ok();
        if only_looks { &self.looker } else { &self.reader }
    }

    /// Begins a write transaction. On SQLite it waits for the one before to end.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when its turn does not come, or another server leads.
    pub async fn begin(&self) -> Result<Transaction> {
        let most = self.reader.most;
        let begun = within(most, begin_writing(&self.writer)).await?;
        if let Some(fence) = self.fencing_token.fence() {
            within(most, begun.execute_unprepared(fence)).await?;
        }
        Ok(Transaction::new(begun, most, Arc::clone(&self.listing)))
    }

    /// What lists of jobs look at.
    pub(crate) fn listing(&self) -> &Listing {
        &self.listing
    }

    /// Whether what is written is kept, tried once a second at most: something is written, and read
    /// back by another connection.
    ///
    /// # Errors
    /// When it is not, or that takes longer than two seconds, or the file is known to be damaged.
    pub async fn ping(&self) -> Result<()> {
        self.undamaged()?;
        self.pulse.feel(self).await
    }

    /// Looks through a file that was too large for that when it was opened. Nothing is done where
    /// there is none, or it was looked through.
    ///
    /// # Errors
    /// [`Error::Corrupt`], naming the file, when it is damaged: from then on [`Database::ping`] says
    /// so as well.
    pub async fn look_through(&self) -> Result<()> {
        let Some(file) = self.file.as_ref().filter(|file| !file.looked_through) else {
            return Ok(());
        };
        match sqlite::look_through(&self.reader.inner).await {
            Err(Error::Corrupt { message, .. }) => {
                file.damage.get_or_init(|| message);
                self.undamaged()
            }
            other => other,
        }
    }

    fn undamaged(&self) -> Result<()> {
        let known = self.file.as_ref().and_then(|file| Some((&file.name, file.damage.get()?)));
        known.map_or(Ok(()), |(name, damage)| Err(Error::corrupt(name, damage)))
    }

    /// Closes all connections; SQLite's log is written back into its file.
    ///
    /// # Errors
    /// When they cannot be closed in good order; nothing is lost by that.
    pub async fn close(self) -> Result<()> {
        self.looker.inner.close().await?;
        self.reader.inner.close().await?;
        Ok(self.writer.close().await?)
    }
}

#[cfg(test)]
mod tests {
    use sea_orm::TransactionTrait as _;

    use super::*;
    use crate::jobs;

    #[tokio::test]
    async fn who_looks_waits_for_nobody_else_who_reads() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("berth.db");
        let database = Database::open(&format!("sqlite://{}", file.display())).await.unwrap();
        let all =
            database.reader.inner.get_sqlite_connection_pool().options().get_max_connections();
        let mut others = Vec::new();
        for _ in 0..all {
            others.push(database.reader.inner.begin().await.unwrap());
        }
        let last = async || jobs::given_last(database.read()).await.unwrap();
        let mut waits = std::pin::pin!(last());
        tokio::select! {
            biased;
            _ = &mut waits => panic!("there is no connection left for it"),
            () = std::future::ready(()) => {}
        }
        assert_eq!(looking(last()).await, None);
        drop(others);
        assert_eq!(waits.await, None);
    }
}
