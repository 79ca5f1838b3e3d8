//! Events as they are stored.

use database::events::NewEvent;
use protocol::ids::{JobId, UserName};
use protocol::time::Timestamp;

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

/// Something that a person did to a job.
pub(crate) fn by_person(event: NewEvent, actor: &UserName) -> NewEvent {
    NewEvent { actor: Some(actor.clone()), ..event }
}
