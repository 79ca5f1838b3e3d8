use std::collections::BTreeSet;

use serde_json::Value;

use crate::parse::known_keys;

fn keys(schema: &Value) -> BTreeSet<&str> {
    schema["properties"].as_object().unwrap().keys().map(String::as_str).collect()
}

#[test]
fn the_schemas_know_the_keys_that_the_reader_knows() {
    let (v1, v2) = (super::v1(), super::v2());
    for (schema, definition, known) in known_keys() {
        let schema = if schema == 1 { &v1 } else { &v2 };
        let schema = match definition {
            "Job" => schema,
            name => &schema["definitions"][name],
        };
        let known: BTreeSet<&str> = known.into_iter().collect();
        assert_eq!(keys(schema), known, "{definition}");
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
    assert_eq!(role["properties"]["shmMB"]["default"], 64);
    assert!(role["properties"]["portList"].get("default").is_none());
    assert!(role["properties"]["minSucceededTaskCount"]["default"].is_null());
    assert!(role["properties"]["minSucceededTaskCount"].get("default").is_some());
    assert_eq!(role["properties"]["name"]["pattern"], "^[A-Za-z0-9._~]+$");
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
