//! Events as they are stored, and that they are seen.

use std::collections::BTreeSet;

use database::events::NewEvent;
use protocol::ids::{JobId, UserName};
use protocol::spec::Grace;
use protocol::time::Timestamp;

use crate::known::jobs::KnownJobs;
use crate::known::live::Live;

/// Something that happened to a job. `kind` is a stable word, `message` English.
pub(crate) fn to_job(
    job: JobId,
    at: Timestamp,
    kind: &str,
    message: impl Into<String>,
) -> NewEvent {
    NewEvent {
        job: Some(job),
        at,
        kind: kind.to_owned(),
        message: message.into(),
        attempt: None,
        warning: false,
        actor: None,
    }
}

/// A job that asked for a grace is told that it has to go.
pub(crate) fn grace(job: JobId, attempt: u32, grace: Grace, at: Timestamp) -> NewEvent {
    let Grace { signal, seconds } = grace;
    let event =
        to_job(job, at, "grace", format!("is sent {signal}, and has {seconds} s to finish"));
    NewEvent { attempt: Some(attempt), ..event }
}

/// Something that a person did to a job.
pub(crate) fn by_person(event: NewEvent, actor: &UserName) -> NewEvent {
    NewEvent { actor: Some(actor.clone()), ..event }
}

/// Who looks at the jobs sees that something happened to them.
pub(crate) async fn show(live: &Live, known_jobs: &KnownJobs, jobs: BTreeSet<JobId>) {
    let asked = known_jobs.scheduler.ask(move |queue| {
        let rows = jobs.iter().filter_map(|id| queue.job(*id)).map(|job| job.row.clone());
        rows.collect::<Vec<_>>()
    });
    match asked.await {
        Ok(rows) => rows.iter().for_each(|row| live.tell_job(row.id, &row.key, row.state)),
        Err(error) => tracing::debug!(%error, "nobody knows the jobs at the moment"),
    }
}
