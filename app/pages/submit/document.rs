//! The text of a job file as the form sees it: where each of its fields stands in either notation,
//! what stands there, and how it is changed without touching anything else.

use protocol::document::{Document, Node, Value, join};
use protocol::edit::{self, Step};
use protocol::fields::{HIVED, JobField, Notation, RoleField};
use protocol::problem::Problem;
use serde::{Deserialize, Serialize};
use serde_json::Value as Json;

use crate::json::from_json;
use crate::pages::submit::shown::Shown;

/// What a text says, if it could be read.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Tree {
    root: Shown,
    pub(crate) notation: Notation,
}

/// A task role in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Role {
    /// Where it stands: `taskRoles[0]` or `taskRoles.worker`.
    pub(crate) path: String,
    /// Its name.
    pub(crate) name: String,
}

/// A group of ports of a role.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Port {
    /// Where its label stands; in version 2 the label is the key itself.
    pub(crate) path: String,
    pub(crate) label: String,
    /// Where its count stands.
    pub(crate) count_path: String,
    /// Where its first port stands; version 2 has no word for it.
    pub(crate) begin_path: Option<String>,
}

impl Tree {
    /// Reads a text.
    pub(crate) fn read(text: &str) -> Result<Self, Problem> {
        let Document { root, .. } = Document::read(text)?;
        let is_v2 = root.get("protocolVersion").is_some()
            || matches!(root.get("taskRoles").map(|node| &node.value), Some(Value::Map(_)));
        let notation = if is_v2 { Notation::V2 } else { Notation::V1 };
        Ok(Self { root: Shown::of(&root, 0), notation })
    }

    /// What stands at a path.
    fn shown(&self, path: &str) -> Option<&Shown> {
        steps(path).iter().try_fold(&self.root, |shown, step| shown.at(step))
    }

    /// A value as it stands in an input: a list as `a, b`, an object as `a=1, b=2`; empty where
    /// nothing is given.
    pub(crate) fn text(&self, path: &str) -> String {
        match self.shown(path) {
            Some(Shown::List(items)) => {
                items.iter().map(Shown::plain).collect::<Vec<_>>().join(", ")
            }
            Some(Shown::Map(entries)) => {
                let pair = |(key, shown): &(String, Shown)| format!("{key}={}", shown.plain());
                entries.iter().map(pair).collect::<Vec<_>>().join(", ")
            }
            Some(Shown::Plain(text)) => text.clone(),
            None => String::new(),
        }
    }

    /// How many items the list at a path has.
    pub(crate) fn len(&self, path: &str) -> usize {
        match self.shown(path) {
            Some(Shown::List(items)) => items.len(),
            Some(Shown::Plain(_) | Shown::Map(_)) | None => 0,
        }
    }

    /// Whether there is a list at a path.
    pub(crate) fn is_list(&self, path: &str) -> bool {
        matches!(self.shown(path), Some(Shown::List(_)))
    }

    /// The keys of the object at a path, in the order of the text.
    pub(crate) fn keys(&self, path: &str) -> Vec<String> {
        match self.shown(path) {
            Some(Shown::Map(entries)) => entries.iter().map(|(key, _)| key.clone()).collect(),
            Some(Shown::Plain(_) | Shown::List(_)) | None => Vec::new(),
        }
    }

    /// The task roles in the order of the text.
    pub(crate) fn roles(&self) -> Vec<Role> {
        match self.notation {
            Notation::V1 => (0..self.len("taskRoles"))
                .map(|index| {
                    let path = format!("taskRoles[{index}]");
                    let name = self.text(&format!("{path}.name"));
                    Role { path, name }
                })
                .collect(),
            Notation::V2 => self
                .keys("taskRoles")
                .into_iter()
                .map(|name| Role { path: join("taskRoles", &name), name })
                .collect(),
        }
    }

    /// Where a field of the job stands.
    pub(crate) fn job_path(&self, field: JobField) -> String {
        let given = if field == JobField::Priority { self.priority_path() } else { None };
        given.unwrap_or_else(|| field.path(self.notation))
    }

    /// Where the scheduler's part has the priority, which then stays there.
    fn priority_path(&self) -> Option<String> {
        let paths = HIVED.map(|part| ["extras.", part, ".jobPriorityClass"].concat());
        paths.into_iter().find(|path| self.shown(path).is_some())
    }

    /// Where the environment stands.
    pub(crate) fn env_path(&self) -> String {
        self.job_path(JobField::Environment)
    }

    /// Where a field of a role stands; `None`: the form cannot change it in this notation.
    pub(crate) fn role_path(&self, role: &Role, field: RoleField) -> Option<String> {
        field.path(self.notation, &role.path, &role.name)
    }

