use serde_json::{Value as Json, json};

use super::{Step, remove, rename, set, value};

/// `a.b[0].c`, `a[]` for a new item.
fn path(text: &str) -> Vec<Step> {
    text.split(['.', '['])
        .filter(|step| !step.is_empty())
        .map(|step| match step.strip_suffix(']') {
            Some("") => Step::Append,
            Some(index) => Step::Index(index.parse().unwrap()),
            None => Step::Key(step.to_owned()),
        })
        .collect()
}

#[track_caller]
fn sets(before: &str, at: &str, new: Json, after: &str) {
    let edited = set(before, &path(at), &new);
    assert_eq!(edited.as_deref(), Ok(after), "\n{}", edited.as_deref().unwrap_or_default());
}

#[track_caller]
fn removes(before: &str, at: &str, after: &str) {
    let edited = remove(before, &path(at));
    assert_eq!(edited.as_deref(), Ok(after), "\n{}", edited.as_deref().unwrap_or_default());
}

const JSON: &str = r#"{
  // the name
  "jobName": "a", // short
  "taskRoles": [
    {
      "name": "x", /* one */
      "gpuNumber": 0
    } // the last
  ]
}
"#;

#[test]
fn json_is_changed_in_place() {
    sets(JSON, "jobName", json!("b"), &JSON.replace("\"a\"", "\"b\""));
    sets(JSON, "taskRoles[0].gpuNumber", json!(8), &JSON.replace("Number\": 0", "Number\": 8"));
    let with_key = JSON.replace("\"gpuNumber\": 0", "\"gpuNumber\": 0,\n      \"cpuNumber\": 2");
    sets(JSON, "taskRoles[0].cpuNumber", json!(2), &with_key);
    let with_role =
        JSON.replace("} // the last", "}, // the last\n    {\n      \"name\": \"y\"\n    }");
    sets(JSON, "taskRoles[]", json!({ "name": "y" }), &with_role);
    let role = json!({ "command": "c", "cpuNumber": 1, "name": "n", "taskNumber": 2 });
    let written = "{\n  \"r\": {\n    \"name\": \"n\",\n    \"taskNumber\": 2,\n    \"cpuNumber\": 1,\n    \
                   \"command\": \"c\"\n  }\n}";
    sets("{}", "r", role, written);
    sets("{}", "a.b[]", json!(1), "{\n  \"a\": {\n    \"b\": [\n      1\n    ]\n  }\n}");
    sets("{\"a\": 1}", "b", json!(2), "{\"a\": 1, \"b\": 2}");
    sets("{\"a\": 1,}", "b", json!(2), "{\"a\": 1, \"b\": 2}");
    sets("\u{feff}{\"a\": null}", "a.b", json!(1), "\u{feff}{\"a\": {\n  \"b\": 1\n}}");
}

#[test]
fn keys_are_renamed_where_they_stand() {
    let (of_job, of_role) = ("\"jobName\"", "\"name\"");
    let (job, role) = (JSON.replace(of_job, "\"job\""), JSON.replace(of_role, "\"a b\""));
    for (before, at, key, after) in [
        (JSON, "jobName", "job", job.as_str()),
        (JSON, "taskRoles[0].name", "a b", role.as_str()),
        ("a: 1 # one\nb: 2\n", "a", "c", "c: 1 # one\nb: 2\n"),
        ("a: 1\n'b': {x: 1, y: 2}\n", "b.x", "y z", "a: 1\n'b': {\"y z\": 1, y: 2}\n"),
        ("a: 1\n'b': 2\nd:\n", "b", "c", "a: 1\nc: 2\nd:\n"),
        ("l:\n  - a:\n      x: 1\n", "l[0].a", "c", "l:\n  - c:\n      x: 1\n"),
    ] {
        assert_eq!(rename(before, &path(at), key).as_deref(), Ok(after));
    }
    for (at, key) in [("a", "b"), ("c", "d"), ("a.x", "y"), ("", "a")] {
        assert!(rename("a: 1\nb: 2\n", &path(at), key).is_err(), "{at} to {key}");
    }
}

#[test]
fn json_parts_are_taken_out() {
    removes(
        JSON,
        "taskRoles[0].gpuNumber",
        &JSON.replace(", /* one */\n      \"gpuNumber\": 0", " /* one */"),
    );
    removes("{\"a\": 1, \"b\": 2}", "a", "{\"b\": 2}");
    removes("{\"a\": 1, \"b\": 2}", "b", "{\"a\": 1}");
    removes("[1, 2]".replace("[1, 2]", "{\"l\": [1, 2]}").as_str(), "l[1]", "{\"l\": [1]}");
    removes(JSON, "nothing", JSON);
    let lines = "{\n  \"a\": 1,\n  // about b\n  \"b\": 2\n}\n";
    removes(lines, "a", "{\n  // about b\n  \"b\": 2\n}\n");
}

const YAML: &str = "# a job
name: a # short
taskRoles:
  worker: # the only one
    instances: 1
    commands:
      - |
        cd x
        make # all
      - echo done
  # the end of the roles
