use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use protocol::ids::JobId;
use sea_orm::{
    ConnectionTrait, DatabaseTransaction, DbBackend, DbErr, ExecResult, QueryResult, Statement,
};

use crate::jobs::Listing;
use crate::{Error, Result};

/// A write transaction. Dropped without [`Transaction::commit`], it changes nothing.
#[derive(Debug)]
pub struct Transaction {
    inner: DatabaseTransaction,
    listing: Arc<Listing>,
    /// Jobs that it changes in what lists look at, or takes away.
    listed: Mutex<Vec<JobId>>,
}

impl Transaction {
    pub(crate) fn new(inner: DatabaseTransaction, listing: Arc<Listing>) -> Self {
        Self { inner, listing, listed: Mutex::default() }
    }

    /// Notes jobs that it changes in what lists look at, or takes away.
    pub(crate) fn lists(&self, jobs: impl IntoIterator<Item = JobId>) {
        self.listed.lock().unwrap_or_else(PoisonError::into_inner).extend(jobs);
    }

    /// Makes its changes lasting and visible to everybody.
    ///
    /// # Errors
    /// When the database cannot promise that; then nothing of it is stored.
    pub async fn commit(self) -> Result<()> {
        let Self { inner, listing, listed } = self;
        let listed = listed.into_inner().unwrap_or_else(PoisonError::into_inner);
        if listed.is_empty() {
            return Ok(inner.commit().await?);
        }
        // As a task of its own: whoever stops waiting for it must not keep the lists from knowing.
        let committing = tokio::spawn(async move {
            let committed = inner.commit().await;
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
        Ok(self.inner.rollback().await?)
    }
}

#[async_trait]
impl ConnectionTrait for Transaction {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        self.inner.execute_raw(statement).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        self.inner.execute_unprepared(sql).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        self.inner.query_one_raw(statement).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        self.inner.query_all_raw(statement).await
    }
}
