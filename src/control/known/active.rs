//! Jobs that have not ended, as the loops read them in each pass: without those that are left alone
//! for what cannot be read of them.

use std::collections::{BTreeSet, HashMap, HashSet};
use std::sync::{Arc, Mutex, MutexGuard};

use database::Database;
use database::damage::{Damaged, Unreadable};
use database::jobs::JobRow;
use protocol::ids::JobId;
use protocol::spec::JobSpec;
use protocol::state::State;

use crate::known::damage::Damage;
use crate::known::dirty::Touched;
use crate::lock::lock;

/// A job that has not ended.
#[derive(Debug, Clone)]
pub(crate) struct Active {
    /// How far it has come. Apart from what it is found by: a table that has grown is half empty.
    pub(crate) row: Arc<JobRow>,
    /// What it is; read once, since but for its time limit, which its row says, it never changes.
    pub(crate) spec: Arc<JobSpec>,
}

impl Active {
    /// The same to be changed.
    pub(crate) fn row_mut(&mut self) -> &mut JobRow {
        Arc::make_mut(&mut self.row)
    }
}

/// What is kept in memory of the jobs that have not ended, and how they are read.
#[derive(Debug, Default)]
pub(crate) struct ActiveJobs {
    /// What cannot be read of them.
    damage: Mutex<Damage>,
    specs: Mutex<HashMap<JobId, Arc<JobSpec>>>,
    /// All of them as they were when the server started, for who asks for all of them first.
    at_start: Mutex<Option<Vec<Active>>>,
}

impl ActiveJobs {
    /// All jobs that have not ended, oldest first.
    pub(crate) async fn all(&self, database: &Database) -> Result<Vec<Active>, database::Error> {
        let others = self.damage().jobs().clone();
        let rows = database::jobs::active_but(database.read(), &others).await?;
        let active = self.with_specs(database, rows).await?;
        let ids: HashSet<JobId> = active.iter().map(|job| job.row.id).collect();
        lock(&self.specs).retain(|id, _| ids.contains(id));
        Ok(active)
    }

    /// The same. Those that were read at the start are not read again, but for what has been told since.
    pub(crate) async fn all_since_start(
        &self,
        database: &Database,
        told: &Touched,
    ) -> Result<Vec<Active>, database::Error> {
        let Some(mut active) = lock(&self.at_start).take() else { return self.all(database).await };
        let Touched { changed, ended } = told;
        active.retain(|Active { row, .. }| !changed.contains(&row.id) && !ended.contains(&row.id));
        let changed: Vec<JobId> = changed.iter().copied().collect();
        active.extend(self.of(database, &changed).await?);
        active.sort_unstable_by_key(|job| job.row.id);
        Ok(active)
    }

    /// Forgets the specs of all others: these have not ended.
    pub(crate) fn keep_specs_of(&self, jobs: &BTreeSet<JobId>) {
        lock(&self.specs).retain(|id, _| jobs.contains(id));
    }

    /// Those of them that have been given their place.
    pub(crate) async fn placed(&self, database: &Database) -> Result<Vec<Active>, database::Error> {
        let others = self.damage().jobs().clone();
        let rows = database::jobs::placed_but(database.read(), &others).await?;
        self.with_specs(database, rows).await
    }

    /// Those of these jobs that have been given their place and have not ended.
    pub(crate) async fn placed_of(
        &self,
        database: &Database,
        ids: &[JobId],
    ) -> Result<Vec<Active>, database::Error> {
        let mut rows = database::jobs::rows(database.read(), &self.readable(ids)).await?;
        rows.retain(|row| !row.state.is_final() && row.state != State::Waiting);
        self.with_specs(database, rows).await
    }

    /// Those of these jobs that have not ended.
    pub(crate) async fn of(
        &self,
        database: &Database,
        ids: &[JobId],
    ) -> Result<Vec<Active>, database::Error> {
        let mut rows = database::jobs::rows(database.read(), &self.readable(ids)).await?;
        rows.retain(|row| !row.state.is_final());
        self.with_specs(database, rows).await
    }

