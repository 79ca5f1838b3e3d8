use axum::http::StatusCode;
use schemars::SchemaGenerator;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::failure;
use crate::rest::doors::{Content, Operation, schema};

const JSON: &str = "application/json";

/// Schemas of types: of what is given, under their names; of what is taken, in their places, for a type
/// may be read otherwise than it is written.
pub(super) struct Schemas {
    given: SchemaGenerator,
    taken: SchemaGenerator,
}

impl Schemas {
    pub(super) fn new() -> Self {
        let given = SchemaSettings::draft2020_12().for_serialize();
        let given = given.with(|settings| settings.definitions_path = "/components/schemas".into());
        let taken = SchemaSettings::draft2020_12().for_deserialize();
        let taken = taken.with(|settings| settings.inline_subschemas = true);
        Self { given: given.into_generator(), taken: taken.into_generator() }
    }

    /// All that have names.
    pub(super) fn named(mut self) -> Map<String, Value> {
        self.given.take_definitions(true)
    }

    /// What stands in the path and in the query.
    pub(super) fn parameters(&mut self, path: &str, operation: &Operation) -> Vec<Value> {
        let schemas = match operation.path {
            Some(make) => each(make(&mut self.taken).to_value()),
            None => Vec::new(),
        };
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let in_path = names.enumerate().map(|(at, name)| {
            let schema = schemas.get(at).cloned().unwrap_or_else(|| json!({ "type": "string" }));
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        });
        let mut parameters: Vec<_> = in_path.collect();
        for make in &operation.query {
            parameters.extend(in_query(&make(&mut self.taken).to_value()));
        }
        parameters
    }

    /// What is sent.
    pub(super) fn body(&mut self, operation: &Operation) -> Value {
        let mut content = Map::new();
        for taken in &operation.takes {
            let (kind, schema) = media(*taken, &mut self.taken);
            content.insert(kind.to_owned(), json!({ "schema": schema }));
        }
        json!({ "required": true, "content": content })
    }

    /// What is answered, by status; all that was not done is told in the same shape.
    pub(super) fn responses(&mut self, operation: &Operation) -> Map<String, Value> {
        let mut responses = Map::new();
        for (status, content) in &operation.answers {
            let about = json!({ "description": reason(*status) });
            let response = responses.entry(status.to_string()).or_insert(about);
            if let Some(content) = content {
                let (kind, schema) = media(*content, &mut self.given);
                let place = &mut response["content"][kind]["schema"];
                *place = match place.take() {
                    Value::Null => schema,
                    before => json!({ "anyOf": [before, schema] }),
                };
            }
        }
        let schema = schema::<failure::Body<'static>>(&mut self.given);
        let about = "It is not done. The code tells programs why, and the message people.";
        let failed = json!({ "description": about, "content": { JSON: { "schema": schema } } });
        responses.insert("default".to_owned(), failed);
        responses
    }
}

/// The parts of a tuple; anything else is one by itself.
fn each(schema: Value) -> Vec<Value> {
    match schema.get("prefixItems").and_then(Value::as_array) {
        Some(parts) => parts.clone(),
        None => vec![schema],
    }
}

/// The fields of an object as parameters, none of which can be `null` in an address.
fn in_query(schema: &Value) -> Vec<Value> {
    let required = schema["required"].as_array().map_or(&[][..], Vec::as_slice);
    let fields = schema["properties"].as_object().into_iter().flatten();
    let parameter = |(name, field): (&String, &Value)| {
        let mut field = field.clone();
        if let Some(kinds) = field.get_mut("type").and_then(Value::as_array_mut) {
            kinds.retain(|kind| kind.as_str() != Some("null"));
        }
        let required = required.iter().any(|one| one == name);
        json!({ "name": name, "in": "query", "required": required, "schema": field })
    };
    fields.map(parameter).collect()
}

fn media(content: Content, generator: &mut SchemaGenerator) -> (&'static str, Value) {
    match content {
        Content::Json(make) => (JSON, make(generator).to_value()),
        Content::Unnamed(make) => (JSON, without_name(make(generator).to_value())),
        Content::Raw(kind) => (kind, json!({})),
    }
}

fn without_name(mut schema: Value) -> Value {
    if let Some(properties) = schema.get_mut("properties").and_then(Value::as_object_mut) {
        properties.remove("name");
    }
    if let Some(required) = schema.get_mut("required").and_then(Value::as_array_mut) {
        required.retain(|one| one.as_str() != Some("name"));
    }
    schema
}

fn reason(status: u16) -> &'static str {
    let status = StatusCode::from_u16(status).ok();
    status.and_then(|status| status.canonical_reason()).unwrap_or("An answer")
}
