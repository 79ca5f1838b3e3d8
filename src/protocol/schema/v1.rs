#![expect(dead_code, reason = "these types are described in a schema and never built")]

use schemars::JsonSchema;

/// A job file of PAI, QIZHI or SCM.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Job {
    /// Name of the job, unique among your jobs.
    #[schemars(schema_with = "super::job_name", extend("examples" = ["tensorflow-cifar10"]))]
    job_name: (),
    /// Image of all tasks, as `registry/name:tag`.
    #[schemars(schema_with = "super::image", extend("examples" = ["tensorflow/tensorflow:latest"]))]
    image: (),
    /// File with three lines (registry, user name, password) that opens a private registry.
    #[schemars(default, schema_with = "super::optional_text")]
    auth_file: (),
    /// Where the data lies; `$PAI_DATA_DIR` in the containers.
    #[schemars(default, schema_with = "super::optional_text", extend("examples" = ["$PAI_DEFAULT_FS_URI/data"]))]
    data_dir: (),
    /// Where results go; `$PAI_DEFAULT_FS_URI/Output/$jobName` when not given.
    #[schemars(default, schema_with = "super::optional_text")]
    output_dir: (),
    /// Code to be put into every container, read-only, at most 200 MB.
    #[schemars(default, schema_with = "super::optional_text")]
    code_dir: (),
    /// Virtual cluster to run in.
    #[schemars(default, schema_with = "super::optional_text", extend("default" = "default"))]
    virtual_cluster: (),
    /// The kinds of tasks, at least one.
    #[schemars(length(min = 1))]
    task_roles: Vec<TaskRole>,
    /// GPU type that the tasks need, or several separated by commas; any when not given.
    #[schemars(default, schema_with = "super::names", extend("examples" = ["TITANX", "A100,H100"]))]
    gpu_type: (),
    /// The job ends when so many tasks have completed; 0: no such rule.
    #[schemars(default, schema_with = "super::from_0", extend("default" = 0))]
    kill_all_on_completed_task_number: (),
    /// So many more attempts after a failure of the job's own; -1: after every failure; -2: always.
    #[schemars(default, schema_with = "super::retries", extend("default" = 0))]
    retry_count: (),
    /// Environment variables of all tasks, taken literally. They replace none of the platform's.
    #[schemars(default, schema_with = "super::environment")]
    job_envs: (),
    /// Anything else, kept with the job.
    #[schemars(default)]
    extras: Option<Extras>,
    /// Scratch space of a submission page; accepted and dropped.
    #[schemars(default, schema_with = "super::anything")]
    tmp: (),
}

/// A kind of task.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct TaskRole {
    /// Name of the role, unique in the job.
    #[schemars(schema_with = "super::dotted_name", extend("examples" = ["worker"]))]
    name: (),
    /// Number of tasks.
    #[schemars(schema_with = "super::from_1", extend("examples" = [1]))]
    task_number: (),
    /// CPU cores of each task.
    #[schemars(schema_with = "super::from_1", extend("examples" = [4]))]
    cpu_number: (),
    /// Memory of each task in MiB.
    #[schemars(rename = "memoryMB", schema_with = "super::from_100", extend("examples" = [8192]))]
    memory_mb: (),
    /// Size of `/dev/shm` in MiB, part of the memory.
    #[schemars(rename = "shmMB", default, schema_with = "super::from_1", extend("default" = 64))]
    shm_mb: (),
    /// GPUs of each task; below 1 a part of one, on nodes that share theirs.
    #[schemars(schema_with = "super::gpus", extend("examples" = [1, 0.25]))]
    gpu_number: (),
    /// Disk of each task in GiB.
    #[schemars(rename = "storageGB", default, schema_with = "super::from_0", extend("default" = 0))]
    storage_gb: (),
    /// Ports besides `http` and `ssh`, which every task has.
    #[schemars(default)]
    port_list: Option<Vec<Port>>,
    /// Shell command of each task.
    #[schemars(schema_with = "super::text", extend("examples" = ["python code/train.py"]))]
    command: (),
    /// So many failed tasks fail the job; null: the job goes on whatever fails.
    #[schemars(default, schema_with = "super::tasks_or_null", extend("default" = 1))]
    min_failed_task_count: (),
    /// So many succeeded tasks make the job succeed; null: it runs until all tasks have completed.
    #[schemars(default, schema_with = "super::tasks_or_null", extend("default" = null, "x-null" = true))]
    min_succeeded_task_count: (),
}

