//! Version 2: the YAML job protocol.

mod deployment;
mod prerequisite;
mod rendering;

use self::prerequisite::{Kind, Prerequisites};
use self::rendering::Scope;
use super::reader::{Field, Fields, Reader, nearest};
use super::{extras, extras::Known, parts, plugins, plugins::Plugins, v1};
use crate::document::{Node, Value, shorten};
use crate::fields::Object;
use crate::ids::{JobName, PortLabel, RoleName, VirtualClusterName};
use crate::resources::Resources;
use crate::secrets::Secrets;
use crate::spec::{Completion, Dialect, JobSpec, PortRequest, TaskRole};
use crate::words::counted;

/// Size of `/dev/shm` in MiB when the file does not say.
const DEFAULT_SHM: u64 = 512;

const NAME: &str = "1 to 255 of A-Z a-z 0-9 _ -";
const WORD: &str = "a letter or _, then letters, digits and _, at most 64";

/// What the roles share.
struct Job<'d> {
    prerequisites: Prerequisites<'d>,
    parameters: Option<&'d Node>,
    secrets: Secrets,
    deployment: Option<Fields<'d>>,
    plugins: Plugins<'d>,
}

pub(super) fn read<'d>(reader: &mut Reader<'d>, root: &Fields<'d>) -> Option<(JobSpec, Secrets)> {
    reader.check_keys(root, Object::V2Job, &[]);
    read_head(reader, root);
    let name = read_name(reader, root);
    let mut job = Job {
        prerequisites: Prerequisites::read(reader, root),
        parameters: root.given("parameters").and_then(|f| reader.map(&f).map(|_| f.node)),
        secrets: extras::secrets(reader, root),
        deployment: None,
        plugins: Plugins::default(),
    };
    let keys = role_keys(root);
    job.plugins = read_plugins(reader, root, &keys, &job);
    let defaults = root.given("defaults").and_then(|f| reader.object(&f, Object::Defaults));
    job.deployment = deployment::chosen(reader, root, defaults.as_ref());
    let virtual_cluster = defaults.as_ref().and_then(|d| d.given("virtualCluster"));
    let virtual_cluster =
        virtual_cluster.and_then(|f| reader.name(&f, VirtualClusterName::try_from));
    let (roles, tasks) = read_roles(reader, root, &job);
    let Plugins { kept, storages, shows_board, .. } = std::mem::take(&mut job.plugins);
    let known = Known { roles: keys, tasks, plugins: kept, storages };
    let extras = extras::read(reader, root, &known);
    let mut spec = JobSpec {
        description: root.given("description").and_then(|f| reader.text(&f)),
        virtual_cluster: virtual_cluster.unwrap_or_default(),
        retries: parts::retries(reader, root, "jobRetryCount"),
        secrets: job.secrets.names().map(str::to_owned).collect(),
        // Last, so that a wrong name hides no other mistake.
        ..JobSpec::plain(name?, Dialect::V2, roles)
    };
    extras.apply(&mut spec, &known.roles);
    if shows_board {
        plugins::show_board(&mut spec.roles);
    }
    Some((spec, job.secrets))
}

/// `protocolVersion`, `type` and the words about the file itself.
fn read_head<'d>(reader: &mut Reader<'d>, root: &Fields<'d>) {
    if let Some(field) = reader.required(root, "protocolVersion", "2") {
        let version = reader.scalar(&field);
        if version.is_some_and(|version| version != "2") {
            reader.wrong(&field, "this version of the protocol is not known", "2");
        }
    }
    if let Some(field) = reader.required(root, "type", "job") {
        let kind = reader.text(&field);
        if kind.is_some_and(|kind| kind != "job") {
            reader.wrong(&field, "this is not a job", "job");
        }
    }
    for key in ["version", "contributor"] {
        if let Some(field) = root.given(key) {
            reader.scalar(&field);
        }
    }
}

