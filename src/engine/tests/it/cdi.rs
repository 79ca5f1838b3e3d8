//! GPUs by CDI names: an engine that knows them gets devices that do nothing, by a specification of ours; an
//! older one says that it cannot, and of a Podman that would leave them out without a word we say so.

use std::path::Path;
use std::process::Command;

use engine::{ContainerSpec, EndpointOptions, EngineError, GpuDevice, LogRequest, connect};
use protocol::cluster::GpuRuntime;
use protocol::gpus::{GpuProblem, Reading};
use serde_json::json;

use crate::contract::World;
use crate::dockerd::Dockerd;
use crate::image;
use crate::podman::Podman;

/// The first version that can, where it is told to.
const FIRST: u32 = 25;

/// Whether the engine of this machine knows names of devices.
fn knows_names() -> bool {
    let output = Command::new("dockerd").arg("--version").output().unwrap();
    let said = String::from_utf8(output.stdout).unwrap();
    let version = said.trim_start_matches("Docker version ").split('.').next().unwrap();
    version.parse::<u32>().unwrap() >= FIRST
}

/// Two devices that take whatever is written to them, each with a variable that says which it is.
fn specify(folder: &Path) {
    let device = |name: &str| {
        json!({ "name": name, "containerEdits": {
            "deviceNodes": [{ "path": format!("/dev/fake-{name}"), "hostPath": "/dev/null" }],
            "env": [format!("HAS_{}=1", name.replace('-', "_"))],
        } })
    };
    let devices = ["GPU-a", "GPU-b"].map(device);
    let all = json!({ "cdiVersion": "0.5.0", "kind": "nvidia.com/gpu", "devices": devices });
    std::fs::write(folder.join("nvidia.json"), all.to_string()).unwrap();
}

fn world(endpoint: String) -> World {
    let options = EndpointOptions { endpoint, gpu_runtime: GpuRuntime::Cdi, ..Default::default() };
    World { engine: connect(&options).unwrap(), image: image::PLAIN.into() }
}

/// A task with a GPU, and what it finds.
fn with_gpu(world: &World, job: i64, index: u32, uuid: &str) -> ContainerSpec {
    let sees = "ls /dev | grep fake; env | grep ^HAS_; \
        for device in /dev/fake-*; do echo gone >\"$device\" || exit 1; done; echo well";
    let mut spec = world.spec(job, sees);
    spec.gpu_runtime = GpuRuntime::Cdi;
    spec.gpus = vec![GpuDevice { index, uuid: Some(uuid.to_owned()) }];
    spec
}

#[tokio::test(flavor = "multi_thread")]
async fn two_tasks_have_one_device_each_by_its_name() {
    if !knows_names() {
        return an_older_engine_says_that_it_cannot().await;
    }
    let folder = tempfile::tempdir().unwrap();
    specify(folder.path());
    let settings = json!({ "features": { "cdi": true }, "cdi-spec-dirs": [folder.path()] });
    let file = folder.path().join("daemon");
    std::fs::write(&file, settings.to_string()).unwrap();
    let dockerd = Dockerd::start_with(&["--config-file", file.to_str().unwrap()]);
    image::load(&dockerd);
    let world = world(dockerd.endpoint());
    let specs = [(1, 0, "GPU-a"), (2, 1, "GPU-b")];
    let specs = specs.map(|(job, index, uuid)| with_gpu(&world, job, index, uuid));
    for spec in &specs {
        world.engine.create(spec).await.unwrap();
        world.engine.start(&spec.name()).await.unwrap();
    }
    for (spec, own) in specs.iter().zip(["a", "b"]) {
        let code = world.code(&spec.name()).await;
        let log = world.log(&spec.name(), LogRequest::default()).await;
        assert_eq!((code, log), (0, format!("fake-GPU-{own}\nHAS_GPU_{own}=1\nwell\n")));
    }
    let absent = with_gpu(&world, 3, 2, "GPU-c");
    refused_for_its_node(&world, &absent).await;
}

/// One that knows only runtimes says so, and it is its node that lacks something.
async fn an_older_engine_says_that_it_cannot() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let world = world(dockerd.endpoint());
    refused_for_its_node(&world, &with_gpu(&world, 1, 0, "GPU-a")).await;
}

async fn refused_for_its_node(world: &World, spec: &ContainerSpec) {
    let error = match world.engine.create(spec).await {
        Ok(_) => world.engine.start(&spec.name()).await.unwrap_err(),
        Err(error) => error,
    };
    assert!(matches!(error, EngineError::Broken(_)), "{error:?}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_podman_that_would_leave_the_devices_out_is_not_given_the_task() {
    let podman = Podman::start();
    let world = world(podman.endpoint());
    let with = with_gpu(&world, 1, 0, "GPU-a");
    let without = world.spec(2, "true");
    let absent = world.engine.create(&without).await.unwrap_err();
    assert!(matches!(absent, EngineError::NoImage { .. }), "it gets what has no GPU: {absent:?}");
    let refused = world.engine.create(&with).await.unwrap_err();
    if podman.version() >= (5, 4) {
        assert!(matches!(refused, EngineError::NoImage { .. }), "{refused:?}");
        return;
    }
    let words = match &refused {
        EngineError::Broken(words) => words,
        other => panic!("{other:?}"),
    };
    assert!(words.contains("leaves out GPUs") && words.contains("Podman 5.4 or later"), "{words}");
    let (major, minor) = podman.version();
    let problem = GpuProblem::OldPodman(format!("{major}.{minor}"));
    let found = world.engine.probe_gpus(image::PLAIN).await.unwrap();
    assert_eq!(found, Reading::failed(problem), "nor is it asked which GPUs it has");
}
