//! From a bare node to a job's GPUs: nobody has written a word about them, each task has its own by UUID, and who
//! holds one that is pulled out is told.

use std::collections::BTreeSet;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;
use crate::machine::Machine;

const UUIDS: [&str; 3] = ["GPU-a", "GPU-b", "GPU-c"];

#[test]
fn gpus_of_a_bare_node_are_found_given_and_missed() {
    let machine = Machine::new(&UUIDS.map(|uuid| (uuid, 0)));
    let dockerd = Dockerd::start_where(&["--add-runtime", "nvidia=runc"], Some(machine.path()));
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "gpu_image = \"{}\"\n[[nodes]]\nname = \"bare\"\naddress = \"127.0.0.1\"\n\
         endpoint = \"{}\"\ncpus = 4\nmemory_mb = 4096\nports = \"36000-36099\"\n",
        image::PLAIN,
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    let well = |node: &Value| shown(node).into_iter().filter(|(_, well)| *well).count();
    let found = until(&client, |node| well(node) == UUIDS.len());
    assert_eq!(shown(&found), UUIDS.map(|uuid| (uuid.to_owned(), true)));
    assert_eq!(found["capacity"]["gpus"][0]["type"], "A100", "{found:#}");

    client.submit(&job("pair", 2));
    client.submit(&job("single", 1));
    let (pair, single) = (seen(&client, "pair"), seen(&client, "single"));
    assert_eq!((pair.len(), single.len()), (2, 1), "{pair:?} {single:?}");
    assert!(pair.is_disjoint(&single), "no other task sees them: {pair:?} {single:?}");

    let gone = pair.first().unwrap();
    let left: Vec<_> =
        UUIDS.into_iter().filter(|uuid| uuid != gone).map(|uuid| (uuid, 0)).collect();
    machine.set(&left);
    let (status, answer) = client.post("/api/v2/nodes/bare/gpus", "");
    assert_eq!(status, 202, "{answer}");
    let lost = until(&client, |node| well(node) == left.len());
    let broken: Vec<_> = shown(&lost).into_iter().filter(|(_, well)| !well).collect();
    assert_eq!(broken, [(gone.clone(), false)]);
    let told = |name: &str| client.get(&format!("/api/v2/jobs/admin~{name}/events?type=Warning"));
    assert!(told("pair").contains("gpu failed"), "{}", told("pair"));
    assert!(!told("single").contains("gpu failed"), "{}", told("single"));

    for name in ["pair", "single"] {
        client.stop(name);
        client.ended(name);
    }
    client.submit(&job("after", 2));
    let after = seen(&client, "after");
    assert!(after.len() == 2 && !after.contains(gone), "it holds nothing new: {after:?}");
}

/// It says which GPUs it sees, and keeps them.
fn job(name: &str, gpus: u32) -> String {
    json!({
        "jobName": name, "image": image::PLAIN, "retryCount": 0,
        "taskRoles": [{ "name": "only", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": gpus, "command": "nvidia-smi -L && echo said && sleep 600" }],
    })
    .to_string()
}

/// The UUIDs of the GPUs that a job's task sees.
fn seen(client: &Client, name: &str) -> BTreeSet<String> {
    client.running(name);
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let log = client.get(&format!("/api/v1/jobs/{name}/logs?role=only&index=0"));
        if log.lines().any(|line| line == "said") {
            let uuids = log.lines().filter_map(|line| line.split_once("UUID: "));
            return uuids.map(|(_, uuid)| uuid.trim_end_matches(')').to_owned()).collect();
        }
        assert!(Instant::now() < deadline, "{name} says nothing: {log}");
        std::thread::sleep(Duration::from_millis(50));
    }
}

/// The UUIDs of the node's GPUs, and whether each is well.
fn shown(node: &Value) -> Vec<(String, bool)> {
    let gpus = node["capacity"]["gpus"].as_array().into_iter().flatten();
    let shown = gpus.map(|gpu| {
        let uuid = gpu["uuid"].as_str().unwrap_or_default().to_owned();
        (uuid, gpu["healthy"] == true)
    });
    shown.collect()
}

/// The node, once it is as wanted.
fn until(client: &Client, wanted: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + Duration::from_secs(60);
    loop {
        let node = client.json("/api/v2/nodes/bare");
        if wanted(&node) {
            return node;
        }
        assert!(Instant::now() < deadline, "{node:#}");
        std::thread::sleep(Duration::from_millis(50));
    }
}
