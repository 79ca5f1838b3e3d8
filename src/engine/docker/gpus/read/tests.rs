use super::*;

/// The helper's answer of these parts.
fn answer(gpus: &str, errors: &str, list: &str, links: &str) -> String {
    format!("== gpus\n{gpus}\n== errors\n{errors}\n== list\n{list}\n== links\n{links}\n")
}

fn read_all(gpus: &str, errors: &str, list: &str) -> Reading {
    read(&answer(gpus, errors, list, "")).unwrap()
}

/// Index, UUID, model, profile, memory and fault.
type Shown<'a> = (u32, Option<&'a str>, Option<&'a str>, Option<&'a str>, u64, Option<GpuFault>);

fn shown(reading: &Reading) -> Vec<Shown<'_>> {
    let gpus = reading.gpus.iter();
    gpus.map(|gpu| {
        let names = (gpu.uuid.as_deref(), gpu.model.as_deref(), gpu.profile.as_deref());
        (gpu.index, names.0, names.1, names.2, gpu.memory_mb, gpu.fault)
    })
    .collect()
}

const A100: &str = "NVIDIA A100-SXM4-80GB";

#[test]
fn whole_machines_are_read() {
    for (line, uuid, model, memory, driver) in [
        (
            "0, GPU-5ae7c3a1-3b0f-2f6c-9a11-1f3f60a3d1c2, 81920, 535.104.05, NVIDIA A100-SXM4-80GB",
            "GPU-5ae7c3a1-3b0f-2f6c-9a11-1f3f60a3d1c2",
            A100,
            81_920,
            "535.104.05",
        ),
        (
            "0, GPU-1e2f3a4b-11aa-22bb-33cc-445566778899, 81559, 550.54.15, NVIDIA H100 80GB HBM3",
            "GPU-1e2f3a4b-11aa-22bb-33cc-445566778899",
            "NVIDIA H100 80GB HBM3",
            81_559,
            "550.54.15",
        ),
        (
            "0, GPU-8a5c0f1e-99aa-88bb-77cc-665544332211, 32768, 470.223.02, Tesla V100-SXM2-32GB",
            "GPU-8a5c0f1e-99aa-88bb-77cc-665544332211",
            "Tesla V100-SXM2-32GB",
            32_768,
            "470.223.02",
        ),
        (
            "0, GPU-d1c2b3a4-0001-0002-0003-000400050006, 15360, 525.85.12, Tesla T4",
            "GPU-d1c2b3a4-0001-0002-0003-000400050006",
            "Tesla T4",
            15_360,
            "525.85.12",
        ),
    ] {
        let list = format!("GPU 0: {model} (UUID: {uuid})");
        let reading = read_all(line, "0, 0", &list);
        assert_eq!(shown(&reading), [(0, Some(uuid), Some(model), None, memory, None)]);
        assert_eq!((reading.driver.as_deref(), reading.problem), (Some(driver), None));
    }
}

#[test]
fn a_gpu_that_does_not_answer_is_told() {
    for nothing in ["[Unknown Error]", "[GPU is lost]", "[N/A]"] {
        let gpus = format!(
            "0, GPU-a, 81920, 535.104.05, {A100}\n\
             1, {nothing}, {nothing}, 535.104.05, {A100}\n\
             2, {nothing}, {nothing}, {nothing}, {nothing}"
        );
        let reading = read_all(&gpus, "0, 0\n1, [Unknown Error]", "");
        let silent = Some(GpuFault::Silent);
        let expected = [
            (0, Some("GPU-a"), Some(A100), None, 81_920, None),
            (1, None, Some(A100), None, 0, silent),
            (2, None, None, None, 0, silent),
        ];
        assert_eq!(shown(&reading), expected);
    }
}

#[test]
fn what_one_answer_does_not_tell_the_other_does() {
    let lost = "Unable to determine the device handle for GPU 0000:3B:00.0: GPU is lost.  Reboot \
                the system to recover this GPU";
    let list = format!("GPU 0: {A100} (UUID: GPU-a)\n{lost}\nGPU 2: {A100} (UUID: GPU-c)");
    let reading = read_all(lost, lost, &list);
    let indices: Vec<_> = reading.gpus.iter().map(|gpu| gpu.index).collect();
    assert_eq!((indices, reading.problem), (vec![0, 2], None));
}

#[test]
fn memory_that_fails_is_told() {
    let gpus = format!("0, GPU-a, 81920, 535.104.05, {A100}\n1, GPU-b, 81920, 535.104.05, {A100}");
    let faults = |errors| -> Vec<_> {
        read_all(&gpus, errors, "").gpus.into_iter().map(|gpu| gpu.fault).collect()
    };
    assert_eq!(faults("0, 0\n1, 3"), [None, Some(GpuFault::Memory)]);
    assert_eq!(faults("0, [N/A]\n1, [Not Supported]"), [None, None]);
    assert_eq!(faults("Field \"ecc\" is not a valid field to query."), [None, None]);
}