    /// What cannot be read of them.
    pub(crate) fn damage(&self) -> MutexGuard<'_, Damage> {
        lock(&self.damage)
    }

    /// Reads all of them as the server starts, before anybody writes, and says what cannot be read.
    pub(crate) async fn start(&self, database: &Database) -> Result<(), database::Error> {
        let mut active = Vec::new();
        let learn = |row: JobRow, spec| {
            let spec = self.limited(&row, self.learn_spec(row.id, spec));
            active.push(Active { row: Arc::new(row), spec });
        };
        self.look_for_damage(database, learn).await?;
        active.retain(|job| !self.damage().jobs().contains(&job.row.id));
        *lock(&self.at_start) = Some(active);
        Ok(())
    }

    /// Looks for what cannot be read, and says what is new. What can be read `learn` is told.
    async fn look_for_damage(
        &self,
        database: &Database,
        learn: impl FnMut(JobRow, JobSpec),
    ) -> Result<(), database::Error> {
        let found = database::damage::look(database.read(), learn).await?;
        for Damaged { job, rows, .. } in found.iter().filter(|damaged| self.damage().add(damaged)) {
            for Unreadable { row, why } in rows {
                tracing::error!(%job, "{row} cannot be read ({why}): the job is left alone as it is");
            }
        }
        Ok(())
    }

    /// Looks for it where that is what has failed, so that it does not fail again.
    pub(crate) async fn look_after(&self, database: &Database, error: &database::Error) {
        if !matches!(error, database::Error::Corrupt { .. }) {
            return;
        }
        if let Err(error) = self.look_for_damage(database, |_, _| {}).await {
            tracing::error!(%error, "it is not known which rows cannot be read");
        }
    }

    /// Keeps the one copy of an active job's spec that is shared by all.
    pub(crate) fn learn_spec(&self, id: JobId, mut spec: JobSpec) -> Arc<JobSpec> {
        // A hundred thousand may wait: who read it has left room for further roles.
        spec.roles.shrink_to_fit();
        let spec = Arc::new(spec);
        lock(&self.specs).insert(id, Arc::clone(&spec));
        spec
    }

    /// That copy, once the spec was read.
    fn spec(&self, id: JobId) -> Option<Arc<JobSpec>> {
        lock(&self.specs).get(&id).map(Arc::clone)
    }

    /// The same with the time limit that the job has by now.
    fn limited(&self, row: &JobRow, spec: Arc<JobSpec>) -> Arc<JobSpec> {
        match row.time_limit {
            Some(limit) if spec.time_limit != Some(limit) => {
                let other = JobSpec { time_limit: Some(limit), ..JobSpec::clone(&spec) };
                self.learn_spec(row.id, other)
            }
            Some(_) | None => spec,
        }
    }

    /// Those of them that are not left alone for what cannot be read of them.
    fn readable(&self, ids: &[JobId]) -> Vec<JobId> {
        let damage = self.damage();
        ids.iter().copied().filter(|id| !damage.jobs().contains(id)).collect()
    }

    /// Each with its spec, whatever is forgotten of others' specs meanwhile.
    async fn with_specs(
        &self,
        database: &Database,
        rows: Vec<JobRow>,
    ) -> Result<Vec<Active>, database::Error> {
        let known = rows.iter().filter_map(|row| Some((row.id, self.spec(row.id)?)));
        let mut specs: HashMap<JobId, Arc<JobSpec>> = known.collect();
        let missing = rows.iter().map(|row| row.id).filter(|id| !specs.contains_key(id));
        let missing: Vec<JobId> = missing.collect();
        if !missing.is_empty() {
            for job in database::jobs::by_ids(database.read(), &missing).await? {
                specs.insert(job.row.id, self.learn_spec(job.row.id, job.spec));
            }
        }
        let active = rows.into_iter().filter_map(|row| {
            let spec = self.limited(&row, specs.remove(&row.id)?);
            Some(Active { row: Arc::new(row), spec })
        });
        Ok(active.collect())
    }
}

#[cfg(test)]
mod tests {
    use database::Transaction;
    use database::jobs::{JobUpdate, NewJob};
    use protocol::document::Syntax;
    use protocol::ids::JobKey;
    use protocol::time::Timestamp;

    use super::*;
    use crate::known::queue::tests::spec;

    async fn came(transaction: &Transaction, name: &str) -> JobId {
        let key = JobKey { user: "ada".parse().unwrap(), name: name.parse().unwrap() };
        let (spec, text) = (spec(1, 0), String::new());
        let submitted_at = Timestamp(1_000);
        let job = NewJob { key, spec, text, syntax: Syntax::Json, submitted_at };
        database::jobs::insert(transaction, &job).await.unwrap()
    }

    async fn becomes(transaction: &Transaction, job: JobId, state: State) {
        let update = JobUpdate::to(state);
        assert!(database::jobs::update(transaction, job, State::Waiting, update).await.unwrap());
    }

    fn states(active: &[Active]) -> Vec<(JobId, State)> {
        active.iter().map(|job| (job.row.id, job.row.state)).collect()
    }

    #[tokio::test]
    async fn what_was_read_at_the_start_is_taken_once_and_with_what_was_told_since() {
        let folder = tempfile::tempdir().unwrap();
        let url = format!("sqlite://{}", folder.path().join("berth.db").display());
        let database = Database::open(&url).await.unwrap();
        let before = database.begin().await.unwrap();
        let [damaged, ends, starts, waits] = [
            came(&before, "damaged").await,
            came(&before, "ends").await,
            came(&before, "starts").await,
            came(&before, "waits").await,
        ];
        let sql = format!("UPDATE job_files SET spec = 'no' WHERE job = {damaged}");
        database::ConnectionTrait::execute_unprepared(&before, &sql).await.unwrap();
        before.commit().await.unwrap();
        let active = ActiveJobs::default();
        active.start(&database).await.unwrap();
        let since = database.begin().await.unwrap();
        becomes(&since, ends, State::Stopped).await;
        becomes(&since, starts, State::Preparing).await;
        let comes = came(&since, "comes").await;
        let untold = came(&since, "untold").await;
        since.commit().await.unwrap();
        let told = Touched { changed: [starts, comes].into(), ended: [ends].into() };
        let first = active.all_since_start(&database, &told).await.unwrap();
        let known = [(starts, State::Preparing), (waits, State::Waiting), (comes, State::Waiting)];
        assert_eq!(states(&first), known, "nothing else is read again");
        let second = active.all_since_start(&database, &Touched::default()).await.unwrap();
        assert_eq!(states(&second), [&known[..], &[(untold, State::Waiting)]].concat());
        assert_eq!(*first[1].spec, spec(1, 0));
    }
}
