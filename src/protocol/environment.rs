//! What a task finds in its environment: every variable of the five documents and of the systems
//! behind them, under both prefixes `PAI_` and `QIZHI_`, as one pure function of job, placement and
//! task. All addresses and ports are known before the first task starts.
//!
//! Two variables are not here: `PAI_WORK_DIR` and `QIZHI_WORK_DIR`. The image decides where a command
//! starts, so that whatever starts it in the container exports them; `jobEnvs` cannot set them.
//!
//! Size: a few dozen variables, some ten for each task of the job and label. What all tasks of a job
//! find alike is made once, by [`of_job`], and shared: n tasks would else cost O(n²) in all. The
//! longest value is a role's host list, about 21 bytes a task, which stays under the kernel's 128 KiB
//! a variable up to 6 000 tasks of one role.

use std::collections::BTreeMap;

use crate::amount::Amount;
use crate::ids::{JobId, JobKey, PortLabel};
use crate::placement::TaskPlacement;
use crate::spec::{Dialect, JobSpec, TaskRole};

mod paths;
#[cfg(test)]
mod tests;

pub use paths::{default_output_dir, output_dir, substitute};

/// What is known of a job before its tasks start.
#[derive(Debug, Clone, Copy)]
pub struct JobFacts<'a> {
    /// Owner and name.
    pub key: &'a JobKey,
    /// The job.
    pub spec: &'a JobSpec,
    /// Its key in the database.
    pub job_id: JobId,
    /// The attempt, from 0.
    pub attempt: u32,
    /// What stands for `$PAI_DEFAULT_FS_URI`: `hdfs://host:port`, without a slash at its end.
    pub file_system_uri: &'a str,
}

impl JobFacts<'_> {
    /// See [`application_id`].
    #[must_use]
    pub fn application_id(&self) -> String {
        application_id(self.job_id, self.attempt)
    }

    /// `$PAI_JOB_NAME`: the job's own name as the JSON documents say; with its owner, `user~job`, for
    /// jobs of the version 2 protocol, whose system had it so.
    #[must_use]
    pub fn job_name(&self) -> String {
        match self.spec.dialect {
            Dialect::Earliest | Dialect::Pai | Dialect::Scm => self.key.name.to_string(),
            Dialect::V2 => self.key.to_string(),
        }
    }
}

/// `application_<job>_<attempt from 1>`, the form that clients of the old systems know; it also
/// names the folder of the job's SSH key.
#[must_use]
pub fn application_id(job: JobId, attempt: u32) -> String {
    format!("application_{job}_{:04}", attempt.saturating_add(1))
}

/// The role's name as the version 2 system wrote it into names: lower case letters and digits only
/// (`ps_server` → `psserver`).
#[must_use]
pub fn stripped(role: &str) -> String {
    role.chars().filter(char::is_ascii_alphanumeric).map(|c| c.to_ascii_lowercase()).collect()
}

/// What all tasks of a job find alike, sorted by name, no name twice, no NUL in it.
///
/// `tasks` are all tasks of the job with their places. Names keep the characters of roles and labels
/// as they are, even `.` and `~`, which no shell can spell but every program can read. `jobEnvs` are
/// added, taken literally; they replace nothing of ours.
#[must_use]
pub fn of_job(facts: &JobFacts, tasks: &[TaskPlacement]) -> Vec<(String, String)> {
    let mut set = Set::above(&[], &facts.spec.env);
    let mut tasks: Vec<_> = tasks.iter().collect();
    tasks.sort_by_key(|task| (task.role, task.index));
    job_variables(&mut set, facts);
    host_lists(&mut set, facts, &tasks);
    let names: Vec<Vec<String>> = facts.spec.roles.iter().map(names_of).collect();
    for place in &tasks {
        let names = usize::try_from(place.role).ok().and_then(|role| names.get(role));
        for name in names.into_iter().flatten() {
            peer_variables(&mut set, name, place);
        }
    }
    for (role, names) in facts.spec.roles.iter().zip(&names) {
        names.iter().for_each(|name| each_role_variables(&mut set, role, name));
    }
    set.add_users();
    set.own.into_iter().collect()
}

