use api::notifications::{NotificationsView, Tested};
use axum::Json;
use axum::extract::State;
use protocol::notifications::Wishes;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::state::AppState;

/// `GET /notifications`.
pub(super) async fn get(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<NotificationsView>, Failure> {
    Ok(Json(state.backend.notifications.get(&actor).await?))
}

/// `PUT /notifications`.
pub(super) async fn set(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(wishes): Fields<Wishes>,
) -> Result<Json<NotificationsView>, Failure> {
    Ok(Json(state.backend.notifications.set(&actor, wishes).await?))
}

/// `POST /notifications/test`.
pub(super) async fn test(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Tested>, Failure> {
    Ok(Json(state.backend.notifications.test(&actor).await?))
}
