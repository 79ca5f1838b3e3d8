use axum::http::StatusCode;
use schemars::generate::SchemaSettings;
use schemars::transform::transform_subschemas;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value, json};

use crate::error_body::Body;
use crate::rest::doors::operation::Make;
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
        let given = given.with_transform(plain);
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
            Some(make) => each(made(make, &mut self.taken)),
            None => Vec::new(),
        };
        let names = path.split('/').filter_map(|part| part.strip_prefix('{')?.strip_suffix('}'));
        let in_path = names.enumerate().map(|(at, name)| {
            let schema = schemas.get(at).cloned().unwrap_or_else(|| json!({ "type": "string" }));
            json!({ "name": name, "in": "path", "required": true, "schema": schema })
        });
        let mut parameters: Vec<_> = in_path.collect();
        for make in &operation.query {
            parameters.extend(in_query(&made(*make, &mut self.taken)));
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
        let schema = schema::<Body<'static>>(&mut self.given);
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

fn made(make: Make, generator: &mut SchemaGenerator) -> Value {
    let mut schema = make(generator);
    plain(&mut schema);
    schema.to_value()
}

/// Says the same in words that programs which make clients know as well: what may be anything is an object
/// without a word, in place of `true`, and alternatives that are one word each are one list of words.
fn plain(schema: &mut Schema) {
    transform_subschemas(&mut plain, schema);
    if schema.as_bool() == Some(true) {
        schema.ensure_object();
    }
    let Some(alternatives) = schema.get("oneOf").and_then(Value::as_array) else { return };
    let (words, mut others) = together(alternatives);
    let Some(mut words) = words else { return };
    if others.is_empty() {
        schema.remove("oneOf");
        let about = [schema.get("description"), words.get("description")];
        let about: Vec<&str> = about.into_iter().flatten().filter_map(Value::as_str).collect();
        let about = about.join("\n\n");
        if !about.is_empty() {
            words.insert("description".to_owned(), about.into());
        }
        schema.ensure_object().extend(words);
    } else {
        others.insert(0, Value::Object(words));
        schema.insert("oneOf".to_owned(), Value::Array(others));
    }
}

/// Of alternatives those that are words, as one, and the others.
fn together(alternatives: &[Value]) -> (Option<Map<String, Value>>, Vec<Value>) {
    let (mut words, mut meanings, mut others) = (Vec::new(), Vec::new(), Vec::new());
    for alternative in alternatives {
        let Some(some) = words_of(alternative) else {
            others.push(alternative.clone());
            continue;
        };
        if let (Some(meaning), [Value::String(word)]) =
            (alternative["description"].as_str(), some.as_slice())
        {
            meanings.push(format!("- `{word}`: {meaning}"));
        }
        words.extend(some);
    }
    if words.is_empty() {
        return (None, others);
    }
    let mut described = Map::new();
    described.insert("type".to_owned(), "string".into());
    described.insert("enum".to_owned(), Value::Array(words));
    if !meanings.is_empty() {
        described.insert("description".to_owned(), meanings.join("\n").into());
    }
    (Some(described), others)
}

/// The words that a schema allows, if it allows nothing else.
fn words_of(schema: &Value) -> Option<Vec<Value>> {
    if schema["type"] != "string" {
        return None;
    }
    match schema.get("const") {
        Some(word) => Some(vec![word.clone()]),
        None => schema.get("enum")?.as_array().cloned(),
    }
}

fn media(content: Content, generator: &mut SchemaGenerator) -> (&'static str, Value) {
    match content {
        Content::Json(make) => (JSON, made(make, generator)),
        Content::Unnamed(make) => (JSON, without_name(made(make, generator))),
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

#[cfg(test)]
mod tests {
    use super::*;

    fn plainly(schema: Value) -> Value {
        let mut schema = Schema::try_from(schema).unwrap();
        plain(&mut schema);
        schema.to_value()
    }

    #[test]
    fn what_may_be_anything_is_an_object_without_a_word() {
        assert_eq!(plainly(json!(true)), json!({}));
        assert_eq!(plainly(json!(false)), json!(false));
        let data = json!({ "properties": { "data": true }, "additionalProperties": false });
        let plain = json!({ "properties": { "data": {} }, "additionalProperties": false });
        assert_eq!(plainly(data), plain);
    }

    #[test]
    fn words_with_meanings_are_one_list() {
        let states = json!({ "description": "Where it is.", "oneOf": [
            { "type": "string", "enum": ["A", "B"] },
            { "description": "The last.", "type": "string", "const": "C" },
        ] });
        let about = "Where it is.\n\n- `C`: The last.";
        let list = json!({ "description": about, "type": "string", "enum": ["A", "B", "C"] });
        assert_eq!(plainly(states), list);
    }

    #[test]
    fn other_alternatives_stay_as_they_are() {
        let path = json!({ "type": "object", "properties": { "path": { "type": "string" } } });
        let tagged = json!({ "type": "object", "properties": {
            "kind": { "type": "string", "const": "a" },
        } });
        let none = json!({ "type": "string", "const": "none" });
        let words = json!({ "type": "string", "enum": ["none"] });
        let mixed = plainly(json!({ "oneOf": [&path, &none, &tagged] }));
        assert_eq!(mixed, json!({ "oneOf": [&words, &path, &tagged] }));
        let objects = json!({ "oneOf": [path, tagged] });
        assert_eq!(plainly(objects.clone()), objects);
    }
}
