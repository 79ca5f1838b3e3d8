//! `extras`: kept for whoever put it there, but for three parts that mean something. Under
//! `hivedscheduler` stand priority and GPU types; under `storages` what tasks are to have of those that
//! administrators set up; under `berth` stands whatever the notation has no
//! word of its own for, so that any job can be written in either.

use std::collections::BTreeMap;

use super::reader::{Field, Fields, Reader, nearest};
use super::{parts, storages};
use crate::document::{Value, shorten};
use crate::fields::{HIVED, Object, PLUGINS, STORAGES};
use crate::ids::{GpuType, JobName, RoleName, StorageName};
use crate::secrets::Secrets;
use crate::spec::{
    Deadline, Grace, GraceSignal, JobSpec, NoDeadline, NoLevel, NoLimit, NoSignal, NodeSelector,
    PortRequest, Priority, RegistryAuth, RetryLimit, TaskRole, TimeLimit, Topology, TopologyLevel,
};
use crate::words::counted;

pub(crate) const BERTH: &str = "berth";
/// Whether tasks wait for each other's places.
const GANG: &str = "gangAllocation";

/// What must be known of the rest of the file to read `extras`.
pub(crate) struct Known<'d> {
    /// The roles' keys as they stand in the file.
    pub(crate) roles: Vec<&'d str>,
    /// All tasks, where every role says its number.
    pub(crate) tasks: Option<u32>,
    /// The runtime plugins that are kept.
    pub(crate) plugins: Vec<serde_json::Value>,
    /// The storages that plugins name, if one of them is for storages.
    pub(crate) storages: Option<Vec<StorageName>>,
}

/// What `extras` says.
#[derive(Default)]
pub(crate) struct Extras {
    /// All that is kept.
    kept: serde_json::Map<String, serde_json::Value>,
    name: Option<JobName>,
    description: Option<String>,
    priority: Option<Priority>,
    time_limit: Option<TimeLimit>,
    grace: Option<Grace>,
    deadline: Option<Deadline>,
    gpu_types: Option<Vec<GpuType>>,
    nodes: NodeSelector,
    kill_all: Option<u32>,
    auth_file: Option<String>,
    data_dir: Option<String>,
    output_dir: Option<String>,
    code_dir: Option<String>,
    env: Option<(BTreeMap<String, String>, bool)>,
    pub(crate) secrets: Secrets,
    roles: BTreeMap<String, RoleExtras>,
}

#[derive(Default)]
struct RoleExtras {
    name: Option<RoleName>,
    image: Option<String>,
    registry: Option<Box<RegistryAuth>>,
    gpu_types: Option<Vec<GpuType>>,
    disk_gb: Option<u64>,
    ports: Option<Vec<PortRequest>>,
    task_retries: Option<RetryLimit>,
    infiniband: Option<bool>,
}

/// Reads `extras` of a job with these role names.
pub(crate) fn read<'d>(reader: &mut Reader<'d>, root: &Fields<'d>, known: &Known<'d>) -> Extras {
    let mut extras = Extras::default();
    let Some(fields) = root.given("extras").and_then(|field| reader.map(&field)) else {
        return extras;
    };
    let mut own_storages = None;
    for (entry, field) in fields.each() {
        if entry.key == BERTH {
            read_berth(reader, &field, known, &mut extras);
            continue;
        }
        if entry.key == STORAGES {
            own_storages = field.is_given().then(|| storages::read(reader, &field));
            continue;
        }
        if entry.key == PLUGINS {
            if !known.plugins.is_empty() {
                extras.kept.insert(entry.key.clone(), known.plugins.clone().into());
            }
            continue;
        }
        if entry.key == GANG && field.is_given() {
            gang(reader, &field, known);
        }
        let hived = HIVED.contains(&entry.key.as_str());
        if !(hived && read_hived(reader, &field, known, &mut extras)) {
            extras.kept.insert(entry.key.clone(), field.node.to_json());
        }
    }
    if let Some(all) = storages::all(own_storages, known.storages.as_deref()) {
        extras.kept.insert(STORAGES.to_owned(), all);
    }
    extras
}

/// Tasks of a job start together here: only where there is no more than one they start one by one.
fn gang<'d>(reader: &mut Reader<'d>, field: &Field<'d>, known: &Known<'d>) {
    let together = reader.flag(field).unwrap_or(true);
    if !together && known.tasks.is_some_and(|tasks| tasks > 1) {
        let message = "gangAllocation is false, but all tasks of a job start together here";
        reader.wrong(field, message, "true, or a job for each task");
    }
}

