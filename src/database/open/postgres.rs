//! A server of PostgreSQL, which may hang, or be cut off without a word.

use std::io;
use std::time::Duration;

use sea_orm::SqlxPostgresConnector;
use sea_orm::sqlx::postgres::PgPoolOptions;
use sea_orm::sqlx::{self, ConnectOptions, Connection};

use super::connections::Connections;
use super::limits::{Limits, STATEMENTS};
use crate::{Result, address, migrations};

/// Connections to it,
const CONNECTIONS: u32 = 16;
/// and those beside them that are kept for who only looks.
const LOOKERS: u32 = 4;
/// A connection that is given back answers within so long, or is given up.
const GIVEN_BACK: Duration = Duration::from_secs(5);
/// One that was not used for so long is tried before it is.
const UNUSED: Duration = Duration::from_secs(1);

/// What holds for each session. The server ends by itself what a server of ours that hangs, or is cut
/// off, has begun there, so that others do not wait for its locks.
const SESSION: [(&str, &str); 6] = [
    ("jit", "off"),
    ("idle_in_transaction_session_timeout", "60s"),
    ("tcp_keepalives_idle", "30s"),
    ("tcp_keepalives_interval", "10s"),
    ("tcp_keepalives_count", "3"),
    ("tcp_user_timeout", "60s"),
];

/// The connections, and how long a statement may take until it is given up.
pub(super) async fn open(url: &str, limits: Limits) -> Result<(Connections, Duration)> {
    let millis = |time: Duration| format!("{}ms", time.as_millis());
    let options = address::postgres(url)?
        .application_name("berth")
        .statement_cache_capacity(STATEMENTS)
        .options(SESSION)
        .options([
            ("statement_timeout", millis(limits.answer)),
            ("lock_timeout", millis(limits.answer / 2)),
        ])
        .disable_statement_logging();
    let pool = |connections| {
        let pool = answering(PgPoolOptions::new()).max_connections(connections);
        pool.acquire_timeout(limits.connection)
    };
    let reader = pool(CONNECTIONS).connect_with(options.clone()).await?;
    let reader = SqlxPostgresConnector::from_sqlx_postgres_pool(reader);
    migrations::run(&reader).await?;
    let looker = pool(LOOKERS).connect_lazy_with(options);
    let looker = SqlxPostgresConnector::from_sqlx_postgres_pool(looker);
    // What is in time for the server still has its way back.
    let most = limits.answer + limits.answer / 4;
    Ok((Connections { writer: reader.clone(), reader, looker }, most))
}

/// Gives up connections that do not answer. Nobody would wait for them, but the room that they take
/// would be taken for ever.
fn answering(pool: PgPoolOptions) -> PgPoolOptions {
    let pool = pool.test_before_acquire(false).before_acquire(|connection, unused| {
        Box::pin(async move {
            if unused.idle_for >= UNUSED {
                connection.ping().await?;
            }
            Ok(true)
        })
    });
    pool.after_release(|connection, _| {
        Box::pin(async move {
            let answer = tokio::time::timeout(GIVEN_BACK, connection.ping()).await;
            answer.unwrap_or_else(|_late| Err(sqlx::Error::Io(io::ErrorKind::TimedOut.into())))?;
            Ok(true)
        })
    })
}
