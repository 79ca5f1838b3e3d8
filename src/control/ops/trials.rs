//! Jobs by which nodes are tried: once their time is over they are ended and deleted, for who had them run may
//! have been killed while he waited.

use std::sync::Arc;
use std::time::Duration;

use api::cluster::Trial;
use api::jobs::Jobs;
use api::{Actor, ErrorCode, Result};
use protocol::ids::JobKey;
use tokio_util::sync::CancellationToken;

use crate::known::passes::{Passes, Rhythm};
use crate::records::store::Store;
use crate::shared::Shared;
use crate::wake::now;

/// They are looked for so often.
const EVERY: Duration = Duration::from_secs(2);
/// One that does not go is there a little longer.
pub(crate) const RHYTHM: Rhythm = Rhythm::beside(Duration::from_secs(900));

/// Runs until shutdown.
pub(crate) async fn run(
    shared: Arc<Shared>,
    jobs: Arc<dyn Jobs>,
    passes: Arc<Passes>,
    shutdown: CancellationToken,
) {
    passes.repeat(EVERY, &shutdown, || end_all(&shared.store, jobs.as_ref())).await;
}

/// Says whether all that are over could be looked at.
async fn end_all(store: &Store, jobs: &dyn Jobs) -> bool {
    let at = now();
    let latest = at.plus_millis(i64::from(Trial::LONGEST) * 1_000);
    let over = match database::trials::over(store.database.read(), at, latest).await {
        Ok(over) => over,
        Err(error) => {
            tracing::warn!(%error, "jobs that tried nodes cannot be looked for");
            return false;
        }
    };
    let mut all = true;
    for job in over {
        if let Err(error) = end(store, jobs, &job).await {
            tracing::warn!(%job, %error, "a job that tried a node stays; it is tried again");
            all = false;
        }
    }
    all
}

/// Does what is next for it to be gone: each step is safe to repeat.
async fn end(store: &Store, jobs: &dyn Jobs, job: &JobKey) -> Result<()> {
    let owner = Actor { user: job.user.clone(), admin: false };
    let found = database::jobs::by_key(store.database.read(), job).await?;
    match found {
        Some(found) if !found.row.state.is_final() => return jobs.stop(&owner, job).await,
        Some(_) => match jobs.delete(&owner, job).await {
            Err(error) if error.code != ErrorCode::NoJobError => return Err(error),
            // It is gone, by whomever.
            Ok(()) | Err(_) => {}
        },
        None => {}
    }
    let forgotten = store.write(async |t| database::trials::end(t, job).await).await;
    Ok(forgotten?)
}
