//! Which servers of a database have been heard.

use std::time::Duration;

use sea_orm::{ConnectionTrait, QueryResult, Statement};

use super::Named;
use crate::Result;

/// A server that does not lead, or did once.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Heard {
    /// Which one it is.
    pub server: Named,
    /// How long ago, by the database's clock.
    pub ago: Duration,
}

const LIST: &str = "SELECT name, address, \
    CAST(EXTRACT(EPOCH FROM clock_timestamp() - seen) * 1000 AS BIGINT) FROM servers \
    ORDER BY name, address";

/// All that have been heard within a month, by name; asked by a server that leads.
///
/// # Errors
/// See [`crate::Error`]. Where nobody has led there is nothing to ask.
pub async fn heard(connection: &impl ConnectionTrait) -> Result<Vec<Heard>> {
    let statement = Statement::from_string(connection.get_database_backend(), LIST);
    let rows = connection.query_all_raw(statement).await?;
    rows.iter().map(of_row).collect()
}

fn of_row(row: &QueryResult) -> Result<Heard> {
    let address: String = row.try_get_by_index(1)?;
    let millis: i64 = row.try_get_by_index(2)?;
    Ok(Heard {
        server: Named {
            name: row.try_get_by_index(0)?,
            address: Some(address).filter(|address| !address.is_empty()),
        },
        ago: Duration::from_millis(u64::try_from(millis).unwrap_or_default()),
    })
}
