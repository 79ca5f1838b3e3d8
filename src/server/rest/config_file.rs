use api::Actor;
use api::jobs::{ConfigForm, JobConfig, Syntax};
use axum::http::HeaderMap;
use axum::response::Response;
use protocol::ids::JobKey;

use super::accept::{config_form, config_response};
use crate::failure::Failure;
use crate::state::AppState;

/// Version 1: as the `Accept` header says, else as written.
pub(crate) async fn negotiated(
    state: &AppState,
    actor: &Actor,
    key: &JobKey,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let config = state.backend.jobs.config(actor, key, config_form(headers)).await?;
    Ok(config_response(config))
}

/// Version 2: YAML unless JSON is asked for. A file written in YAML is given as written; one
/// written in JSON may have comments that no YAML reader understands, and is rendered.
pub(crate) async fn yaml_first(
    state: &AppState,
    actor: &Actor,
    key: &JobKey,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let form = config_form(headers);
    let config = state.backend.jobs.config(actor, key, form).await?;
    let JobConfig { syntax, .. } = &config;
    let config = match (form, syntax) {
        (ConfigForm::Written, Syntax::Json) => {
            state.backend.jobs.config(actor, key, ConfigForm::Yaml).await?
        }
        (ConfigForm::Written | ConfigForm::Json | ConfigForm::Yaml, _) => config,
    };
    Ok(config_response(config))
}
