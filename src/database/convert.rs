//! How values are written into columns and read back, in one place.

use std::collections::BTreeSet;
use std::fmt::Display;
use std::str::FromStr;
use std::sync::{Mutex, PoisonError};

use protocol::ids::JobId;
use protocol::state::State;
use protocol::time::Timestamp;
use sea_orm::DbBackend;
use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::{Error, Result};

/// Rows of one statement at most: keeps the number of parameters under every database's limit.
pub(crate) const ROWS_A_STATEMENT: usize = 250;

/// So many rows has a statement that is made again and again, and no other number of them. Each number is
/// a statement of its own to a database: few are prepared once and kept by each connection, where two
/// hundred and fifty would drive each other out, and take their memory all the same.
const FORMS: [usize; 18] =
    [1, 2, 3, 4, 5, 6, 7, 8, 12, 16, 24, 32, 48, 64, 96, 128, 192, ROWS_A_STATEMENT];

/// The least of these numbers that so many rows fit in; more than a statement has are their own.
pub(crate) fn form(rows: usize) -> usize {
    FORMS.into_iter().find(|form| rows <= *form).unwrap_or(rows)
}

/// These rows, the last one again and again until they fill a form, where it changes nothing that a row is
/// named twice. No rows stay none.
pub(crate) fn filled<T>(rows: &[T]) -> impl Iterator<Item = &T> {
    let missing = form(rows.len()) - rows.len();
    rows.iter().chain(rows.last().into_iter().cycle().take(missing))
}

/// These rows in parts that are forms, where each row is to be named once.
pub(crate) fn in_forms<T>(mut rows: &[T]) -> impl Iterator<Item = &[T]> {
    std::iter::from_fn(move || {
        let most = FORMS.into_iter().rev().find(|form| *form <= rows.len())?;
        let (part, rest) = rows.split_at(most);
        rows = rest;
        Some(part)
    })
}

/// The parameters of so many rows, for `VALUES`. PostgreSQL numbers its own. To SQLite numbers are names, and each
/// is looked for among all of them, when it is written and whenever it is given a value: thousands have none.
pub(crate) fn parameters(backend: DbBackend, rows: usize, columns: usize) -> String {
    let parameter = |number: usize| match backend {
        DbBackend::Postgres => format!("${number}"),
        _ => "?".to_owned(),
    };
    let row = |row: usize| {
        let numbers = (1..=columns).map(|column| parameter(row * columns + column));
        format!("({})", numbers.collect::<Vec<_>>().join(", "))
    };
    (0..rows).map(row).collect::<Vec<_>>().join(", ")
}

/// A structured value as JSON text.
pub(crate) fn to_json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("our values have text keys and no failing serialisers")
}

/// Reads the columns of one row; what cannot be read is an error that names the row.
#[derive(Clone, Copy)]
pub(crate) struct Row<'a> {
    table: &'static str,
    key: &'a dyn Display,
}

impl<'a> Row<'a> {
    pub(crate) fn new(table: &'static str, key: &'a dyn Display) -> Self {
        Self { table, key }
    }

    fn broken(self, message: impl ToString) -> Error {
        Error::corrupt(format!("row {} of table {}", self.key, self.table), message)
    }

    pub(crate) fn json<T: DeserializeOwned>(self, text: &str) -> Result<T> {
        serde_json::from_str(text).map_err(|error| self.broken(error))
    }

    pub(crate) fn json_if<T: DeserializeOwned>(self, text: Option<&String>) -> Result<Option<T>> {
        text.map(|text| self.json(text)).transpose()
    }

    pub(crate) fn name<T: FromStr<Err: Display>>(self, text: &str) -> Result<T> {
        text.parse().map_err(|error: T::Err| self.broken(error))
    }

    pub(crate) fn name_if<T: FromStr<Err: Display>>(self, text: Option<&str>) -> Result<Option<T>> {
        text.map(|text| self.name(text)).transpose()
    }

