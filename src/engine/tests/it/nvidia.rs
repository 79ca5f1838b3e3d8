//! GPUs of NVIDIA's are found, measured and given to tasks.

use engine::GpuDevice;
use protocol::cluster::GpuRuntime;
use protocol::gpus::{GpuFault, GpuProblem, Reading};

use crate::contract::World;
use crate::docker::world;
use crate::dockerd::Dockerd;
use crate::image;
use crate::machine::Machine;

fn uuids(reading: &Reading) -> Vec<(u32, &str)> {
    let gpus = reading.gpus.iter();
    gpus.map(|gpu| (gpu.index, gpu.uuid.as_deref().unwrap_or_default())).collect()
}

/// What a task with these GPUs writes.
async fn said(world: &World, job: i64, gpus: &[(u32, &str)], command: &str) -> String {
    let mut spec = world.spec(job, command);
    spec.gpu_runtime = GpuRuntime::Nvidia;
    let gpus = gpus.iter().copied();
    spec.gpus =
        gpus.map(|(index, uuid)| GpuDevice { index, uuid: Some(uuid.to_owned()) }).collect();
    world.said(&spec).await
}

#[tokio::test(flavor = "multi_thread")]
async fn gpus_are_found_measured_and_given_to_one_task_each() {
    let machine = Machine::new(&[("GPU-a", 97), ("GPU-b", 3), ("GPU-c", 0)]);
    let arguments = ["--add-runtime", "nvidia=runc"];
    let dockerd = Dockerd::start_where(&arguments, Some(machine.path()));
    image::load(&dockerd);
    let world = world(&dockerd.endpoint(), image::PLAIN);
    assert_eq!(world.engine.ask_gpus().await.unwrap(), [], "nobody has looked for any yet");
    let found = world.engine.probe_gpus(image::PLAIN).await.unwrap();
    assert_eq!((found.driver.as_deref(), &found.problem), (Some("535.104.05"), &None));
    assert_eq!(uuids(&found), [(0, "GPU-a"), (1, "GPU-b"), (2, "GPU-c")]);

    let measured = world.engine.ask_gpus().await.unwrap();
    let loads: Vec<_> = measured.iter().map(|gpu| (gpu.index, gpu.load)).collect();
    assert_eq!(loads, [(Some(0), Some(97.0)), (Some(1), Some(3.0)), (Some(2), Some(0.0))]);

    let sees = "nvidia-smi -L | sed 's/.*UUID: //'; echo \"$NVIDIA_VISIBLE_DEVICES\"";
    let two = said(&world, 1, &[(0, "GPU-a"), (2, "GPU-c")], sees).await;
    assert_eq!(two, "GPU-a)\nGPU-c)\nGPU-a,GPU-c\n");
    assert_eq!(said(&world, 2, &[(1, "GPU-b")], sees).await, "GPU-b)\nGPU-b\n");
    let has = "if [ -e /bin/nvidia-smi ]; then echo sees some; else echo sees none; fi";
    assert_eq!(said(&world, 3, &[], has).await, "sees none\n");

    machine.set(&[("GPU-a", 0), ("GPU-c", 0)]);
    let left = world.engine.probe_gpus(image::PLAIN).await.unwrap();
    assert_eq!(uuids(&left), [(0, "GPU-a"), (1, "GPU-c")], "one was pulled out");
    machine.set(&[]);
    let none = world.engine.probe_gpus(image::PLAIN).await.unwrap();
    assert_eq!(none.gpus, []);
    assert!(none.problem.is_some(), "{none:?}");
    let ours = dockerd.docker(&["ps", "--all", "--quiet", "--filter", "label=berth.gpus"]);
    assert_eq!(ours, "", "no container that asked is left");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_was_not_named_is_asked_for_gpus_and_not_what_they_do() {
    // Nothing listens there.
    const NAMED: &str = "127.0.0.1:9/a/b:1";
    let machine = Machine::new(&[("GPU-a", 97), ("GPU-b", 3)]);
    let arguments = ["--add-runtime", "nvidia=runc"];
    let dockerd = Dockerd::start_where(&arguments, Some(machine.path()));
    image::load(&dockerd);
    let world = world(&dockerd.endpoint(), image::PLAIN);
    let found = world.engine.probe_gpus(NAMED).await.unwrap();
    assert_eq!(uuids(&found), [(0, "GPU-a"), (1, "GPU-b")]);
    assert_eq!(found.problem, Some(GpuProblem::Unproven(NAMED.to_owned())));
    assert_eq!(world.engine.ask_gpus().await.unwrap(), [], "it may be a user's");
}

#[tokio::test(flavor = "multi_thread")]
async fn instances_are_found_and_given_to_one_task_each_and_what_is_broken_is_told() {
    let machine = Machine::new(&[]);
    machine.record(&[
        "0 GPU-a GPU-a - 0 0 97 0",
        "1 GPU-b MIG-1 3g.40gb 2 0 0 0",
        "1 GPU-b MIG-2 1g.10gb 7 1 0 0",
        "2 GPU-c GPU-c - 0 0 5 3",
        "3 GPU-d GPU-d - 0 0 0 lost",
    ]);
    let arguments = ["--add-runtime", "nvidia=runc"];
    let dockerd = Dockerd::start_where(&arguments, Some(machine.path()));
    image::load(&dockerd);
    let world = world(&dockerd.endpoint(), image::PLAIN);
    let found = world.engine.probe_gpus(image::PLAIN).await.unwrap();
    let of = |gpu: &protocol::gpus::Told| {
        let part = gpu.part_of.as_ref().map(|part| (part.uuid.clone(), part.instance));
        (gpu.uuid.clone(), gpu.profile.clone(), part, gpu.fault)
    };
    let whole = |uuid: &str, fault| (Some(uuid.to_owned()), None, None, fault);
    let part = |uuid: &str, profile: &str, instance| {
        let of = Some(("GPU-b".to_owned(), instance));
        (Some(uuid.to_owned()), Some(profile.to_owned()), of, None)
    };
    let expected = [
        whole("GPU-a", None),
        part("MIG-1", "3g.40gb", 2),
        part("MIG-2", "1g.10gb", 7),
        whole("GPU-c", Some(GpuFault::Memory)),
        (None, None, None, Some(GpuFault::Silent)),
    ];
    assert_eq!(found.gpus.iter().map(of).collect::<Vec<_>>(), expected);
    assert_eq!(found.gpus.iter().map(|gpu| gpu.index).collect::<Vec<_>>(), [0, 1, 2, 3, 4]);

    let sees = "nvidia-smi -L | sed -n 's/.*UUID: //p'";
    assert_eq!(said(&world, 1, &[(2, "MIG-2")], sees).await, "GPU-b)\nMIG-2)\n");
    assert_eq!(said(&world, 2, &[(1, "MIG-1")], sees).await, "GPU-b)\nMIG-1)\n");
    let measured = world.engine.ask_gpus().await.unwrap();
    let loads: Vec<_> = measured.iter().map(|gpu| (gpu.uuid.as_deref(), gpu.load)).collect();
    let expected = [(Some("GPU-a"), Some(97.0)), (Some("GPU-c"), Some(5.0))];
    assert_eq!(loads, expected, "nobody has the whole of the one that is parted");
}
