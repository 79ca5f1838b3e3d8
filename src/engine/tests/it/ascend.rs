//! NPUs of Ascend's are found, measured and given to tasks by an engine whose runtime is one of ours: it puts the
//! vendor's program, a recorded one, into containers, as theirs does. Machines without them, or without what AMD's
//! GPUs need, say so.

use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::Path;

use engine::{EndpointOptions, GpuDevice, connect};
use protocol::cluster::GpuRuntime;
use protocol::gpus::{GpuProblem, Reading};

use crate::contract::World;
use crate::dockerd::Dockerd;
use crate::image;

/// What the engine runs in place of `runc`. Which devices the machine has, a folder says.
const RUNTIME: &str = r#"#!/bin/sh
here=$(dirname "$0")
config= last=
for word in "$@"; do
  case "$last" in --bundle | -b) config=$word/config.json ;; esac
  last=$word
done
if [ -n "$config" ]; then
  sed -i "s|\"source\":\"/dev\"|\"source\":\"$here/devices\"|" "$config"
  root=$(sed -n 's/.*"root":{"path":"\([^"]*\)".*/\1/p' "$config")
  seen=$(sed -n 's/.*"ASCEND_VISIBLE_DEVICES=\([^"]*\)".*/\1/p' "$config")
  case "$seen" in
  '' | void) ;;
  *)
    echo "$seen" >"$root/npus"
    cp -p "$here/recorded" "$root/bin/npu-smi"
    ;;
  esac
fi
exec runc "$@"
"#;

/// What a container has as `npu-smi`: it answers for the NPUs that the container has.
const RECORDED: &str = r#"#!/bin/sh
echo '| npu-smi 24.1.1                   Version: 24.1.1                                               |'
echo '| NPU   Name                | Health        | Power(W)    Temp(C)           Hugepages-Usage(page)|'
echo '| Chip                      | Bus-Id        | AICore(%)   Memory-Usage(MB)  HBM-Usage(MB)        |'
for npu in $(sed 's/,/ /g' /npus); do
  echo "| $npu     910B4               | OK            | 88.2        30                0    / 0             |"
  echo "| 0                         | 0000:C$npu:00.0  | 7$npu          0    / 0          2048/ 32768         |"
done
"#;

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn world(dockerd: &Dockerd, gpu_runtime: GpuRuntime) -> World {
    let options =
        EndpointOptions { endpoint: dockerd.endpoint(), gpu_runtime, ..Default::default() };
    World { engine: connect(&options).unwrap(), image: image::PLAIN.into() }
}

/// What a task with these NPUs sees.
async fn said(world: &World, job: i64, npus: &[u32]) -> String {
    let sees = "if [ -e /bin/npu-smi ]; then npu-smi info | grep -c 910B4; fi; \
        echo \"$ASCEND_VISIBLE_DEVICES\"";
    let mut spec = world.spec(job, sees);
    spec.gpu_runtime = GpuRuntime::Ascend;
    spec.gpus = npus.iter().map(|index| GpuDevice { index: *index, uuid: None }).collect();
    world.said(&spec).await
}

#[tokio::test(flavor = "multi_thread")]
async fn npus_are_found_measured_and_given_to_one_task_each() {
    let machine = tempfile::tempdir().unwrap();
    let devices = machine.path().join("devices");
    fs::create_dir(&devices).unwrap();
    for device in ["davinci0", "davinci3", "davinci_manager"] {
        fs::write(devices.join(device), "").unwrap();
    }
    program(&machine.path().join("recorded"), RECORDED);
    program(&machine.path().join("runtime"), RUNTIME);
    let runtime = format!("ascend={}", machine.path().join("runtime").display());
    let dockerd = Dockerd::start_with(&["--add-runtime", &runtime, "--default-runtime", "ascend"]);
    image::load(&dockerd);
    let world = world(&dockerd, GpuRuntime::Ascend);
    assert_eq!(world.engine.ask_gpus().await.unwrap(), [], "nobody has looked for any yet");
    let found = world.engine.probe_gpus(image::PLAIN).await.unwrap();
    assert_eq!((found.driver.as_deref(), &found.problem), (Some("24.1.1"), &None));
    let told = found.gpus.iter().map(|gpu| (gpu.index, gpu.model.as_deref(), gpu.memory_mb));
    let model = Some("Ascend910B4");
    assert_eq!(told.collect::<Vec<_>>(), [(0, model, 32_768), (3, model, 32_768)]);
    let measured = world.engine.ask_gpus().await.unwrap();
    let loads: Vec<_> = measured.iter().map(|gpu| (gpu.index, gpu.load)).collect();
    assert_eq!(loads, [(Some(0), Some(70.0)), (Some(3), Some(73.0))]);

    assert_eq!(said(&world, 1, &[3]).await, "1\n3\n");
    assert_eq!(said(&world, 2, &[0, 3]).await, "2\n0,3\n");
    assert_eq!(said(&world, 3, &[]).await, "void\n");

    fs::remove_file(devices.join("davinci3")).unwrap();
    let left = world.engine.probe_gpus(image::PLAIN).await.unwrap();
    assert_eq!(left.gpus.iter().map(|gpu| gpu.index).collect::<Vec<_>>(), [0]);
    fs::remove_file(devices.join("davinci0")).unwrap();
    let none = world.engine.probe_gpus(image::PLAIN).await.unwrap();
    assert_eq!(none, Reading::failed(GpuProblem::NoNpus));
    let ours = dockerd.docker(&["ps", "--all", "--quiet", "--filter", "label=berth.gpus"]);
    assert_eq!(ours, "", "no container that asked is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_machine_says_what_it_lacks_for_npus_and_gpus_of_amd() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let ascend = world(&dockerd, GpuRuntime::Ascend);
    let found = ascend.engine.probe_gpus(image::PLAIN).await.unwrap();
    assert_eq!(found, Reading::failed(GpuProblem::NoAscendRuntime));
    let amd = world(&dockerd, GpuRuntime::Amd);
    let found = amd.engine.probe_gpus(image::PLAIN).await.unwrap();
    let has_some = Path::new("/dev/kfd").exists() && Path::new("/dev/dri").exists();
    assert_eq!(found.problem == Some(GpuProblem::NoAmd), !has_some, "{found:?}");
}
