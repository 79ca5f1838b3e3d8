//! JSON Schemas of the job files, for editors: what may be written where, with a word on each key, as
//! the table of [`crate::fields`] has it; [`crate::parse`] is what decides.

use serde_json::{Map, Value, json};

use crate::fields::{IS_DEBUG, Key, Kind, MAX_PORTS, MAX_UNITS, Notation, Object};
use crate::spec::Priority;

/// The schema of version 1: one for all its dialects, as permissive as they are together.
#[must_use]
pub fn v1() -> Value {
    written(Object::V1Job, Notation::V1)
}

/// The schema of version 2.
#[must_use]
pub fn v2() -> Value {
    written(Object::V2Job, Notation::V2)
}

fn written(job: Object, notation: Notation) -> Value {
    let parts = Object::ALL.into_iter().filter(|part| *part != job && part.is_of(notation));
    let definitions: Map<String, Value> =
        parts.map(|part| (part.name().to_owned(), described(part))).collect();
    let mut schema = described(job);
    schema["$schema"] = "http://json-schema.org/draft-07/schema#".into();
    schema["title"] = job.name().into();
    schema["definitions"] = definitions.into();
    schema
}

/// An object with its keys.
fn described(object: Object) -> Value {
    let keys = object.keys();
    let properties: Map<String, Value> =
        keys.iter().map(|key| (key.name.to_owned(), property(key))).collect();
    let required: Vec<&str> = keys.iter().filter(|key| key.required).map(|key| key.name).collect();
    json!({
        "description": object.help().english,
        "type": "object",
        "properties": properties,
        "required": required,
        "additionalProperties": object.is_open(),
    })
}

fn property(key: &Key) -> Value {
    let mut schema = allowed(key);
    schema["description"] = key.help.english.into();
    for (word, written) in [("default", key.default), ("examples", key.examples)] {
        if let Some(written) = written {
            schema[word] = written.parse().expect("a test reads all that the table has as JSON");
        }
    }
    schema
}

/// What a key may hold.
fn allowed(key: &Key) -> Value {
    match key.kind {
        Kind::Whole { min, max } => whole(min, max),
        Kind::Tasks { min } => json!({ "type": ["integer", "string", "null"], "minimum": min }),
        Kind::Gpus => gpus(),
        Kind::TimeLimit => json!({ "type": ["integer", "string"], "minimum": 1 }),
        Kind::Moment => json!({ "type": ["string", "null"], "format": "date-time" }),
        Kind::Flag => json!({ "type": "boolean" }),
        Kind::Text => json!({ "type": "string", "minLength": 1 }),
        Kind::OptionalText => json!({ "type": ["string", "null"] }),
        Kind::Word => json!({ "type": ["string", "number"] }),
        Kind::OneOf([word]) => json!({ "type": "string", "const": word }),
        Kind::OneOf(words) => json!({ "type": "string", "enum": words }),
        Kind::PriorityClass => {
            json!({ "type": "string", "enum": Priority::CLASSES.map(|(word, _)| word) })
        }
        Kind::Version => json!({ "enum": [2, "2"] }),
        Kind::JobName => name(r"^[A-Za-z0-9\-._~]+$", 255),
        Kind::PlainName => name("^[a-zA-Z0-9_-]+$", 255),
        Kind::RoleName => name("^[A-Za-z0-9._~-]+$", 64),
        Kind::DottedName => name("^[A-Za-z0-9._~]+$", 64),
        Kind::Image => json!({ "type": "string", "pattern": r"^[^\s-]\S*$" }),
        Kind::Uri => json!({ "type": ["string", "array"], "items": { "type": "string" } }),
        Kind::Names => {
            json!({ "type": ["string", "array", "null"], "items": { "type": "string" } })
        }
        Kind::Labels => {
            json!({ "type": ["object", "string", "null"], "additionalProperties": scalars() })
        }
        Kind::Texts => json!({ "type": ["array", "null"], "items": { "type": "string" } }),
        Kind::Commands => json!({ "type": "array", "minItems": 1, "items": { "type": "string" } }),
        Kind::Environment => environment(),
        Kind::Secrets | Kind::Map => json!({ "type": ["object", "null"] }),
        Kind::PortCounts => by_word(&whole(1, MAX_PORTS)),
        Kind::Anything => json!({}),
        Kind::One(object) if key.required => json!({ "allOf": [part(object)] }),
        Kind::One(object) => json!({ "anyOf": [part(object), { "type": "null" }] }),
        Kind::List(object) if key.required => {
            json!({ "type": "array", "items": part(object), "minItems": 1 })
        }
        Kind::List(object) => json!({ "type": ["array", "null"], "items": part(object) }),
        Kind::ByWord(object) => by_word(&part(object)),
        Kind::ByRole(object) => {
            json!({ "type": ["object", "null"], "additionalProperties": part(object) })
        }
    }
}

fn part(object: Object) -> Value {
    json!({ "$ref": format!("#/definitions/{}", object.name()) })
}

/// The greatest limit that is worth reading; nobody comes near those beyond.
const WORTH_READING: i64 = MAX_UNITS;

/// A whole number; in quotes will do.
fn whole(min: i64, max: i64) -> Value {
    let mut schema = json!({
        "type": ["integer", "string"],
        "minimum": min,
        "pattern": r"^\s*-?[0-9]+\s*$",
    });
    if max <= WORTH_READING {
        schema["maximum"] = max.into();
    }
    schema
}

/// Whole GPUs or a part of one.
fn gpus() -> Value {
    json!({ "anyOf": [
        { "type": "integer", "minimum": 0 },
        { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
        { "type": "string", "pattern": r"^\s*([0-9]+|0?\.[0-9]{1,3})\s*$" },
    ] })
}

fn name(pattern: &str, longest: u32) -> Value {
    json!({ "type": "string", "pattern": pattern, "maxLength": longest })
}

fn scalars() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn environment() -> Value {
    json!({
        "type": ["object", "null"],
        "properties": {
            "isDebug": { "type": ["boolean", "string"], "description": IS_DEBUG.english },
        },
        "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
        "additionalProperties": scalars(),
    })
}

/// Values under keys in the manner of C.
fn by_word(value: &Value) -> Value {
    json!({
        "type": "object",
        "minProperties": 1,
        "patternProperties": { "^[a-zA-Z_][a-zA-Z0-9_]*$": value },
        "additionalProperties": false,
    })
}

#[cfg(test)]
mod tests;
