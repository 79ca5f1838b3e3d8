//! The audit log: Berth's own addition to version 2.

use api::audit::AuditEntry;
use axum::Json;
use axum::extract::State;
use schemars::JsonSchema;
use serde::Deserialize;

use super::body::Params;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::state::AppState;

/// Which entries: so many of those before this one that say all words of `q`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(default)]
pub(crate) struct AuditParams {
    before: Option<i64>,
    limit: u64,
    q: String,
}

impl Default for AuditParams {
    fn default() -> Self {
        Self { before: None, limit: 100, q: String::new() }
    }
}

pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(AuditParams { before, limit, q }): Params<AuditParams>,
) -> Result<Json<Vec<AuditEntry>>, Failure> {
    Ok(Json(state.backend.audit.find(&actor, &q, before, limit).await?))
}
