//! What of the storage goes with jobs that are forgotten: what they kept to go on from, and folders for output to
//! which nothing was written. All else is their owners'.

use std::collections::BTreeMap;

use api::Result;
use database::jobs::{Job, JobRow};
use protocol::environment::{self, JobFacts};
use protocol::ids::{JobId, UserName};
use protocol::spec::Dialect;
use storage::{EntryKind, Storage, StoragePath, rights};

use super::folders::checkpoints_of;
use super::outputs::{OfUser, Outputs};
use crate::records::store::Store;

/// Removes it, before the jobs are forgotten: nobody would look for it any more, and as long as they are known no
/// other job has their names.
pub(crate) async fn remove(store: &Store, made: &Outputs, jobs: &[JobRow]) -> Result<()> {
    let mut of_users: BTreeMap<&UserName, Vec<&JobRow>> = BTreeMap::new();
    for job in jobs {
        of_users.entry(&job.key.user).or_default().push(job);
    }
    for (user, jobs) in of_users {
        checkpoints(&store.storage, user, &jobs).await?;
        // An empty folder does no harm, and is its owner's to remove.
        if let Err(error) = outputs(store, &made.of(user), user, &jobs).await {
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
async fn outputs(store: &Store, of_user: &OfUser, user: &UserName, jobs: &[&JobRow]) -> Result<()> {
    let (storage, conn) = (&store.storage, store.database.read());
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let mut places = Vec::new();
    for Job { row, spec } in database::jobs::by_ids(conn, &ids).await? {
        let named = spec.output_dir.as_ref().is_some_and(|path| !path.is_empty());
        if named || spec.dialect == Dialect::V2 {
            continue;
        }
        let path = environment::default_output_dir(storage.uri(), &row.key.name);
        let place = storage.resolve(&path)?;
        if storage.owner(&place).await?.as_ref() == Some(user) {
            places.push(place);
        }
    }
    let (mut known, mut used) = (JobId(0), Vec::new());
    for place in &places {
        let (_alone, expected) = (of_user.alone().await, of_user.expected());
        // A job that came meanwhile may have begun in it: what it writes must not be lost.
        let last = database::jobs::given_last(conn).await?.unwrap_or(known);
        if last > known {
            used.extend(used_by_active(store, user, known).await?);
            known = last;
        }
        let mut all = used.iter().chain(&expected);
        if !all.any(|used| used.is_within(place) || place.is_within(used)) {
            give_up(storage, user, place).await?;
        }
    }
    Ok(())
}

/// Removes folders, the deepest first, that were made for a job of a user's which was not stored then, unless
/// another job of his has them by now, or is about to.
pub(crate) async fn take_back(
    store: &Store,
    outputs: &Outputs,
    user: &UserName,
    made: &[StoragePath],
) {
    if made.is_empty() {
        return;
    }
    let of_user = outputs.of(user);
    let taken = async {
        let _alone = of_user.alone().await;
        let mut used = of_user.expected();
        used.extend(used_by_active(store, user, JobId(0)).await?);
        for place in made {
            if used.iter().any(|used| used.is_within(place) || place.is_within(used)) {
                break;
            }
            give_up(&store.storage, user, place).await?;
        }
        Ok::<_, api::Error>(())
    };
    // An empty folder does no harm.
    if let Err(error) = taken.await {
        tracing::warn!(%error, %user, "empty folders of a job that was refused stay");
    }
}

/// Removes a folder of a user's where it is empty: its name is anybody's then.
async fn give_up(storage: &Storage, user: &UserName, place: &StoragePath) -> Result<()> {
    if storage.remove_empty(place).await? || !storage.exists(place).await? {
        let owner = storage.owner(place).await?;
        storage.release(place).await?;
        // Its owner may have made it anew in between.
        if owner.is_some() && storage.exists(place).await? {
            storage.claim(place, user).await?;
        }
    }
    Ok(())
}

/// What a user's jobs read or write that came after that one and have not ended: tasks of theirs may have it as a
/// folder.
async fn used_by_active(store: &Store, user: &UserName, after: JobId) -> Result<Vec<StoragePath>> {
    let conn = store.database.read();
    let ids = database::jobs::active_after(conn, user, after).await?;
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

#[cfg(test)]
mod tests {
    use database::Database;

    use super::*;

    async fn store(folder: &tempfile::TempDir) -> Store {
        let file = folder.path().join("berth.db");
        let database = Database::open(&format!("sqlite://{}", file.display())).await.unwrap();
        let root = folder.path().join("storage");
        Store::new(database, Storage::open(root.to_str().unwrap()).unwrap())
    }

    /// One makes a folder and is refused, another one has found it there and is not stored yet.
    #[tokio::test]
    async fn what_another_job_is_about_to_have_is_not_taken_back() {
        let folder = tempfile::tempdir().unwrap();
        let (store, outputs) = (store(&folder).await, Outputs::default());
        let alice: UserName = "alice".parse().unwrap();
        let place = store.storage.resolve("/Output/train").unwrap();
        let earlier = store.storage.resolve("/Output/earlier").unwrap();
        store.storage.claim(&earlier, &alice).await.unwrap();
        let first = outputs.of(&alice).expect(place.clone());
        assert!(store.storage.claim_and_make(&place, &alice).await.unwrap());
        let second = outputs.of(&alice).expect(place.clone());
        drop(first);
        take_back(&store, &outputs, &alice, std::slice::from_ref(&place)).await;
        assert!(store.storage.exists(&place).await.unwrap());
        assert_eq!(store.storage.owner(&place).await.unwrap().as_ref(), Some(&alice));
        drop(second);
        take_back(&store, &outputs, &alice, std::slice::from_ref(&place)).await;
        assert!(!store.storage.exists(&place).await.unwrap());
        assert_eq!(store.storage.owner(&place).await.unwrap(), None);
    }
}
