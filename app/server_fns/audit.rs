use api::audit::AuditEntry;
use leptos::prelude::*;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// The newest entries of the audit log that say some words, before this one; of all, if none is named.
#[server(prefix = "/fn", endpoint = "audit/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_audit(
    words: String,
    before: Option<i64>,
) -> Result<Vec<AuditEntry>, Failed> {
    use crate::edge::{call, failed};

    const ENTRIES: u64 = 100;
    let (backend, actor) = call()?;
    backend.audit.find(&actor, &words, before, ENTRIES).await.map_err(failed)
}
