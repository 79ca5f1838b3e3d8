//! The rows of a table, from one kind of database to another.

use sea_orm::{ConnectionTrait, DbBackend, Statement, Value};

use super::tables::{Column, Table};
use crate::convert::{ROWS_A_STATEMENT, parameters};
use crate::{Error, Result};

/// Empties tables that come in an order in which each is after those whose rows its rows name.
pub(super) async fn clear(conn: &impl ConnectionTrait, tables: &[Table]) -> Result<()> {
    let names: Vec<_> = tables.iter().rev().map(Table::quoted).collect();
    match conn.get_database_backend() {
        DbBackend::Postgres => {
            let sql = format!("TRUNCATE {} RESTART IDENTITY", names.join(", "));
            conn.execute_unprepared(&sql).await?;
        }
        _ => {
            for name in names {
                conn.execute_unprepared(&format!("DELETE FROM {name}")).await?;
            }
        }
    }
    Ok(())
}

/// Copies all rows of a table, in the order of its key and so many at a time.
pub(super) async fn copy(
    from: &impl ConnectionTrait,
    to: &impl ConnectionTrait,
    table: &Table,
) -> Result<()> {
    let mut after = Vec::new();
    loop {
        let page = read(from, table, &after).await?;
        let Some(last) = page.last() else { return Ok(()) };
        after = table.key.iter().map(|place| last[*place].clone()).collect();
        write(to, table, page).await?;
    }
}

/// The rows that follow a key; those that are first, where it is empty.
async fn read(
    from: &impl ConnectionTrait,
    table: &Table,
    after: &[Value],
) -> Result<Vec<Vec<Value>>> {
    let (columns, key) = (table.all_columns(), table.key_columns());
    let backend = from.get_database_backend();
    let filter = match after {
        [] => String::new(),
        after => format!("WHERE ({key}) > {}", parameters(backend, 1, after.len())),
    };
    let sql = format!(
        "SELECT {columns} FROM {} {filter} ORDER BY {key} LIMIT {ROWS_A_STATEMENT}",
        table.quoted()
    );
    let statement = Statement::from_sql_and_values(backend, sql, after.to_vec());
    let mut page = Vec::new();
    for row in from.query_all_raw(statement).await? {
        let columns = table.columns.iter().enumerate();
        let values = columns.map(|(place, column)| column.value(&row, place));
        page.push(values.collect::<Result<Vec<_>, _>>()?);
    }
    Ok(page)
}

async fn write(to: &impl ConnectionTrait, table: &Table, page: Vec<Vec<Value>>) -> Result<()> {
    let backend = to.get_database_backend();
    let sql = format!(
        "INSERT INTO {} ({}) VALUES {}",
        table.quoted(),
        table.all_columns(),
        parameters(backend, page.len(), table.columns.len())
    );
    let values = page.into_iter().flatten();
    let statement = Statement::from_sql_and_values(backend, sql, values);
    match to.execute_raw(statement).await.map_err(Error::from) {
        Ok(_) => Ok(()),
        // The other kind of database takes not every text: PostgreSQL none with a NUL in it.
        Err(Error::Internal { source }) => {
            Err(Error::corrupt(format!("a row of table {}", table.name), source))
        }
        Err(error) => Err(error),
    }
}

/// How many rows a table has.
pub(super) async fn count(conn: &impl ConnectionTrait, table: &Table) -> Result<u64> {
    let sql = format!("SELECT count(*) FROM {}", table.quoted());
    let rows = number(conn, Statement::from_string(conn.get_database_backend(), sql)).await?;
    Ok(rows.unwrap_or_default().unsigned_abs())
}

/// The last number that was given for a key, though its row may be gone; 0: none was.
pub(super) async fn last_key(
    conn: &impl ConnectionTrait,
    table: &Table,
    key: &Column,
) -> Result<i64> {
    let backend = conn.get_database_backend();
    let last = match backend {
        DbBackend::Postgres => {
            let name = format!("SELECT {}", sequence(table, key));
            let row = conn.query_one_raw(Statement::from_string(backend, name)).await?;
            let name = row.map(|row| row.try_get_by_index::<String>(0)).transpose()?;
            let name = name.ok_or_else(|| Error::not_found(format!("keys of {}", table.name)))?;
            let sql = format!("SELECT last_value FROM {name} WHERE is_called");
            number(conn, Statement::from_string(backend, sql)).await?
        }
        _ => {
            let sql = "SELECT seq FROM sqlite_sequence WHERE name = $1";
            let name = Value::from(table.name.as_str());
            number(conn, Statement::from_sql_and_values(backend, sql, [name])).await?
        }
    };
    Ok(last.unwrap_or_default())
}

/// Has the next row of a table get a key after `last`, and none before.
pub(super) async fn go_on_after(
    conn: &impl ConnectionTrait,
    table: &Table,
    key: &Column,
    last: i64,
) -> Result<()> {
    if last == 0 {
        return Ok(());
    }
    let backend = conn.get_database_backend();
    match backend {
        DbBackend::Postgres => {
            let sql = format!("SELECT setval({}, {last})", sequence(table, key));
            conn.query_one_raw(Statement::from_string(backend, sql)).await?;
        }
        _ => {
            let name = &table.name;
            let sql = format!("DELETE FROM sqlite_sequence WHERE name = '{name}'");
            conn.execute_unprepared(&sql).await?;
            let sql = format!("INSERT INTO sqlite_sequence (name, seq) VALUES ('{name}', {last})");
            conn.execute_unprepared(&sql).await?;
        }
    }
    Ok(())
}

/// What gives a table its keys on PostgreSQL.
fn sequence(table: &Table, key: &Column) -> String {
    format!("pg_get_serial_sequence('{}', '{}')", table.quoted(), key.name)
}

async fn number(conn: &impl ConnectionTrait, statement: Statement) -> Result<Option<i64>> {
    let row = conn.query_one_raw(statement).await?;
    Ok(row.map(|row| row.try_get_by_index(0)).transpose()?)
}
