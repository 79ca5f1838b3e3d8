//! Where things are remembered.

use std::sync::Mutex;

use database::{Database, Transaction};
use storage::Storage;

use super::bursts::Bursts;
use super::user_names::UserNames;

/// The database and users' files.
#[derive(Debug)]
pub(crate) struct Store {
    pub(crate) database: Database,
    pub(crate) storage: Storage,
    /// What was written to the audit log of late, of what comes in bursts.
    pub(crate) bursts: Mutex<Bursts>,
    /// Which names were users' a moment ago.
    pub(crate) user_names: UserNames,
    /// Held by whoever changes what is set up.
    turn: tokio::sync::Mutex<()>,
}

impl Store {
    pub(crate) fn new(database: Database, storage: Storage) -> Self {
        let user_names = UserNames::default();
        let turn = tokio::sync::Mutex::default();
        Self { database, storage, bursts: Mutex::default(), user_names, turn }
    }

    /// Does `work`, which stores what follows from what it reads, in one write transaction, and nobody else's at
    /// the same time: what it has read is still so. On PostgreSQL transactions do not wait for each other by
    /// themselves.
    pub(crate) async fn change<T>(
        &self,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, database::Error>,
    ) -> Result<T, database::Error> {
        let _turn = self.turn.lock().await;
        self.write(work).await
    }

    /// Does `work` in one write transaction: all of it is stored, or nothing.
    pub(crate) async fn write<T>(
        &self,
        work: impl AsyncFnOnce(&Transaction) -> Result<T, database::Error>,
    ) -> Result<T, database::Error> {
        let transaction = self.database.begin().await?;
        let done = work(&transaction).await?;
        transaction.commit().await?;
        Ok(done)
    }
}
