//! A container of ours in Docker's words. Nothing here talks to an engine.

use std::collections::{BTreeMap, HashMap};

use bollard::models::{
    ContainerCreateBody, DeviceMapping, DeviceRequest, HealthConfig, HostConfig,
    HostConfigLogConfig, Mount, MountBindOptions, MountBindOptionsPropagationEnum, MountType,
    MountVolumeOptions, MountVolumeOptionsDriverConfig, ResourcesUlimits, RestartPolicy,
    RestartPolicyNameEnum,
};
use protocol::cluster::GpuRuntime;
use protocol::environment::merged;
use protocol::epoch::Epoch;
use protocol::guest::{FOLDER, PROGRAM, PROGRAMS, VARIABLE};
use protocol::ids::TaskKey;
use protocol::image::explicit;

use super::network;
use crate::filling::{CLUSTER_LABEL, EPOCH_LABEL};
use crate::model::{ContainerSpec, Folder, GpuDevice, Network, Share};

/// Runs the user's text, which comes as an argument: it is never part of a script of ours. Limits
/// are raised here as far as the engine lets them be; asked of the engine, one that may not raise
/// them itself would refuse the container.
const WRAPPER: &str = "export PAI_WORK_DIR=\"$PWD\" QIZHI_WORK_DIR=\"$PWD\"\n\
    ulimit -S -n 65536 2>/dev/null || ulimit -S -n \"$(ulimit -H -n)\" 2>/dev/null\n\
    ulimit -S -s 65536 2>/dev/null\n\
    if command -v bash >/dev/null 2>&1; then exec bash -c \"$1\"; fi\n\
    exec /bin/sh -c \"$1\"";

/// What `root` in a container may do besides ordinary things: Docker's own set without making
/// devices, and without raw packets and the node's own ports, which a shared network does not forgive.
/// In a network of its own a container has all ports anyway.
const CAPABILITIES: [&str; 11] = [
    "AUDIT_WRITE",
    "CHOWN",
    "DAC_OVERRIDE",
    "FOWNER",
    "FSETID",
    "KILL",
    "SETFCAP",
    "SETGID",
    "SETPCAP",
    "SETUID",
    "SYS_CHROOT",
];

/// Processes and threads of one task; data loaders of many workers need some thousands.
const PIDS: i64 = 16_384;

/// The kernel counts render devices from here.
const RENDER: u32 = 128;

/// What tells Ascend's runtime which devices a container gets.
const ASCEND: &str = "ASCEND_VISIBLE_DEVICES";

/// Kernel memory shortage ends tasks before it ends the engine.
const OOM_SCORE: i64 = 500;

/// The labels by which a container is known to be a task's.
pub(super) fn key_labels(cluster: &str, key: &TaskKey) -> BTreeMap<String, String> {
    BTreeMap::from([
        (CLUSTER_LABEL.to_owned(), cluster.to_owned()),
        ("berth.job".to_owned(), key.job.to_string()),
        ("berth.attempt".to_owned(), key.attempt.to_string()),
        ("berth.role".to_owned(), key.role.to_string()),
        ("berth.index".to_owned(), key.index.to_string()),
        ("berth.retry".to_owned(), key.retry.to_string()),
    ])
}

/// The epoch that labels say.
pub(super) fn epoch_of(labels: &HashMap<String, String>) -> Epoch {
    Epoch::of_label(labels.get(EPOCH_LABEL).map(String::as_str))
}

/// The request that makes a container with the job's code, on an engine with so many CPU cores.
pub(super) fn body(
    spec: &ContainerSpec,
    code: Option<Mount>,
    has_init: bool,
    engine_cpus: u32,
) -> ContainerCreateBody {
    let mut labels: HashMap<String, String> = spec.labels.clone().into_iter().collect();
    labels.extend(key_labels(&spec.cluster, &spec.key));
    // In any case, so that it is not what the image says.
    labels.insert(EPOCH_LABEL.to_owned(), spec.epoch.label().unwrap_or_default());
    let (exposed_ports, bindings) = match &spec.network {
        Network::Host => (None, None),
        Network::Bridge { address, ports, .. } => {
            let (exposed, bindings) = network::published(*address, ports);
            (Some(exposed), Some(bindings))
        }
    };
    let host_config = host(spec, code, has_init, engine_cpus);
    ContainerCreateBody {
        exposed_ports,
        image: Some(explicit(&spec.image)),
        entrypoint: Some(entrypoint(spec)),
        // People enter as root, and so the command must be: else they could not work on its files.
        user: spec.guest.is_some().then(|| "0:0".to_owned()),
        cmd: Some(spec.guest.is_none().then(|| spec.command.to_string()).into_iter().collect()),
        env: Some(environment(spec)),
        labels: Some(labels),
        tty: Some(false),
        open_stdin: Some(false),
        stop_signal: Some("SIGTERM".to_owned()),
        healthcheck: Some(HealthConfig {
            test: Some(vec!["NONE".to_owned()]),
            ..Default::default()
        }),
        host_config: Some(HostConfig { port_bindings: bindings, ..host_config }),
        ..Default::default()
    }
}

