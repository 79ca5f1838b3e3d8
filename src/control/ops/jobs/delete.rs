//! Deletes jobs that have ended.

use api::audit::AuditAction;
use api::changes::Change;
use api::{Actor, Error, ErrorCode, Result};
use database::jobs::JobRow;
use protocol::ids::JobKey;

use super::missing;
use crate::accounts::rights::owner_only;
use crate::error::database;
use crate::records::audit::Note;
use crate::records::usage;
use crate::shared::Shared;

/// Deletes a job, if the actor may and it has ended. What it has used is counted before.
pub(super) async fn delete(shared: &Shared, actor: &Actor, job: JobRow) -> Result<()> {
    owner_only(actor, &job.key.user, "delete this job")?;
    if !job.state.is_final() {
        return Err(goes_on(&job.key));
    }
    let (action, object) = (AuditAction::JobDeleted, job.key.to_string());
    let entry = Note { action, object, detail: String::new(), address: None }.by(actor);
    let used = usage::of(shared, std::slice::from_ref(&job)).await.map_err(database)?;
    let deleted = shared.write(async |transaction| {
        used.add(transaction).await?;
        let deleted = database::jobs::remove_many(transaction, &[job.id]).await?;
        if !deleted.is_empty() {
            database::audit::insert(transaction, &entry).await?;
        }
        Ok(!deleted.is_empty())
    });
    if !deleted.await.map_err(database)? {
        // Somebody was quicker.
        return Err(missing(&job.key));
    }
    if let Err(error) = shared.storage.forget_logs(job.id).await {
        let job = job.key.to_string();
        tracing::warn!(%error, job, "its logs are not removed yet: that is tried again in an hour");
    }
    let JobRow { id, key, state, .. } = job;
    shared.tell_pages(Change::Job { id, key, state });
    Ok(())
}

fn goes_on(key: &JobKey) -> Error {
    let message = format!("{key} has not ended: stop it, and delete it once it has ended");
    Error::new(ErrorCode::ConflictJobError, message)
}
