//! The text of a job file as the form sees it: where each of its fields stands in either notation,
//! what stands there, and how it is changed without touching anything else.

mod edit;
mod growth;
pub(crate) mod instead;
mod shown;
mod steps;
#[cfg(test)]
mod tests;

pub(crate) use self::edit::Edit;
pub(crate) use self::growth::free_name;

use protocol::document::{Document, Value, join};
use protocol::fields::{HIVED, JobField, Notation, RoleField};
use protocol::problem::Problem;
use serde::{Deserialize, Serialize};

use self::shown::Shown;
use self::steps::steps;

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