#[test]
fn parts_of_a_gpu_stand_for_it() {
    let gpus = format!("0, GPU-a, 81920, 535.104.05, {A100}\n1, GPU-b, 81920, 535.104.05, {A100}");
    let list = format!(
        "GPU 0: {A100} (UUID: GPU-a)\n\
         GPU 1: {A100} (UUID: GPU-b)\n  \
           MIG 3g.40gb     Device  0: (UUID: MIG-1f7a2f0c-5c6d-5a3e-8b1a-0d9c8b7a6f5e)\n  \
           MIG 1g.10gb     Device  1: (UUID: MIG-GPU-b/7/0)\n"
    );
    let links = "\tGPU0\tGPU1\nGPU0\t X \tNV12\nGPU1\tNV12\t X \n";
    let devices = "\
| MIG devices:                                                                |
| GPU  GI  CI  MIG |         Memory-Usage |        Vol|         Shared        |
|      ID  ID  Dev |           BAR1-Usage | SM     Unc| CE  ENC  DEC  OFA  JPG|
|==================+======================+===========+=======================|
|  1    2   0   0  |     19MiB / 40448MiB | 42      0 |  3   0    2    0    0 |
|                  |      0MiB / 65535MiB |           |                       |
|  1    7   0   1  |     12MiB /  9728MiB | 14      0 |  1   0    0    0    0 |
|    1    7    0      12345      C   python                            512MiB |";
    let said = answer(&gpus, "0, 0\n1, 0", &list, links) + "== devices\n" + devices;
    let reading = read(&said).unwrap();
    let parts: Vec<_> = reading.gpus.iter().map(|gpu| gpu.part_of.clone()).collect();
    let part = |instance| Some(PartOf { uuid: "GPU-b".to_owned(), instance });
    assert_eq!(parts, [None, part(2), part(7)]);
    let large = Some("MIG-1f7a2f0c-5c6d-5a3e-8b1a-0d9c8b7a6f5e");
    let expected = [
        (0, Some("GPU-a"), Some(A100), None, 81_920, None),
        (1, large, Some(A100), Some("3g.40gb"), 40_960, None),
        (2, Some("MIG-GPU-b/7/0"), Some(A100), Some("1g.10gb"), 10_240, None),
    ];
    assert_eq!(shown(&reading), expected);
    assert_eq!(reading.links, Vec::<Vec<u32>>::new());
}

#[test]
fn what_is_wrong_is_known_by_its_words() {
    for (said, expected) in [
        (
            "NVIDIA-SMI has failed because it couldn't communicate with the NVIDIA driver. Make \
             sure that the latest NVIDIA driver is installed and running.",
            GpuProblem::NoDriver,
        ),
        (
            "Failed to initialize NVML: Driver/library version mismatch\nNVML library version: 550",
            GpuProblem::Mismatch,
        ),
        ("Failed to initialize NVML: Driver Not Loaded", GpuProblem::NoDriver),
        ("No devices were found", GpuProblem::NoDevices),
        (
            "nvidia-container-cli: initialization error: nvml error: driver not loaded: unknown",
            GpuProblem::NoDriver,
        ),
        (
            "could not select device driver \"nvidia\" with capabilities: [[gpu]]",
            GpuProblem::NoToolkit,
        ),
        (
            "CDI device injection failed: unresolvable CDI devices nvidia.com/gpu=all",
            GpuProblem::NoCdi,
        ),
        ("could not select device driver \"cdi\" with capabilities: []", GpuProblem::NoCdi),
        (
            "unable to retrieve OCI runtime error: fork/exec /usr/bin/nvidia-container-runtime: no \
             such file or directory",
            GpuProblem::NoToolkit,
        ),
    ] {
        assert_eq!(problem(said), expected, "{said}");
    }
    let told = read_all("No devices were found", "No devices were found", "No devices found.");
    assert_eq!(told, Reading::failed(GpuProblem::NoDevices));
    let other = "Failed to initialize NVML: Unknown Error";
    assert_eq!(problem(other), GpuProblem::Failed(other.to_owned()));
}

#[test]
fn an_image_that_cannot_run_the_program_says_nothing_of_gpus() {
    for said in [
        "/bin/sh: 1: nvidia-smi: not found",
        "/bin/sh: nvidia-smi: command not found",
        "/bin/bash: line 1: /usr/bin/nvidia-smi: cannot execute: required file not found",
        "sh: /usr/bin/nvidia-smi: No such file or directory",
        "",
    ] {
        assert_eq!(read(&answer(said, said, said, said)), None, "{said}");
    }
}
