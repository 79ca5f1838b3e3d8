use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use protocol::ids::JobId;
use sea_orm::{
    ConnectionTrait, DatabaseConnection, DatabaseTransaction, DbBackend, DbErr, ExecResult,
    QueryResult, RuntimeErr, SqliteTransactionMode, Statement, TransactionOptions,
    TransactionTrait as _,
};

use crate::bounded::within;
use crate::jobs::Listing;
use crate::{Error, Result};

/// A write transaction. Dropped without [`Transaction::commit`], it changes nothing. A statement of
/// it that fails takes all of it along.
#[derive(Debug)]
pub struct Transaction {
    inner: DatabaseTransaction,
    /// The longest that a statement may take, if there is a longest.
    most: Option<Duration>,
    /// A statement has failed. SQLite forgets the whole transaction then if its disk is full, and
    /// stores what follows each by itself; PostgreSQL answers a commit as if it were one.
    spent: AtomicBool,
    listing: Arc<Listing>,
    /// Jobs that it changes in what lists look at, or takes away.
    listed: Mutex<Vec<JobId>>,
}

impl Transaction {
    pub(crate) fn new(
        inner: DatabaseTransaction,
        most: Option<Duration>,
        listing: Arc<Listing>,
    ) -> Self {
        Self { inner, most, spent: AtomicBool::new(false), listing, listed: Mutex::default() }
    }

    /// Notes jobs that it changes in what lists look at, or takes away.
    pub(crate) fn lists(&self, jobs: impl IntoIterator<Item = JobId>) {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner).extend(jobs);
    }

    /// Makes its changes lasting and visible to everybody.
    ///
    /// # Errors
    /// When the database does not promise that. Then nothing of it is stored, unless the promise
    /// itself was lost on its way.
    pub async fn commit(self) -> Result<()> {
        let Self { inner, most, spent, listing, listed } = self;
        if spent.into_inner() {
            return Err(given_up().into());
        }
        let listed = listed.into_inner().unwrap_or_else(PoisonError::into_inner);
        if listed.is_empty() {
            return Ok(within(most, inner.commit()).await?);
        }
        // As a task of its own: whoever stops waiting for it must not keep the lists from knowing.
        let committing = tokio::spawn(async move {
            let committed = within(most, inner.commit()).await;
            // Of a commit that failed nobody knows whether the database did it nevertheless.
            listing.note(listed);
            committed
        });
        Ok(committing.await.map_err(Error::broken_off)??)
    }

    /// Forgets its changes at once, without waiting for the drop to be noticed.
    ///
    /// # Errors
    /// When the database is out of reach; it forgets them by itself then.
    pub async fn rollback(self) -> Result<()> {
        let Self { inner, most, spent, .. } = self;
        match (within(most, inner.rollback()).await, spent.into_inner()) {
            // SQLite may have forgotten them already, and says that there is nothing to forget.
            (Ok(()), _) | (Err(_), true) => Ok(()),
            (Err(error), false) => Err(error.into()),
        }
    }

    /// Has a statement answered, if none has failed before.
    async fn answered<T>(
        &self,
        statement: impl Future<Output = Result<T, DbErr>>,
    ) -> Result<T, DbErr> {
        if self.spent.load(Ordering::Relaxed) {
            return Err(given_up());
        }
        let answer = within(self.most, statement).await;
        if answer.is_err() {
            self.spent.store(true, Ordering::Relaxed);
        }
        answer
    }
}

/// Of what comes after a statement that failed.
fn given_up() -> DbErr {
    let words = "a statement of this transaction has failed, and nothing of it is stored";
    DbErr::Query(RuntimeErr::Internal(words.to_owned()))
}

#[async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.answered(self.inner.execute_raw(statement)).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.answered(self.inner.execute_unprepared(sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.answered(self.inner.query_one_raw(statement)).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.answered(self.inner.query_all_raw(statement)).await
    }
}

/// Begins a transaction that writes. On SQLite it is the only one from its beginning on, so that
/// nobody changes what it has read.
pub(crate) async fn begin_writing(
    connection: &DatabaseConnection,
) -> Result<DatabaseTransaction, DbErr> {
    let options = TransactionOptions {
        sqlite_transaction_mode: Some(SqliteTransactionMode::Immediate),
        ..TransactionOptions::default()
    };
    connection.begin_with_options(options).await
}