fn read_name<'d>(reader: &mut Reader<'d>, root: &Fields<'d>) -> Option<JobName> {
    let field = reader.required(root, "name", NAME)?;
    let name = reader.name(&field, JobName::try_from)?;
    if name.as_str().contains(['.', '~']) {
        reader.wrong(&field, format!("{:?} is not a valid job name", name.as_str()), NAME);
        return None;
    }
    Some(name)
}

fn read_plugins<'d>(
    reader: &mut Reader<'d>,
    root: &Fields<'d>,
    keys: &[&str],
    job: &Job<'d>,
) -> Plugins<'d> {
    let scope = Scope::of_job();
    let render = |reader: &mut Reader<'d>, field: &Field<'d>, text: &str| {
        rendering::render(reader, field, text, &scope, job)
    };
    plugins::read(reader, root, keys, &render)
}

fn role_keys<'d>(root: &Fields<'d>) -> Vec<&'d str> {
    let Some(Value::Map(entries)) = root.get("taskRoles").map(|field| &field.node.value) else {
        return Vec::new();
    };
    entries.iter().map(|entry| entry.key.as_str()).collect()
}

fn read_roles<'d>(
    reader: &mut Reader<'d>,
    root: &Fields<'d>,
    job: &Job<'d>,
) -> (Vec<TaskRole>, Option<u32>) {
    let allowed = "an object with a task role under each key, at least one";
    let Some(field) = reader.required(root, "taskRoles", allowed) else {
        return (Vec::new(), None);
    };
    let Some(map) = reader.map(&field) else { return (Vec::new(), None) };
    if map.entries.is_empty() {
        reader.wrong(&field, "taskRoles is empty", allowed);
    }
    let mut roles = Vec::new();
    let mut counts = Vec::new();
    for (entry, role) in map.each() {
        let name = word(reader, &entry.key, entry.key_start, &role, RoleName::try_from);
        let Some(fields) = reader.object(&role, Object::V2Role) else {
            counts.push(None);
            continue;
        };
        let instances = fields.given("instances");
        let instances =
            instances.map_or(Some(1), |field| reader.count(&field, 1, parts::MAX_TASKS.into()));
        counts.push(instances);
        roles.extend(read_role(reader, &entry.key, name, &fields, instances, job));
    }
    (roles, parts::total(reader, &field, &counts))
}

/// A key that must be a name in the manner of C.
fn word<'d, T>(
    reader: &mut Reader<'d>,
    key: &str,
    at: usize,
    field: &Field<'d>,
    new: fn(String) -> Result<T, crate::ids::InvalidName>,
) -> Option<T> {
    let plain = !key.starts_with(|c: char| c.is_ascii_digit())
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_');
    let name = plain.then(|| new(key.to_owned()).ok()).flatten();
    if name.is_none() {
        let message = format!("{:?} is not a valid name", shorten(key));
        reader.problem(&field.path, at, message, WORD);
    }
    name
}

fn read_role<'d>(
    reader: &mut Reader<'d>,
    key: &str,
    name: Option<RoleName>,
    fields: &Fields<'d>,
    instances: Option<u32>,
    job: &Job<'d>,
) -> Option<TaskRole> {
    let image = reader.required(fields, "dockerImage", "the name of a dockerimage prerequisite");
    let image = image.and_then(|f| job.prerequisites.find(reader, &f, Kind::DockerImage));
    let registry = image.and_then(|image| image.registry(reader, job));
    let resources = reader.required(fields, "resourcePerInstance", "cpu, memoryMB and gpu");
    let resources = resources.and_then(|field| read_resources(reader, &field));
    let memory_mb = resources.as_ref().map_or(u64::MAX, |(resources, _)| resources.memory_mb);
    let options = fields.given("extraContainerOptions");
    let options = options.and_then(|f| reader.object(&f, Object::Container));
    let infiniband = options.as_ref().and_then(|options| options.given("infiniband"));
    let infiniband = infiniband.and_then(|field| reader.flag(&field)).unwrap_or(false);
    let options = options.unwrap_or(Fields { entries: &[], ..fields.clone() });
    let shm_mb = v1::shared_memory(reader, &options, "shmMB", memory_mb, DEFAULT_SHM);
    let completion = read_completion(reader, fields, instances);
    let task_retries = parts::retries(reader, fields, "taskRetryCount");
    let needed = job.prerequisites.needed(reader, fields);
    let scope = Scope::of_role(reader, fields, job);
    let command = deployment::command(reader, key, fields, job, (&scope, &needed));
    let (resources, ports) = resources?;
    Some(TaskRole {
        name: name?,
        count: instances?,
        resources,
        gpu_types: Vec::new(),
        shm_mb,
        image: image?.uri.clone()?,
        registry,
        ports,
        command: command?,
        completion,
        task_retries,
        infiniband,
    })
}

