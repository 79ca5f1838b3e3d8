//! The document of what programs can ask for, in the words of OpenAPI 3.1. It is made from the routes as
//! they are mounted, and from the types of what these take and give.

mod schemas;

use std::collections::BTreeMap;
use std::sync::LazyLock;

use axum::http::header;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use serde_json::{Map, Value, json};

use crate::rest;
use crate::rest::doors::Operation;
use schemas::Schemas;

static DOCUMENT: LazyLock<Value> = LazyLock::new(|| build(&rest::described().into_described()));
static TEXT: LazyLock<Bytes> = LazyLock::new(|| DOCUMENT.to_string().into());

/// The document.
#[must_use]
pub fn document() -> &'static Value {
    &DOCUMENT
}

/// `GET /api/openapi.json`.
pub(crate) async fn get() -> Response {
    ([(header::CONTENT_TYPE, "application/json")], TEXT.clone()).into_response()
}

fn build(routes: &[(String, Operation)]) -> Value {
    let mut schemas = Schemas::new();
    let mut paths: BTreeMap<String, Map<String, Value>> = BTreeMap::new();
    for (route, operation) in routes {
        let path = route.replace("{*", "{");
        let described = describe(&mut schemas, &path, operation);
        paths.entry(path).or_default().insert(operation.method.to_owned(), described);
    }
    let about = "What programs can ask of this server. Version 2 is OpenPAI's, with more of its own; \
                 version 1 is for programs that are older. Ask POST /api/v2/tokens for a token.";
    json!({
        "openapi": "3.1.0",
        "info": { "title": "Berth", "version": env!("CARGO_PKG_VERSION"), "description": about },
        "servers": [{ "url": "/" }],
        "paths": paths,
        "components": {
            "schemas": schemas.named(),
            "securitySchemes": {
                "token": { "type": "http", "scheme": "bearer" },
                "named": { "type": "http", "scheme": "basic", "description": "User and token." },
            },
        },
    })
}

fn describe(schemas: &mut Schemas, path: &str, operation: &Operation) -> Value {
    let signed =
        if operation.signed { json!([{ "token": [] }, { "named": [] }]) } else { json!([]) };
    let mut described = json!({
        "operationId": id(operation.method, path),
        "summary": summary(operation.handler),
        "tags": [noun(path)],
        "parameters": schemas.parameters(path, operation),
        "responses": schemas.responses(operation),
        "security": signed,
    });
    if !operation.takes.is_empty() {
        described["requestBody"] = schemas.body(operation);
    }
    described
}

/// A name for programs: `getV2JobsKeyConfig`.
fn id(method: &str, path: &str) -> String {
    let words = path.split(|c: char| !c.is_ascii_alphanumeric()).filter(|word| *word != "api");
    let words = words.filter_map(|word| {
        let (first, rest) = word.split_at_checked(1)?;
        Some(format!("{}{rest}", first.to_ascii_uppercase()))
    });
    // What is asked for with a slash at its end is a folder.
    let folder = if path.ends_with('/') { "Folder" } else { "" };
    format!("{method}{}{folder}", words.collect::<String>())
}

/// What a function is called, and where it is: `jobs: add tag`.
fn summary(handler: &str) -> String {
    let mut parts = handler.rsplit("::");
    let function = parts.next().unwrap_or_default().replace('_', " ");
    format!("{}: {function}", parts.next().unwrap_or_default())
}