    /// Where the image of a role stands. In version 1 all roles share one.
    pub(crate) fn image_path(&self, role: &Role) -> Option<String> {
        if self.notation == Notation::V1 {
            return Some("image".to_owned());
        }
        let wanted = self.text(&format!("{}.dockerImage", role.path));
        (0..self.len("prerequisites"))
            .map(|index| format!("prerequisites[{index}]"))
            .find(|path| {
                self.text(&format!("{path}.name")) == wanted
                    && self.text(&format!("{path}.type")) == "dockerimage"
            })
            .map(|path| format!("{path}.uri"))
    }

    /// Where the commands of a role stand: one in version 1, any number in version 2.
    pub(crate) fn command_paths(&self, role: &Role) -> Vec<String> {
        match self.notation {
            Notation::V1 => vec![format!("{}.command", role.path)],
            Notation::V2 => (0..self.len(&format!("{}.commands", role.path)).max(1))
                .map(|index| format!("{}.commands[{index}]", role.path))
                .collect(),
        }
    }

    /// The ports of a role.
    pub(crate) fn ports(&self, role: &Role) -> Vec<Port> {
        let list = self.ports_path(role);
        match self.notation {
            Notation::V1 => (0..self.len(&list))
                .map(|index| {
                    let path = format!("{list}[{index}]");
                    Port {
                        label: self.text(&format!("{path}.label")),
                        count_path: format!("{path}.portNumber"),
                        begin_path: Some(format!("{path}.beginAt")),
                        path,
                    }
                })
                .collect(),
            Notation::V2 => self
                .keys(&list)
                .into_iter()
                .map(|label| {
                    let path = join(&list, &label);
                    Port { label, count_path: path.clone(), begin_path: None, path }
                })
                .collect(),
        }
    }

    fn ports_path(&self, role: &Role) -> String {
        match self.notation {
            Notation::V1 => format!("{}.portList", role.path),
            Notation::V2 => format!("{}.resourcePerInstance.ports", role.path),
        }
    }
}

/// A change of the text.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) enum Edit {
    /// Puts a value at a path, which need not be there yet.
    Set(String, Json),
    /// Takes away what stands at a path.
    Remove(String),
    /// Puts at another path what stands at one.
    Move(String, String),
}

impl Edit {
    /// What was typed into a field. An empty field is taken out of the file, unless the file must
    /// have it.
    pub(crate) fn typed(path: &str, typed: &str, number: bool, required: bool) -> Self {
        let path = path.to_owned();
        if typed.is_empty() && !required {
            return Self::Remove(path);
        }
        let value = if number { number_of(typed.trim()) } else { None };
        Self::Set(path, value.unwrap_or_else(|| typed.into()))
    }

    /// The text after the change; all else in it stays as it was.
    pub(crate) fn apply(&self, text: &str) -> Result<String, Vec<Problem>> {
        match self {
            Self::Set(path, value) => edit::set(text, &steps(path), value),
            Self::Remove(path) => edit::remove(text, &steps(path)),
            Self::Move(from, to) => {
                let Document { root, .. } =
                    Document::read(text).map_err(|problem| vec![problem])?;
                let value = find(&root, &steps(from)).map_or(Json::Null, Node::to_json);
                edit::set(&edit::remove(text, &steps(from))?, &steps(to), &value)
            }
        }
    }
}

fn find<'a>(root: &'a Node, steps: &[Step]) -> Option<&'a Node> {
    steps.iter().try_fold(root, |node, step| match (step, &node.value) {
        (Step::Key(key), _) => node.get(key),
        (Step::Index(index), Value::List(items)) => items.get(*index),
        (Step::Index(_) | Step::Append, _elsewhere) => None,
    })
}

/// A number that is written as it was typed; on the way to `0.25`, `0.` is none yet.
fn number_of(typed: &str) -> Option<Json> {
    if let Ok(whole) = typed.parse::<i64>() {
        return Some(whole.into());
    }
    let number: serde_json::Number = from_json(typed).ok()?;
    (number.to_string() == typed).then_some(Json::Number(number))
}

impl Tree {
    /// Adds a task role under a name that no other has. Each key is an edit of its own, so that
    /// they stand in the order in which people write them.
    pub(crate) fn add_role(&self) -> Vec<Edit> {
        let roles = self.roles();
        let name = free_name("role", |name| roles.iter().any(|role| role.name == name));
        let (path, fields): (String, Vec<(&str, Json)>) = match self.notation {
            Notation::V1 => (
                format!("taskRoles[{}]", roles.len()),
                vec![
                    ("name", name.into()),
                    ("taskNumber", 1.into()),
                    ("cpuNumber", 1.into()),
                    ("memoryMB", 1024.into()),
                    ("gpuNumber", 0.into()),
                    ("command", "".into()),
                ],
            ),
            Notation::V2 => (
                join("taskRoles", &name),
                vec![
                    ("instances", 1.into()),
                    ("dockerImage", self.first_image().into()),
                    ("resourcePerInstance.cpu", 1.into()),
                    ("resourcePerInstance.memoryMB", 1024.into()),
                    ("resourcePerInstance.gpu", 0.into()),
                    ("commands[0]", "".into()),
                ],
            ),
        };
        set_all(&path, fields)
    }