    pub(crate) fn state(self, word: &str) -> Result<State> {
        State::from_word(word).ok_or_else(|| self.broken(format!("unknown state {word:?}")))
    }

    pub(crate) fn word<T>(self, word: &str, read: impl FnOnce(&str) -> Option<T>) -> Result<T> {
        read(word).ok_or_else(|| self.broken(format!("unknown word {word:?}")))
    }

    /// A number that was stored from an unsigned or smaller type.
    pub(crate) fn number<T: TryFrom<i64>>(self, number: i64) -> Result<T> {
        T::try_from(number).map_err(|_| self.broken(format!("{number} is out of range")))
    }

    pub(crate) fn number_if<T: TryFrom<i64>>(self, number: Option<i64>) -> Result<Option<T>> {
        number.map(|number| self.number(number)).transpose()
    }
}

/// Rows as far as they can be read. One that cannot is said, and left out, where the others mean the
/// same without it.
pub(crate) fn readable<T>(rows: impl IntoIterator<Item = Result<T>>) -> Vec<T> {
    rows.into_iter().filter_map(|row| row.inspect_err(say_once).ok()).collect()
}

/// So many rows are said to be left out, and no more.
const MOST_SAID: usize = 1_000;

/// Lists are read again and again.
fn say_once(error: &Error) {
    static SAID: Mutex<BTreeSet<String>> = Mutex::new(BTreeSet::new());
    let mut said = SAID.lock().unwrap_or_else(PoisonError::into_inner);
    if said.len() < MOST_SAID && said.insert(error.to_string()) {
        tracing::error!(%error, "it is left out, and the rest goes on");
    }
}

/// An amount; what no column can hold is stored as the largest that it can.
pub(crate) fn amount(value: u64) -> i64 {
    i64::try_from(value).unwrap_or(i64::MAX)
}

pub(crate) fn millis(moment: Option<Timestamp>) -> Option<i64> {
    moment.map(|moment| moment.0)
}

pub(crate) fn moment(millis: Option<i64>) -> Option<Timestamp> {
    millis.map(Timestamp)
}

pub(crate) fn ids(jobs: &[JobId]) -> impl Iterator<Item = i64> + '_ {
    jobs.iter().map(|job| job.0)
}

/// The same in the number of a form, for whoever looks for any of them.
pub(crate) fn any_of(jobs: &[JobId]) -> impl Iterator<Item = i64> + '_ {
    filled(jobs).map(|job| job.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_have_names_only_where_they_are_not_looked_for() {
        assert_eq!(parameters(DbBackend::Postgres, 2, 3), "($1, $2, $3), ($4, $5, $6)");
        assert_eq!(parameters(DbBackend::Sqlite, 2, 3), "(?, ?, ?), (?, ?, ?)");
    }

    #[test]
    fn statements_of_any_number_of_rows_have_few_forms() {
        for number in 0..=2 * ROWS_A_STATEMENT {
            let rows: Vec<usize> = (0..number).collect();
            let parts: Vec<&[usize]> = in_forms(&rows).collect();
            assert_eq!(parts.concat(), rows, "each once, in their order");
            assert!(parts.iter().all(|part| FORMS.contains(&part.len())), "{number}");
            assert!(parts.len() <= 4 + number / ROWS_A_STATEMENT, "{number}");
            for rows in rows.chunks(ROWS_A_STATEMENT) {
                let filled: Vec<usize> = filled(rows).copied().collect();
                assert!(FORMS.contains(&filled.len()) && filled.len() == form(rows.len()));
                assert!(filled.len() * 2 < rows.len() * 3, "{number}: not many in vain");
                assert_eq!(filled[..rows.len()], *rows);
                assert!(filled[rows.len()..].iter().all(|row| Some(row) == rows.last()));
            }
        }
        assert_eq!(filled::<usize>(&[]).count(), 0);
    }
}
