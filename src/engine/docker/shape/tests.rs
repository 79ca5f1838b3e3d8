use std::sync::Arc;

use protocol::ids::JobId;

use super::*;

fn spec() -> ContainerSpec {
    ContainerSpec {
        cluster: "c".into(),
        key: TaskKey { job: JobId(7), attempt: 1, role: 0, index: 2, retry: 0 },
        epoch: Epoch::default().next(3),
        labels: BTreeMap::from([
            ("berth.user".into(), "alice".into()),
            ("berth.cluster".into(), "forged".into()),
        ]),
        image: "i".into(),
        command: "echo '$(x)'; \"".into(),
        guest: None,
        job_env: Arc::from([("A".into(), "another".into()), ("B".into(), "2".into())]),
        env: vec![("A".into(), "1=2\n3".into()), ("NVIDIA_VISIBLE_DEVICES".into(), "void".into())],
        cpus: 4,
        memory_mb: 512,
        shm_mb: 64,
        gpus: Vec::new(),
        gpu_runtime: GpuRuntime::Nvidia,
        code: None,
        folders: Vec::new(),
        shares: Vec::new(),
        infiniband: false,
        network: Network::Host,
    }
}

#[test]
fn a_network_of_its_own_publishes_only_the_tasks_ports() {
    let on_host = body(&spec(), None, true, 0);
    assert_eq!(on_host.exposed_ports, None);
    let host = on_host.host_config.unwrap();
    assert_eq!((host.network_mode.as_deref(), host.port_bindings), (Some("host"), None));
    let network = Network::Bridge {
        name: "berth-c".into(),
        address: "172.20.0.1".parse().unwrap(),
        ports: vec![20_022],
    };
    let apart = body(&ContainerSpec { network, ..spec() }, None, true, 0);
    let apart = serde_json::to_value(apart).unwrap();
    assert_eq!(apart["ExposedPorts"], serde_json::json!({ "20022/tcp": {} }));
    assert_eq!(apart["HostConfig"]["NetworkMode"], "berth-c");
    let there = serde_json::json!([{ "HostIp": "172.20.0.1", "HostPort": "20022" }]);
    assert_eq!(apart["HostConfig"]["PortBindings"], serde_json::json!({ "20022/tcp": there }));
}

#[test]
fn nothing_privileged_gets_in() {
    let host = body(&spec(), None, true, 0).host_config.unwrap();
    assert_eq!(host.cap_drop, Some(vec!["ALL".to_owned()]));
    assert_eq!(host.security_opt, Some(vec!["no-new-privileges".to_owned()]));
    assert_eq!(host.pids_limit, Some(PIDS));
    assert!(host.privileged.is_none() && host.binds.is_none() && host.devices.is_none());
    let added = host.cap_add.unwrap();
    let powers = ["SYS_ADMIN", "SYS_PTRACE", "MKNOD", "IPC_LOCK"];
    for power in powers.into_iter().chain(["NET_RAW", "NET_ADMIN", "NET_BIND_SERVICE"]) {
        assert!(!added.iter().any(|name| name == power), "{power}");
    }
}

#[test]
fn shares_are_volumes_that_go_with_the_container() {
    let share = Share {
        kind: "nfs",
        device: ":/export".to_owned(),
        options: "addr=files,rw".to_owned(),
        target: "/mnt/data".to_owned(),
        read_only: true,
    };
    let made = body(&ContainerSpec { shares: vec![share], ..spec() }, None, true, 0);
    // As `docker run --mount type=volume,dst=/mnt/data,volume-nocopy,volume-opt=…` has it.
    let expected = serde_json::json!([{
        "Type": "volume",
        "Target": "/mnt/data",
        "VolumeOptions": { "NoCopy": true, "DriverConfig": {
            "Name": "local",
            "Options": { "type": "nfs", "o": "addr=files,rw,ro", "device": ":/export" },
        }},
    }]);
    let mounts = serde_json::to_value(made.host_config.unwrap().mounts).unwrap();
    assert_eq!(mounts, expected);
}

#[test]
fn limits_are_hard() {
    let host = body(&spec(), None, false, 2).host_config.unwrap();
    assert_eq!(host.nano_cpus, Some(2_000_000_000), "not more than the machine has");
    assert_eq!((host.memory, host.memory_swap), (Some(512 << 20), Some(512 << 20)));
    assert_eq!(host.shm_size, Some(64 << 20));
    assert_eq!(host.init, None);
}

