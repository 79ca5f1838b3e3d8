//! What of the storage goes with jobs that are forgotten: what they kept to go on from, and folders for output to
//! which nothing was written. All else is their owners'.

use std::collections::BTreeMap;

use api::Result;
use database::jobs::JobRow;
use protocol::environment::{self, JobFacts};
use protocol::ids::UserName;
use storage::{EntryKind, Storage, StoragePath, rights};

use super::folders::checkpoints_of;
use crate::records::store::Store;

/// Removes it, before the jobs are forgotten: nobody would look for it any more, and as long as they are known no
/// other job has their names.
pub(crate) async fn remove(store: &Store, jobs: &[JobRow]) -> Result<()> {
    let mut of_users: BTreeMap<&UserName, Vec<&JobRow>> = BTreeMap::new();
    for job in jobs {
        of_users.entry(&job.key.user).or_default().push(job);
    }
    for (user, jobs) in of_users {
        checkpoints(&store.storage, user, &jobs).await?;
        // An empty folder does no harm, and is its owner's to remove.
        if let Err(error) = outputs(store, user, &jobs).await {
            tracing::warn!(%error, %user, "empty folders of forgotten jobs stay");
        }
    }
    Ok(())
}

async fn checkpoints(storage: &Storage, user: &UserName, jobs: &[&JobRow]) -> Result<()> {
    let Some(all) = rights::checkpoints(user) else { return Ok(()) };
    // Most users have none, and of whoever has a link there nothing is followed.
    let found = storage.find(&all).await?;
    if found.is_none_or(|found| found.kind != EntryKind::Folder) {
        return Ok(());
    }
    for path in jobs.iter().filter_map(|job| checkpoints_of(user, job.id)) {
        storage.remove(&path, true).await?;
    }
    Ok(())
}

/// The folders that a user's jobs have because they named none, where they are empty.
async fn outputs(store: &Store, user: &UserName, jobs: &[&JobRow]) -> Result<()> {
    let storage = &store.storage;
    let mut places = Vec::new();
    for job in jobs {
        let path = environment::default_output_dir(storage.uri(), &job.key.name);
        let place = storage.resolve(&path)?;
        if storage.owner(&place).await?.as_ref() == Some(user) {
            places.push(place);
        }
    }
    if places.is_empty() {
        return Ok(());
    }
    let used = used_by_others(store, user).await?;
    let is_used = |place: &StoragePath| {
        used.iter().any(|used| used.is_within(place) || place.is_within(used))
    };
    for place in places.iter().filter(|place| !is_used(place)) {
        if storage.remove_empty(place).await? || !storage.exists(place).await? {
            storage.release(place).await?;
            // Its owner may have made it anew in between.
            if storage.exists(place).await? {
                storage.claim(place, user).await?;
            }
        }
    }
    Ok(())
}

/// What a user's jobs that have not ended read or write: tasks of theirs may have it as a folder.
async fn used_by_others(store: &Store, user: &UserName) -> Result<Vec<StoragePath>> {
    let conn = store.database.read();
    let ids: Vec<_> =
        database::jobs::active_of(conn, user).await?.into_iter().map(|job| job.id).collect();
    let mut used = Vec::new();
    for job in database::jobs::by_ids(conn, &ids).await? {
        let (spec, key) = (&job.spec, &job.row.key);
        let file_system_uri = store.storage.uri();
        let facts = JobFacts { key, spec, job_id: job.row.id, attempt: 0, file_system_uri };
        let read = [&spec.data_dir, &spec.code_dir].into_iter().flatten();
        let read = read.map(|path| environment::substitute(path, &facts));
        let all = read.chain([environment::output_dir(&facts)]);
        used.extend(all.filter_map(|path| store.storage.resolve(&path).ok()));
    }
    Ok(used)
}
