//! `berth doctor` tries a node from end to end.

use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;

/// Nobody serves at its registry's address.
const NOWHERE: &str = "127.0.0.1:9/plain:1";

#[test]
fn a_node_is_tried_and_what_it_cannot_do_is_said() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    dockerd.docker(&["tag", image::PLAIN, NOWHERE]);
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "[[nodes]]\nname = \"node\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         cpus = 2\nmemory_mb = 4096\ngpu_runtime = \"none\"\nports = \"35000-35099\"\n",
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    until_ready(&client);

    // How much room this machine's disk has is nothing of the test's.
    let found = findings(&client, &berth, folder.path(), &["--no-pull"]);
    assert!(found.iter().all(|finding| finding.contains("its disk has only")), "{found:?}");
    assert_eq!(client.json("/api/v2/jobs"), Value::Array(Vec::new()), "nothing of it is left");

    // The image is there, so that tasks start; a pull is tried all the same.
    let found = findings(&client, &berth, folder.path(), &[]);
    let pull = found.iter().find(|finding| finding.contains("images are not pulled"));
    assert!(pull.is_some_and(|pull| pull.contains(NOWHERE)), "{found:?}");
    assert!(!found.iter().any(|finding| finding.contains("was tried there")), "{found:?}");
    let tried = tried(&client);
    assert!(tried[0].starts_with("by the job doctor-node-"), "{tried:?}");
    assert_eq!(tried[1], format!("pulls {NOWHERE}"));

    let mut doctor = client.command(&berth, folder.path());
    doctor.args(["doctor", "--no-pull", "--patience", "1", "--image", NOWHERE]);
    let mut doctor = doctor.stdout(Stdio::null()).stderr(Stdio::null()).spawn().unwrap();
    let jobs = || client.json("/api/v2/jobs").as_array().unwrap().len();
    until(|| jobs() == 1);
    doctor.kill().unwrap();
    doctor.wait().unwrap();
    until(|| jobs() == 0);
}

/// How administrators tried nodes, the last time first.
fn tried(client: &Client) -> Vec<String> {
    let log = client.json("/api/v2/audit");
    let entries = log.as_array().unwrap().iter().filter(|entry| entry["action"] == "node.tried");
    entries.map(|entry| entry["detail"].as_str().unwrap().to_owned()).collect()
}

/// What it says of the node.
fn findings(client: &Client, berth: &Berth, home: &Path, arguments: &[&str]) -> Vec<String> {
    let mut doctor = client.command(berth, home);
    doctor.args(["doctor", "--json", "--language", "en", "--image", NOWHERE]).args(arguments);
    let output = doctor.output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    let error = String::from_utf8_lossy(&output.stderr);
    let all: Value = serde_json::from_str(&said).unwrap_or_else(|_| panic!("{said}{error}"));
    let findings: Vec<String> = serde_json::from_value(all[0]["findings"].clone()).unwrap();
    assert_eq!(output.status.success(), findings.is_empty(), "{said}{error}");
    findings
}

fn until_ready(client: &Client) {
    until(|| client.json("/api/v2/nodes/node")["condition"] == "ready");
}

fn until(is_so: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(180);
    while !is_so() {
        assert!(Instant::now() < deadline, "it does not come about");
        std::thread::sleep(Duration::from_millis(50));
    }
}
