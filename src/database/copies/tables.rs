//! Which tables and columns there are, as the copy itself says.

use std::collections::BTreeSet;

use sea_orm::{ConnectionTrait, DatabaseConnection, DbErr, QueryResult, Statement, Value};

use crate::{Error, Result};

/// A table.
#[derive(Debug)]
pub(super) struct Table {
    pub(super) name: String,
    pub(super) columns: Vec<Column>,
    /// Places of the primary key's columns, in its order.
    pub(super) key: Vec<usize>,
    /// Tables that its rows name rows of.
    parents: BTreeSet<String>,
}

/// A column.
#[derive(Debug)]
pub(super) struct Column {
    pub(super) name: String,
    kind: Kind,
}

/// What is in a column.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Text,
    Integer,
    /// An integer that SQLite or PostgreSQL gives, and never twice.
    Growing,
    Boolean,
    Bytes,
    Real,
}

impl Column {
    /// What is in it, at its place of a row that was read.
    pub(super) fn value(&self, row: &QueryResult, place: usize) -> Result<Value, DbErr> {
        Ok(match self.kind {
            Kind::Text => row.try_get_by_index::<Option<String>>(place)?.into(),
            Kind::Integer | Kind::Growing => row.try_get_by_index::<Option<i64>>(place)?.into(),
            Kind::Boolean => row.try_get_by_index::<Option<bool>>(place)?.into(),
            Kind::Bytes => row.try_get_by_index::<Option<Vec<u8>>>(place)?.into(),
            Kind::Real => row.try_get_by_index::<Option<f64>>(place)?.into(),
        })
    }
}

impl Table {
    /// Its name, for a statement.
    pub(super) fn quoted(&self) -> String {
        quoted(&self.name)
    }

    /// All its columns, for a statement.
    pub(super) fn all_columns(&self) -> String {
        listed(self.columns.iter())
    }

    /// The columns of its primary key, for a statement.
    pub(super) fn key_columns(&self) -> String {
        listed(self.key.iter().map(|place| &self.columns[*place]))
    }

    /// Its key, where that is a number that grows.
    pub(super) fn growing(&self) -> Option<&Column> {
        let column = self.columns.get(*self.key.first()?)?;
        (column.kind == Kind::Growing).then_some(column)
    }
}

fn quoted(name: &str) -> String {
    format!("\"{name}\"")
}

fn listed<'a>(columns: impl Iterator<Item = &'a Column>) -> String {
    columns.map(|column| quoted(&column.name)).collect::<Vec<_>>().join(", ")
}

/// All tables but the one of the tables' own history, so that each comes after those whose rows
/// its rows name.
pub(super) async fn read(copy: &DatabaseConnection) -> Result<Vec<Table>> {
    let sql = "SELECT name FROM sqlite_schema WHERE type = 'table' \
               AND name NOT LIKE 'sqlite~_%' ESCAPE '~' AND name <> 'seaql_migrations' \
               ORDER BY name";
    let statement = Statement::from_string(copy.get_database_backend(), sql);
    let mut tables = Vec::new();
    for row in copy.query_all_raw(statement).await? {
        tables.push(table(copy, row.try_get_by_index(0)?).await?);
    }
    parents_first(tables)
}

async fn table(copy: &DatabaseConnection, name: String) -> Result<Table> {
    let sql = "SELECT name, type, pk FROM pragma_table_info($1) ORDER BY cid";
    let rows = copy.query_all_raw(about(copy, sql, &name)).await?;
    let mut columns = Vec::new();
    let mut key = Vec::new();
    for (place, row) in rows.iter().enumerate() {
        let (column, kind): (String, String) = (row.try_get_by_index(0)?, row.try_get_by_index(1)?);
        let in_key: i64 = row.try_get_by_index(2)?;
        if in_key > 0 {
            key.push((in_key, place));
        }
        let kind = kind_of(&kind, in_key).ok_or_else(|| {
            Error::corrupt(format!("column {column} of table {name}"), format!("it is of {kind}"))
        })?;
        columns.push(Column { name: column, kind });
    }
    key.sort_unstable();
    let key: Vec<usize> = key.into_iter().map(|(_, place)| place).collect();
    if key.is_empty() {
        return Err(Error::corrupt(format!("table {name}"), "it has no primary key"));
    }
    let sql = "SELECT DISTINCT \"table\" FROM pragma_foreign_key_list($1)";
    let rows = copy.query_all_raw(about(copy, sql, &name)).await?;
    let parents = rows.iter().map(|row| row.try_get_by_index(0)).collect::<Result<_, _>>()?;
    Ok(Table { name, columns, key, parents })
}

fn about(copy: &DatabaseConnection, sql: &str, name: &str) -> Statement {
    Statement::from_sql_and_values(copy.get_database_backend(), sql, [Value::from(name)])
}

/// What the migrations call it; `None`: nothing that they have called anything so far.
fn kind_of(declared: &str, in_key: i64) -> Option<Kind> {
    match declared {
        "TEXT" => Some(Kind::Text),
        // Only so does SQLite let a key grow.
        "INTEGER" if in_key > 0 => Some(Kind::Growing),
        "INTEGER" | "BIGINT" => Some(Kind::Integer),
        "BOOLEAN" => Some(Kind::Boolean),
        "BLOB" => Some(Kind::Bytes),
        "REAL" | "DOUBLE PRECISION" => Some(Kind::Real),
        _ => None,
    }
}

fn parents_first(mut left: Vec<Table>) -> Result<Vec<Table>> {
    let mut ordered: Vec<Table> = Vec::with_capacity(left.len());
    while !left.is_empty() {
        let is_there = |name: &String| ordered.iter().any(|table| table.name == *name);
        let (next, rest): (Vec<Table>, Vec<Table>) = left.into_iter().partition(|table| {
            table.parents.iter().all(|parent| *parent == table.name || is_there(parent))
        });
        if next.is_empty() {
            let names: Vec<&str> = rest.iter().map(|table| table.name.as_str()).collect();
            return Err(Error::corrupt(names.join(", "), "these tables name each other's rows"));
        }
        ordered.extend(next);
        left = rest;
    }
    Ok(ordered)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(name: &str, parents: &[&str]) -> Table {
        let parents = parents.iter().map(|name| (*name).to_owned()).collect();
        Table { name: name.to_owned(), columns: Vec::new(), key: Vec::new(), parents }
    }

    #[test]
    fn tables_come_after_those_they_need() {
        let tables = [
            table("attempts", &["jobs"]),
            table("jobs", &["users"]),
            table("tokens", &["tokens", "users"]),
            table("users", &[]),
        ];
        let ordered = parents_first(tables.into()).unwrap();
        let names: Vec<_> = ordered.iter().map(|table| table.name.as_str()).collect();
        assert_eq!(names, ["users", "jobs", "tokens", "attempts"]);
        parents_first(vec![table("a", &["b"]), table("b", &["a"])]).unwrap_err();
    }
}