/// Reads the scheduler's part; true when the spec says all of it, so that nothing need be kept.
fn read_hived<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    known: &Known<'d>,
    extras: &mut Extras,
) -> bool {
    let Some(fields) = reader.object(field, Object::Scheduler) else { return false };
    if let Some(class) = fields.given("jobPriorityClass") {
        extras.priority = extras.priority.or(priority(reader, &class));
    }
    let mut complete = has_only(&fields, &["jobPriorityClass", "taskRoles"]);
    let Some(map) = fields.given("taskRoles").and_then(|roles| reader.map(&roles)) else {
        return complete;
    };
    for (entry, field) in map.each() {
        known_role(reader, &entry.key, entry.key_start, &field, known);
        let Some(fields) = reader.object(&field, Object::SchedulerRole) else { continue };
        complete &= has_only(&fields, &["gpuType", "skuType"]);
        let first = |keys: [&str; 2]| keys.iter().find_map(|key| fields.given(key));
        let wanted = first(["gpuType", "skuType"]);
        let pinned = first(["reservationId", "pinnedCellId"]);
        if let (Some(_), Some(pinned)) = (&wanted, &pinned) {
            let message = "a GPU type and a reservation are given for the same role";
            reader.wrong(
                pinned,
                message,
                "only one of gpuType, skuType, reservationId, pinnedCellId",
            );
        }
        for key in ["reservationId", "pinnedCellId", "affinityGroupName"] {
            if let Some(field) = fields.given(key) {
                reader.text(&field);
            }
        }
        if let Some(wanted) = wanted {
            let types = parts::gpu_types(reader, &wanted);
            let role = extras.roles.entry(entry.key.clone()).or_default();
            role.gpu_types.get_or_insert(types);
        }
    }
    complete
}

/// Whether an object has none but these keys.
fn has_only(fields: &Fields<'_>, keys: &[&str]) -> bool {
    fields.entries.iter().all(|entry| keys.contains(&entry.key.as_str()))
}

fn known_role<'d>(
    reader: &mut Reader<'d>,
    key: &str,
    at: usize,
    field: &Field<'d>,
    known: &Known<'d>,
) {
    let roles = &known.roles;
    if roles.contains(&key) {
        return;
    }
    let mut message = format!("there is no task role {:?}", shorten(key));
    if let Some(near) = nearest(key, roles.iter().copied()) {
        message.push_str(&format!("; did you mean {near:?}?"));
    }
    reader.problem(&field.path, at, message, roles.join(", "));
}

fn priority<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<Priority> {
    let text = reader.scalar(field)?;
    let priority = Priority::of_class(&text);
    if priority.is_none() {
        let text = shorten(&text);
        let classes = Priority::CLASSES.map(|(class, _)| class).join(", ");
        reader.wrong(field, format!("{text:?} is not a priority class"), classes);
    }
    priority
}

/// A class, or a number from −1 to 126.
fn any_priority<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<Priority> {
    if let Value::Number(_) = field.node.value {
        return reader.count(field, -1, 126).map(Priority);
    }
    priority(reader, field)
}

/// `timeLimit`: seconds, or a text with units.
fn time_limit<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<TimeLimit> {
    let text = reader.scalar(field)?;
    match text.parse() {
        Ok(limit) => Some(limit),
        Err(error) => {
            let error: NoLimit = error;
            reader.wrong(field, error.to_string(), TimeLimit::ALLOWED);
            None
        }
    }
}

/// `grace`; an empty one is none. A limit that is all grace would end the job at its start.
fn grace<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    limit: Option<TimeLimit>,
) -> Option<Grace> {
    let fields = reader.object(field, Object::Grace)?;
    let signal = fields.given("signal");
    let seconds = fields.given("seconds");
    if signal.is_none() && seconds.is_none() {
        return None;
    }
    let longest = i64::from(Grace::LONGEST);
    let grace = Grace {
        signal: signal.and_then(|f| grace_signal(reader, &f)).unwrap_or_default(),
        seconds: seconds.and_then(|f| reader.count(&f, 1, longest)).unwrap_or(Grace::DEFAULT),
    };
    if limit.is_some_and(|limit| limit.millis() <= grace.millis()) {
        let message = "the grace takes all of the time limit";
        reader.wrong(field, message, "fewer seconds than timeLimit says");
    }
    Some(grace)
}

fn grace_signal<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<GraceSignal> {
    let text = reader.text(field)?;
    match text.parse() {
        Ok(signal) => Some(signal),
        Err(error) => {
            let error: NoSignal = error;
            reader.wrong(field, error.to_string(), GraceSignal::NAMES.join(", "));
            None
        }
    }
}