list:
- name: x
  type: y
- name: z
empty:
bare: {}
flow: {a: 1, b: [1]}
";

#[test]
fn yaml_is_changed_in_place() {
    sets(YAML, "name", json!("b c"), &YAML.replace("name: a #", "name: b c #"));
    sets(YAML, "name", json!("2"), &YAML.replace("name: a #", "name: \"2\" #"));
    sets(
        YAML,
        "taskRoles.worker.instances",
        json!(3),
        &YAML.replace("instances: 1", "instances: 3"),
    );
    sets(
        YAML,
        "taskRoles.worker.commands[0]",
        json!("one"),
        &YAML.replace("|\n        cd x\n        make # all", "one"),
    );
    sets(
        YAML,
        "taskRoles.worker.commands[1]",
        json!("a\nb"),
        &YAML.replace("- echo done", "- |-\n        a\n        b"),
    );
    sets(YAML, "name", json!("x\ny"), &YAML.replace("a # short", "|- # short\n  x\n  y"));
    sets(YAML, "flow.b[0]", json!("q"), &YAML.replace("[1]", "[\"q\"]"));
    sets(YAML, "flow.c", json!(2), &YAML.replace("[1]}", "[1], \"c\": 2}"));
    sets(YAML, "empty", json!(5), &YAML.replace("empty:", "empty: 5"));
    sets(YAML, "empty.k", json!(5), &YAML.replace("empty:", "empty:\n  k: 5"));
    sets(YAML, "bare.k", json!(5), &YAML.replace("bare: {}", "bare:\n  k: 5"));
    sets(
        YAML,
        "taskRoles.worker",
        json!({ "instances": 2 }),
        &YAML.replace(
            "    instances: 1\n    commands:\n      - |\n        cd x\n        make # all\n      - echo done",
            "    instances: 2",
        ),
    );
}

#[test]
fn yaml_grows() {
    sets(
        YAML,
        "taskRoles.ps.instances",
        json!(2),
        &YAML.replace("- echo done", "- echo done\n  ps:\n    instances: 2"),
    );
    sets(
        YAML,
        "taskRoles.worker.commands[]",
        json!("ls"),
        &YAML.replace("- echo done", "- echo done\n      - ls"),
    );
    sets(
        YAML,
        "list[]",
        json!({ "name": "w", "type": "v" }),
        &YAML.replace("- name: z", "- name: z\n- name: w\n  type: v"),
    );
    sets(YAML, "list[1].type", json!("t"), &YAML.replace("- name: z", "- name: z\n  type: t"));
    sets(YAML, "new", json!([]), &format!("{YAML}new: []\n"));
}

#[test]
fn yaml_parts_are_taken_out() {
    removes(YAML, "name", &YAML.replace("name: a # short\n", ""));
    removes(YAML, "list[0].name", &YAML.replace("- name: x\n  type: y", "- type: y"));
    removes(YAML, "list[0]", &YAML.replace("- name: x\n  type: y\n", ""));
    removes(YAML, "list[1]", &YAML.replace("- name: z\n", ""));
    removes(YAML, "list[1].name", &YAML.replace("- name: z", "- {}"));
    removes(YAML, "flow.a", &YAML.replace("{a: 1, b", "{b"));
    removes(
        YAML,
        "taskRoles.worker.commands[0]",
        &YAML.replace("      - |\n        cd x\n        make # all\n", ""),
    );
}

#[test]
fn keys_without_values_keep_their_places() {
    // With braces first it would be JSON.
    let yaml = |text: &str| format!("# x\n{text}");
    for (before, after) in [
        ("{a: 1, b}", "{a: 1, b, \"c\": 2}"),
        ("{a: 1, b,}", "{a: 1, b, \"c\": 2,}"),
        ("{a: 1, b: }", "{a: 1, b:, \"c\": 2 }"),
    ] {
        sets(&yaml(before), "c", json!(2), &yaml(after));
    }
    removes(&yaml("{a: 1, b}"), "b", &yaml("{a: 1}"));
    removes(&yaml("{b, a: 1}"), "b", &yaml("{a: 1}"));
    for odd in ["{/u0000\": A, -0.0, .5, 0x1F,3d\",}", "{a, 3d\",}", "{3d\",}", "{b,}", "{b}"] {
        let odd = yaml(odd);
        assert!(value(&odd).is_ok(), "{odd}");
        for step in ["b", "c"] {
            let _may_be_refused = set(&odd, &path(step), &json!(2));
            let _may_be_refused = remove(&odd, &path(step));
        }
    }
}

#[test]
fn what_cannot_be_changed_alone_is_refused() {
    let alias = "a: &x\n  k: 1\nb: *x\n";
    assert!(set(alias, &path("b.k"), &json!(2)).is_err());
    sets(alias, "b", json!(2), "a: &x\n  k: 1\nb: 2\n");
    assert!(set("{\"a\": 1}", &path("a.b"), &json!(2)).is_err());
    assert!(set("{\"a\": [1]}", &path("a[5]"), &json!(2)).is_err());
    assert!(value("{\"a\"").is_err());
}
