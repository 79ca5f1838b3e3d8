use serde_json::json;

use crate::parse::{Parsed, parse};
use crate::problem::Problem;
use crate::render::{to_json, to_yaml};
use crate::storages::{Asked, AskedStorage, asked};

/// A job whose `extras` say this.
fn job(extras: &str) -> String {
    format!(
        "protocolVersion: 2\nname: a\ntype: job\nprerequisites:\n- {{name: i, type: dockerimage, uri: \
         u/i}}\ntaskRoles:\n  worker:\n    dockerImage: i\n    resourcePerInstance: {{cpu: 1, \
         memoryMB: 100, gpu: 0}}\n    commands: [run]\nextras:\n{extras}"
    )
}

fn read(extras: &str) -> Parsed {
    parse(&job(extras)).unwrap_or_else(|problems| panic!("{extras}\n{problems:?}"))
}

fn problems(extras: &str) -> Vec<Problem> {
    parse(&job(extras)).map(|parsed| parsed.spec).expect_err("a file with a mistake in it")
}

fn these(storages: &[(&str, Option<&str>)]) -> Option<Asked> {
    let one = |(name, target): &(&str, Option<&str>)| AskedStorage {
        name: name.parse().unwrap(),
        target: target.map(str::to_owned),
    };
    Some(Asked::These(storages.iter().map(one).collect()))
}

fn plugin(parameters: &str) -> String {
    format!(
        "  com.microsoft.pai.runtimeplugin:\n  - {{plugin: teamwise_storage, parameters: {parameters}}}\n"
    )
}

#[test]
fn what_a_job_asks_of_storages_is_read_by_either_word() {
    for (extras, expected) in [
        ("  other: 1\n".to_owned(), None),
        ("  storages:\n".to_owned(), None),
        ("  storages: []\n".to_owned(), Some(Asked::Defaults)),
        (
            "  storages: [{name: nfs}, {name: team, mountPath: /data/team}]\n".to_owned(),
            these(&[("nfs", None), ("team", Some("/data/team"))]),
        ),
        (plugin("{}"), Some(Asked::Defaults)),
        (plugin("{storageConfigNames: [NFS_A, b]}"), these(&[("NFS_A", None), ("b", None)])),
        (
            plugin("{storageConfigNames: [a, b]}") + "  storages: [{name: b, mountPath: /b}]\n",
            these(&[("b", Some("/b")), ("a", None)]),
        ),
        (plugin("{}") + "  storages: [{name: b}]\n", these(&[("b", None)])),
    ] {
        let parsed = read(&extras);
        assert_eq!(asked(&parsed.spec), expected, "{extras}");
        assert_eq!(parsed.warnings, Vec::<String>::new(), "{extras}");
        for written in [to_json(&parsed.spec), to_yaml(&parsed.spec)] {
            assert_eq!(asked(&parse(&written).unwrap().spec), expected, "{written}");
        }
    }
}

#[test]
fn what_is_wrong_with_them_is_told_at_its_place() {
    for (storages, path, message) in [
        ("{}", "", "storages is an object, not a list"),
        ("[nfs]", "[0]", "storages[0] is a text, not an object"),
        ("[{mountPath: /a}]", "[0].name", "name is missing"),
        ("[{name: a/b}]", "[0].name", "\"a/b\" is not a valid storage name"),
        ("[{name: a}, {name: a}]", "[1].name", "there are two storages \"a\""),
        (
            "[{name: a, mountPath: data}]",
            "[0].mountPath",
            "mountPath is \"data\", not the path of a folder",
        ),
        (
            "[{name: a, mountPath: /x/../etc}]",
            "[0].mountPath",
            "mountPath is \"/x/../etc\", not the path of a folder",
        ),
        (
            "[{name: a, mountPath: /.berth/bin}]",
            "[0].mountPath",
            "mountPath is \"/.berth/bin\", but /.berth is no place for a storage",
        ),
    ] {
        let found = problems(&format!("  storages: {storages}\n"));
        assert_eq!(found.len(), 1, "{found:?}");
        assert_eq!(found[0].path, format!("extras.storages{path}"));
        assert_eq!(found[0].message, message);
    }
    let many: Vec<_> = (0..33).map(|at| json!({ "name": format!("s{at}") })).collect();
    let found = problems(&format!("  storages: {}\n", json!(many)));
    assert_eq!(found[0].message, "33 storages are more than 32");
    let warnings = read("  storages: [{name: a, share: true}]\n").warnings;
    assert_eq!(warnings, ["not used here: extras.storages[0].share"]);
}
