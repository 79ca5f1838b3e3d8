//! `deployments` and the whole command of a role.

use std::collections::HashSet;

use super::super::parts;
use super::super::plugins::Around;
use super::super::reader::{Field, Fields, Reader};
use super::rendering::{self, Scope};
use super::{Job, not_found, role_keys};
use crate::fields::Object;

/// Checks all deployments; the task roles of the one that `defaults.deployment` names.
pub(super) fn chosen<'d>(
    reader: &mut Reader<'d>,
    root: &Fields<'d>,
    defaults: Option<&Fields<'d>>,
) -> Option<Fields<'d>> {
    let mut seen = HashSet::new();
    let mut found = Vec::new();
    let list = root.given("deployments").and_then(|field| reader.list(&field));
    for item in list.unwrap_or_default() {
        let Some(fields) = reader.object(&item, Object::Deployment) else { continue };
        let name_field = reader.required(&fields, "name", "a text");
        let name = name_field.as_ref().and_then(|field| parts::short_line(reader, field));
        if let (Some(field), Some(name)) = (&name_field, &name)
            && !seen.insert(name.clone())
        {
            reader.wrong(field, format!("there are two deployments {name:?}"), "each name once");
        }
        let roles = reader.required(&fields, "taskRoles", "task roles with their commands");
        let roles = roles.and_then(|field| check_roles(reader, &field, root));
        found.extend(name.zip(roles));
    }
    let wanted = defaults.and_then(|defaults| defaults.given("deployment"))?;
    let name = reader.text(&wanted)?;
    if !seen.contains(&name) {
        let mut names: Vec<&str> = seen.iter().map(String::as_str).collect();
        names.sort_unstable();
        not_found(reader, wanted.place(), "the deployment", &name, names.into_iter());
    }
    found.into_iter().find(|(found, _)| *found == name).map(|(_, roles)| roles)
}

fn check_roles<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    root: &Fields<'d>,
) -> Option<Fields<'d>> {
    let map = reader.map(field)?;
    let keys = role_keys(root);
    for (entry, role) in map.each() {
        if !keys.contains(&entry.key.as_str()) {
            let place = (role.path.as_str(), entry.key_start);
            not_found(reader, place, "the task role", &entry.key, keys.iter().copied());
        }
        let Some(fields) = reader.object(&role, Object::DeploymentRole) else { continue };
        for key in Object::DeploymentRole.keys() {
            lines(reader, &fields, key.name);
        }
    }
    Some(map)
}

/// The commands under a key: a list of texts, or one text.
fn lines<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>, key: &str) -> Vec<(Field<'d>, String)> {
    let Some(list) = fields.given(key).and_then(|field| reader.list(&field)) else {
        return Vec::new();
    };
    list.into_iter().filter_map(|item| reader.text(&item).map(|text| (item, text))).collect()
}

/// The commands of a role between those of the chosen deployment, references rendered, and those of
/// plugins around them.
pub(super) fn command<'d>(
    reader: &mut Reader<'d>,
    key: &str,
    role: &Fields<'d>,
    job: &Job<'d>,
    (scope, needed): (&Scope<'d>, &[Around<'d>]),
) -> Option<String> {
    let field = reader.required(role, "commands", "a list of shell commands, at least one")?;
    let commands = lines(reader, role, "commands");
    // Their shape has been checked once: what is wrong with it is not told twice.
    let around = job.deployment.as_ref().and_then(|deployment| deployment.get(key));
    let around = |list: &str| {
        let node = around.as_ref()?.node.get(list)?;
        let path = format!("{}.{list}", around.as_ref()?.path);
        Some(Field { node, path })
    };
    let render = |reader: &mut Reader<'d>, field: &Field<'d>, text: &str| {
        rendering::render(reader, field, text, scope, job)
    };
    let before = silent(around("preCommands")).into_iter();
    let all = before.chain(commands).chain(silent(around("postCommands")));
    let texts: Vec<Option<String>> =
        all.map(|(field, text)| render(reader, &field, &text)).collect();
    // What is wrong with a reference has been told; that nothing is left without it is no mistake.
    let texts: Option<Vec<String>> = texts.into_iter().collect();
    let mut texts: Vec<String> = texts?.iter().map(|text| text.trim().to_owned()).collect();
    texts.retain(|text| !text.is_empty());
    let command = parts::command(reader, &field, &texts.join("\n"))?;
    job.plugins.around(reader, &field, (key, needed), command, &render)
}

/// The texts of a list that has been checked before.
fn silent(field: Option<Field<'_>>) -> Vec<(Field<'_>, String)> {
    let Some(Field { node, path }) = field else { return Vec::new() };
    let crate::document::Value::List(items) = &node.value else { return Vec::new() };
    let text = |(i, node)| {
        let text = crate::references::to_text(node)?;
        Some((Field { node, path: format!("{path}[{i}]") }, text))
    };
    items.iter().enumerate().filter_map(text).collect()
}
