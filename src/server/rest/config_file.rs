use api::Actor;
use api::jobs::{ConfigForm, JobConfig, Syntax};
use axum::http::HeaderMap;
use axum::response::Response;
use protocol::document::Document;
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

/// Version 2: always a file of version 2. One written in YAML is given as written; one written in
/// JSON may have comments that no YAML reader understands, and is rendered. Where JSON is asked for,
/// the same is said in JSON, with everything that was written in it.
pub(crate) async fn yaml_first(
    state: &AppState,
    actor: &Actor,
    key: &JobKey,
    headers: &HeaderMap,
) -> Result<Response, Failure> {
    let jobs = &state.backend.jobs;
    let written = jobs.config(actor, key, ConfigForm::Written).await?;
    let yaml = match written.syntax {
        Syntax::Yaml => written,
        Syntax::Json => jobs.config(actor, key, ConfigForm::Yaml).await?,
    };
    if config_form(headers) != ConfigForm::Json {
        return Ok(config_response(yaml));
    }
    let text = match in_json(&yaml.text) {
        Some(text) => text,
        // It was written in YAML by the rules of version 1.
        None => {
            let rendered = jobs.config(actor, key, ConfigForm::Yaml).await?;
            in_json(&rendered.text).ok_or_else(api::Error::internal)?
        }
    };
    Ok(config_response(JobConfig { text, syntax: Syntax::Json }))
}

/// A file of version 2 in JSON; `None`: it is none.
fn in_json(text: &str) -> Option<String> {
    let document = Document::read(text).ok()?;
    document.root.get("protocolVersion")?;
    serde_json::to_string_pretty(&document.root.to_json()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_of_version_2_says_the_same_in_json() {
        let text = "# why\nprotocolVersion: 2\nname: a\nsecrets: {k: '******'}\n\
                    taskRoles:\n  w: {instances: 2, commands: [\"echo <% $secrets.k %>\"]}\n";
        let json: serde_json::Value = serde_json::from_str(&in_json(text).unwrap()).unwrap();
        let wanted = serde_json::json!({
            "protocolVersion": 2, "name": "a", "secrets": { "k": "******" },
            "taskRoles": { "w": { "instances": 2, "commands": ["echo <% $secrets.k %>"] } },
        });
        assert_eq!(json, wanted);
        assert_eq!(in_json("jobName: a"), None);
        assert_eq!(in_json("{ no"), None);
    }
}
