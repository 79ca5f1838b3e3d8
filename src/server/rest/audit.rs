//! The audit log: Berth's own addition to version 2.

use api::audit::AuditEntry;
use axum::Json;
use axum::extract::State;
use serde::Deserialize;

use super::body::Params;
use crate::auth::Signed;
use crate::failure::Failure;
use crate::state::AppState;

/// Which entries: so many of those before this one.
#[derive(Debug, Deserialize)]
#[serde(default)]
pub(crate) struct AuditParams {
    before: Option<i64>,
    limit: u64,
}

impl Default for AuditParams {
    fn default() -> Self {
        Self { before: None, limit: 100 }
    }
}

pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Params(AuditParams { before, limit }): Params<AuditParams>,
) -> Result<Json<Vec<AuditEntry>>, Failure> {
    Ok(Json(state.backend.audit.list(&actor, before, limit).await?))
}
