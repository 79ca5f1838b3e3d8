//! `extras`: what the job keeps there, and `extras.berth` for what a notation has no word for.

use std::collections::{BTreeMap, HashSet};

use serde_json::Value as Json;

use super::tree::{Map, Tree};
use crate::fields::{Field, HIVED, JobField, Kind, Notation, Object, PLUGINS};
use crate::ids::GpuType;
use crate::secrets::MASK;
use crate::spec::{
    JobSpec, NodeSelector, PortRequest, Priority, RegistryAuth, RetryLimit, Topology,
};

/// What the kept scheduler's part of `extras` says, were it read again.
#[derive(Default)]
pub(super) struct Kept {
    /// There is such a part.
    pub(super) present: bool,
    pub(super) priority: Option<Priority>,
    pub(super) gpu_types: BTreeMap<String, Vec<GpuType>>,
}

impl Kept {
    pub(super) fn of(spec: &JobSpec) -> Self {
        let mut kept = Self::default();
        for part in spec.extras.iter().filter(|(key, _)| HIVED.contains(&key.as_str())) {
            kept.present = true;
            let class = part.1.get("jobPriorityClass").and_then(Json::as_str);
            kept.priority = kept.priority.or(class.and_then(Priority::of_class));
            let roles = part.1.get("taskRoles").and_then(Json::as_object);
            for (role, wanted) in roles.into_iter().flatten() {
                let types = wanted.get("gpuType").or(wanted.get("skuType")).and_then(Json::as_str);
                let types = types.map(|types| {
                    types.split(',').filter_map(|name| GpuType::new(name.trim()).ok()).collect()
                });
                if let Some(types) = types {
                    kept.gpu_types.entry(role.clone()).or_insert(types);
                }
            }
        }
        kept
    }

    pub(super) fn types(&self, role: &str) -> &[GpuType] {
        self.gpu_types.get(role).map_or(&[], Vec::as_slice)
    }
}

/// Names of the roles in a file: their own, changed where a notation does not allow these.
pub(super) fn role_keys(spec: &JobSpec, is_allowed: fn(&str) -> bool) -> Vec<String> {
    let names = spec.roles.iter().map(|role| role.name.as_str());
    let own = names.clone().filter(|name| is_allowed(name));
    let mut taken: HashSet<String> = own.map(str::to_owned).collect();
    let key = |name: &str| {
        if is_allowed(name) {
            return name.to_owned();
        }
        let mut base = name.replace(['.', '~', '-'], "_");
        base.truncate(56);
        if base.starts_with(|c: char| c.is_ascii_digit()) {
            base.insert(0, '_');
        }
        let numbered = (2..).map(|n: u32| format!("{base}_{n}"));
        let mut candidates = std::iter::once(base.clone()).chain(numbered);
        candidates.find(|key| taken.insert(key.clone())).unwrap_or(base)
    };
    names.map(key).collect()
}

/// `extras` with its additions; role names of the scheduler's part replaced by keys of the file, texts
/// of plugins written by `text`.
pub(super) fn extras(
    spec: &JobSpec,
    keys: &[String],
    additions: Vec<(String, Tree)>,
    text: &dyn Fn(&str) -> String,
) -> Tree {
    let mut entries: Vec<(String, Tree)> = Vec::new();
    for (key, value) in &spec.extras {
        let mut tree = Tree::of_json(value);
        if HIVED.contains(&key.as_str()) {
            rename_roles(&mut tree, spec, keys);
        }
        if key == PLUGINS {
            tree.change_texts(text);
        }
        entries.push((key.clone(), tree));
    }
    entries.extend(additions);
    Tree::Map(entries)
}

fn rename_roles(tree: &mut Tree, spec: &JobSpec, keys: &[String]) {
    let Tree::Map(parts) = tree else { return };
    for (_, roles) in parts.iter_mut().filter(|(key, _)| key == "taskRoles") {
        let Tree::Map(roles) = roles else { continue };
        for (name, _) in roles {
            let role = spec.roles.iter().position(|role| role.name.as_str() == name.as_str());
            if let Some(key) = role.and_then(|role| keys.get(role)) {
                name.clone_from(key);
            }
        }
    }
}

/// What the job says that a notation has no word of its own for, in the order of the table.
pub(super) fn put_fields(spec: &JobSpec, notation: Notation, kept: &Kept, map: &mut Map) {
    for key in Object::Berth.keys() {
        if key.kind == Kind::One(Object::Grace) {
            map.put_filled(key.name, grace(spec));
        }
        if key.kind == Kind::One(Object::Topology) {
            map.put_filled(key.name, topology(&spec.nodes));
        }
        let Some(Field::Job(field)) = key.field else { continue };
        if field.place(notation).object == Object::Berth
            && let Some(said) = said(spec, field, kept)
        {
            map.put_filled(key.name, said);
        }
    }
}

