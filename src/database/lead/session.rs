//! What is said to PostgreSQL about the lead. All locks of ours have the first number.

use std::time::Duration;

use protocol::lead::{Before, SILENCE};
use sea_orm::sqlx::postgres::PgConnectOptions;
use sea_orm::sqlx::{self, ConnectOptions, Connection, PgConnection};

use super::{Leader, Named};
use crate::{Error, Result};

/// It answers within so long, or the session is given up.
pub(super) const ANSWER: Duration = SILENCE;

/// Whoever holds this lock leads.
const TAKE: &str = "SELECT pg_try_advisory_lock(4919, 1)";
/// Who writes holds that one, with others, until what he wrote is stored; who begins a term holds it alone.
const WAIT_FOR_WRITERS: &str = "SELECT pg_advisory_xact_lock(4919, 2)";
/// Ends the sessions of those who write: whatever they have begun is of a term that is over, and a server
/// that is frozen in the midst of it would keep everybody waiting.
const END_WRITERS: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks \
    WHERE locktype = 'advisory' AND classid = 4919 AND objid = 2 AND objsubid = 2 AND granted \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database())";
/// Ends a session of which its own server has lost sight, if it still has the lead.
const END_FORMER: &str = "SELECT count(pg_terminate_backend(pid)) FROM pg_locks \
    WHERE locktype = 'advisory' AND classid = 4919 AND objid = 1 AND objsubid = 2 AND granted \
    AND database = (SELECT oid FROM pg_database WHERE datname = current_database()) AND pid = $1";

const IS_MADE: &str = "SELECT to_regclass('leader') IS NOT NULL";
/// Its one row is the term that holds.
const TABLE: &str = "CREATE TABLE leader (one BOOLEAN PRIMARY KEY DEFAULT TRUE CHECK (one), \
    term BIGINT NOT NULL, name TEXT NOT NULL, address TEXT, done BOOLEAN NOT NULL)";
const BEGIN: &str = "INSERT INTO leader (term, name, address, done) VALUES ($1, $2, $3, FALSE) \
    ON CONFLICT (one) DO UPDATE SET term = EXCLUDED.term, name = EXCLUDED.name, \
    address = EXCLUDED.address, done = FALSE";

const SERVERS_ARE_MADE: &str = "SELECT to_regclass('servers') IS NOT NULL";
/// When each server was heard that does not lead, or has led.
const SERVERS: &str = "CREATE TABLE servers (name TEXT NOT NULL, address TEXT NOT NULL, \
    seen TIMESTAMPTZ NOT NULL, PRIMARY KEY (name, address))";
const SIGN: &str = "INSERT INTO servers (name, address, seen) VALUES ($1, $2, now()) \
    ON CONFLICT (name, address) DO UPDATE SET seen = EXCLUDED.seen";
/// The leader before, which was there until now: another one takes over within seconds.
const SIGN_FORMER: &str = "INSERT INTO servers (name, address, seen) \
    SELECT name, COALESCE(address, ''), now() FROM leader \
    ON CONFLICT (name, address) DO UPDATE SET seen = EXCLUDED.seen";
/// Nobody waits for those any more.
const FORGET: &str = "DELETE FROM servers WHERE seen < now() - INTERVAL '30 days'";

/// A session of a server that leads or would lead.
#[derive(Debug)]
pub(super) struct Session {
    connection: PgConnection,
    /// What PostgreSQL knows it by.
    pub(super) number: i32,
}

impl Session {
    /// PostgreSQL ends it when it says nothing for [`SILENCE`].
    pub(super) async fn begin(options: &PgConnectOptions) -> Result<Self> {
        in_time(connect(options)).await
    }

    /// Takes the lead; says whether it was free.
    pub(super) async fn take(&mut self) -> Result<bool> {
        in_time(take(&mut self.connection)).await
    }

    /// Who leads or was the last one to.
    pub(super) async fn leader(&mut self) -> Result<Option<Leader>> {
        in_time(leader(&mut self.connection)).await
    }

    /// Says that its server is there, which does not lead.
    pub(super) async fn sign(&mut self, server: &Named) -> Result<()> {
        let signed = async {
            match sign(&mut self.connection, server).await {
                // It has answered: the leader is of a version that has made no such table.
                Err(sqlx::Error::Database(error)) => {
                    tracing::debug!(%error, "nobody is told that this server is there");
                    Ok(())
                }
                signed => signed,
            }
        };
        in_time(signed).await
    }

    /// Begins another term of who has just taken the lead; says which, and how the one before has ended.
    pub(super) async fn begin_term(&mut self, server: &Named) -> Result<(i64, Before)> {
        in_time(begin_term(&mut self.connection, server)).await
    }

    /// Says that it is there.
    pub(super) async fn beat(&mut self) -> Result<()> {
        in_time(beat(&mut self.connection)).await
    }

