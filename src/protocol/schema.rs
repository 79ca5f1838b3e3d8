//! JSON Schemas of the job files, for editors: what may be written where, with a word on each key.
//! The types here are described and never built; [`crate::parse`] is what decides.

mod v1;
mod v2;

use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema, json_schema};
use serde_json::{Value, json};

/// The schema of version 1: one for all its dialects, as permissive as they are together.
#[must_use]
pub fn v1() -> Value {
    generate::<v1::Job>()
}

/// The schema of version 2.
#[must_use]
pub fn v2() -> Value {
    generate::<v2::Job>()
}

fn generate<T: JsonSchema>() -> Value {
    let mut schema =
        SchemaSettings::draft07().into_generator().into_root_schema_for::<T>().to_value();
    tidy(&mut schema);
    schema
}

/// Takes out the defaults that only mark a key as optional, and the line breaks of descriptions.
fn tidy(schema: &mut Value) {
    let Some(map) = schema.as_object_mut() else {
        return schema.as_array_mut().into_iter().flatten().for_each(tidy);
    };
    let nullable = map.get("x-null").is_some();
    map.remove("x-null");
    if !nullable && map.get("default").is_some_and(Value::is_null) {
        map.remove("default");
    }
    if let Some(Value::String(text)) = map.get_mut("description") {
        *text = text.replace('\n', " ");
    }
    map.values_mut().for_each(tidy);
}

type Generator = schemars::SchemaGenerator;

/// A whole number from a minimum on; in quotes will do.
fn integer(min: i64) -> Schema {
    json_schema!({ "type": ["integer", "string"], "minimum": min, "pattern": r"^\s*-?[0-9]+\s*$" })
}

fn from_0(_: &mut Generator) -> Schema {
    integer(0)
}

fn from_1(_: &mut Generator) -> Schema {
    integer(1)
}

fn from_100(_: &mut Generator) -> Schema {
    integer(100)
}

/// Whole GPUs or a part of one.
fn gpus(_: &mut Generator) -> Schema {
    json_schema!({ "anyOf": [
        { "type": "integer", "minimum": 0 },
        { "type": "number", "exclusiveMinimum": 0, "exclusiveMaximum": 1 },
        { "type": "string", "pattern": r"^\s*([0-9]+|0?\.[0-9]{1,3})\s*$" },
    ] })
}

fn time_limit(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["integer", "string"], "minimum": 1 })
}

fn retries(_: &mut Generator) -> Schema {
    integer(-2)
}

fn tasks_or_null(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["integer", "string", "null"], "minimum": 1 })
}

fn tasks_or_disabled(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["integer", "string", "null"], "minimum": -1 })
}

fn port(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["integer", "string"], "minimum": 0, "maximum": 65535 })
}

fn port_count(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["integer", "string"], "minimum": 1, "maximum": 64 })
}

fn text(_: &mut Generator) -> Schema {
    json_schema!({ "type": "string", "minLength": 1 })
}

fn optional_text(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["string", "null"] })
}

/// A text that YAML may have taken for a number.
fn word(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["string", "number"] })
}

fn job_name(_: &mut Generator) -> Schema {
    json_schema!({ "type": "string", "pattern": r"^[A-Za-z0-9\-._~]+$", "maxLength": 255 })
}

/// A role's name or a port's label.
fn dotted_name(_: &mut Generator) -> Schema {
    json_schema!({ "type": "string", "pattern": "^[A-Za-z0-9._~]+$", "maxLength": 64 })
}

fn image(_: &mut Generator) -> Schema {
    json_schema!({ "type": "string", "pattern": r"^[^\s-]\S*$" })
}

/// One name or several.
fn names(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["string", "array", "null"], "items": { "type": "string" } })
}

/// Labels with their values.
fn node_labels(_: &mut Generator) -> Schema {
    let value = json_schema!({ "type": ["string", "number", "boolean"] });
    json_schema!({ "type": ["object", "string", "null"], "additionalProperties": value })
}

fn uri(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["string", "array"], "items": { "type": "string" } })
}

fn anything(_: &mut Generator) -> Schema {
    json_schema!(true)
}

fn flag(_: &mut Generator) -> Schema {
    json_schema!({ "type": "boolean" })
}

fn commands(_: &mut Generator) -> Schema {
    json_schema!({ "type": "array", "minItems": 1, "items": { "type": "string" } })
}

fn scalars() -> Value {
    json!({ "type": ["string", "number", "boolean"] })
}

fn secrets(_: &mut Generator) -> Schema {
    json_schema!({ "type": ["object", "null"], "additionalProperties": scalars() })
}

fn environment(_: &mut Generator) -> Schema {
    json_schema!({
        "type": ["object", "null"],
        "properties": {
            "isDebug": {
                "type": ["boolean", "string"],
                "description": "Keep the container of a failed task, so that one can look into it.",
            },
        },
        "propertyNames": { "pattern": "^[A-Za-z_][A-Za-z0-9_]*$" },
        "additionalProperties": scalars(),
    })
}

/// An object with a value of one type under keys in the manner of C.
fn by_word<T: JsonSchema>(generator: &mut Generator) -> Schema {
    let value = generator.subschema_for::<T>();
    json_schema!({
        "type": "object",
        "minProperties": 1,
        "patternProperties": { "^[a-zA-Z_][a-zA-Z0-9_]*$": value },
        "additionalProperties": false,
    })
}

/// An object with a value of one type under each role's key.
fn by_role<T: JsonSchema>(generator: &mut Generator) -> Schema {
    let value = generator.subschema_for::<T>();
    json_schema!({ "type": ["object", "null"], "additionalProperties": value })
}

#[cfg(test)]
mod tests;
