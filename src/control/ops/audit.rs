//! `api::audit`.

use std::sync::Arc;

use std::time::Instant;

use api::audit::{Audit, AuditAction, AuditEntry, AuditNote};
use api::{Actor, Result};
use async_trait::async_trait;
use database::audit::{Entry, NewEntry};

use crate::accounts::rights::administrators_only;
use crate::error::database;
use crate::records::audit::{self, Admitted, Note};
use crate::shared::{Shared, lock};

/// Entries at once.
const MOST: u64 = 500;
/// Characters of an object that somebody else chose.
const LONGEST: usize = 200;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Audit for Ops {
    async fn list(
        &self,
        actor: &Actor,
        before: Option<i64>,
        limit: u64,
    ) -> Result<Vec<AuditEntry>> {
        administrators_only(actor)?;
        let reader = self.0.database.read();
        let entries = database::audit::list(reader, before, limit.min(MOST)).await;
        Ok(entries.map_err(database)?.into_iter().filter_map(view).collect())
    }

    async fn note(&self, note: AuditNote) -> Result<()> {
        let AuditNote { actor, action, object, address } = note;
        let detail = match lock(&self.0.bursts).admit(action, actor.as_str(), Instant::now()) {
            Admitted::Yes => "",
            Admitted::Last => "more of this within a minute is not written down",
            Admitted::No => return Ok(()),
        };
        let actor = Actor { user: actor, admin: false };
        let note = Note { action, object: short(object), detail: detail.to_owned(), address };
        audit::write(&self.0, &actor, note).await.map_err(database)
    }
}

fn short(object: String) -> String {
    object.chars().filter(|letter| !letter.is_control()).take(LONGEST).collect()
}

/// What a later version wrote down in a word of its own is not shown by this one.
fn view(Entry { id, entry }: Entry) -> Option<AuditEntry> {
    let NewEntry { at, actor, action, object, detail, address } = entry;
    let action = AuditAction::read(&action)?;
    Some(AuditEntry { id, at, actor, action, object, detail, address })
}