/// What the task `(role, index)` finds besides `of_job`, and in place of what has the same name
/// there; see [`merged`]. A task without a place gets what does not depend on it.
///
/// `jobEnvs` do not replace `NVIDIA_VISIBLE_DEVICES`, which would open other jobs' GPUs; what they
/// say of the task's part of a GPU stays.
#[must_use]
pub fn of_task(
    facts: &JobFacts,
    of_job: &[(String, String)],
    place: Option<&TaskPlacement>,
    task: (u32, u32),
) -> Vec<(String, String)> {
    let mut set = Set::above(of_job, &facts.spec.env);
    if let Some(role) = role_of(facts, task.0) {
        own_role_variables(&mut set, role, task);
        identity(&mut set, facts, role, task);
    }
    set.plain("NVIDIA_VISIBLE_DEVICES", "void");
    if let Some(place) = place {
        own_place_variables(&mut set, place);
    }
    if let Some(part) = role_of(facts, task.0).and_then(|role| role.resources.gpu_part()) {
        set.add_gpu_share(part);
    }
    set.own.into_iter().collect()
}

/// The whole environment: a task's own, and what its job's tasks share as far as it has no such name.
/// Both are sorted by name.
pub fn merged<'a>(
    of_job: &'a [(String, String)],
    own: &'a [(String, String)],
) -> impl Iterator<Item = &'a (String, String)> {
    of_job.iter().filter(|(name, _)| !has(own, name)).chain(own)
}

fn has(sorted: &[(String, String)], name: &str) -> bool {
    sorted.binary_search_by(|(known, _)| known.as_str().cmp(name)).is_ok()
}

/// Variables by name, above others that all tasks of the job share.
struct Set<'a> {
    own: BTreeMap<String, String>,
    shared: &'a [(String, String)],
    users: &'a BTreeMap<String, String>,
}

impl<'a> Set<'a> {
    fn above(shared: &'a [(String, String)], users: &'a BTreeMap<String, String>) -> Self {
        Self { own: BTreeMap::new(), shared, users }
    }

    /// A variable under both prefixes.
    fn put(&mut self, name: &str, value: impl ToString) {
        let value = value.to_string();
        self.plain(&format!("PAI_{name}"), &value);
        self.plain(&format!("QIZHI_{name}"), value);
    }

    /// The same for a name of second choice: it does not replace one of ours that is there.
    fn put_new(&mut self, name: &str, value: &str) {
        for prefix in ["PAI_", "QIZHI_"] {
            let name = format!("{prefix}{name}");
            if has(self.shared, &name) && !self.users.contains_key(&name) {
                continue;
            }
            self.own.entry(name).or_insert_with(|| value.replace('\0', ""));
        }
    }

    fn plain(&mut self, name: &str, value: impl ToString) {
        self.own.insert(name.to_owned(), value.to_string().replace('\0', ""));
    }

    /// The part of its GPU that the task asked for, for programs to keep to; the second is what
    /// NVIDIA MPS goes by, in whole percents, where the node runs it. The user's own values stay.
    fn add_gpu_share(&mut self, part: Amount) {
        let percent = part.milli().div_ceil(10).to_string();
        let told =
            [("BERTH_GPU_SHARE", part.to_string()), ("CUDA_MPS_ACTIVE_THREAD_PERCENTAGE", percent)];
        for (name, value) in told {
            if !has(self.shared, name) {
                self.own.entry(name.to_owned()).or_insert(value);
            }
        }
    }

    /// The user's own. A name with `=` in it would set another variable than it seems to.
    fn add_users(&mut self) {
        let users = self.users;
        for (name, value) in users {
            let valid = !name.is_empty() && !name.contains(['=', '\0']);
            let kept = matches!(name.as_str(), "PAI_WORK_DIR" | "QIZHI_WORK_DIR");
            if valid && !kept && !self.own.contains_key(name) {
                self.plain(name, value);
            }
        }
    }
}

fn role_of<'a>(facts: &JobFacts<'a>, role: u32) -> Option<&'a TaskRole> {
    facts.spec.roles.get(usize::try_from(role).ok()?)
}

