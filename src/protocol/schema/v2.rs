#![expect(dead_code, reason = "these types are described in a schema and never built")]

use schemars::JsonSchema;

use super::v1::{Auth, Berth};

/// A job of protocol version 2.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Job {
    /// Version of the protocol.
    #[schemars(extend("enum" = [2, "2"]), schema_with = "super::anything")]
    protocol_version: (),
    /// Name of the job, unique among your jobs.
    #[schemars(length(max = 255), regex(pattern = r"^[a-zA-Z0-9_-]+$"), extend("examples" = ["tensorflow_cifar10"]))]
    name: String,
    /// What the file describes: a job.
    #[schemars(rename = "type", extend("const" = "job"))]
    kind: String,
    /// Version of the file.
    #[schemars(default, schema_with = "super::word")]
    version: (),
    /// Who wrote it.
    #[schemars(default, schema_with = "super::word")]
    contributor: (),
    /// Free text.
    #[schemars(default, schema_with = "super::word")]
    description: (),
    /// Images, data, scripts and outputs that the roles refer to by name.
    #[schemars(default)]
    prerequisites: Option<Vec<Prerequisite>>,
    /// Values that commands use as `<% $parameters.name %>`; nested ones as `a.b[0]`.
    #[schemars(default)]
    parameters: Option<serde_json::Map<String, serde_json::Value>>,
    /// Values that commands and auth use as `<% $secrets.name %>`; never shown again.
    #[schemars(default, schema_with = "super::secrets")]
    secrets: (),
    /// So many more attempts after a failure of the job's own; -1: after every failure; -2: always.
    #[schemars(default, schema_with = "super::retries", extend("default" = 0))]
    job_retry_count: (),
    /// The kinds of tasks by name, at least one.
    #[schemars(schema_with = "super::by_word::<TaskRole>")]
    task_roles: (),
    /// Commands around those of the roles, for one place of deployment each.
    #[schemars(default)]
    deployments: Option<Vec<Deployment>>,
    /// Where and how the job is deployed.
    #[schemars(default)]
    defaults: Option<Defaults>,
    /// Anything else, kept with the job.
    #[schemars(default)]
    extras: Option<Extras>,
}

/// Something that roles refer to by name.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Prerequisite {
    /// Version of the protocol.
    #[schemars(default, schema_with = "super::word")]
    protocol_version: (),
    /// Name, unique among those of its type.
    #[schemars(schema_with = "super::word")]
    name: (),
    /// What it is.
    #[schemars(rename = "type", extend("enum" = ["data", "script", "output", "dockerimage"]))]
    kind: String,
    /// Its version.
    #[schemars(default, schema_with = "super::word")]
    version: (),
    /// Who made it.
    #[schemars(default, schema_with = "super::word")]
    contributor: (),
    /// Free text.
    #[schemars(default, schema_with = "super::word")]
    description: (),
    /// Credentials of an image's registry.
    #[schemars(default)]
    auth: Option<Auth>,
    /// Image, address or path; for data a list as well.
    #[schemars(default, schema_with = "super::uri")]
    uri: (),
}

/// A kind of task.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct TaskRole {
    /// Version of the protocol.
    #[schemars(default, schema_with = "super::word")]
    protocol_version: (),
    /// Number of tasks.
    #[schemars(default, schema_with = "super::from_1", extend("default" = 1))]
    instances: (),
    /// When tasks of this role end the job.
    #[schemars(default)]
    completion: Option<Completion>,
    /// Further starts of a failed task.
    #[schemars(default, schema_with = "super::retries", extend("default" = 0))]
    task_retry_count: (),
    /// Names of prerequisites that this role needs besides.
    #[schemars(default)]
    prerequisites: Option<Vec<String>>,
    /// Name of a prerequisite of type dockerimage.
    #[schemars(schema_with = "super::word")]
    docker_image: (),
    /// Name of a prerequisite of type data, here `$data`.
    #[schemars(default, schema_with = "super::word")]
    data: (),
    /// Name of a prerequisite of type output, here `$output`.
    #[schemars(default, schema_with = "super::word")]
    output: (),
    /// Name of a prerequisite of type script, here `$script`.
    #[schemars(default, schema_with = "super::word")]
    script: (),
    /// Shared memory and devices.
    #[schemars(default)]
    extra_container_options: Option<ContainerOptions>,
    /// What each task gets.
    resource_per_instance: Resources,
    /// Shell commands, one after the other.
    #[schemars(schema_with = "super::commands", extend("examples" = [["python train.py"]]))]
    commands: (),
}

