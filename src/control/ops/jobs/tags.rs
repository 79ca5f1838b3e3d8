//! What people call jobs beside their names.

use api::{Actor, Error, ErrorCode, Result};
use database::jobs::JobRow;
use protocol::ids::Tag;

use crate::accounts::rights::owner_only;
use crate::known::live::Live;
use crate::records::store::Store;

/// The most tags of a job.
const MOST: usize = 64;

pub(super) async fn add(
    store: &Store,
    live: &Live,
    actor: &Actor,
    job: &JobRow,
    tag: &Tag,
) -> Result<()> {
    owner_only(actor, &job.key.user, "tag this job")?;
    let added = store.write(async |t| {
        let known = database::tags::of_jobs(t, &[job.id]).await?;
        let known = known.get(&job.id).map_or(&[][..], Vec::as_slice);
        if known.len() >= MOST && !known.contains(tag) {
            return Ok(false);
        }
        database::tags::add(t, job.id, tag).await?;
        Ok(true)
    });
    if !added.await? {
        let message = format!("a job has {MOST} tags at most");
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    live.tell_pages(changed(job));
    Ok(())
}

pub(super) async fn remove(
    store: &Store,
    live: &Live,
    actor: &Actor,
    job: &JobRow,
    tag: &Tag,
) -> Result<()> {
    owner_only(actor, &job.key.user, "tag this job")?;
    let removed = store.write(async |t| database::tags::remove(t, job.id, tag).await);
    if !removed.await? {
        let message = format!("{} has no tag {tag}", job.key);
        return Err(Error::new(ErrorCode::NoTagError, message));
    }
    live.tell_pages(changed(job));
    Ok(())
}

fn changed(job: &JobRow) -> api::changes::Change {
    api::changes::Change::Job { id: job.id, key: job.key.clone(), state: job.state }
}
