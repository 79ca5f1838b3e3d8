//! Deletes jobs that have ended.

use std::time::Duration;

use api::audit::AuditAction;
use api::changes::Change;
use api::{Actor, Error, ErrorCode, Result};
use database::jobs::JobRow;
use protocol::ids::{JobKey, NodeName};
use tokio::time::Instant;

use super::missing;
use crate::accounts::rights::owner_only;
use crate::container::forgotten;
use crate::known::nodes::KnownNodes;
use crate::records::audit::Note;
use crate::records::store::Store;
use crate::records::{unseen, usage};
use crate::shared::Shared;

/// Containers of a job that has ended are gone after so long, or something keeps them there.
const PATIENCE: Duration = Duration::from_secs(20);
/// They are looked for so often.
const PAUSE: Duration = Duration::from_millis(100);

/// Deletes a job, if the actor may and it has ended. What it has used is counted before.
pub(super) async fn delete(shared: &Shared, actor: &Actor, job: JobRow) -> Result<()> {
    owner_only(actor, &job.key.user, "delete this job")?;
    if !job.state.is_final() {
        return Err(goes_on(&job.key));
    }
    until_removed(&shared.store, &shared.nodes, &job).await?;
    let (action, object) = (AuditAction::JobDeleted, job.key.to_string());
    let entry = Note { action, object, detail: String::new(), address: None }.by(actor);
    let used =
        usage::of(&shared.store, &shared.nodes, &shared.readings, std::slice::from_ref(&job))
            .await?;
    let outputs = &shared.containers.outputs;
    if let Err(error) = forgotten::remove(&shared.store, outputs, std::slice::from_ref(&job)).await
    {
        let job = job.key.to_string();
        tracing::warn!(%error, job, "its checkpoints are not removed");
    }
    let deleted = shared.store.write(async |transaction| {
        used.add(transaction).await?;
        let deleted = database::jobs::remove_many(transaction, &[job.id]).await?;
        if !deleted.is_empty() {
            database::audit::insert(transaction, &entry).await?;
        }
        Ok(!deleted.is_empty())
    });
    if !deleted.await? {
        // Somebody was quicker.
        return Err(missing(&job.key));
    }
    if let Err(error) = shared.store.storage.forget_logs(job.id).await {
        let job = job.key.to_string();
        tracing::warn!(%error, job, "its logs are not removed yet: that is tried again in an hour");
    }
    let JobRow { id, key, state, .. } = job;
    shared.live.tell_pages(Change::Job { id, key, state });
    Ok(())
}

/// Waits until no container of a job is seen any more, and none may be where nobody can look. What has no
/// record is nobody's after the next start, and left alone.
async fn until_removed(store: &Store, nodes: &KnownNodes, job: &JobRow) -> Result<()> {
    let until = Instant::now() + PATIENCE;
    loop {
        let seen = nodes.observations().node_with(job.id);
        let refusal = match seen {
            Some(node) => still_there(&job.key, &node),
            None => match unseen::of(store, nodes, &[job.id]).await?.remove(&job.id) {
                None => return Ok(()),
                // Nobody knows when it answers again.
                Some(node) if nodes.is_silent(&node) => return Err(out_of_sight(&job.key, &node)),
                Some(node) => out_of_sight(&job.key, &node),
            },
        };
        if Instant::now() >= until {
            return Err(refusal);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

fn still_there(key: &JobKey, node: &NodeName) -> Error {
    let message = format!("a container of {key} is still on {node}: delete it once that is gone");
    Error::new(ErrorCode::ConflictJobError, message)
}

fn out_of_sight(key: &JobKey, node: &NodeName) -> Error {
    let message = format!(
        "{key} had tasks on {node}, which does not answer, and a container may still be there: delete it once \
         {node} answers, or was removed"
    );
    Error::new(ErrorCode::ConflictJobError, message)
}

fn goes_on(key: &JobKey) -> Error {
    let message = format!("{key} has not ended: stop it, and delete it once it has ended");
    Error::new(ErrorCode::ConflictJobError, message)
}
