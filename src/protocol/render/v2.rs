//! A job in the words of version 2.

use serde_json::Value as Json;

use super::berth::{self, Kept};
use super::tree::{Map, Tree};
use crate::fields::{Notation, PLUGINS};
use crate::references;
use crate::spec::{JobSpec, RetryLimit, TaskRole};

/// Stands for `<%` where a text has one that is no reference of this job.
const TAG_PARAMETER: &str = "opening_tag";

pub(super) fn tree(spec: &JobSpec) -> Tree {
    let keys = berth::role_keys(spec, is_word);
    let images = Images::of(spec);
    let mut map = Map::default();
    map.put("protocolVersion", Tree::number(2));
    map.put("name", Tree::Text(plain(spec.name.as_str())));
    map.put("type", Tree::text("job"));
    map.put_text("description", spec.description.as_ref());
    map.put_filled("prerequisites", images.prerequisites(spec));
    if uses_tags(spec) {
        let parameters = vec![(TAG_PARAMETER.to_owned(), Tree::text("<%"))];
        map.put("parameters", Tree::Map(parameters));
    }
    map.put_filled("secrets", berth::secrets(spec));
    map.put("jobRetryCount", berth::retries(spec.retries));
    let roles = spec.roles.iter().zip(&keys);
    let roles = roles.map(|(role, key)| (key.clone(), tree_of_role(spec, role, &images)));
    map.put("taskRoles", Tree::Map(roles.collect()));
    let mut defaults = Map::default();
    defaults.put("virtualCluster", Tree::text(&spec.virtual_cluster));
    map.put("defaults", defaults.done());
    let text = |text: &str| escape(text, spec);
    map.put_filled("extras", berth::extras(spec, &keys, additions(spec, &keys), &text));
    map.done()
}

/// A word in the manner of C, or something like it.
fn plain(text: &str) -> String {
    text.replace(['.', '~'], "_")
}

fn is_word(text: &str) -> bool {
    !text.contains(['.', '~', '-']) && !text.starts_with(|c: char| c.is_ascii_digit())
}

/// The different images with their credentials.
struct Images<'s>(Vec<&'s TaskRole>);

impl<'s> Images<'s> {
    fn of(spec: &'s JobSpec) -> Self {
        let mut images: Vec<&TaskRole> = Vec::new();
        for role in &spec.roles {
            if !images.iter().any(|other| same_image(role, other)) {
                images.push(role);
            }
        }
        Self(images)
    }

    fn name(&self, role: &TaskRole) -> String {
        let position = self.0.iter().position(|other| same_image(role, other)).unwrap_or(0);
        if self.0.len() == 1 { "image".to_owned() } else { format!("image_{}", position + 1) }
    }

    fn prerequisites(&self, spec: &JobSpec) -> Tree {
        let item = |role: &&TaskRole| {
            let mut map = Map::default();
            map.put("name", Tree::Text(self.name(role)));
            map.put("type", Tree::text("dockerimage"));
            map.put("uri", Tree::text(&role.image));
            if let Some(auth) = &role.registry {
                map.put("auth", berth::auth(auth, |text| escape(text, spec)));
            }
            map.done()
        };
        Tree::List(self.0.iter().map(item).collect())
    }
}

fn same_image(a: &TaskRole, b: &TaskRole) -> bool {
    a.image == b.image && a.registry == b.registry
}

fn tree_of_role(spec: &JobSpec, role: &TaskRole, images: &Images<'_>) -> Tree {
    let limit = |limit: Option<u32>| limit.map_or(Tree::number(-1), Tree::number);
    let mut completion = Map::default();
    completion.put("minFailedInstances", limit(role.completion.min_failed));
    completion.put("minSucceededInstances", limit(role.completion.min_succeeded));
    let mut container = Map::default();
    container.put("shmMB", Tree::number(role.shm_mb));
    if role.infiniband {
        container.put("infiniband", Tree::Bool(true));
    }
    let mut resources = Map::default();
    resources.put("cpu", Tree::number(role.resources.cpus));
    resources.put("memoryMB", Tree::number(role.resources.memory_mb));
    resources.put("gpu", Tree::number(role.resources.gpus));
    if has_plain_ports(role) {
        let ports = role.ports.iter();
        let ports = ports.map(|port| (port.label.to_string(), Tree::number(port.count)));
        resources.put_filled("ports", Tree::Map(ports.collect()));
    }
    let mut map = Map::default();
    map.put("instances", Tree::number(role.count));
    map.put("completion", completion.done());
    if role.task_retries != RetryLimit::Times(0) {
        map.put("taskRetryCount", berth::retries(role.task_retries));
    }
    map.put("dockerImage", Tree::Text(images.name(role)));
    map.put("extraContainerOptions", container.done());
    map.put("resourcePerInstance", resources.done());
    map.put("commands", Tree::List(vec![Tree::Text(escape(&role.command, spec))]));
    map.done()
}

