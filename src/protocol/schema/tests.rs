use std::collections::BTreeSet;

use serde_json::Value;

use crate::fields::{Notation, Object};

fn keys(schema: &Value) -> BTreeSet<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_schemas_name_exactly_the_keys_of_the_table() {
    for (notation, schema) in [(Notation::V1, super::v1()), (Notation::V2, super::v2())] {
        let mut parts: BTreeSet<&str> =
            schema["definitions"].as_object().unwrap().keys().map(String::as_str).collect();
        for object in Object::ALL.into_iter().filter(|object| object.is_of(notation)) {
            let described = match object {
                Object::V1Job | Object::V2Job => &schema,
                part => &schema["definitions"][part.name()],
            };
            parts.remove(object.name());
            let known: BTreeSet<&str> = object.keys().iter().map(|key| key.name).collect();
            assert_eq!(keys(described), known, "{object:?}");
            assert_eq!(known.len(), object.keys().len(), "{object:?} has a key twice");
        }
        assert_eq!(parts, BTreeSet::new());
    }
}

/// What a schema refers to.
fn referred<'s>(schema: &'s Value, found: &mut Vec<&'s str>) {
    match schema {
        Value::Object(map) => {
            found.extend(map.get("$ref").and_then(Value::as_str));
            map.values().for_each(|part| referred(part, found));
        }
        Value::Array(items) => items.iter().for_each(|part| referred(part, found)),
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
    }
}

#[test]
fn what_the_schemas_refer_to_is_there() {
    for schema in [super::v1(), super::v2()] {
        let mut found = Vec::new();
        referred(&schema, &mut found);
        assert!(found.len() > 5, "{found:?}");
        for part in found {
            let place = part.strip_prefix('#').unwrap();
            assert!(schema.pointer(place).is_some(), "{part}");
        }
    }
}

#[test]
fn every_key_is_explained() {
    fn check(schema: &Value, at: &str) {
        for (key, property) in schema["properties"].as_object().into_iter().flatten() {
            assert!(property["description"].is_string(), "{at}.{key} has no description");
        }
        for (name, definition) in schema["definitions"].as_object().into_iter().flatten() {
            check(definition, name);
        }
    }
    check(&super::v1(), "v1");
    check(&super::v2(), "v2");
}

#[test]
fn minimums_patterns_and_defaults_are_there() {
    let v1 = super::v1();
    let role = &v1["definitions"]["TaskRole"];
    assert_eq!(role["properties"]["memoryMB"]["minimum"], 100);
    assert!(role["properties"]["memoryMB"].get("maximum").is_none(), "nobody has so much");
    assert_eq!(role["properties"]["cpuNumber"]["maximum"], 65_536);
    assert_eq!(role["properties"]["shmMB"]["default"], 64);
    assert!(role["properties"]["portList"].get("default").is_none());
    assert!(role["properties"]["minSucceededTaskCount"]["default"].is_null());
    assert!(role["properties"]["minSucceededTaskCount"].get("default").is_some());
    assert_eq!(role["properties"]["name"]["pattern"], "^[A-Za-z0-9._~-]+$");
    let port = &v1["definitions"]["Port"];
    assert_eq!(port["properties"]["label"]["pattern"], "^[A-Za-z0-9._~]+$");
    let gpus = &role["properties"]["gpuNumber"];
    assert_eq!(
        (&gpus["anyOf"][1]["exclusiveMaximum"], &gpus["examples"][1]),
        (&1.into(), &0.25.into())
    );
    let required: Vec<&str> =
        role["required"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
    assert_eq!(required, ["name", "taskNumber", "cpuNumber", "memoryMB", "gpuNumber", "command"]);
    assert_eq!(role["additionalProperties"], false);
    let v2 = super::v2();
    assert_eq!(v2["properties"]["type"]["const"], "job");
    assert_eq!(v2["definitions"]["Completion"]["properties"]["minFailedInstances"]["default"], 1);
}