#[test]
fn the_command_is_an_argument_and_labels_cannot_be_forged() {
    let made = body(&spec(), None, true, 0);
    assert_eq!(made.cmd, Some(vec!["echo '$(x)'; \"".to_owned()]));
    assert_eq!(made.entrypoint.unwrap()[0], "/bin/sh");
    let labels = made.labels.unwrap();
    assert_eq!(labels["berth.cluster"], "c");
    assert_eq!(labels["berth.user"], "alice");
    assert_eq!(labels["berth.index"], "2");
    assert_eq!(labels["berth.epoch"], "1-00000003");
    assert_eq!(epoch_of(&labels), spec().epoch);
    let of_before = ContainerSpec { epoch: Epoch::default(), ..spec() };
    let labels = body(&of_before, None, true, 0).labels.unwrap();
    assert!(epoch_of(&labels).is_none());
}

#[test]
fn gpus_are_requested_by_uuid_or_index() {
    let mut spec = spec();
    let made = body(&spec, None, true, 0);
    assert!(made.host_config.unwrap().device_requests.is_none());
    assert!(made.env.unwrap().contains(&"NVIDIA_VISIBLE_DEVICES=void".to_owned()));

    spec.gpus = vec![
        GpuDevice { index: 0, uuid: Some("GPU-8a5c".into()) },
        GpuDevice { index: 3, uuid: None },
    ];
    let made = body(&spec, None, true, 0);
    // As `docker run --gpus '"device=GPU-8a5c,3"'` was recorded to send it, with the driver
    // and its capabilities named.
    let request = serde_json::to_value(made.host_config.unwrap().device_requests).unwrap();
    assert_eq!(
        request,
        serde_json::json!([{
            "Driver": "nvidia",
            "DeviceIDs": ["GPU-8a5c", "3"],
            "Capabilities": [["gpu", "compute", "utility"]]
        }])
    );
    assert_eq!(made.env.unwrap(), ["B=2", "A=1=2\n3"], "the task's own goes before its job's");

    spec.gpu_runtime = GpuRuntime::None;
    assert!(body(&spec, None, true, 0).host_config.unwrap().device_requests.is_none());
}

#[test]
fn each_vendor_has_its_own_way() {
    let gpus = vec![
        GpuDevice { index: 0, uuid: Some("GPU-8a5c".into()) },
        GpuDevice { index: 3, uuid: None },
    ];
    let job_env: Arc<[(String, String)]> = Arc::from([(ASCEND.to_owned(), "0,1,2,3,4".to_owned())]);
    let of = |gpu_runtime, gpus: &[GpuDevice]| {
        let job_env = Arc::clone(&job_env);
        let spec = ContainerSpec { gpu_runtime, gpus: gpus.to_vec(), job_env, ..spec() };
        serde_json::to_value(body(&spec, None, true, 0)).unwrap()
    };
    let says = |made: &serde_json::Value, variable: &str| {
        made["Env"].as_array().unwrap().iter().any(|one| one.as_str() == Some(variable))
    };
    let made = of(GpuRuntime::Cdi, &gpus);
    let expected = serde_json::json!([{
        "Driver": "cdi", "DeviceIDs": ["nvidia.com/gpu=GPU-8a5c", "nvidia.com/gpu=3"],
    }]);
    assert_eq!(made["HostConfig"]["DeviceRequests"], expected);

    let made = of(GpuRuntime::Amd, &gpus);
    let devices = made["HostConfig"]["Devices"].as_array().unwrap();
    let paths: Vec<_> = devices.iter().map(|one| one["PathOnHost"].as_str().unwrap()).collect();
    assert_eq!(paths, ["/dev/kfd", "/dev/dri/renderD128", "/dev/dri/renderD131"]);
    assert!(says(&of(GpuRuntime::Amd, &[]), "ASCEND_VISIBLE_DEVICES=0,1,2,3,4"), "no matter");

    let made = of(GpuRuntime::Ascend, &gpus);
    assert_eq!(made["HostConfig"]["Runtime"], "ascend");
    assert!(says(&made, "ASCEND_VISIBLE_DEVICES=0,3"));
    assert!(!says(&made, "ASCEND_VISIBLE_DEVICES=0,1,2,3,4"));
    let made = of(GpuRuntime::Ascend, &[]);
    assert!(says(&made, "ASCEND_VISIBLE_DEVICES=void"), "nor where the runtime is the usual one");
    for runtime in [GpuRuntime::Nvidia, GpuRuntime::Cdi, GpuRuntime::Amd, GpuRuntime::Ascend] {
        let host = &of(runtime, &[])["HostConfig"];
        for key in ["Devices", "DeviceRequests", "Runtime"] {
            assert_eq!(host[key], serde_json::Value::Null, "{runtime:?} {key}");
        }
    }
}

#[test]
fn infiniband_locks_memory() {
    let host =
        body(&ContainerSpec { infiniband: true, ..spec() }, None, true, 0).host_config.unwrap();
    assert_eq!(host.devices.unwrap()[0].path_on_host.as_deref(), Some("/dev/infiniband"));
    assert!(host.cap_add.unwrap().contains(&"IPC_LOCK".to_owned()));
    assert!(host.ulimits.unwrap().iter().any(|l| l.name.as_deref() == Some("memlock")));
}