/// Ports of one label.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Port {
    /// Label, unique in the role.
    #[schemars(schema_with = "super::dotted_name", extend("examples" = ["jupyter"]))]
    label: (),
    /// First port; 0: any free ones.
    #[schemars(schema_with = "super::port", extend("examples" = [0]))]
    begin_at: (),
    /// Number of ports.
    #[schemars(schema_with = "super::port_count", extend("examples" = [1]))]
    port_number: (),
}

/// Anything, kept with the job.
#[derive(JsonSchema)]
pub(super) struct Extras {
    /// What the rest of the notation has no word for.
    #[schemars(default)]
    berth: Option<Berth>,
}

/// What the notation has no word for. A job that was written in the other version and is shown in
/// this one has it here.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Berth {
    /// Name of the job, where version 2 does not allow it.
    #[schemars(default, schema_with = "super::job_name")]
    name: (),
    /// Free text.
    #[schemars(default, schema_with = "super::optional_text")]
    description: (),
    /// Place in the queue: crit, prod, test, oppo, or a number from -1 to 126.
    #[schemars(default, schema_with = "super::word", extend("default" = "test", "examples" = ["prod"]))]
    priority: (),
    /// How long each attempt may run: seconds, or a text such as `2h 30m`. Then it is stopped.
    /// A job with a limit may start sooner, where it is over before a place is needed.
    #[schemars(default, schema_with = "super::time_limit", extend("examples" = ["2h 30m", 3600]))]
    time_limit: (),
    /// GPU types that will do for the whole job.
    #[schemars(default, schema_with = "super::names")]
    gpu_type: (),
    /// The only nodes that will do: a name, several separated by commas, or a list.
    #[schemars(default, schema_with = "super::names", extend("examples" = [["node-1"]]))]
    nodes: (),
    /// Labels that a node must have, each with this value; an administrator gives them to nodes.
    #[schemars(default, schema_with = "super::node_labels", extend("examples" = [{"rack": "3"}]))]
    node_labels: (),
    /// The job ends when so many tasks have completed.
    #[schemars(default, schema_with = "super::from_0")]
    kill_all_on_completed_task_number: (),
    /// File that opens a private registry.
    #[schemars(default, schema_with = "super::optional_text")]
    auth_file: (),
    /// Where the data lies.
    #[schemars(default, schema_with = "super::optional_text")]
    data_dir: (),
    /// Where results go.
    #[schemars(default, schema_with = "super::optional_text")]
    output_dir: (),
    /// Code to be put into every container.
    #[schemars(default, schema_with = "super::optional_text")]
    code_dir: (),
    /// Environment variables of all tasks.
    #[schemars(default, schema_with = "super::environment")]
    job_envs: (),
    /// Secrets by name, used as `<% $secrets.name %>`; never shown again.
    #[schemars(default, schema_with = "super::secrets")]
    secrets: (),
    /// Additions to task roles, by the role's name.
    #[schemars(default, schema_with = "super::by_role::<BerthRole>")]
    task_roles: (),
}

/// Additions to a task role.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct BerthRole {
    /// Name of the role, where version 2 does not allow it.
    #[schemars(default, schema_with = "super::dotted_name")]
    name: (),
    /// Image of this role.
    #[schemars(default, schema_with = "super::image")]
    image: (),
    /// Credentials of the image's registry.
    #[schemars(default)]
    auth: Option<Auth>,
    /// GPU types that will do for this role.
    #[schemars(default, schema_with = "super::names")]
    gpu_type: (),
    /// Disk of each task in GiB.
    #[schemars(rename = "storageGB", default, schema_with = "super::from_0")]
    storage_gb: (),
    /// Ports with their first number.
    #[schemars(default)]
    port_list: Option<Vec<Port>>,
    /// Further starts of a failed task.
    #[schemars(default, schema_with = "super::retries", extend("default" = 0))]
    task_retry_count: (),
    /// InfiniBand devices are wanted.
    #[schemars(default, schema_with = "super::flag", extend("default" = false))]
    infiniband: (),
}

/// Credentials of a registry.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Auth {
    /// User name.
    #[schemars(default, schema_with = "super::word")]
    username: (),
    /// Password; best written as `<% $secrets.name %>`.
    #[schemars(default, schema_with = "super::word", extend("examples" = ["<% $secrets.docker_password %>"]))]
    password: (),
    /// The registry; Docker Hub when not given.
    #[schemars(default, schema_with = "super::optional_text")]
    registryuri: (),
}