/// When tasks of a role end the job.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Completion {
    /// So many failed tasks fail the job; -1: the job goes on whatever fails.
    #[schemars(default, schema_with = "super::tasks_or_disabled", extend("default" = 1))]
    min_failed_instances: (),
    /// So many succeeded tasks make the job succeed; all instances when not given; -1: it runs
    /// until all tasks have completed.
    #[schemars(default, schema_with = "super::tasks_or_disabled")]
    min_succeeded_instances: (),
}

/// Shared memory and devices.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct ContainerOptions {
    /// Size of `/dev/shm` in MiB, part of the memory.
    #[schemars(rename = "shmMB", default, schema_with = "super::from_1", extend("default" = 512))]
    shm_mb: (),
    /// InfiniBand devices are wanted.
    #[schemars(default, schema_with = "super::flag", extend("default" = false))]
    infiniband: (),
}

/// What each task gets.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields)]
pub(super) struct Resources {
    /// CPU cores.
    #[schemars(schema_with = "super::from_1", extend("examples" = [4]))]
    cpu: (),
    /// Memory in MiB.
    #[schemars(rename = "memoryMB", schema_with = "super::from_100", extend("examples" = [8192]))]
    memory_mb: (),
    /// GPUs; below 1 a part of one, on nodes that share theirs.
    #[schemars(schema_with = "super::gpus", extend("examples" = [1, 0.25]))]
    gpu: (),
    /// Number of ports by label, besides `http` and `ssh`, which every task has.
    #[schemars(default, schema_with = "super::by_word::<PortCount>")]
    ports: (),
}

/// Number of ports of a label.
#[derive(JsonSchema)]
pub(super) struct PortCount(#[schemars(schema_with = "super::port_count")] ());

/// Commands around those of the roles.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Deployment {
    /// Version of the protocol.
    #[schemars(default, schema_with = "super::word")]
    protocol_version: (),
    /// Name that `defaults.deployment` chooses.
    #[schemars(schema_with = "super::word")]
    name: (),
    /// Its version.
    #[schemars(default, schema_with = "super::word")]
    version: (),
    /// Who wrote it.
    #[schemars(default, schema_with = "super::word")]
    contributor: (),
    /// Free text.
    #[schemars(default, schema_with = "super::word")]
    description: (),
    /// Commands by role.
    #[schemars(schema_with = "super::by_word::<DeploymentRole>")]
    task_roles: (),
}

/// Commands around those of a role.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct DeploymentRole {
    /// They run before the role's own.
    #[schemars(default, schema_with = "super::commands")]
    pre_commands: (),
    /// They run after the role's own have succeeded.
    #[schemars(default, schema_with = "super::commands")]
    post_commands: (),
}

/// Where and how the job is deployed.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Defaults {
    /// Virtual cluster to run in.
    #[schemars(default, schema_with = "super::optional_text", extend("default" = "default"))]
    virtual_cluster: (),
    /// Name of the deployment to use.
    #[schemars(default, schema_with = "super::optional_text")]
    deployment: (),
}

/// Anything, kept with the job.
#[derive(JsonSchema)]
#[schemars(rename_all = "camelCase")]
pub(super) struct Extras {
    /// Priority and GPU types.
    #[schemars(default)]
    hived_scheduler: Option<Scheduler>,
    /// What the rest of the notation has no word for.
    #[schemars(default)]
    berth: Option<Berth>,
}

/// Priority and GPU types.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct Scheduler {
    /// Place in the queue.
    #[schemars(default, extend("enum" = ["crit", "prod", "test", "oppo"], "default" = "test"))]
    job_priority_class: String,
    /// GPU types by role.
    #[schemars(default, schema_with = "super::by_role::<SchedulerRole>")]
    task_roles: (),
}

/// GPU type of a role.
#[derive(JsonSchema)]
#[schemars(deny_unknown_fields, rename_all = "camelCase")]
pub(super) struct SchedulerRole {
    /// GPU type.
    #[schemars(default, schema_with = "super::names")]
    gpu_type: (),
    /// GPU type, in newer files.
    #[schemars(default, schema_with = "super::names")]
    sku_type: (),
    /// Reservation; accepted and kept.
    #[schemars(default, schema_with = "super::optional_text")]
    reservation_id: (),
    /// Reservation, in newer files; accepted and kept.
    #[schemars(default, schema_with = "super::optional_text")]
    pinned_cell_id: (),
    /// Affinity group; accepted and kept.
    #[schemars(default, schema_with = "super::optional_text")]
    affinity_group_name: (),
}