/// Version 2 knows labels and numbers only.
fn has_plain_ports(role: &TaskRole) -> bool {
    role.ports.iter().all(|port| port.begin_at == 0 && is_word(port.label.as_str()))
}

/// What version 2 has no word for, and the scheduler's part of `extras` unless it is kept there.
fn additions(spec: &JobSpec, keys: &[String]) -> Vec<(String, Tree)> {
    let kept = Kept::of(spec);
    let mut hived = Map::default();
    let mut berth = Map::default();
    if plain(spec.name.as_str()) != spec.name.as_str() {
        berth.put("name", Tree::text(&spec.name));
    }
    berth::put_fields(spec, Notation::V2, &kept, &mut berth);
    if !kept.present
        && let Some(class) = berth.take_text("priority")
    {
        hived.put("jobPriorityClass", class);
    }
    let (mut hived_roles, mut berth_roles) = (Map::default(), Map::default());
    for (role, key) in spec.roles.iter().zip(keys) {
        if !kept.present && !role.gpu_types.is_empty() {
            let sku = Tree::Text(berth::joined(&role.gpu_types));
            hived_roles.put(key, Tree::Map(vec![("skuType".to_owned(), sku)]));
        }
        berth_roles.put_filled(key, role_additions(role, key, &kept));
    }
    hived.put_filled("taskRoles", hived_roles.done());
    berth.put_filled("taskRoles", berth_roles.done());
    let mut all = Map::default();
    all.put_filled("hivedScheduler", hived.done());
    all.put_filled("berth", berth.done());
    all.into_entries()
}

fn role_additions(role: &TaskRole, key: &str, kept: &Kept) -> Tree {
    let mut map = Map::default();
    if role.name.as_str() != key {
        map.put("name", Tree::text(&role.name));
    }
    if kept.present && role.gpu_types != kept.types(role.name.as_str()) {
        map.put("gpuType", berth::types(&role.gpu_types));
    }
    if role.resources.disk_gb > 0 {
        map.put("storageGB", Tree::number(role.resources.disk_gb));
    }
    if !has_plain_ports(role) {
        map.put("portList", berth::ports(&role.ports));
    }
    map.done()
}

fn uses_tags(spec: &JobSpec) -> bool {
    let differs = |text: &str| escape(text, spec) != text;
    let plugins = spec.extras.get(PLUGINS);
    plugins.is_some_and(|plugins| any_text(plugins, &differs))
        || spec.roles.iter().any(|role| {
            let auth =
                role.registry.iter().flat_map(|auth| [&auth.registry, &auth.user, &auth.password]);
            differs(&role.command) || auth.into_iter().any(|text| differs(text))
        })
}

fn any_text(value: &Json, is: &dyn Fn(&str) -> bool) -> bool {
    match value {
        Json::String(text) => is(text),
        Json::Array(items) => items.iter().any(|item| any_text(item, is)),
        Json::Object(map) => map.values().any(|value| any_text(value, is)),
        Json::Null | Json::Bool(_) | Json::Number(_) => false,
    }
}

/// The text so written that reading it gives the text again: what looks like a reference and is
/// none of this job's secrets begins with a parameter that stands for `<%`.
fn escape(text: &str, spec: &JobSpec) -> String {
    let mut escaped = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(tag) = references::tags(rest).next() {
        let own = tag.secret().is_some_and(|name| spec.secrets.iter().any(|own| *own == name));
        escaped.push_str(&rest[..tag.start]);
        if own || !tag.is_reference() {
            escaped.push_str(&rest[tag.start..tag.end]);
            rest = &rest[tag.end..];
        } else {
            escaped.push_str(&format!("<% $parameters.{TAG_PARAMETER} %>"));
            rest = &rest[tag.start + 2..];
        }
    }
    escaped.push_str(rest);
    escaped
}
