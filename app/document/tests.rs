use protocol::document::join;
use protocol::fields::{Field, JobField, Kind, Object, RoleField};

use super::{Edit, Tree};
use crate::json::from_json;

const V1: &str = r#"{
  // a comment
  "jobName": "first",
  "image": "berth/base:latest",
  "taskRoles": [
    {
      "name": "worker", // the only one
      "taskNumber": 2,
      "cpuNumber": 1,
      "memoryMB": 256,
      "gpuNumber": 0,
      "command": "echo 1"
    }
  ]
}
"#;

const V2: &str = "\
protocolVersion: 2
name: second
type: job
prerequisites:
  - name: image
    type: dockerimage
    uri: berth/base:latest
taskRoles:
  worker:
    instances: 1 # one
    dockerImage: image
    resourcePerInstance:
      cpu: 1
      memoryMB: 256
      gpu: 0
    commands:
      - echo 1
";

fn edited(text: &str, edits: &[Edit]) -> String {
    edits.iter().fold(text.to_owned(), |text, edit| {
        edit.apply(&text).unwrap_or_else(|problems| panic!("{edit:?} in {text}: {problems:?}"))
    })
}

fn is_valid(text: &str) {
    let parsed = protocol::parse::parse(text);
    assert!(parsed.is_ok(), "{text}\n{:?}", parsed.err());
}

/// What can be typed into a field, and whether it is a number; none where it is no text.
fn sample(field: Field) -> Option<(&'static str, bool)> {
    let mut keys = Object::ALL.into_iter().flat_map(Object::keys);
    let key = keys.find(|key| key.field == Some(field))?;
    match (key.kind, field) {
        (Kind::Environment | Kind::Secrets, _) => None,
        (_, Field::Role(RoleField::Memory)) => Some(("512", true)),
        (_, Field::Job(JobField::Priority)) => Some(("prod", false)),
        (Kind::TimeLimit, _) => Some(("2h 30m", false)),
        (Kind::Moment, _) => Some(("2026-12-01T08:00:00Z", false)),
        (Kind::OneOf(words), _) => Some((words[0], false)),
        (Kind::Labels, _) => Some(("rack=3, disk=fast", false)),
        (Kind::Whole { .. } | Kind::Tasks { .. } | Kind::Gpus, _) => Some(("1", true)),
        (_, Field::Job(_) | Field::Role(_)) => Some(("other", false)),
    }
}

#[test]
fn every_field_of_a_job_can_be_written_read_and_taken_out() {
    for text in [V1, V2] {
        for field in JobField::ALL {
            let Some((typed, number)) = sample(Field::Job(field)) else { continue };
            let path = Tree::read(text).unwrap().job_path(field);
            let changed = edited(text, &[Edit::typed(&path, typed, number, false)]);
            is_valid(&changed);
            let tree = Tree::read(&changed).unwrap();
            assert_eq!(tree.text(&tree.job_path(field)), typed, "{changed}");
            if field != JobField::Name {
                let back = edited(&changed, &[Edit::typed(&path, "", number, false)]);
                is_valid(&back);
                assert_eq!(Tree::read(&back).unwrap().text(&path), "", "{back}");
            }
        }
    }
}

#[test]
fn every_field_of_a_role_can_be_written_and_read() {
    for text in [V1, V2] {
        let tree = Tree::read(text).unwrap();
        let role = tree.roles().remove(0);
        for field in RoleField::ALL {
            let Some(path) = tree.role_path(&role, field) else { continue };
            let (typed, number) = sample(Field::Role(field)).unwrap();
            let changed = edited(text, &[Edit::typed(&path, typed, number, false)]);
            is_valid(&changed);
            assert_eq!(Tree::read(&changed).unwrap().text(&path), typed, "{changed}");
        }
    }
}

#[test]
fn comments_stay_where_they_are() {
    let changed = edited(V1, &[Edit::typed("taskRoles[0].taskNumber", "3", true, true)]);
    assert_eq!(changed, V1.replace("\"taskNumber\": 2", "\"taskNumber\": 3"));
    let path = "taskRoles.worker.instances";
    let changed = edited(V2, &[Edit::typed(path, "3", true, true)]);
    assert_eq!(changed, V2.replace("instances: 1", "instances: 3"));
}

#[test]
fn roles_and_ports_are_added_renamed_and_removed() {
    for text in [V1, V2] {
        let tree = Tree::read(text).unwrap();
        let grown = edited(text, &tree.add_role());
        let tree = Tree::read(&grown).unwrap();
        let role = tree.roles().pop().unwrap();
        assert_eq!((tree.roles().len(), role.name.as_str()), (2, "role_1"), "{grown}");

        let command = tree.command_paths(&role).remove(0);
        let grown = edited(&grown, &[Edit::Set(command, "a\nb".into())]);
        let grown = edited(&grown, &Tree::read(&grown).unwrap().add_port(&role));
        is_valid(&grown);
        let tree = Tree::read(&grown).unwrap();
        let port = tree.ports(&role).remove(0);
        let renamed = edited(&grown, &tree.rename_port(&port, "tensorboard"));
        is_valid(&renamed);
        let tree = Tree::read(&renamed).unwrap();
        assert_eq!(tree.ports(&role)[0].label, "tensorboard", "{renamed}");

        let less = edited(&renamed, &[Edit::Remove(role.path.clone())]);
        is_valid(&less);
        assert_eq!(Tree::read(&less).unwrap().roles().len(), 1, "{less}");
    }
}

#[test]
fn what_a_text_says_comes_with_a_page() {
    let deep = format!("{{\"extras\": {}1{}}}", "[".repeat(50), "]".repeat(50));
    for text in [V1, V2, deep.as_str()] {
        let tree = Tree::read(text).unwrap();
        let written = serde_json::to_string(&tree).unwrap();
        assert_eq!(from_json(&written), Ok(tree));
    }
}

#[test]
fn variables_with_odd_names_are_found_again() {
    for text in [V1, V2] {
        let tree = Tree::read(text).unwrap();
        let path = join(&tree.env_path(), "a.b");
        let changed = edited(text, &[Edit::Set(path.clone(), "1".into())]);
        let tree = Tree::read(&changed).unwrap();
        assert_eq!(
            (tree.keys(&tree.env_path()), tree.text(&path)),
            (vec!["a.b".to_owned()], "1".to_owned())
        );
        let renamed = edited(&changed, &Tree::rename(&path, "PLAIN"));
        is_valid(&renamed);
        assert_eq!(Tree::read(&renamed).unwrap().keys(&tree.env_path()), ["PLAIN"]);
    }
}

#[test]
fn what_is_renamed_stays_in_its_place_and_takes_no_name_of_another() {
    for text in [V1, V2] {
        let holder = Tree::read(text).unwrap().env_path();
        let set = |name: &str| Edit::Set(join(&holder, name), name.into());
        let two = edited(text, &[set("FIRST"), set("SECOND")]);
        let path = join(&holder, "FIRST");
        let renamed = edited(&two, &Tree::rename(&path, "OTHER"));
        is_valid(&renamed);
        let tree = Tree::read(&renamed).unwrap();
        assert_eq!(tree.keys(&holder), ["OTHER", "SECOND"], "{renamed}");
        assert_eq!(tree.text(&join(&holder, "OTHER")), "FIRST");
        for edit in Tree::rename(&path, "SECOND") {
            assert!(edit.apply(&two).is_err(), "{two}");
        }
    }
}