fn read_resources<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
) -> Option<(Resources, Vec<PortRequest>)> {
    let fields = reader.object(field, Object::Resources)?;
    let mut get = |key, min, max| {
        let field = reader.required(&fields, key, &format!("a whole number, at least {min}"))?;
        reader.integer(&field, min, max)
    };
    let cpus = get("cpu", 1, parts::MAX_UNITS);
    let memory_mb = get("memoryMB", parts::MIN_MEMORY, parts::MAX_AMOUNT);
    let gpus = parts::gpus(reader, &fields, "gpu");
    let mut ports = Vec::new();
    let given = fields.given("ports");
    let map = given.as_ref().and_then(|field| reader.map(field));
    for (entry, field) in map.iter().flat_map(Fields::each) {
        let label = word(reader, &entry.key, entry.key_start, &field, PortLabel::try_from);
        if let (Some(label), Some(count)) = (label, parts::port_count(reader, &field)) {
            ports.push(PortRequest { label, begin_at: 0, count });
        }
    }
    if let Some(field) = &given {
        parts::few_ports(reader, field, &ports);
    }
    let resources = Resources {
        cpus: u32::try_from(cpus?).ok()?,
        memory_mb: u64::try_from(memory_mb?).ok()?,
        gpus: gpus?,
        disk_gb: 0,
    };
    Some((resources, parts::without_implicit(ports)))
}

fn read_completion<'d>(
    reader: &mut Reader<'d>,
    fields: &Fields<'d>,
    instances: Option<u32>,
) -> Completion {
    let field = fields.given("completion");
    let map = field.and_then(|field| reader.object(&field, Object::Completion));
    let mut limit = |key, default| {
        let Some(field) = map.as_ref().and_then(|map| map.get(key)) else { return default };
        instance_limit(reader, &field, instances)
    };
    Completion {
        min_failed: limit("minFailedInstances", Some(1)),
        min_succeeded: limit("minSucceededInstances", instances),
    }
}

/// −1 and null disable a rule.
fn instance_limit<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    instances: Option<u32>,
) -> Option<u32> {
    if field.node.value == Value::Null {
        return None;
    }
    let max = instances.unwrap_or(parts::MAX_TASKS);
    let value = reader.integer(field, -1, i64::from(u32::MAX))?;
    if value == 0 || value > i64::from(max) {
        let there = counted(max, "instance");
        let message = format!("{} is {value}, but the role has {there}", field.name());
        let message = if value == 0 { "0 tells nothing here".to_owned() } else { message };
        reader.wrong(
            field,
            message,
            format!("-1 to disable it, or a whole number from 1 to {max}"),
        );
    }
    u32::try_from(value).ok()
}

/// Says that a name, at a path and a byte, stands for nothing, and which names would.
fn not_found<'n>(
    reader: &mut Reader<'_>,
    (path, at): (&str, usize),
    what: &str,
    name: &str,
    names: impl Iterator<Item = &'n str> + Clone,
) {
    let mut message = format!("{what} {:?} does not exist", shorten(name));
    if let Some(near) = nearest(name, names.clone()) {
        message.push_str(&format!("; did you mean {near:?}?"));
    }
    let names: Vec<&str> = names.collect();
    let allowed = if names.is_empty() { "none is defined".to_owned() } else { names.join(", ") };
    reader.problem(path, at, message, allowed);
}
