//! What lists of jobs look at: a few columns of every job, in memory.
//!
//! A list asks for any part of a name, for how many jobs there are in all, and for any page of them
//! in any order. No index of a database answers that of a million jobs at once: one of parts of
//! words makes storing a job several times dearer, finds what is common only one by one, and
//! counts nothing. Going through columns that lie side by side in memory takes milliseconds
//! whatever is asked, and costs a job some hundred bytes.
//!
//! The database alone knows what is so. A [`Transaction`](crate::Transaction) notes which jobs it
//! writes or takes away; the next list reads their rows again before it looks, and those that have
//! none any more are gone. Where they are many, they are read before somebody lists. What is written
//! by others than this [`Database`](crate::Database) is not seen: one server has a database.

mod columns;
mod entry;
mod names;
mod texts;

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use protocol::ids::JobId;
use sea_orm::entity::prelude::*;
use sea_orm::{QueryOrder as _, QuerySelect as _, QueryTrait as _, Select};

use super::row;
use crate::convert::{ROWS_A_STATEMENT, any_of};
use crate::{ConnectionTrait, Error, Result};
use entry::{COLUMNS, Entry};

pub(crate) use columns::{Asked, Columns};

/// Jobs read by one statement where all are read.
const ROWS_AT_ONCE: u64 = 10_000;

/// So many of those that were written are left to whoever lists next: reading them takes a millisecond.
const FEW: usize = 100;

/// When more jobs than these were written since they were last read, all are read again.
const MOST_CHANGED: usize = 100_000;

/// The columns, and what is newer in the database.
#[derive(Debug, Default)]
pub(crate) struct Listing {
    columns: Arc<tokio::sync::RwLock<Columns>>,
    /// What was written since the database was last read.
    written: Mutex<Changed>,
    /// What has to be read. It is held while that is done, so that whoever comes meanwhile waits,
    /// and is empty only once it is in the columns, however a reading may have ended.
    due: tokio::sync::Mutex<Changed>,
}

/// Jobs that may be newer in the database than in the columns.
#[derive(Debug, Default)]
enum Changed {
    /// As where nothing was ever read.
    #[default]
    Everything,
    Jobs(HashSet<JobId>),
}

impl Changed {
    fn nothing() -> Self {
        Self::Jobs(HashSet::new())
    }

    fn add(&mut self, more: Changed) {
        match more {
            Self::Everything => *self = Self::Everything,
            Self::Jobs(more) => {
                if let Self::Jobs(jobs) = self {
                    jobs.extend(more);
                    if jobs.len() > MOST_CHANGED {
                        *self = Self::Everything;
                    }
                }
            }
        }
    }
}

impl Listing {
    /// Notes that these jobs were written, once that can be seen by who reads.
    pub(crate) fn note(&self, jobs: impl IntoIterator<Item = JobId>) {
        let jobs = Changed::Jobs(jobs.into_iter().collect());
        self.written.lock().unwrap_or_else(PoisonError::into_inner).add(jobs);
    }

    /// What `look` sees in the columns, which have everything that was committed before. It runs off
    /// the runtime's threads.
    pub(super) async fn look<T: Send + 'static>(
        &self,
        conn: &impl ConnectionTrait,
        look: impl FnOnce(&Columns) -> T + Send + 'static,
    ) -> Result<T> {
        self.catch_up(conn, 0).await?;
        let columns = Arc::clone(&self.columns).read_owned().await;
        let looking = tokio::task::spawn_blocking(move || look(&columns));
        looking.await.map_err(Error::broken_off)
    }

    /// Reads what was written, but for what whoever lists next reads in no time.
    pub(super) async fn refresh(&self, conn: &impl ConnectionTrait) -> Result<()> {
        self.catch_up(conn, FEW).await
    }

    /// Reads what was written, unless that is no more than so many jobs.
    async fn catch_up(&self, conn: &impl ConnectionTrait, left: usize) -> Result<()> {
        let mut due = self.due.lock().await;
        due.add(self.take());
        match &*due {
            Changed::Everything => {
                let columns = read_all(conn).await?;
                *self.columns.write().await = columns;
            }
            Changed::Jobs(jobs) if jobs.len() <= left => return Ok(()),
            Changed::Jobs(jobs) => {
                let entries = read(conn, jobs).await?;
                let mut columns = Arc::clone(&self.columns).write_owned().await;
                columns.apply(jobs.iter().map(|job| job.0), entries);
                if columns.is_sparse() {
                    // It goes through all of them: off the runtime's threads.
                    let compact = move || *columns = columns.compacted();
                    let compacting = tokio::task::spawn_blocking(compact);
                    compacting.await.map_err(Error::broken_off)?;
                }
            }
        }
        *due = Changed::nothing();
        Ok(())
    }

    /// What was written so far. What is written from now on is noted anew.
    fn take(&self) -> Changed {
        let mut written = self.written.lock().unwrap_or_else(PoisonError::into_inner);
        std::mem::replace(&mut *written, Changed::nothing())
    }
}

async fn read_all(conn: &impl ConnectionTrait) -> Result<Columns> {
    let mut columns = Columns::default();
    let mut last = i64::MIN;
    loop {
        let next = row::Entity::find().filter(row::Column::Id.gt(last)).limit(ROWS_AT_ONCE);
        let entries = entries(conn, next).await?;
        let Some(newest) = entries.last() else { return Ok(columns) };
        last = newest.id;
        columns.apply([], entries);
    }
}

async fn read(conn: &impl ConnectionTrait, jobs: &HashSet<JobId>) -> Result<Vec<Entry>> {
    let jobs: Vec<JobId> = jobs.iter().copied().collect();
    let mut found = Vec::with_capacity(jobs.len());
    for jobs in jobs.chunks(ROWS_A_STATEMENT) {
        let these = row::Entity::find().filter(row::Column::Id.is_in(any_of(jobs)));
        found.extend(entries(conn, these).await?);
    }
    Ok(found)
}

/// Oldest first.
async fn entries(conn: &impl ConnectionTrait, jobs: Select<row::Entity>) -> Result<Vec<Entry>> {
    let query = jobs.select_only().columns(COLUMNS).order_by_asc(row::Column::Id);
    let found = conn.query_all(&query.into_query()).await?;
    found.iter().map(Entry::read).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn very_many_changes_are_everything() {
        let most = i64::try_from(MOST_CHANGED).unwrap();
        let mut changed = Changed::nothing();
        changed.add(Changed::Jobs((0..most).map(JobId).collect()));
        assert!(matches!(&changed, Changed::Jobs(jobs) if jobs.len() == MOST_CHANGED));
        changed.add(Changed::Jobs(HashSet::from([JobId(most)])));
        assert!(matches!(changed, Changed::Everything));
        changed.add(Changed::nothing());
        assert!(matches!(changed, Changed::Everything), "until everything was read");
    }
}
