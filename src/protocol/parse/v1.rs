//! Version 1: the JSON job file of PAI, QIZHI and SCM, all of its dialects at once.

use std::collections::HashMap;

use super::reader::{Fields, Reader};
use super::{extras, extras::Known, parts, plugins, plugins::Plugins};
use crate::document::{Node, Value};
use crate::fields::Object;
use crate::ids::{JobName, RoleName, VirtualClusterName};
use crate::resources::Resources;
use crate::secrets::Secrets;
use crate::spec::{Completion, Dialect, JobSpec, RetryLimit, TaskRole};
use crate::words::counted;

/// Size of `/dev/shm` in MiB when the file does not say.
const DEFAULT_SHM: u64 = 64;

const KILL_ALL: &str = "killAllOnCompletedTaskNumber";
const AT_LEAST_ONE: &str = "a whole number, at least 1";

/// What the roles share.
struct Common<'p, 'd> {
    image: String,
    plugins: &'p Plugins<'d>,
    /// Names of roles may have hyphens.
    hyphens: bool,
}

pub(super) fn read<'d>(reader: &mut Reader<'d>, root: &Fields<'d>) -> Option<(JobSpec, Secrets)> {
    reader.check_keys(root, Object::V1Job, &[]);
    let name = reader.required(root, "jobName", JobName::ALLOWED);
    let name = name.and_then(|field| reader.name(&field, JobName::try_from));
    let image = reader.required(root, "image", "an image reference");
    let image = image.and_then(|field| parts::image(reader, &field));
    let names = role_names(root);
    let plugins = plugins::read(reader, root, &names, &|_, _, text| Some(text.to_owned()));
    let image = image.unwrap_or_default();
    let common = Common { image, plugins: &plugins, hyphens: dialect(root) == Dialect::Earliest };
    let (roles, tasks) = read_roles(reader, root, &common);
    let Plugins { kept, storages, shows_board, .. } = plugins;
    let known = Known { roles: names, tasks, plugins: kept, storages };
    let extras = extras::read(reader, root, &known);
    let kill_all = root.given(KILL_ALL);
    let kill_all = kill_all.and_then(|field| extras::kill_all(reader, &field, &known));
    let (env, debug) =
        root.given("jobEnvs").map_or_else(Default::default, |f| parts::environment(reader, &f));
    let mut spec = JobSpec {
        virtual_cluster: virtual_cluster(reader, root),
        gpu_types: root.given("gpuType").map_or(Vec::new(), |f| parts::gpu_types(reader, &f)),
        retries: parts::retries(reader, root, "retryCount"),
        kill_all_on_completed: kill_all,
        auth_file: parts::place(reader, root, "authFile"),
        data_dir: parts::place(reader, root, "dataDir"),
        output_dir: parts::place(reader, root, "outputDir"),
        code_dir: parts::place(reader, root, "codeDir"),
        env,
        debug,
        secrets: extras.secrets.names().map(str::to_owned).collect(),
        // Last, so that a wrong name hides no other mistake.
        ..JobSpec::plain(name?, dialect(root), roles)
    };
    let secrets = extras.secrets.clone();
    extras.apply(&mut spec, &known.roles);
    if shows_board {
        plugins::show_board(&mut spec.roles);
    }
    Some((spec, secrets))
}

fn virtual_cluster<'d>(reader: &mut Reader<'d>, root: &Fields<'d>) -> VirtualClusterName {
    let field = root.given("virtualCluster");
    let name = field.and_then(|field| reader.name(&field, VirtualClusterName::try_from));
    name.unwrap_or_default()
}

/// Which document a file was written for, told by the keys it uses.
fn dialect(root: &Fields<'_>) -> Dialect {
    let mut role_keys = Vec::new();
    if let Some(Value::List(roles)) = root.get("taskRoles").map(|field| &field.node.value) {
        for role in roles {
            if let Value::Map(entries) = &role.value {
                role_keys.extend(entries.iter().map(|entry| entry.key.as_str()));
            }
        }
    }
    let uses = |dialect: Dialect| {
        let of = |object: Object| object.keys().iter().filter(move |key| key.since == dialect);
        of(Object::V1Job).any(|key| root.get(key.name).is_some())
            || of(Object::V1Role).any(|key| role_keys.contains(&key.name))
    };
    if uses(Dialect::Scm) {
        Dialect::Scm
    } else if uses(Dialect::Pai) || root.given("codeDir").is_none() {
        // The earliest document requires a code directory: a file without one is not of its kind.
        Dialect::Pai
    } else {
        Dialect::Earliest
    }
}

/// The roles, and the number of all tasks where every role says its own.
fn read_roles<'d>(
    reader: &mut Reader<'d>,
    root: &Fields<'d>,
    common: &Common<'_, 'd>,
) -> (Vec<TaskRole>, Option<u32>) {
    let allowed = "a list of task roles, at least one";
    let Some(field) = reader.required(root, "taskRoles", allowed) else {
        return (Vec::new(), None);
    };
    let Some(items) = reader.list(&field) else { return (Vec::new(), None) };
    if items.is_empty() {
        reader.wrong(&field, "taskRoles is empty", allowed);
    }
    let mut seen = HashMap::new();
    let mut roles = Vec::new();
    let mut counts = Vec::new();
    for item in items {
        let Some(fields) = reader.object(&item, Object::V1Role) else { continue };
        let count = reader.required(&fields, "taskNumber", AT_LEAST_ONE);
        let count = count.and_then(|field| reader.count(&field, 1, parts::MAX_TASKS.into()));
        counts.push(count);
        roles.extend(read_role(reader, &fields, count, common, &mut seen));
    }
    (roles, parts::total(reader, &field, &counts))
}