/// What a job says of a field, as it stands under `extras.berth`; none where it says nothing.
fn said(spec: &JobSpec, field: JobField, kept: &Kept) -> Option<Tree> {
    let text = |text: &Option<String>| text.as_ref().map(Tree::text);
    match field {
        JobField::Description => text(&spec.description),
        JobField::GpuType => Some(types(&spec.gpu_types)),
        JobField::Priority => {
            (spec.priority != kept.priority.unwrap_or_default()).then(|| priority(spec.priority))
        }
        JobField::TimeLimit => spec.time_limit.map(Tree::text),
        JobField::Deadline => spec.deadline.map(Tree::text),
        JobField::Nodes => Some(Tree::List(spec.nodes.names.iter().map(Tree::text).collect())),
        JobField::NodeLabels => Some(labels(&spec.nodes)),
        JobField::KillAll => spec.kill_all_on_completed.map(Tree::number),
        JobField::CodeDir => text(&spec.code_dir),
        JobField::DataDir => text(&spec.data_dir),
        JobField::OutputDir => text(&spec.output_dir),
        JobField::AuthFile => text(&spec.auth_file),
        JobField::Environment => Some(environment(spec)),
        JobField::Secrets => Some(secrets(spec)),
        // They stand in an object of their own.
        JobField::GraceSignal
        | JobField::GraceSeconds
        | JobField::TopologyRequired
        | JobField::TopologyPreferred => None,
        // Each notation has words of its own for these.
        JobField::Name | JobField::VirtualCluster | JobField::Retries => None,
    }
}

/// Empty where there is none.
fn grace(spec: &JobSpec) -> Tree {
    let mut map = Map::default();
    if let Some(grace) = spec.grace {
        map.put("signal", Tree::text(grace.signal));
        map.put("seconds", Tree::number(grace.seconds));
    }
    map.done()
}

/// Empty where nothing is asked for.
fn topology(nodes: &NodeSelector) -> Tree {
    let mut map = Map::default();
    let Topology { required, preferred } = nodes.topology;
    for (key, level) in [("required", required), ("preferred", preferred)] {
        if let Some(level) = level {
            map.put(key, Tree::text(level));
        }
    }
    map.done()
}

/// The priority as a class where it has one.
fn priority(priority: Priority) -> Tree {
    let class = Priority::CLASSES.iter().find(|(_, value)| *value == priority);
    class.map_or_else(|| Tree::number(priority.0), |(word, _)| Tree::text(word))
}

fn labels(nodes: &NodeSelector) -> Tree {
    let label = |(key, value): (&String, &String)| (key.clone(), Tree::text(value));
    Tree::Map(nodes.labels.iter().map(label).collect())
}

pub(super) fn types(types: &[GpuType]) -> Tree {
    Tree::List(types.iter().map(Tree::text).collect())
}

/// Several types in one text, as the documents write one type.
pub(super) fn joined(types: &[GpuType]) -> String {
    types.iter().map(GpuType::as_str).collect::<Vec<_>>().join(",")
}

pub(super) fn ports(ports: &[PortRequest]) -> Tree {
    let port = |port: &PortRequest| {
        let mut map = Map::default();
        map.put("label", Tree::text(&port.label));
        map.put("beginAt", Tree::number(port.begin_at));
        map.put("portNumber", Tree::number(port.count));
        map.done()
    };
    Tree::List(ports.iter().map(port).collect())
}

pub(super) fn environment(spec: &JobSpec) -> Tree {
    let mut map = Map::default();
    for (name, value) in &spec.env {
        map.put(name, Tree::text(value));
    }
    if spec.debug {
        map.put("isDebug", Tree::Bool(true));
    }
    map.done()
}

pub(super) fn secrets(spec: &JobSpec) -> Tree {
    Tree::Map(spec.secrets.iter().map(|name| (name.clone(), Tree::text(MASK))).collect())
}

pub(super) fn auth(auth: &RegistryAuth, escape: impl Fn(&str) -> String) -> Tree {
    let mut map = Map::default();
    for (key, text) in
        [("username", &auth.user), ("password", &auth.password), ("registryuri", &auth.registry)]
    {
        if !text.is_empty() {
            map.put(key, Tree::Text(escape(text)));
        }
    }
    map.done()
}

pub(super) fn retries(limit: RetryLimit) -> Tree {
    match limit {
        RetryLimit::Times(times) => Tree::number(times),
        RetryLimit::EveryFailure => Tree::number(-1),
        RetryLimit::Always => Tree::number(-2),
    }
}
