use api::ssh::PublicKeyView;
use axum::Json;
use axum::extract::{Path, State};
use axum::http::StatusCode;
use schemars::JsonSchema;
use serde::Deserialize;

use crate::auth::Signed;
use crate::failure::Failure;
use crate::rest::body::Fields;
use crate::state::AppState;

pub(super) async fn list(
    State(state): State<AppState>,
    Signed(actor): Signed,
) -> Result<Json<Vec<PublicKeyView>>, Failure> {
    Ok(Json(state.backend.ssh.public_keys(&actor).await?))
}

#[derive(Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(super) struct Addition {
    /// One line, as OpenSSH writes it.
    key: String,
    /// What it is called; without it, the key's comment.
    #[serde(default)]
    label: String,
}

pub(super) async fn add(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Fields(addition): Fields<Addition>,
) -> Result<(StatusCode, Json<PublicKeyView>), Failure> {
    let Addition { key, label } = addition;
    let added = state.backend.ssh.add_public_key(&actor, &label, &key).await?;
    Ok((StatusCode::CREATED, Json(added)))
}

pub(super) async fn remove(
    State(state): State<AppState>,
    Signed(actor): Signed,
    Path(id): Path<i64>,
) -> Result<StatusCode, Failure> {
    state.backend.ssh.remove_public_key(&actor, id).await?;
    Ok(StatusCode::NO_CONTENT)
}