fn job_variables(set: &mut Set<'_>, facts: &JobFacts) {
    let JobFacts { key, spec, file_system_uri, .. } = facts;
    let path = |text: &Option<String>| {
        text.as_deref().map_or_else(String::new, |text| substitute(text, facts))
    };
    let roles: Vec<_> = spec.roles.iter().map(|role| role.name.as_str()).collect();
    set.put("JOB_NAME", facts.job_name());
    set.put("FRAMEWORK_NAME", key);
    set.put("USERNAME", &key.user);
    set.put("USER_NAME", &key.user);
    set.put("VIRTUAL_CLUSTER", &spec.virtual_cluster);
    set.put("JOB_VC_NAME", &spec.virtual_cluster);
    set.put("DEFAULT_FS_URI", file_system_uri);
    set.put("DATA_DIR", path(&spec.data_dir));
    set.put("OUTPUT_DIR", output_dir(facts));
    set.put("CODE_DIR", path(&spec.code_dir));
    for name in ["TASKS_NUM", "JOB_TASK_COUNT"] {
        set.put(name, spec.task_count());
    }
    for name in ["TASK_ROLES_NUM", "JOB_TASK_ROLE_COUNT", "TASK_ROLE_COUNT"] {
        set.put(name, roles.len());
    }
    for name in ["JOB_TASK_ROLE_LIST", "TASK_ROLE_LIST"] {
        set.put(name, roles.join(","));
    }
    set.put("KILL_ALL_ON_COMPLETED_TASK_NUM", spec.kill_all_on_completed.unwrap_or(0));
    set.put("TASK_ROLE_INSTANCES", instances(spec));
    set.plain("APP_ID", facts.application_id());
    set.plain("FRAMEWORK_NAME", key);
    set.plain("FC_FRAMEWORK_NAME", key);
    set.plain("FC_FRAMEWORK_ATTEMPT_ID", facts.attempt);
    set.plain("BERTH_ATTEMPT", facts.attempt);
    set.plain("HADOOP_USER_NAME", &key.user);
}

/// `psserver:0,psserver:1,worker:0`: each task by its role's stripped name.
fn instances(spec: &JobSpec) -> String {
    let of_role = |role: &TaskRole| {
        let name = stripped(role.name.as_str());
        (0..role.count).map(move |index| format!("{name}:{index}"))
    };
    spec.roles.iter().flat_map(of_role).collect::<Vec<_>>().join(",")
}

/// `TASK_ROLE_<role>_HOST_LIST` and, by the role's position, `TASK_ROLE_<i>_HOST_LIST`. A role whose
/// name is another's position: the earliest dialect means the position, all others the name.
fn host_lists(set: &mut Set<'_>, facts: &JobFacts, tasks: &[&TaskPlacement]) {
    let list = |role: usize| {
        let of_role = tasks.iter().filter(|task| usize::try_from(task.role) == Ok(role));
        let host = |task: &&TaskPlacement| match task.ports.first("http") {
            Some(port) => format!("{}:{port}", task.address),
            None => task.address.clone(),
        };
        of_role.map(host).collect::<Vec<_>>().join(",")
    };
    let lists: Vec<_> =
        facts.spec.roles.iter().enumerate().map(|(i, role)| (i, role, list(i))).collect();
    let by_position = |set: &mut Set<'_>| {
        for (position, _, list) in &lists {
            set.put_new(&format!("TASK_ROLE_{position}_HOST_LIST"), list);
        }
    };
    if facts.spec.dialect == Dialect::Earliest {
        by_position(set);
    }
    for (_, role, list) in &lists {
        set.put_new(&format!("TASK_ROLE_{}_HOST_LIST", role.name), list);
    }
    by_position(set);
    for (_, role, list) in &lists {
        set.put_new(&format!("TASK_ROLE_{}_HOST_LIST", stripped(role.name.as_str())), list);
    }
}

/// What a role is called in names of variables, each once: thousands of tasks have some for each.
fn names_of(role: &TaskRole) -> Vec<String> {
    let mut names = vec![role.name.to_string(), stripped(role.name.as_str())];
    names.dedup();
    names
}

/// Address and ports of one task of the job, whose role has this name.
fn peer_variables(set: &mut Set<'_>, name: &str, place: &TaskPlacement) {
    let index = place.index;
    set.put_new(&format!("HOST_IP_{name}_{index}"), &place.address);
    for (label, ports) in place.ports.iter() {
        let ports = joined(ports);
        set.put_new(&format!("PORT_LIST_{name}_{index}_{label}"), &ports);
        set.put_new(&format!("{name}_{index}_{label}_PORT"), &ports);
    }
}

fn each_role_variables(set: &mut Set<'_>, role: &TaskRole, name: &str) {
    set.put_new(&format!("TASK_ROLE_TASK_COUNT_{name}"), &role.count.to_string());
    set.put_new(&format!("RESOURCE_{name}"), &resources(role));
    let failed = optional(role.completion.min_failed);
    set.put_new(&format!("MIN_FAILED_TASK_COUNT_{name}"), &failed);
    let succeeded = optional(role.completion.min_succeeded);
    set.put_new(&format!("MIN_SUCCEEDED_TASK_COUNT_{name}"), &succeeded);
}

