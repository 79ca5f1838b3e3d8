//! `api::audit`.

use std::sync::Arc;

use api::audit::{Audit, AuditAction, AuditEntry};
use api::{Actor, Result};
use async_trait::async_trait;
use database::audit::{Entry, NewEntry};

use super::administrators_only;
use crate::error::database;
use crate::shared::Shared;

/// Entries at once.
const MOST: u64 = 500;

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
}

/// What a later version wrote down in a word of its own is not shown by this one.
fn view(Entry { id, entry }: Entry) -> Option<AuditEntry> {
    let NewEntry { at, actor, action, object, detail, address } = entry;
    let action = AuditAction::read(&action)?;
    Some(AuditEntry { id, at, actor, action, object, detail, address })
}