/// `deadline`: a moment as RFC 3339 has it.
fn deadline<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<Deadline> {
    let text = reader.scalar(field)?;
    match text.parse() {
        Ok(deadline) => Some(deadline),
        Err(error) => {
            let error: NoDeadline = error;
            reader.wrong(field, error.to_string(), Deadline::ALLOWED);
            None
        }
    }
}

/// `topology`; an empty one asks for nothing.
fn topology<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Topology {
    let Some(fields) = reader.object(field, Object::Topology) else { return Topology::default() };
    let mut level = |key| fields.given(key).and_then(|f| topology_level(reader, &f));
    Topology { required: level("required"), preferred: level("preferred") }
}

fn topology_level<'d>(reader: &mut Reader<'d>, field: &Field<'d>) -> Option<TopologyLevel> {
    let text = reader.text(field)?;
    match text.parse() {
        Ok(level) => Some(level),
        Err(error) => {
            let error: NoLevel = error;
            reader.wrong(field, error.to_string(), TopologyLevel::NAMES.join(", "));
            None
        }
    }
}

fn read_berth<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    known: &Known<'d>,
    extras: &mut Extras,
) {
    let Some(fields) = reader.object(field, Object::Berth) else { return };
    extras.name = fields.given("name").and_then(|f| reader.name(&f, JobName::try_from));
    extras.description = fields.given("description").and_then(|f| reader.text(&f));
    if let Some(field) = fields.given("priority") {
        extras.priority = any_priority(reader, &field).or(extras.priority);
    }
    extras.time_limit = fields.given("timeLimit").and_then(|f| time_limit(reader, &f));
    extras.grace = fields.given("grace").and_then(|f| grace(reader, &f, extras.time_limit));
    extras.deadline = fields.given("deadline").and_then(|f| deadline(reader, &f));
    extras.gpu_types = fields.given("gpuType").map(|f| parts::gpu_types(reader, &f));
    extras.nodes = NodeSelector {
        names: fields.given("nodes").map(|f| parts::node_names(reader, &f)).unwrap_or_default(),
        labels: fields.given("nodeLabels").map(|f| parts::labels(reader, &f)).unwrap_or_default(),
        topology: fields.given("topology").map(|f| topology(reader, &f)).unwrap_or_default(),
    };
    let kill_all = fields.given("killAllOnCompletedTaskNumber");
    extras.kill_all = kill_all.and_then(|f| self::kill_all(reader, &f, known));
    extras.auth_file = parts::place(reader, &fields, "authFile");
    extras.data_dir = parts::place(reader, &fields, "dataDir");
    extras.output_dir = parts::place(reader, &fields, "outputDir");
    extras.code_dir = parts::place(reader, &fields, "codeDir");
    extras.env = fields.given("jobEnvs").map(|f| parts::environment(reader, &f));
    extras.secrets = secrets(reader, &fields);
    let Some(map) = fields.given("taskRoles").and_then(|f| reader.map(&f)) else { return };
    for (entry, field) in map.each() {
        known_role(reader, &entry.key, entry.key_start, &field, known);
        let role = extras.roles.entry(entry.key.clone()).or_default();
        read_role(reader, &field, role);
    }
}

fn read_role<'d>(reader: &mut Reader<'d>, field: &Field<'d>, role: &mut RoleExtras) {
    let Some(fields) = reader.object(field, Object::BerthRole) else { return };
    role.name = fields.given("name").and_then(|f| reader.name(&f, RoleName::try_from));
    role.image = fields.given("image").and_then(|f| parts::image(reader, &f));
    role.registry = fields.given("auth").and_then(|f| registry(reader, &f));
    if let Some(field) = fields.get("gpuType") {
        role.gpu_types = Some(parts::gpu_types(reader, &field));
    }
    let disk = fields.given("storageGB");
    role.disk_gb = disk.and_then(|f| reader.count(&f, 0, parts::MAX_AMOUNT));
    role.ports = fields.given("portList").map(|f| parts::ports(reader, &f));
    if fields.given("taskRetryCount").is_some() {
        role.task_retries = Some(parts::retries(reader, &fields, "taskRetryCount"));
    }
    role.infiniband = fields.given("infiniband").and_then(|f| reader.flag(&f));
}

/// `killAllOnCompletedTaskNumber`; 0 is the same as nothing.
pub(crate) fn kill_all<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
    known: &Known<'d>,
) -> Option<u32> {
    let value: u32 = reader.count(field, 0, i64::from(u32::MAX))?;
    if let Some(tasks) = known.tasks.filter(|tasks| value > *tasks) {
        let there = counted(tasks, "task");
        let message = format!("{} is {value}, but the job has {there}", field.name());
        reader.wrong(field, message, format!("a whole number from 0 to {tasks}"));
    }
    (value > 0).then_some(value)
}

