//! Jobs leave their places on real engines: for guaranteed work, because a node is emptied, because
//! one is dead. Each says why.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;

const PATIENCE: Duration = Duration::from_secs(90);

#[test]
fn jobs_give_way_move_and_survive_their_node() {
    let mut engines = [Dockerd::start(), Dockerd::start()];
    engines.iter().for_each(image::load);
    let folder = tempfile::tempdir().unwrap();
    std::fs::write(folder.path().join("berth.toml"), config(&engines)).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    gives_way_and_resumes(&client);
    let (drained, other) = moves_from_a_drained_node(&client, &engines);
    survives_a_dead_node(&client, &mut engines, drained, other);
}

/// `vision` is guaranteed all GPUs of both nodes.
fn gives_way_and_resumes(client: &Client) {
    client.submit(&job("borrows", "default", 2, 4));
    client.running("borrows");
    client.submit(&job("owns", "vision", 2, 4));
    client.running("owns");
    let waits = until(client, "borrows", |detail| detail["jobStatus"]["state"] == "WAITING");
    assert_eq!(waits["jobStatus"]["retries"], 0, "{waits:#}");
    let words = events(client, "borrows");
    assert!(words.contains("gives way to owns, whose virtual cluster vision"), "{words}");
    client.stop("owns");
    let again = until(client, "borrows", |detail| detail["jobStatus"]["state"] == "RUNNING");
    assert_eq!(again["jobStatus"]["retryDetails"]["user"], 0, "{again:#}");
    assert_eq!(again["jobStatus"]["retryDetails"]["platform"], 0, "{again:#}");
    client.stop("borrows");
    client.ended("borrows");
}

fn moves_from_a_drained_node(client: &Client, engines: &[Dockerd; 2]) -> (usize, usize) {
    client.submit(&job("moves", "default", 1, 2));
    client.running("moves");
    let (from, to) = if holds(&engines[0]) { (0, 1) } else { (1, 0) };
    let path = format!("/api/v2/nodes/node-{from}/drain");
    let (status, effect) = client.put(&format!("{path}?dryRun"), r#"{"value": true}"#);
    assert_eq!(status, 200, "{effect}");
    let effect: Value = serde_json::from_str(&effect).unwrap();
    assert_eq!(effect["displaced"]["jobs"], json!([{ "user": "admin", "name": "moves" }]));
    let at_once = r#"{"value": true, "now": true}"#;
    let (_, effect) = client.put(&format!("{path}?dryRun"), at_once);
    let effect: Value = serde_json::from_str(&effect).unwrap();
    assert_eq!(effect["moved"]["counts"], json!({ "default": 1 }), "{effect:#}");
    assert_eq!(client.put(&path, at_once).0, 202);
    until(client, "moves", |detail| {
        detail["jobStatus"]["state"] == "RUNNING" && holds(&engines[to])
    });
    until(client, "moves", |_| !holds(&engines[from]));
    let words = events(client, "moves");
    assert!(words.contains(&format!("leaves node-{from}, which is being emptied")), "{words}");
    assert_eq!(client.put(&path, r#"{"value": false}"#).0, 202);
    (from, to)
}

/// The engine of `dead` dies; an administrator says that it will not come back.
fn survives_a_dead_node(client: &Client, engines: &mut [Dockerd; 2], free: usize, dead: usize) {
    engines[dead].kill();
    until(client, "moves", |detail| detail["jobStatus"]["state"] == "UNKNOWN");
    let path = format!("/api/v2/nodes/node-{dead}/drain");
    assert_eq!(client.put(&path, r#"{"value": true, "now": true}"#).0, 202);
    until(client, "moves", |detail| {
        detail["jobStatus"]["state"] == "RUNNING" && holds(&engines[free])
    });
    let words = events(client, "moves");
    assert!(words.contains(&format!("node-{dead} was lost")), "{words}");
    // It comes back after all: what still runs there is nobody's.
    engines[dead].resume();
    until(client, "moves", |_| !holds(&engines[dead]));
    assert!(holds(&engines[free]));
    client.stop("moves");
    client.ended("moves");
}

/// Whether anything runs there; there is one job at a time.
fn holds(engine: &Dockerd) -> bool {
    !engine.docker(&["ps", "--quiet"]).is_empty()
}

/// What the job's page says happened.
fn events(client: &Client, name: &str) -> String {
    let events = client.json(&format!("/api/v2/jobs/admin~{name}/events?type=Warning"));
    let events = events["data"].as_array().unwrap().iter();
    events.map(|event| event["message"].as_str().unwrap()).collect::<Vec<_>>().join("\n")
}

fn config(engines: &[Dockerd; 2]) -> String {
    let mut config =
        "[[virtual_clusters]]\nname = \"vision\"\nshare = { gpus = { TITANX = 8 } }\n".to_owned();
    for (index, dockerd) in engines.iter().enumerate() {
        // They share this machine's network, as real nodes do not: so each has ports of its own.
        let _infallible = write!(
            config,
            "[[nodes]]\nname = \"node-{index}\"\naddress = \"127.0.0.{}\"\nendpoint = \"{}\"\n\
             cpus = 8\nmemory_mb = 8192\ngpus = [{{ type = \"TITANX\", count = 4 }}]\n\
             gpu_runtime = \"none\"\nports = \"3{index}000-3{index}999\"\n",
            index + 1,
            dockerd.endpoint()
        );
    }
    config
}

fn job(name: &str, virtual_cluster: &str, tasks: u32, gpus: u32) -> String {
    json!({
        "jobName": name, "image": image::PLAIN, "virtualCluster": virtual_cluster, "retryCount": 0,
        "taskRoles": [{ "name": "worker", "taskNumber": tasks, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": gpus, "command": "trap 'exit 0' TERM; sleep 600 & wait" }],
    })
    .to_string()
}

fn until(client: &Client, name: &str, wanted: impl Fn(&Value) -> bool) -> Value {
    let deadline = Instant::now() + PATIENCE;
    loop {
        let detail = client.json(&format!("/api/v2/jobs/admin~{name}"));
        if wanted(&detail) {
            return detail;
        }
        assert!(Instant::now() < deadline, "{detail:#}\n{}", events(client, name));
        std::thread::sleep(Duration::from_millis(50));
    }
}