fn own_role_variables(set: &mut Set<'_>, role: &TaskRole, (position, index): (u32, u32)) {
    for name in ["TASK_ROLE_NAME", "CURRENT_TASK_ROLE_NAME"] {
        set.put(name, &role.name);
    }
    set.put("TASK_ROLE_NO", position);
    for name in ["TASK_ROLE_INDEX", "TASK_INDEX", "CURRENT_TASK_ROLE_CURRENT_TASK_INDEX"] {
        set.put(name, index);
    }
    for name in ["TASK_ROLE_NUM", "CURRENT_TASK_ROLE_TASK_COUNT"] {
        set.put(name, role.count);
    }
    for name in ["TASK_CPU_NUM", "CURRENT_TASK_ROLE_CPU_COUNT"] {
        set.put(name, role.resources.cpus);
    }
    for name in ["TASK_MEM_MB", "CURRENT_TASK_ROLE_MEM_MB"] {
        set.put(name, role.resources.memory_mb);
    }
    for name in ["TASK_GPU_NUM", "CURRENT_TASK_ROLE_GPU_COUNT"] {
        set.put(name, role.resources.gpu_devices());
    }
    set.put("CURRENT_TASK_ROLE_SHM_MB", role.shm_mb);
    let completion = role.completion;
    set.put("CURRENT_TASK_ROLE_MIN_FAILED_TASK_COUNT", optional(completion.min_failed));
    set.put("CURRENT_TASK_ROLE_MIN_SUCCEEDED_TASK_COUNT", optional(completion.min_succeeded));
    set.put("RESOURCE", resources(role));
}

/// What the container managers of the old systems called the task.
fn identity(set: &mut Set<'_>, facts: &JobFacts, role: &TaskRole, (position, index): (u32, u32)) {
    let before: u32 = facts.spec.roles.iter().take(position as usize).map(|role| role.count).sum();
    let number = before.saturating_add(index).saturating_add(2); // 1 was the application's master.
    let attempt = facts.attempt.saturating_add(1);
    let container = format!("container_{}_{attempt:04}_01_{number:06}", facts.job_id);
    set.put("CONTAINER_ID", &container);
    set.plain("FC_POD_UID", container);
    set.plain("FC_TASKROLE_NAME", stripped(role.name.as_str()));
    set.plain("FC_TASK_INDEX", index);
}

fn own_place_variables(set: &mut Set<'_>, place: &TaskPlacement) {
    for name in ["CURRENT_CONTAINER_IP", "CONTAINER_HOST_IP"] {
        set.put(name, &place.address);
    }
    for name in ["CURRENT_CONTAINER_PORT", "CONTAINER_HOST_PORT"] {
        set.put(name, optional(place.ports.first("http")));
    }
    set.put("CONTAINER_SSH_PORT", optional(place.ssh_port()));
    let mut labels: Vec<(&PortLabel, &Vec<u16>)> = place.ports.iter().collect();
    labels.sort_by_key(|(label, _)| !matches!(label.as_str(), "http" | "ssh"));
    let list: String =
        labels.iter().map(|(label, ports)| format!("{label}:{};", joined(ports))).collect();
    set.put("CONTAINER_HOST_PORT_LIST", list);
    for (label, ports) in labels {
        set.put(&format!("CONTAINER_HOST_{label}_PORT_LIST"), joined(ports));
        // The documents print a doubled underscore, an escape that was taken for text.
        set.put_new(&format!("CONTAINER_HOST__{label}_PORT_LIST"), &joined(ports));
    }
    if !place.gpus.is_empty() {
        let gpus: Vec<_> = place.gpus.iter().map(u32::to_string).collect();
        set.plain("NVIDIA_VISIBLE_DEVICES", gpus.join(","));
    }
}

/// `gpu,cpu,memMB,shmMB`.
fn resources(role: &TaskRole) -> String {
    let of = &role.resources;
    format!("{},{},{},{}", of.gpu_devices(), of.cpus, of.memory_mb, role.shm_mb)
}

fn joined(ports: &[u16]) -> String {
    ports.iter().map(u16::to_string).collect::<Vec<_>>().join(",")
}

/// Empty when there is none.
fn optional(value: Option<impl ToString>) -> String {
    value.map_or_else(String::new, |value| value.to_string())
}
