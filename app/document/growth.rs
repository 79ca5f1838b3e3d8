//! What the form adds to a text: task roles, ports, and other names for what stands there.

use protocol::document::join;
use protocol::edit::Step;
use protocol::fields::Notation;
use serde_json::Value as Json;

use crate::document::edit::Edit;
use crate::document::steps::steps;
use crate::document::{Port, Role, Tree};

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
        let is_so = matches!(steps(path).last(), Some(Step::Key(old)) if old == key);
        if key.is_empty() || is_so {
            return Vec::new();
        }
        vec![Edit::Rename(path.to_owned(), key.to_owned())]
    }
}

fn set_all(path: &str, fields: Vec<(&str, Json)>) -> Vec<Edit> {
    let set = |(key, value)| Edit::Set(format!("{path}.{key}"), value);
    fields.into_iter().map(set).collect()
}

/// A name that is not taken.
pub(crate) fn free_name(stem: &str, taken: impl Fn(&str) -> bool) -> String {
    (1..)
        .map(|number| format!("{stem}_{number}"))
        .find(|name| !taken(name))
        .unwrap_or_else(|| stem.to_owned())
}