/// What it is about: `v2 jobs`.
fn noun(path: &str) -> String {
    let mut parts = path.split('/').filter(|part| !part.is_empty()).skip(1);
    let version = parts.next().unwrap_or_default();
    format!("{version} {}", parts.next().unwrap_or_default()).trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::*;

    /// Everything that is described: method, path, and what is said of it.
    fn operations() -> Vec<(&'static str, &'static str, &'static Value)> {
        let paths = document()["paths"].as_object().unwrap().iter();
        let methods = |(path, methods): (&'static String, &'static Value)| {
            let methods = methods.as_object().unwrap().iter();
            methods.map(move |(method, described)| (method.as_str(), path.as_str(), described))
        };
        paths.flat_map(methods).collect()
    }

    /// The parts of a route, what its parameters are called left out.
    fn shape(path: &str) -> Vec<&str> {
        path.split('/').map(|part| if part.starts_with('{') { "{}" } else { part }).collect()
    }

    #[test]
    fn every_operation_says_what_it_answers_under_a_name_of_its_own() {
        let mut names = BTreeSet::new();
        for (method, path, described) in operations() {
            assert!(names.insert(described["operationId"].as_str().unwrap()), "{method} {path}");
            let answers = described["responses"].as_object().unwrap();
            let done = answers.keys().any(|status| status != "default");
            assert!(done, "{method} {path}: say with .gives::<T>(status) what it answers");
        }
        assert!(names.len() > 120, "{}", names.len());
        assert!(names.contains("getV2JobsKeyConfig"), "{names:?}");
    }

    #[test]
    fn parameters_of_paths_are_those_that_are_written_in_them() {
        for (method, path, described) in operations() {
            let written = shape(path).iter().filter(|part| **part == "{}").count();
            let parameters = described["parameters"].as_array().unwrap().iter();
            let described = parameters.filter(|parameter| parameter["in"] == "path").count();
            assert_eq!(written, described, "{method} {path}");
        }
    }

    #[test]
    fn whatever_is_referred_to_is_there() {
        let text = document().to_string();
        for (at, start) in text.match_indices("\"#/") {
            let reference = &text[at + start.len() - 1..];
            let (pointer, _) = reference.split_once('"').unwrap();
            assert!(document().pointer(pointer).is_some(), "{pointer}");
        }
    }

    /// Keys whose schema is `true`. What is no schema is left out.
    fn unspoken(key: &str, value: &Value, found: &mut Vec<String>) {
        const WORDS: [&str; 7] =
            ["const", "default", "deprecated", "readOnly", "required", "uniqueItems", "writeOnly"];
        match value {
            _ if WORDS.contains(&key) => {}
            Value::Bool(true) => found.push(key.to_owned()),
            Value::Array(items) => items.iter().for_each(|item| unspoken(key, item, found)),
            Value::Object(fields) => {
                fields.iter().for_each(|(key, field)| unspoken(key, field, found));
            }
            Value::Null | Value::Bool(false) | Value::Number(_) | Value::String(_) => {}
        }
    }

    #[test]
    fn what_may_be_anything_is_said_so_that_every_generator_understands_it() {
        let mut found = Vec::new();
        unspoken("", document(), &mut found);
        assert_eq!(found, [""; 0]);
        let schemas = &document()["components"]["schemas"];
        assert_eq!(schemas["Detail"]["properties"]["data"], json!({}), "{}", schemas["Detail"]);
        let states = schemas["State"]["enum"].as_array().unwrap();
        assert!(states.len() == 8 && states.contains(&json!("WAITING")), "{states:?}");
    }

    #[test]
    fn types_are_described_as_they_are_written_and_as_they_are_read() {
        let jobs = &document()["paths"]["/api/v2/jobs"];
        let parameters = jobs["get"]["parameters"].as_array().unwrap();
        assert!(parameters.iter().any(|parameter| parameter["name"] == "tagsContain"));
        let item = &document()["components"]["schemas"]["JobItem"];
        let required = item["required"].as_array().unwrap();
        assert!(required.contains(&json!("appExitCode")) && !required.contains(&json!("waiting")));
        let node = &document()["paths"]["/api/v2/nodes/{name}"]["put"]["requestBody"]["content"];
        let node = &node["application/json"]["schema"];
        assert!(node["properties"]["name"].is_null() && node["properties"]["endpoint"].is_object());
    }
}
