//! The answers of all tests against the document that describes them, and the document against the
//! server that it describes.

use std::collections::HashMap;
use std::sync::{Arc, LazyLock, Mutex, PoisonError};

use jsonschema::Validator;
use serde_json::{Value, json};
use server::limits::Limits;
use server::openapi::document;
use server::state::StateOptions;

use crate::fakes::World;
use crate::server::{Answer, JSON, Server};

/// What knows whether an answer is as its operation says, for each that was seen.
static KNOWN: LazyLock<Mutex<HashMap<String, Arc<Validator>>>> = LazyLock::new(Mutex::default);

/// Panics where an answer is not what the document says of it.
pub(crate) fn check(method: &str, path: &str, answer: &Answer) {
    let path = path.split('?').next().unwrap_or_default();
    let Some((template, operation)) = find(method, path) else { return };
    // A server that does not lead sends elsewhere whatever is asked.
    if (300..400).contains(&answer.status) {
        return;
    }
    let failed = answer.status >= 400;
    let status = if failed { "default".to_owned() } else { answer.status.to_string() };
    let place = format!("{method} {template}: {status}");
    let response = operation["responses"].get(&status);
    let response = response.unwrap_or_else(|| panic!("{place} is not described: {answer:?}"));
    let content = &response["content"];
    // A file may be anything, JSON as well.
    let bytes = content.get("application/octet-stream").is_some();
    if bytes || answer.header("content-type") != "application/json" {
        return;
    }
    let schema = &content["application/json"]["schema"];
    assert!(!schema.is_null(), "{place} is not described as JSON: {answer:?}");
    let validator = validator(&place, schema);
    if let Err(error) = validator.validate(&answer.json()) {
        panic!("{place}: {}: {error}: {}", error.instance_path(), answer.text);
    }
}

fn validator(place: &str, schema: &Value) -> Arc<Validator> {
    let mut known = KNOWN.lock().unwrap_or_else(PoisonError::into_inner);
    let make = || {
        let whole = json!({ "allOf": [schema], "components": document()["components"] });
        Arc::new(jsonschema::validator_for(&whole).unwrap())
    };
    Arc::clone(known.entry(place.to_owned()).or_insert_with(make))
}

/// The operation that an address is of: where several fit, the one that says most of it.
pub(crate) fn find(method: &str, path: &str) -> Option<(&'static str, &'static Value)> {
    let paths = document()["paths"].as_object()?;
    let fitting = paths.iter().filter(|(template, _)| fits(template, path));
    let (template, methods) = fitting.min_by_key(|(template, _)| template.matches('{').count())?;
    Some((template.as_str(), methods.get(method.to_ascii_lowercase())?))
}

/// Whether a path is one of a template's. What is called a path takes all that follows.
fn fits(template: &str, path: &str) -> bool {
    let mut asked = path.split('/');
    for part in template.split('/') {
        let Some(one) = asked.next() else { return false };
        if part == "{path}" {
            return !one.is_empty();
        }
        let fits = if part.starts_with('{') { !one.is_empty() } else { part == one };
        if !fits {
            return false;
        }
    }
    asked.next().is_none()
}

#[test]
fn addresses_are_found_among_the_templates() {
    let found = |path| find("GET", path).map(|(template, _)| template);
    assert_eq!(found("/api/v2/jobs/a~b/job-attempts/0").unwrap().matches('{').count(), 2);
    let healthy = "/api/v2/jobs/{key}/job-attempts/healthz";
    assert_eq!(found("/api/v2/jobs/a~b/job-attempts/healthz"), Some(healthy));
    assert_eq!(found("/api/v2/files/alice/a/b"), Some("/api/v2/files/{path}"));
    assert_eq!(found("/api/v2/jobs/a/b/c"), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn the_document_is_given_to_everybody() {
    let folder = tempfile::tempdir().unwrap();
    let server = Server::start(folder.path(), &World::new()).await;
    let answer = server.client().get("/api/openapi.json", &[]).await;
    assert_eq!((answer.status, answer.header("content-type")), (200, "application/json"));
    assert_eq!(&answer.json(), document());
    server.stop().await;
}

#[tokio::test(flavor = "multi_thread")]
async fn whatever_is_described_is_mounted_and_no_other_method_is() {
    let folder = tempfile::tempdir().unwrap();
    let limits = Limits { guest_requests_per_second: 0, ..Limits::default() };
    let options = StateOptions { limits, ..StateOptions::default() };
    let server = Server::with(folder.path(), World::new().backend(), options).await;
    let client = server.client();
    for (template, methods) in document()["paths"].as_object().unwrap() {
        let path = template.replace("{index}", "0").replace("{run}", "0");
        let path = path.replace("{attempt}", "0").replace("{id}", "0").replace(['{', '}'], "");
        // These answer whatever they are asked, as OpenPAI does.
        let any = ["/api/v1", "/api/v2"].contains(&path.as_str());
        for method in ["GET", "PUT", "POST", "DELETE", "PATCH"].iter().filter(|_| !any) {
            let described = methods.get(method.to_ascii_lowercase()).is_some();
            let answer = client.send(method, &path, &[JSON], "").await;
            let nowhere = answer.text.contains(&format!("API {path} is not found."));
            assert_eq!(described, !nowhere, "{method} {path}: {answer:?}");
        }
    }
    server.stop().await;
}
