//! Containers that ask. Nothing here talks to an engine.

use std::collections::HashMap;

use bollard::models::{ContainerCreateBody, DeviceRequest, HostConfig};
use protocol::cluster::GpuRuntime;

use super::amd;
use crate::docker::shape;

/// The label of containers that ask for GPUs.
pub(super) const LABEL: &str = "berth.gpus";
/// What asks has so much memory, in bytes,
pub(super) const MEMORY: i64 = 1 << 30;
/// and so many processes: programs of users' images are not to take a node that they were not given.
pub(super) const PIDS: i64 = 256;

/// One that runs a script of ours and has all GPUs, in the engine's way.
pub(super) fn helper(image: &str, runtime: GpuRuntime, script: &str) -> ContainerCreateBody {
    let mut body = asking(image, script);
    if let Some(host) = &mut body.host_config {
        if runtime == GpuRuntime::Amd {
            host.devices = Some(amd::DEVICES.map(str::to_owned).map(shape::device).to_vec());
        } else {
            host.device_requests = Some(vec![all_gpus(runtime)]);
        }
    }
    body
}

fn all_gpus(runtime: GpuRuntime) -> DeviceRequest {
    match runtime {
        GpuRuntime::Cdi => shape::cdi(vec!["all".to_owned()]),
        GpuRuntime::Nvidia | GpuRuntime::Amd | GpuRuntime::Ascend | GpuRuntime::None => {
            shape::nvidia(None)
        }
    }
}

/// A container that runs a script of ours and has nothing else.
pub(in crate::docker) fn asking(image: &str, script: &str) -> ContainerCreateBody {
    ContainerCreateBody {
        image: Some(image.to_owned()),
        entrypoint: Some(["/bin/sh", "-c", script].map(str::to_owned).to_vec()),
        cmd: Some(Vec::new()),
        user: Some("0:0".to_owned()),
        // Whatever the image wants of the driver, it is only asked.
        env: Some(vec!["NVIDIA_DISABLE_REQUIRE=1".to_owned()]),
        labels: Some(HashMap::from([(LABEL.to_owned(), "1".to_owned())])),
        host_config: Some(HostConfig {
            network_mode: Some("none".to_owned()),
            cap_drop: Some(vec!["ALL".to_owned()]),
            security_opt: Some(vec!["no-new-privileges".to_owned()]),
            memory: Some(MEMORY),
            memory_swap: Some(MEMORY),
            nano_cpus: Some(1_000_000_000),
            pids_limit: Some(PIDS),
            ..Default::default()
        }),
        ..Default::default()
    }
}
