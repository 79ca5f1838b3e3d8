use serde_json::{Value as Json, json};

use super::*;
use crate::edit::{self, Step};
use crate::parse::parse;
use crate::problem::Problem;
use crate::render::{to_json, to_yaml};
use crate::spec::JobSpec;

const V1: &str = r#"{
  "jobName": "first",
  "image": "berth/base:latest",
  "taskRoles": [
    {
      "name": "worker",
      "taskNumber": 3,
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
    instances: 3
    dockerImage: image
    resourcePerInstance:
      cpu: 1
      memoryMB: 256
      gpu: 0
    commands:
      - echo 1
";

fn base(notation: Notation) -> &'static str {
    match notation {
        Notation::V1 => V1,
        Notation::V2 => V2,
    }
}

/// All fields that have a place in a notation, each with what it holds there and the way to it.
fn fields(notation: Notation) -> Vec<(Field, Kind, Vec<Step>)> {
    let all = JobField::ALL.map(Field::Job).into_iter().chain(RoleField::ALL.map(Field::Role));
    let placed = all.filter_map(|field| Some((field, field.place(notation)?)));
    let found = placed.map(|(field, place)| {
        let key = place.object.keys().iter().find(|key| key.name == place.key);
        (field, key.unwrap().kind, steps(field, notation))
    });
    found.collect()
}

fn steps(field: Field, notation: Notation) -> Vec<Step> {
    const ROLE: &str = "the role";
    let (path, mut steps) = match field {
        Field::Job(field) => (field.path(notation), Vec::new()),
        Field::Role(field) => {
            let path = field.path(notation, ROLE, "worker").unwrap();
            let role = match notation {
                Notation::V1 => Step::Index(0),
                Notation::V2 => Step::Key("worker".to_owned()),
            };
            match path.strip_prefix(&format!("{ROLE}.")) {
                Some(rest) => (rest.to_owned(), vec![Step::Key("taskRoles".to_owned()), role]),
                None => (path, Vec::new()),
            }
        }
    };
    steps.extend(path.split('.').map(|key| Step::Key(key.to_owned())));
    steps
}

/// Something that a key may hold and the texts above do not say.
fn sample(field: Field, kind: Kind) -> Json {
    match kind {
        Kind::Whole { min, .. } => (min.max(0) + 1).into(),
        Kind::Tasks { .. } => 2.into(),
        Kind::Gpus => 0.25.into(),
        Kind::TimeLimit => "2h 30m".into(),
        Kind::Moment => "2026-12-01T08:00:00Z".into(),
        Kind::Flag => true.into(),
        Kind::Labels => json!({ "rack": "3" }),
        Kind::Environment => json!({ "A": "1" }),
        Kind::Secrets => json!({ "token": "x" }),
        Kind::Word if field == Field::Job(JobField::Priority) => "prod".into(),
        Kind::Text
        | Kind::OptionalText
        | Kind::Word
        | Kind::JobName
        | Kind::PlainName
        | Kind::RoleName
        | Kind::DottedName
        | Kind::Names => "other".into(),
        Kind::OneOf(words) => words[words.len() - 1].into(),
        Kind::PriorityClass
        | Kind::Version
        | Kind::Image
        | Kind::Uri
        | Kind::Texts
        | Kind::Commands
        | Kind::PortCounts
        | Kind::Map
        | Kind::Anything
        | Kind::One(_)
        | Kind::List(_)
        | Kind::ByWord(_)
        | Kind::ByRole(_) => panic!("say here what a field of {kind:?} may hold"),
    }
}

fn read(text: &str) -> Result<JobSpec, Vec<Problem>> {
    parse(text).map(|parsed| parsed.spec)
}

#[test]
fn every_field_is_read_where_the_table_has_it_and_survives_both_notations() {
    for notation in Notation::ALL {
        let before = read(base(notation)).unwrap();
        for (field, kind, steps) in fields(notation) {
            let text = edit::set(base(notation), &steps, &sample(field, kind)).unwrap();
            let spec = read(&text).unwrap_or_else(|problems| panic!("{text}\n{problems:?}"));
            let same = JobSpec { dialect: before.dialect, ..spec.clone() };
            assert_ne!(same, before, "{field:?} says nothing in {text}");
            for written in [to_json(&spec), to_yaml(&spec)] {
                let back = read(&written).unwrap();
                let back = JobSpec { dialect: spec.dialect, ..back };
                assert_eq!(back, spec, "{written}");
            }
        }
    }
}

#[test]
fn whole_numbers_beyond_their_bounds_are_refused_where_they_stand() {
    for notation in Notation::ALL {
        for (field, kind, steps) in fields(notation) {
            let Kind::Whole { min, max } = kind else { continue };
            for beyond in [min - 1, max + 1] {
                let text = edit::set(base(notation), &steps, &beyond.into()).unwrap();
                let problems = read(&text).expect_err(&text);
                let Some(Step::Key(key)) = steps.last() else { panic!("{field:?} has no key") };
                assert!(problems.iter().any(|it| it.path.ends_with(key)), "{problems:?}");
            }
        }
    }
}

#[test]
fn what_has_a_word_of_its_own_does_not_stand_under_extras() {
    let path = |field: JobField, notation| field.path(notation);
    assert_eq!(path(JobField::CodeDir, Notation::V1), "codeDir");
    assert_eq!(path(JobField::CodeDir, Notation::V2), "extras.berth.codeDir");
    assert_eq!(path(JobField::VirtualCluster, Notation::V2), "defaults.virtualCluster");
    assert_eq!(path(JobField::TimeLimit, Notation::V1), "extras.berth.timeLimit");
    assert_eq!(path(JobField::GraceSeconds, Notation::V2), "extras.berth.grace.seconds");
    let disk = |notation| RoleField::Disk.path(notation, "taskRoles[0]", "a.b").unwrap();
    assert_eq!(disk(Notation::V1), "taskRoles[0].storageGB");
    assert_eq!(disk(Notation::V2), "extras.berth.taskRoles[\"a.b\"].storageGB");
    let cpus = RoleField::Cpus.path(Notation::V2, "taskRoles.worker", "worker");
    assert_eq!(cpus.as_deref(), Some("taskRoles.worker.resourcePerInstance.cpu"));
    assert_eq!(RoleField::Name.path(Notation::V2, "taskRoles.worker", "worker"), None);
}

#[test]
fn keys_are_ordered_as_the_documents_list_them() {
    let mut keys = ["command", "jobName", "commands", "unheard", "cpuNumber", "image", "name"];
    keys.sort_by_key(|key| rank(key));
    assert_eq!(keys, ["name", "cpuNumber", "command", "jobName", "image", "commands", "unheard"]);
}