fn read_role<'d>(
    reader: &mut Reader<'d>,
    fields: &Fields<'d>,
    count: Option<u32>,
    common: &Common<'_, 'd>,
    seen: &mut HashMap<RoleName, String>,
) -> Option<TaskRole> {
    let name = reader.required(fields, "name", RoleName::ALLOWED);
    let name = name.and_then(|field| {
        let name = reader.name(&field, RoleName::try_from)?;
        if name.as_str().contains('-') && !common.hyphens {
            let message = format!("{:?} is not a valid {}", name.as_str(), RoleName::WHAT);
            reader.wrong(&field, message, RoleName::ALLOWED);
            return None;
        }
        if let Some(first) = seen.insert(name.clone(), fields.path.clone()) {
            let message = format!("{first} is called {name} as well");
            reader.wrong(&field, message, "a name that no other task role has");
        }
        Some(name)
    });
    let resources = resources(reader, fields);
    let memory_mb = resources.map_or(u64::MAX, |resources| resources.memory_mb);
    let shm_mb = shared_memory(reader, fields, "shmMB", memory_mb, DEFAULT_SHM);
    let ports = fields.given("portList").map_or(Vec::new(), |field| parts::ports(reader, &field));
    let command = reader.required(fields, "command", "a shell command");
    let command = command.and_then(|field| {
        let text = reader.text(&field)?;
        let own = parts::command(reader, &field, &text)?;
        let name = name.as_ref().map_or("", RoleName::as_str);
        common.plugins.around(reader, &field, (name, &[]), own, &|_, _, text| Some(text.to_owned()))
    });
    let completion = Completion {
        min_failed: limit(reader, fields, "minFailedTaskCount", count, Some(1)),
        min_succeeded: limit(reader, fields, "minSucceededTaskCount", count, None),
    };
    Some(TaskRole {
        name: name?,
        count: count?,
        resources: resources?,
        gpu_types: Vec::new(),
        shm_mb,
        image: common.image.clone(),
        registry: None,
        ports,
        command: command?,
        completion,
        task_retries: RetryLimit::Times(0),
        infiniband: false,
    })
}

fn resources<'d>(reader: &mut Reader<'d>, fields: &Fields<'d>) -> Option<Resources> {
    let memory = format!("a whole number, at least {}", parts::MIN_MEMORY);
    let mut get = |key, min, max, allowed: &str| {
        let field = reader.required(fields, key, allowed)?;
        reader.integer(&field, min, max)
    };
    let cpus = get("cpuNumber", 1, parts::MAX_UNITS, AT_LEAST_ONE);
    let memory_mb = get("memoryMB", parts::MIN_MEMORY, parts::MAX_AMOUNT, &memory);
    let gpus = parts::gpus(reader, fields, "gpuNumber");
    let disk = fields.given("storageGB");
    let disk_gb = disk.map_or(Some(0), |field| reader.count(&field, 0, parts::MAX_AMOUNT));
    Some(Resources {
        cpus: u32::try_from(cpus?).ok()?,
        memory_mb: u64::try_from(memory_mb?).ok()?,
        gpus: gpus?,
        disk_gb: disk_gb?,
    })
}

/// `shmMB`, which is part of the task's memory.
pub(super) fn shared_memory<'d>(
    reader: &mut Reader<'d>,
    fields: &Fields<'d>,
    key: &str,
    memory_mb: u64,
    default: u64,
) -> u64 {
    let Some(field) = fields.given(key) else { return default.min(memory_mb) };
    let shm_mb = reader.count(&field, 1, parts::MAX_AMOUNT).unwrap_or(0);
    if shm_mb > memory_mb {
        let message = format!("shmMB is {shm_mb}, more than memoryMB, which is {memory_mb}");
        reader.wrong(&field, message, format!("at most {memory_mb}"));
    }
    shm_mb
}

/// A completion rule: null disables it, absence means the default.
fn limit<'d>(
    reader: &mut Reader<'d>,
    fields: &Fields<'d>,
    key: &str,
    tasks: Option<u32>,
    default: Option<u32>,
) -> Option<u32> {
    let Some(field) = fields.get(key) else { return default };
    match &field.node.value {
        Value::Null => return None,
        Value::Text(text) if text.is_empty() => return default,
        Value::Bool(_) | Value::Number(_) | Value::Text(_) | Value::List(_) | Value::Map(_) => {}
    }
    let value: u32 = reader.count(&field, 1, i64::from(u32::MAX))?;
    if let Some(tasks) = tasks.filter(|tasks| value > *tasks) {
        let there = counted(tasks, "task");
        let message = format!("{key} is {value}, but the role has {there}");
        reader.wrong(&field, message, format!("null, or a whole number from 1 to {tasks}"));
    }
    Some(value)
}

/// The names of the roles as they stand in the text, right or wrong.
fn role_names<'d>(root: &Fields<'d>) -> Vec<&'d str> {
    let Some(Value::List(items)) = root.get("taskRoles").map(|field| &field.node.value) else {
        return Vec::new();
    };
    let name = |item: &'d Node| match &item.get("name")?.value {
        Value::Text(text) | Value::Number(text) => Some(text.as_str()),
        Value::Null | Value::Bool(_) | Value::List(_) | Value::Map(_) => None,
    };
    items.iter().filter_map(name).collect()
}
