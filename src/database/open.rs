use std::sync::Arc;

use sea_orm::{ConnectionTrait, DatabaseConnection};

use crate::bounded::{Bounded, within};
use crate::jobs::Listing;
use crate::lead::Mandate;
use crate::transaction::begin_writing;
use crate::{Error, Result, Transaction};
use pulse::Pulse;
use sqlite::SqliteFile;

mod limits;
mod postgres;
mod pulse;
mod sqlite;

pub use limits::Limits;

/// An open database.
///
/// SQLite has one writer, so writes have one connection of their own and wait for each other in
/// turn, while reads go on beside them. PostgreSQL has one pool for both.
#[derive(Debug)]
pub struct Database {
    reader: Bounded<DatabaseConnection>,
    writer: DatabaseConnection,
    listing: Arc<Listing>,
    pulse: Pulse,
    file: Option<SqliteFile>,
    mandate: Mandate,
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
        Self::open_by(url, limits, Mandate::default()).await
    }

    /// The same for a server that leads: once another one does, nothing that this one writes is stored.
    ///
    /// # Errors
    /// Those of [`Database::open`].
    pub async fn open_by(url: &str, limits: Limits, mandate: Mandate) -> Result<Self> {
        if let Some(path) = url.strip_prefix("sqlite://") {
            let (writer, reader, file) = sqlite::open(path.as_ref(), limits).await?;
            Ok(Self::new(writer, Bounded::new(reader, None), Some(file), mandate))
        } else if url.starts_with("postgres://") || url.starts_with("postgresql://") {
            let (connection, most) = postgres::open(url, limits).await?;
            Ok(Self::new(connection.clone(), Bounded::new(connection, Some(most)), None, mandate))
        } else {
            Err(Error::unavailable(
                "its address must begin with sqlite:// (as in sqlite:///var/lib/berth/berth.db) \
                 or postgres://",
            ))
        }
    }

    fn new(
        writer: DatabaseConnection,
        reader: Bounded<DatabaseConnection>,
        file: Option<SqliteFile>,
        mandate: Mandate,
    ) -> Self {
        let (listing, pulse) = (Arc::default(), Pulse::default());
        Self { reader, writer, listing, pulse, file, mandate }
    }

    /// By what right it is written.
    #[must_use]
    pub fn mandate(&self) -> &Mandate {
        &self.mandate
    }

    /// What reads take.
    #[must_use]
    pub fn read(&self) -> &impl ConnectionTrait {
        &self.reader
    }

    /// Begins a write transaction. On SQLite it waits for the one before to end.
    ///
    /// # Errors
    /// [`Error::Unavailable`] when its turn does not come, or another server leads.
    pub async fn begin(&self) -> Result<Transaction> {
        let most = self.reader.most;
        let begun = within(most, begin_writing(&self.writer)).await?;
        if let Some(fence) = self.mandate.fence() {
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
        self.reader.inner.close().await?;
        Ok(self.writer.close().await?)
    }
}
