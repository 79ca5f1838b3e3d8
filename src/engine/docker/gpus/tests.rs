use bollard::container::LogOutput;
use bollard::errors::Error;
use protocol::gpus::{GpuFault, Told};

use super::helper::{MEMORY, PIDS};
use super::*;

fn answer(message: &str) -> Error {
    Error::DockerResponseServerError { status_code: 500, message: message.to_owned() }
}

#[test]
fn what_the_engine_refuses_is_understood() {
    let toolkit = "could not select device driver \"nvidia\" with capabilities: [[gpu]]";
    let reading = Reading::failed(GpuProblem::NoToolkit);
    assert_eq!(refused(&answer(toolkit)), Some(Some(reading)));
    let no_shell = "exec: \"/bin/sh\": stat /bin/sh: no such file or directory: unknown";
    assert_eq!(refused(&answer(no_shell)), Some(None));
    assert_eq!(refused(&answer("no space left on device")), None);
    assert_eq!(refused(&Error::RequestTimeoutError), None);
}

#[test]
fn an_image_that_nobody_named_says_nothing_of_how_well_gpus_are() {
    let gpu = |index, fault| Told {
        index,
        uuid: Some(format!("GPU-{index}")),
        model: Some("NVIDIA A100-SXM4-80GB".to_owned()),
        profile: None,
        part_of: None,
        memory_mb: 81_920,
        fault,
        gpu_type: None,
    };
    let said = Reading {
        driver: Some("1".to_owned()),
        gpus: vec![gpu(0, None), gpu(1, Some(GpuFault::Memory))],
        links: vec![vec![0, 1]],
        problem: None,
    };
    let problem = Some(GpuProblem::Unproven("named".to_owned()));
    let expected = Reading { gpus: vec![gpu(0, None)], problem, ..Reading::default() };
    assert_eq!(unproven(said, "named"), expected);
    let lost = unproven(Reading::failed(GpuProblem::NoDriver), "named");
    assert_eq!(lost, Reading { gpus: Vec::new(), ..expected }, "it may have none of its own");
}

#[test]
fn the_helper_has_all_gpus_and_nothing_else() {
    let made = serde_json::to_value(helper("i", GpuRuntime::Nvidia, "true")).unwrap();
    assert_eq!(made["Entrypoint"], serde_json::json!(["/bin/sh", "-c", "true"]));
    let request = &made["HostConfig"]["DeviceRequests"][0];
    assert_eq!(request["Driver"], "nvidia");
    assert_eq!(request["Count"], -1);
    let by_name = serde_json::to_value(helper("i", GpuRuntime::Cdi, "true")).unwrap();
    let devices = &by_name["HostConfig"]["DeviceRequests"][0]["DeviceIDs"];
    assert_eq!(devices[0], "nvidia.com/gpu=all");
    assert_eq!(made["HostConfig"]["NetworkMode"], "none");
    assert_eq!(made["HostConfig"]["Privileged"], serde_json::Value::Null);
}

#[test]
fn the_helper_has_the_devices_of_amd_and_what_it_lacks_is_understood() {
    let made = serde_json::to_value(helper("i", GpuRuntime::Amd, "true")).unwrap();
    let host = &made["HostConfig"];
    let devices = host["Devices"].as_array().unwrap().iter();
    let paths: Vec<_> = devices.map(|device| &device["PathOnHost"]).collect();
    assert_eq!(paths, ["/dev/kfd", "/dev/dri"]);
    assert_eq!(host["DeviceRequests"], serde_json::Value::Null);
    for path in amd::DEVICES {
        let absent = format!(
            "error gathering device information while adding custom device \"{path}\": no such \
             file or directory"
        );
        let problem = Reading::failed(GpuProblem::NoAmd);
        assert_eq!(refused(&answer(&absent)), Some(Some(problem)), "{path}");
    }
    let runtime = "unknown or invalid runtime name: ascend";
    let problem = Reading::failed(GpuProblem::NoAscendRuntime);
    assert_eq!(refused(&answer(runtime)), Some(Some(problem)));
}

#[test]
fn a_podman_that_leaves_out_what_is_named_is_known_by_its_version() {
    for (old, version) in [("4.3.1", (4, 3)), ("5.3.2", (5, 3)), ("4.9.4-rhel", (4, 9))] {
        assert_eq!(old_podman(old), Some(version), "{old}");
    }
    // Docker's older ones refuse what they do not know.
    for other in ["5.4.0", "5.10.1", "6.0.0-dev", "20.10.24+dfsg1", "1.13.1", "28.0.1", ""] {
        assert_eq!(old_podman(other), None, "{other}");
    }
    let said = leaves_out((4, 3)).to_string();
    assert!(said.starts_with("Podman 4.3 leaves out") && !leaves_out((4, 3)).is_doubt());
}

#[test]
fn what_asks_has_little_of_its_node() {
    let made = serde_json::to_value(asking("i", "true")).unwrap();
    let host = &made["HostConfig"];
    assert_eq!(host["Memory"], MEMORY);
    assert_eq!(host["MemorySwap"], MEMORY);
    assert_eq!(host["PidsLimit"], PIDS);
    assert_eq!(host["NanoCpus"], 1_000_000_000);
}

#[test]
fn what_asks_for_ever_is_removed_and_no_task() {
    let made = |created, labels: &[(&str, &str)]| {
        let labels = labels.iter().map(|(key, said)| ((*key).to_owned(), (*said).to_owned()));
        ContainerSummary { created, labels: Some(labels.collect()), ..Default::default() }
    };
    let asks = made(Some(1_000), &[(LABEL, "1")]);
    assert!(is_forgotten(&asks, 1_001 + FORGOTTEN) && !is_forgotten(&asks, 1_000 + FORGOTTEN));
    assert!(is_forgotten(&made(Some(1), &[(LABEL, "1"), (CLUSTER_LABEL, "")]), u64::MAX));
    let task = made(Some(1), &[(LABEL, "1"), (CLUSTER_LABEL, "a cluster")]);
    assert!(!is_forgotten(&task, u64::MAX) && !is_forgotten(&made(None, &[]), u64::MAX));
}

#[tokio::test]
async fn an_answer_without_end_is_read_no_further() {
    let line = || Ok::<_, ()>(streams::chunk(LogOutput::StdOut { message: "y\n".into() }));
    let endless = futures::stream::iter(std::iter::repeat_with(line));
    assert_eq!(gathered(endless).await.unwrap().len(), LONGEST);
}
