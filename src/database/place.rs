//! Where a database lives. A copy of it lives elsewhere, whatever it says of itself.

use std::os::unix::fs::MetadataExt;
use std::path::Path;

use sea_orm::{DbBackend, Statement};

use crate::{ConnectionTrait, Result};

/// What systemd calls a machine by. Containers have none.
const MACHINE: &str = "/etc/machine-id";
/// What such a name has at least.
const SHORTEST: usize = 16;

/// The place of a database, in words: the machine and path of a file, the server and number of a
/// database of PostgreSQL. It stays the same over restarts, and a copy has another one.
///
/// # Errors
/// See [`crate::Error`].
pub async fn of(conn: &impl ConnectionTrait) -> Result<String> {
    match conn.get_database_backend() {
        DbBackend::Postgres => of_postgres(conn).await,
        _ => of_file(conn).await,
    }
}

/// On a machine with a name, a path is one file: two servers cannot have it, since it is locked. Where
/// the machine has none, as in a container, the file itself has to be known again.
async fn of_file(conn: &impl ConnectionTrait) -> Result<String> {
    let path = text(conn, "SELECT file FROM pragma_database_list WHERE name = 'main'").await?;
    let path = path.unwrap_or_default();
    let machine = std::fs::read_to_string(MACHINE).unwrap_or_default();
    let machine = machine.trim();
    Ok(match machine.len() >= SHORTEST {
        true => format!("{path} of the machine {machine}"),
        false => format!("{path} ({})", file_number(Path::new(&path))),
    })
}

fn file_number(path: &Path) -> String {
    let found = std::fs::metadata(path);
    found.map_or_else(|_unseen| "no file".to_owned(), |found| format!("file {}", found.ino()))
}

/// `initdb` gives each server a number, and each of its databases has another one.
async fn of_postgres(conn: &impl ConnectionTrait) -> Result<String> {
    let database = "SELECT current_database()::text || ' (' || oid::text || ')' FROM pg_database \
        WHERE datname = current_database()";
    let database = text(conn, database).await?.unwrap_or_default();
    // A service that runs PostgreSQL for others may keep it to itself.
    let server = "SELECT system_identifier::text FROM pg_control_system()";
    let server = text(conn, server).await.ok().flatten();
    let server = server.map(|number| format!(" of the server {number}")).unwrap_or_default();
    Ok(format!("{database}{server}"))
}

async fn text(conn: &impl ConnectionTrait, sql: &str) -> Result<Option<String>> {
    let statement = Statement::from_string(conn.get_database_backend(), sql);
    let found = conn.query_one_raw(statement).await?;
    Ok(found.map(|row| row.try_get_by_index::<String>(0)).transpose()?)
}