fn entrypoint(spec: &ContainerSpec) -> Vec<String> {
    let words = match spec.guest {
        Some(_) => vec![PROGRAM, "run"],
        None => vec!["/bin/sh", "-c", WRAPPER, "berth"],
    };
    words.into_iter().map(str::to_owned).collect()
}

fn environment(spec: &ContainerSpec) -> Vec<String> {
    let by_request = device_requests(spec).is_some();
    merged(&spec.job_env, &spec.env)
        // The engine says itself which devices it lets in.
        .filter(|(name, _)| !(by_request && name == "NVIDIA_VISIBLE_DEVICES"))
        // What the job says of it would open other jobs' devices.
        .filter(|(name, _)| !(spec.gpu_runtime == GpuRuntime::Ascend && name == ASCEND))
        .map(|(name, value)| format!("{name}={value}"))
        .chain(ascend(spec))
        .chain(spec.guest.iter().map(|guest| format!("{VARIABLE}={}", guest.config)))
        .collect()
}

/// Which devices Ascend's runtime puts in.
fn ascend(spec: &ContainerSpec) -> Option<String> {
    let indices: Vec<String> = spec.gpus.iter().map(|gpu| gpu.index.to_string()).collect();
    let which = if indices.is_empty() { "void".to_owned() } else { indices.join(",") };
    (spec.gpu_runtime == GpuRuntime::Ascend).then(|| format!("{ASCEND}={which}"))
}

fn host(spec: &ContainerSpec, code: Option<Mount>, has_init: bool, engine_cpus: u32) -> HostConfig {
    // An administrator may declare more cores than the machine has; Docker refuses such a limit.
    let cpus = if engine_cpus == 0 { spec.cpus } else { spec.cpus.min(engine_cpus) };
    let memory = mebibytes(spec.memory_mb);
    let mut capabilities: Vec<String> = CAPABILITIES.map(str::to_owned).to_vec();
    if spec.infiniband {
        capabilities.push("IPC_LOCK".to_owned());
    }
    HostConfig {
        network_mode: Some(match &spec.network {
            Network::Host => "host".to_owned(),
            Network::Bridge { name, .. } => name.clone(),
        }),
        ipc_mode: Some("private".to_owned()),
        // The guest is what an init program would be.
        init: (has_init && spec.guest.is_none()).then_some(true),
        mounts: Some(mounts(spec, code)),
        nano_cpus: positive(i64::from(cpus).saturating_mul(1_000_000_000)),
        memory,
        memory_swap: memory,
        shm_size: mebibytes(spec.shm_mb),
        pids_limit: Some(PIDS),
        oom_score_adj: Some(OOM_SCORE),
        security_opt: Some(vec!["no-new-privileges".to_owned()]),
        cap_drop: Some(vec!["ALL".to_owned()]),
        cap_add: Some(capabilities),
        ulimits: Some(ulimits(spec.infiniband)),
        devices: devices(spec),
        device_requests: device_requests(spec),
        runtime: runtime(spec),
        log_config: Some(log_files()),
        restart_policy: Some(RestartPolicy {
            name: Some(RestartPolicyNameEnum::NO),
            maximum_retry_count: None,
        }),
        ..Default::default()
    }
}

fn mounts(spec: &ContainerSpec, code: Option<Mount>) -> Vec<Mount> {
    let guest = spec.guest.iter().flat_map(|guest| [keys(), mount(&guest.volume, PROGRAMS, true)]);
    let folders = spec.folders.iter().map(folder).chain(spec.shares.iter().map(share));
    guest.chain(code).chain(folders).collect()
}

/// The guest's own folder, with the job's keys in it: a volume that goes with the container, so that
/// no image of the container has them.
fn keys() -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        target: Some(FOLDER.to_owned()),
        volume_options: Some(MountVolumeOptions { no_copy: Some(true), ..Default::default() }),
        ..Default::default()
    }
}

/// A volume as a folder of a container.
pub(super) fn mount(volume: &str, folder: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        source: Some(volume.to_owned()),
        target: Some(folder.to_owned()),
        read_only: Some(read_only),
        ..Default::default()
    }
}

