//! Containers of real jobs are saved as images: what is in them, who may use them, where they go.

use std::fmt::Write as _;
use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;

const SECRET: &str = "a-secret-of-the-job";
const SAVED: &str = "saved/admin/made:1";
const TASK: &str = "/api/v2/jobs/admin~maker/tasks/making/0/image";

#[test]
fn a_saved_image_has_the_files_of_its_container_and_nothing_of_its_job() {
    let engines: Vec<Dockerd> = (0..2).map(|_| Dockerd::start()).collect();
    let folder = tempfile::tempdir().unwrap();
    engines.iter().for_each(image::load);
    std::fs::write(folder.path().join("berth.toml"), nodes(&engines)).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    let (status, answer) = client.post("/api/v2/jobs", &maker());
    assert_eq!(status, 202, "{answer}");
    client.running("maker");
    until(&client, "the file is made", |client| {
        client.get("/api/v1/jobs/maker/logs?role=making&index=0").contains("made it")
    });

    let size = client.json(TASK);
    assert!(size["own"].as_u64() > Some(1_000_000), "{size}");
    refuses_bad_names_and_strangers(&client);
    let saved = save(&client, TASK, &json!({ "name": "made", "tag": "1" }));
    assert_eq!(saved["state"], "SAVED", "{saved}");
    let (status, answer) = client.post(TASK, r#"{ "name": "made", "tag": "1" }"#);
    assert!(status == 409 && answer.contains("taken"), "{answer}");
    let home = engines.iter().find(|dockerd| has(dockerd, SAVED)).unwrap();
    says_nothing_of_the_job(home, folder.path());

    client.stop("maker");
    client.ended("maker");
    runs_on_both_nodes(&client);
    let listed = client.json("/api/v2/images");
    client.delete(&format!("/api/v2/images/{}", listed[0]["id"]));
    until(&client, "the image is removed", |client| client.json("/api/v2/images") == json!([]));
    assert!(engines.iter().all(|dockerd| !has(dockerd, SAVED)));
    let audit = client.get("/api/v2/audit");
    assert!(audit.contains("image.saved") && audit.contains("image.removed"), "{audit}");
    assert!(audit.contains("admin~maker/making-0"), "{audit}");
}

/// A job whose container must not be told from its image: a secret, a variable, keys, peers.
fn maker() -> String {
    json!({
        "protocolVersion": 2, "name": "maker", "type": "job",
        "prerequisites": [{ "name": "plain", "type": "dockerimage", "uri": image::PLAIN }],
        "secrets": { "token": SECRET },
        "taskRoles": { "making": {
            "instances": 1, "dockerImage": "plain",
            "resourcePerInstance": { "cpu": 1, "memoryMB": 200, "gpu": 0 },
            "commands": [
                "export TOKEN=<% $secrets.token %>",
                "dd if=/dev/zero of=/big bs=1000000 count=2",
                "echo kept in the image >/made.txt",
                "ls /root/.ssh/config && echo made it",
                "sleep 600"
            ]
        } }
    })
    .to_string()
}

fn nodes(engines: &[Dockerd]) -> String {
    let mut config = String::new();
    for (index, dockerd) in engines.iter().enumerate() {
        let _infallible = write!(
            config,
            "[[nodes]]\nname = \"node-{index}\"\naddress = \"127.0.0.{}\"\nendpoint = \"{}\"\n\
             cpus = 1\nmemory_mb = 1024\nports = \"3{index}000-3{index}999\"\n",
            index + 1,
            dockerd.endpoint()
        );
    }
    config
}

fn until(client: &Client, what: &str, done: impl Fn(&Client) -> bool) {
    let deadline = Instant::now() + Duration::from_secs(90);
    while !done(client) {
        let images = || client.json("/api/v2/images");
        assert!(Instant::now() < deadline, "{what}: never; {:#}", images());
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// Saves the container and waits until that has ended; gives what is listed then.
pub(crate) fn save(client: &Client, task: &str, request: &Value) -> Value {
    let (status, answer) = client.post(task, &request.to_string());
    assert_eq!(status, 202, "{answer}");
    let begun: Value = serde_json::from_str(&answer).unwrap();
    let found = |client: &Client| {
        let listed = client.json("/api/v2/images");
        let images = listed.as_array().unwrap().clone();
        images.into_iter().find(|image| image["id"] == begun["id"]).unwrap()
    };
    let under_way = ["SAVING", "PUSHING"];
    until(client, "it is saved", |client| {
        !under_way.contains(&found(client)["state"].as_str().unwrap())
    });
    found(client)
}

fn has(dockerd: &Dockerd, image: &str) -> bool {
    !dockerd.docker(&["images", "-q", image]).trim().is_empty()
}

fn refuses_bad_names_and_strangers(client: &Client) {
    for (name, tag) in [("../admin/x", ""), ("Made", ""), ("", "1"), ("made", "a/b"), ("a b", "")] {
        let (status, answer) = client.post(TASK, &json!({ "name": name, "tag": tag }).to_string());
        assert!(status == 400 && answer.contains("allowed are"), "{name}:{tag}: {answer}");
    }
    for registry in ["team/made:1", "docker.io/saved/admin/made:1", "http://r.org/made"] {
        let request = json!({ "name": "made", "registry": registry }).to_string();
        let (status, answer) = client.post(TASK, &request);
        assert!(status == 400 && answer.contains("allowed are"), "{registry}: {answer}");
    }
    let bob = json!({ "username": "bob", "password": "another long one" }).to_string();
    assert_eq!(client.post("/api/v2/users", &bob).0, 201);
    let bob = client.signed_in_as("bob", "another long one");
    assert_eq!(bob.status(TASK), 403);
    let (status, answer) = bob.post(TASK, r#"{ "name": "stolen" }"#);
    assert_eq!(status, 403, "{answer}");
    let (status, answer) = client.post(&TASK.replace("/0/", "/7/"), r#"{ "name": "none" }"#);
    assert_eq!(status, 404, "{answer}");
}

fn says_nothing_of_the_job(dockerd: &Dockerd, folder: &Path) {
    let tar = folder.join("saved.tar");
    dockerd.docker(&["save", "-o", &tar.display().to_string(), SAVED]);
    let bytes = std::fs::read(&tar).unwrap();
    let contains = |word: &str| bytes.windows(word.len()).any(|window| window == word.as_bytes());
    assert!(contains("kept in the image"), "its files are in it");
    for trace in [
        SECRET,
        "OPENSSH PRIVATE KEY",
        "BERTH_TASK",
        "PAI_JOB_NAME",
        "berth.cluster",
        "making-0",
        "ssh-ed25519",
        "admin~maker",
    ] {
        assert!(!contains(trace), "{trace} is in the image");
    }
    let inspected = dockerd.docker(&["inspect", SAVED]);
    for trace in [SECRET, "BERTH", "PAI_", "berth.", "/.berth"] {
        assert!(!inspected.contains(trace), "{trace}: {inspected}");
    }
}

/// One of the two nodes has the image from the other.
fn runs_on_both_nodes(client: &Client) {
    let job = |name: &str, image: &str, command: &str| {
        json!({
            "jobName": name, "image": image, "retryCount": 0,
            "taskRoles": [{ "name": "reader", "taskNumber": 2, "cpuNumber": 1, "memoryMB": 200,
                "gpuNumber": 0, "command": command }],
        })
        .to_string()
    };
    let read = "cat /made.txt; pwd; ls /.berth/authorized_keys; sleep 5";
    let bob = client.signed_in_as("bob", "another long one");
    for spelling in [SAVED, "docker.io/saved/admin/made:1", "index.docker.io/saved/admin/made:1"] {
        let (status, answer) = bob.post("/api/v1/jobs", &job("theft", spelling, read));
        assert!(status == 403 && answer.contains("only admin"), "{spelling}: {answer}");
    }
    for (image, why) in [
        ("saved/bob/none:1", "no saved image"),
        ("saved/bob/../admin/made:1", "allowed are"),
        ("sha256:cafe", "is an id"),
    ] {
        let (status, answer) = bob.post("/api/v1/jobs", &job("theft", image, read));
        assert!(status == 400 && answer.contains(why), "{image}: {answer}");
    }
    client.submit(&job("readers", SAVED, read));
    client.running("readers");
    let listed = client.json("/api/v2/images");
    let (status, answer) = client.try_delete(&format!("/api/v2/images/{}", listed[0]["id"]));
    assert!(status == 409 && answer.contains("admin~readers"), "{answer}");
    let path = format!("/api/v2/images/{}", listed[0]["id"]);
    assert_eq!(bob.try_delete(&path).0, 404, "nobody is told of the images of others");
    let detail = client.ended("readers");
    assert_eq!(detail["jobStatus"]["state"], "SUCCEEDED", "{detail:#}");
    for index in 0..2 {
        let log = client.get(&format!("/api/v1/jobs/readers/logs?role=reader&index={index}"));
        assert!(log.contains("kept in the image") && log.contains("/start/here"), "{log}");
    }
}