    fn first_image(&self) -> String {
        (0..self.len("prerequisites"))
            .map(|index| format!("prerequisites[{index}]"))
            .find(|path| self.text(&format!("{path}.type")) == "dockerimage")
            .map(|path| self.text(&format!("{path}.name")))
            .unwrap_or_default()
    }

    /// Adds a group of ports to a role.
    pub(crate) fn add_port(&self, role: &Role) -> Vec<Edit> {
        let ports = self.ports(role);
        let label = free_name("port", |name| ports.iter().any(|port| port.label == name));
        let list = self.ports_path(role);
        match self.notation {
            Notation::V1 => set_all(
                &format!("{list}[{}]", ports.len()),
                vec![("label", label.into()), ("beginAt", 0.into()), ("portNumber", 1.into())],
            ),
            Notation::V2 => vec![Edit::Set(join(&list, &label), 1.into())],
        }
    }

    /// Gives a group of ports another label.
    pub(crate) fn rename_port(&self, port: &Port, label: &str) -> Vec<Edit> {
        match self.notation {
            Notation::V1 => vec![Edit::Set(format!("{}.label", port.path), label.into())],
            Notation::V2 => Self::rename(&port.path, label),
        }
    }

    /// Gives the entry at a path another key.
    pub(crate) fn rename(path: &str, key: &str) -> Vec<Edit> {
        let mut parents = steps(path);
        let old = parents.pop();
        let parent = parents.iter().fold(String::new(), |path, step| match step {
            Step::Key(key) => join(&path, key),
            Step::Index(index) => format!("{path}[{index}]"),
            Step::Append => path,
        });
        if key.is_empty() || old == Some(Step::Key(key.to_owned())) {
            return Vec::new();
        }
        vec![Edit::Move(path.to_owned(), join(&parent, key))]
    }
}

fn set_all(path: &str, fields: Vec<(&str, Json)>) -> Vec<Edit> {
    let set = |(key, value)| Edit::Set(format!("{path}.{key}"), value);
    fields.into_iter().map(set).collect()
}

fn free_name(stem: &str, taken: impl Fn(&str) -> bool) -> String {
    (1..)
        .map(|number| format!("{stem}_{number}"))
        .find(|name| !taken(name))
        .unwrap_or_else(|| stem.to_owned())
}

/// Takes a path apart: `a.b[0]["odd key"]`.
fn steps(path: &str) -> Vec<Step> {
    let mut steps = Vec::new();
    let mut rest = path;
    while !rest.is_empty() {
        rest = rest.strip_prefix('.').unwrap_or(rest);
        if let Some(quoted) = rest.strip_prefix("[\"") {
            let Some((key, after)) = quoted.split_once("\"]") else { break };
            steps.push(Step::Key(key.replace("\\\"", "\"").replace("\\\\", "\\")));
            rest = after;
        } else if let Some(bracket) = rest.strip_prefix('[') {
            let Some((index, after)) = bracket.split_once(']') else { break };
            let Ok(index) = index.parse() else { break };
            steps.push(Step::Index(index));
            rest = after;
        } else {
            let end = rest.find(['.', '[']).unwrap_or(rest.len());
            steps.push(Step::Key(rest[..end].to_owned()));
            rest = &rest[end..];
        }
    }
    steps
}

#[cfg(test)]
mod tests {
    use protocol::fields::{Field, Kind, Object};

    use super::*;

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
    fn what_was_typed_becomes_a_number_a_text_or_nothing() {
        let typed = |typed, number, required| Edit::typed("x", typed, number, required);
        assert_eq!(typed("4", true, false), Edit::Set("x".into(), 4.into()));
        assert_eq!(typed("0.25", true, false), Edit::Set("x".into(), 0.25.into()));
        for unfinished in ["0.", ".", "0.250", "inf"] {
            assert_eq!(typed(unfinished, true, false), Edit::Set("x".into(), unfinished.into()));
        }
        assert_eq!(typed("4 GPUs", true, false), Edit::Set("x".into(), "4 GPUs".into()));
        assert_eq!(typed("4", false, false), Edit::Set("x".into(), "4".into()));
        assert_eq!(typed("", false, false), Edit::Remove("x".into()));
        assert_eq!(typed("", false, true), Edit::Set("x".into(), "".into()));
    }
}
