//! The servers of the cluster, for administrators: Berth's own addition to version 2.

use api::servers::ServerView;
use axum::Json;
use axum::extract::State;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::state::AppState;

/// `GET /servers`.
pub(crate) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<ServerView>>, Failure> {
    Ok(Json(state.backend.servers.list(&actor).await?))
}
