//! Addresses of databases.

use sea_orm::sqlx::postgres::PgConnectOptions;

use crate::{Error, Result};

/// What an address of PostgreSQL says.
pub(crate) fn postgres(url: &str) -> Result<PgConnectOptions> {
    url.parse::<PgConnectOptions>().map_err(|error| {
        Error::unavailable(format!("its postgres:// address is not understood: {error}"))
    })
}