    /// Goes on with a term, if it still holds.
    pub(super) async fn go_on(&mut self, term: i64) -> Result<bool> {
        in_time(note(&mut self.connection, term, false)).await
    }

    /// Ends another session, if that has the lead.
    pub(super) async fn end_former(&mut self, number: i32) -> Result<()> {
        in_time(end_former(&mut self.connection, number)).await
    }

    /// Gives the lead back. `done`: its server acts no more.
    pub(super) async fn give_back(mut self, term: i64, done: bool) -> Result<()> {
        in_time(note(&mut self.connection, term, done)).await?;
        in_time(self.connection.close()).await
    }
}

async fn in_time<T>(answer: impl Future<Output = Result<T, sqlx::Error>>) -> Result<T> {
    match tokio::time::timeout(ANSWER, answer).await {
        Ok(answer) => Ok(answer?),
        Err(_late) => {
            Err(Error::unavailable(format!("no answer within {} s", ANSWER.as_secs_f64())))
        }
    }
}

async fn connect(options: &PgConnectOptions) -> Result<Session, sqlx::Error> {
    let mut connection = options.connect().await?;
    let silence = format!("{}ms", SILENCE.as_millis());
    let set = sqlx::query("SELECT set_config('idle_session_timeout', $1, FALSE)").bind(silence);
    set.execute(&mut connection).await?;
    let number: i32 =
        sqlx::query_scalar("SELECT pg_backend_pid()").fetch_one(&mut connection).await?;
    Ok(Session { connection, number })
}

async fn take(connection: &mut PgConnection) -> Result<bool, sqlx::Error> {
    sqlx::query_scalar(TAKE).fetch_one(connection).await
}

async fn beat(connection: &mut PgConnection) -> Result<(), sqlx::Error> {
    sqlx::query("SELECT 1").execute(connection).await?;
    Ok(())
}

async fn leader(connection: &mut PgConnection) -> Result<Option<Leader>, sqlx::Error> {
    let is_made: bool = sqlx::query_scalar(IS_MADE).fetch_one(&mut *connection).await?;
    if !is_made {
        return Ok(None);
    }
    let row: Option<(i64, String, Option<String>)> =
        sqlx::query_as("SELECT term, name, address FROM leader").fetch_optional(connection).await?;
    Ok(row.map(|(term, name, address)| Leader { term, server: Named { name, address } }))
}

async fn begin_term(
    connection: &mut PgConnection,
    server: &Named,
) -> Result<(i64, Before), sqlx::Error> {
    let mut turn = connection.begin().await?;
    let is_made: bool = sqlx::query_scalar(IS_MADE).fetch_one(&mut *turn).await?;
    if !is_made {
        sqlx::query(TABLE).execute(&mut *turn).await?;
    }
    sqlx::query(END_WRITERS).execute(&mut *turn).await?;
    sqlx::query(WAIT_FOR_WRITERS).execute(&mut *turn).await?;
    let last: Option<(i64, bool)> =
        sqlx::query_as("SELECT term, done FROM leader").fetch_optional(&mut *turn).await?;
    let (last, done) = last.unwrap_or((0, true));
    let term = last + 1;
    note_servers(&mut turn, server).await?;
    let begin = sqlx::query(BEGIN).bind(term).bind(&server.name).bind(&server.address);
    begin.execute(&mut *turn).await?;
    turn.commit().await?;
    Ok((term, if done { Before::Done } else { Before::Unknown }))
}

async fn note_servers(connection: &mut PgConnection, server: &Named) -> Result<(), sqlx::Error> {
    let are_made: bool = sqlx::query_scalar(SERVERS_ARE_MADE).fetch_one(&mut *connection).await?;
    if !are_made {
        sqlx::query(SERVERS).execute(&mut *connection).await?;
    }
    sqlx::query(SIGN_FORMER).execute(&mut *connection).await?;
    sign(connection, server).await?;
    sqlx::query(FORGET).execute(connection).await?;
    Ok(())
}

async fn sign(connection: &mut PgConnection, server: &Named) -> Result<(), sqlx::Error> {
    let address = server.address.as_deref().unwrap_or_default();
    sqlx::query(SIGN).bind(&server.name).bind(address).execute(connection).await?;
    Ok(())
}

/// Says whether the term still holds.
async fn note(connection: &mut PgConnection, term: i64, done: bool) -> Result<bool, sqlx::Error> {
    let note = sqlx::query("UPDATE leader SET done = $1 WHERE term = $2").bind(done).bind(term);
    Ok(note.execute(connection).await?.rows_affected() > 0)
}

async fn end_former(connection: &mut PgConnection, number: i32) -> Result<(), sqlx::Error> {
    sqlx::query(END_FORMER).bind(number).execute(connection).await?;
    Ok(())
}
