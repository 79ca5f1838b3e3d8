//! Writing the audit log.

use api::Actor;
use api::audit::AuditAction;
use database::audit::{self, NewEntry};

use crate::shared::Shared;
use crate::wake::now;

/// What is to be written.
#[derive(Debug, Clone)]
pub(crate) struct Note {
    pub(crate) action: AuditAction,
    pub(crate) object: String,
    pub(crate) detail: String,
    pub(crate) address: Option<String>,
}

/// Writes it.
pub(crate) async fn write(
    shared: &Shared,
    actor: &Actor,
    note: Note,
) -> Result<(), database::Error> {
    let Note { action, object, detail, address } = note;
    let entry = NewEntry {
        at: now(),
        actor: actor.user.clone(),
        action: action.as_str().to_owned(),
        object,
        detail,
        address,
    };
    shared.write(async |t| audit::insert(t, &entry).await).await
}