/// `auth` of an image.
pub(crate) fn registry<'d>(
    reader: &mut Reader<'d>,
    field: &Field<'d>,
) -> Option<Box<RegistryAuth>> {
    let fields = reader.object(field, Object::Auth)?;
    let mut text = |key| {
        let field = fields.given(key)?;
        parts::short_line(reader, &field)
    };
    Some(Box::new(RegistryAuth {
        registry: text("registryuri").unwrap_or_default(),
        user: text("username").unwrap_or_default(),
        password: text("password").unwrap_or_default(),
    }))
}

/// `secrets`: names and values, nested ones by their paths: `registry.username`. The places of the
/// values are noted as hidden.
pub(crate) fn secrets<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>) -> Secrets {
    let mut secrets = Secrets::default();
    let Some(field) = fields.given("secrets") else { return secrets };
    let Some(map) = reader.map(&field) else {
        // Whatever stands there was meant to be hidden.
        reader.hidden.push((field.node.start, field.node.end));
        return secrets;
    };
    nested_secrets(reader, &map, "", &mut secrets);
    secrets
}

fn nested_secrets<'d>(reader: &mut Reader<'d>, map: &Fields<'d>, above: &str, all: &mut Secrets) {
    for (entry, field) in map.every() {
        let name_ok = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        if entry.key.is_empty() || !entry.key.chars().all(name_ok) {
            let message = "this is not a usable name of a secret";
            reader.problem(&field.path, entry.key_start, message, "letters, digits, _, - and .");
        }
        secret(reader, &field, &[above, entry.key.as_str()].concat(), all);
    }
}

/// A value, or what lies in it. What an alias stands for is hidden where the alias stands.
fn secret<'d>(reader: &mut Reader<'d>, field: &Field<'d>, name: &str, all: &mut Secrets) {
    let node = field.node;
    match &node.value {
        Value::Map(entries) if !node.alias => {
            let map = Fields { entries, path: field.path.clone(), start: node.start };
            nested_secrets(reader, &map, &format!("{name}."), all);
        }
        Value::List(_) if !node.alias => {
            for (at, item) in reader.list(field).into_iter().flatten().enumerate() {
                secret(reader, &item, &format!("{name}.{at}"), all);
            }
        }
        Value::Null
        | Value::Bool(_)
        | Value::Number(_)
        | Value::Text(_)
        | Value::List(_)
        | Value::Map(_) => {
            reader.hidden.push((node.start, node.end));
            let Some(value) = reader.scalar(field) else { return };
            if all.get(name).is_some() {
                let message = format!("there are two secrets {:?}", shorten(name));
                reader.wrong(field, message, "each name once");
            }
            all.insert(name, value);
        }
    }
}

impl Extras {
    /// Puts what was said here into the spec. `keys` are the roles' keys in the file.
    pub(crate) fn apply(self, spec: &mut JobSpec, keys: &[&str]) {
        for (role, key) in spec.roles.iter_mut().zip(keys) {
            if let Some(extras) = self.roles.get(*key) {
                extras.apply(role);
            }
        }
        spec.extras = self.kept;
        replace(&mut spec.name, self.name);
        replace(&mut spec.priority, self.priority);
        replace(&mut spec.gpu_types, self.gpu_types);
        spec.nodes = self.nodes;
        spec.time_limit = self.time_limit.or(spec.time_limit);
        spec.grace = self.grace;
        spec.deadline = self.deadline;
        spec.description = self.description.or(spec.description.take());
        spec.kill_all_on_completed = self.kill_all.or(spec.kill_all_on_completed);
        spec.auth_file = self.auth_file.or(spec.auth_file.take());
        spec.data_dir = self.data_dir.or(spec.data_dir.take());
        spec.output_dir = self.output_dir.or(spec.output_dir.take());
        spec.code_dir = self.code_dir.or(spec.code_dir.take());
        if let Some((env, debug)) = self.env {
            (spec.env, spec.debug) = (env, debug);
        }
    }
}

impl RoleExtras {
    fn apply(&self, role: &mut TaskRole) {
        replace(&mut role.name, self.name.clone());
        replace(&mut role.image, self.image.clone());
        replace(&mut role.gpu_types, self.gpu_types.clone());
        replace(&mut role.resources.disk_gb, self.disk_gb);
        replace(&mut role.ports, self.ports.clone());
        replace(&mut role.task_retries, self.task_retries);
        replace(&mut role.infiniband, self.infiniband);
        role.registry = self.registry.clone().or(role.registry.take());
    }
}

fn replace<T>(place: &mut T, value: Option<T>) {
    if let Some(value) = value {
        *place = value;
    }
}
