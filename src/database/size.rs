//! What the database takes.

use sea_orm::{DbBackend, Statement};

use crate::{ConnectionTrait as _, Database, Result};

impl Database {
    /// How many bytes it takes.
    ///
    /// # Errors
    /// See [`crate::Error`].
    pub async fn size(&self) -> Result<u64> {
        let backend = self.read().get_database_backend();
        let sql = match backend {
            DbBackend::Postgres => "SELECT pg_database_size(current_database())",
            _ => "SELECT page_count * page_size FROM pragma_page_count(), pragma_page_size()",
        };
        let answer = self.read().query_one_raw(Statement::from_string(backend, sql)).await?;
        let bytes = answer.map(|row| row.try_get_by_index::<i64>(0)).transpose()?;
        Ok(bytes.and_then(|bytes| u64::try_from(bytes).ok()).unwrap_or_default())
    }
}
