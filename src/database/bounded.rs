use std::io;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use sea_orm::sqlx;
use sea_orm::{ConnectionTrait, DbBackend, DbErr, ExecResult, QueryResult, RuntimeErr, Statement};

/// A connection whose statements are given up when no answer comes: a server that hangs tells nobody
/// that it does.
#[derive(Debug)]
pub(crate) struct Bounded<C> {
    pub(crate) inner: C,
    /// The longest that an answer may take, if there is a longest.
    pub(crate) most: Option<Duration>,
}

impl<C> Bounded<C> {
    pub(crate) fn new(inner: C, most: Option<Duration>) -> Self {
        Self { inner, most }
    }
}

/// What the database answers, or that it does not.
pub(crate) async fn within<T>(
    most: Option<Duration>,
    answer: impl Future<Output = Result<T, DbErr>>,
) -> Result<T, DbErr> {
    match most {
        None => answer.await,
        Some(most) => {
            let answered = tokio::time::timeout(most, answer).await;
            answered.unwrap_or_else(|_late| Err(DbErr::Conn(silent(most))))
        }
    }
}

fn silent(most: Duration) -> RuntimeErr {
    let words = format!("no answer within {} s", most.as_secs_f64());
    let error = io::Error::new(io::ErrorKind::TimedOut, words);
    RuntimeErr::SqlxError(Arc::new(sqlx::Error::Io(error)))
}

#[async_trait]
impl<C: ConnectionTrait> ConnectionTrait for Bounded<C> {
    fn get_database_backend(&self) -> DbBackend {
        self.inner.get_database_backend()
    }

    async fn execute_raw(&self, statement: Statement) -> Result<ExecResult, DbErr> {
        within(self.most, self.inner.execute_raw(statement)).await
    }

    async fn execute_unprepared(&self, sql: &str) -> Result<ExecResult, DbErr> {
        within(self.most, self.inner.execute_unprepared(sql)).await
    }

    async fn query_one_raw(&self, statement: Statement) -> Result<Option<QueryResult>, DbErr> {
        within(self.most, self.inner.query_one_raw(statement)).await
    }

    async fn query_all_raw(&self, statement: Statement) -> Result<Vec<QueryResult>, DbErr> {
        within(self.most, self.inner.query_all_raw(statement)).await
    }
}
