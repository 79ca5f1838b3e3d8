//! Jobs that are kept, though their GPUs do nothing.

use api::changes::Change;
use api::metrics::LONGEST_KEPT;
use api::{Actor, Error, ErrorCode, Result};
use database::jobs::JobRow;

use crate::accounts::rights::owner_only;
use crate::records::happened;
use crate::shared::Shared;
use crate::wake::now;

/// Keeps a job for so many hours, whatever was said before.
pub(super) async fn keep(shared: &Shared, actor: &Actor, job: &JobRow, hours: u32) -> Result<()> {
    owner_only(actor, &job.key.user, "keep this job")?;
    if !(1..=LONGEST_KEPT).contains(&hours) {
        let message = format!("hours is {hours}: a job is kept for 1 to {LONGEST_KEPT} hours");
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    if job.state.is_final() {
        let message = format!("{} has ended: there is nothing to keep", job.key);
        return Err(Error::new(ErrorCode::ConflictJobError, message));
    }
    let at = now();
    let until = shared.settings.rules.clock.now().plus_millis(i64::from(hours) * 3_600_000);
    let words = format!("{} keeps it for {hours} h, though its GPUs may do nothing", actor.user);
    let event = happened::by_person(happened::to_job(job.id, at, "kept", words), &actor.user);
    let kept = shared.store.write(async |t| {
        database::kept_jobs::keep(t, job.id, until).await?;
        database::events::insert_many(t, std::slice::from_ref(&event)).await
    });
    kept.await?;
    shared.readings.idle.keep(job.id, until);
    shared.live.tell_pages(Change::Job { id: job.id, key: job.key.clone(), state: job.state });
    Ok(())
}
