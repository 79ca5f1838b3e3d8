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
}

impl Store {
    pub(crate) fn new(database: Database, storage: Storage) -> Self {
        let user_names = UserNames::default();
        Self { database, storage, bursts: Mutex::default(), user_names }
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
