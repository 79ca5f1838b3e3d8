//! What cannot be read of jobs that have not ended: rows of another version, or damaged ones.

use std::collections::{BTreeMap, BTreeSet};

use protocol::ids::{JobId, NodeName};
use protocol::spec::JobSpec;

use crate::jobs::{self, JobRow};
use crate::{ConnectionTrait, Error, Result, attempts, tasks};

/// A job of which something cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Damaged {
    /// Which.
    pub job: JobId,
    /// What of it.
    pub rows: Vec<Unreadable>,
    /// Where it may have containers.
    pub nodes: BTreeSet<NodeName>,
}

/// A row that cannot be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unreadable {
    /// Its table and key.
    pub row: String,
    /// What is wrong with it.
    pub why: String,
}

/// Reads everything that there is of jobs that have not ended, and says of which of them not all can
/// be read. The rows and specs, which are the most of it, `learn` is told, in any order.
///
/// # Errors
/// See [`Error`].
pub async fn look(
    conn: &impl ConnectionTrait,
    learn: impl FnMut(JobRow, JobSpec),
) -> Result<Vec<Damaged>> {
    let (active, mut errors) = jobs::examine(conn, learn).await?;
    errors.extend(attempts::examine(conn, &active).await?);
    errors.extend(tasks::examine(conn).await?);
    let mut rows: BTreeMap<JobId, Vec<Unreadable>> = BTreeMap::new();
    for (job, error) in errors {
        let Error::Corrupt { what: row, message: why } = error else { return Err(error) };
        rows.entry(job).or_default().push(Unreadable { row, why });
    }
    let mut damaged = Vec::with_capacity(rows.len());
    for (job, rows) in rows {
        damaged.push(Damaged { job, rows, nodes: tasks::nodes_of(conn, job).await? });
    }
    Ok(damaged)
}