/// A folder of the node. Docker makes none that is missing: it would be an empty one of the
/// node's own disk.
fn folder(folder: &Folder) -> Mount {
    Mount {
        typ: Some(MountType::BIND),
        source: Some(folder.source.clone()),
        target: Some(folder.target.clone()),
        read_only: Some(folder.read_only),
        bind_options: Some(MountBindOptions {
            propagation: Some(MountBindOptionsPropagationEnum::RPRIVATE),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// A folder of a file server: a volume that goes with the container, which Docker's own driver mounts
/// when it starts and unmounts when it has ended. Nothing of the image is copied into it. That it is
/// read only is said to the kernel: Docker takes that word for volumes with a name alone.
fn share(share: &Share) -> Mount {
    let Share { kind, device, options, target, read_only } = share;
    let said = [options.as_str(), "ro"];
    let options = said[..1 + usize::from(*read_only)].join(",");
    let options = [("type", *kind), ("o", options.as_str()), ("device", device.as_str())];
    let options = options.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Mount {
        typ: Some(MountType::VOLUME),
        target: Some(target.clone()),
        volume_options: Some(MountVolumeOptions {
            no_copy: Some(true),
            driver_config: Some(MountVolumeOptionsDriverConfig {
                name: Some("local".to_owned()),
                options: Some(HashMap::from(options)),
            }),
            ..Default::default()
        }),
        ..Default::default()
    }
}

/// A flood of output keeps its last 256 MB and cannot fill the node's disk.
fn log_files() -> HostConfigLogConfig {
    HostConfigLogConfig {
        typ: Some("json-file".to_owned()),
        config: Some(HashMap::from([
            ("max-size".to_owned(), "64m".to_owned()),
            ("max-file".to_owned(), "4".to_owned()),
        ])),
    }
}

fn ulimits(infiniband: bool) -> Vec<ResourcesUlimits> {
    let limit = |name: &str, soft, hard| ResourcesUlimits {
        name: Some(name.to_owned()),
        soft: Some(soft),
        hard: Some(hard),
    };
    let mut limits = vec![limit("core", 0, 0)];
    if infiniband {
        limits.push(limit("memlock", -1, -1));
    }
    limits
}

/// Devices of the node that a container has under their own names; none where there are none.
fn devices(spec: &ContainerSpec) -> Option<Vec<DeviceMapping>> {
    let mut paths = Vec::new();
    if spec.infiniband {
        paths.push("/dev/infiniband".to_owned());
    }
    if spec.gpu_runtime == GpuRuntime::Amd && !spec.gpus.is_empty() {
        paths.push("/dev/kfd".to_owned());
        paths.extend(spec.gpus.iter().map(|gpu| format!("/dev/dri/renderD{}", RENDER + gpu.index)));
    }
    (!paths.is_empty()).then(|| paths.into_iter().map(device).collect())
}

/// A device of the node's under its own name, or all in a folder.
pub(super) fn device(path: String) -> DeviceMapping {
    DeviceMapping {
        path_on_host: Some(path.clone()),
        path_in_container: Some(path),
        cgroup_permissions: Some("rwm".to_owned()),
    }
}

fn device_requests(spec: &ContainerSpec) -> Option<Vec<DeviceRequest>> {
    if spec.gpus.is_empty() {
        return None;
    }
    let ids = || spec.gpus.iter().map(device_id).collect();
    match spec.gpu_runtime {
        GpuRuntime::Nvidia => Some(vec![nvidia(Some(ids()))]),
        GpuRuntime::Cdi => Some(vec![cdi(ids())]),
        GpuRuntime::Amd | GpuRuntime::Ascend | GpuRuntime::None => None,
    }
}

/// The runtime that puts the devices in, where it is not the engine's own way.
fn runtime(spec: &ContainerSpec) -> Option<String> {
    let by_runtime = spec.gpu_runtime == GpuRuntime::Ascend && !spec.gpus.is_empty();
    by_runtime.then(|| "ascend".to_owned())
}

/// A request for devices by their names of the Container Device Interface.
pub(super) fn cdi(ids: Vec<String>) -> DeviceRequest {
    DeviceRequest {
        driver: Some("cdi".to_owned()),
        count: None,
        device_ids: Some(ids.into_iter().map(|id| format!("nvidia.com/gpu={id}")).collect()),
        capabilities: None,
        options: None,
    }
}

/// A request for these GPUs; `None`: for all.
pub(super) fn nvidia(ids: Option<Vec<String>>) -> DeviceRequest {
    DeviceRequest {
        driver: Some("nvidia".to_owned()),
        count: ids.is_none().then_some(-1),
        device_ids: ids,
        capabilities: Some(vec![vec![
            "gpu".to_owned(),
            "compute".to_owned(),
            "utility".to_owned(),
        ]]),
        options: None,
    }
}

fn device_id(gpu: &GpuDevice) -> String {
    gpu.uuid.clone().unwrap_or_else(|| gpu.index.to_string())
}

fn mebibytes(amount: u64) -> Option<i64> {
    positive(i64::try_from(amount).unwrap_or(i64::MAX >> 20).saturating_mul(1 << 20))
}

fn positive(amount: i64) -> Option<i64> {
    (amount > 0).then_some(amount)
}

#[cfg(test)]
mod tests;
