//! A job's `codeDir` in its containers, as the documents of each time say.

use std::path::Path;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;

/// Says what is found from where it starts, and that it is not to be changed.
const LOOK: &str = "for f in a.txt code/a.txt benchmarks/a.txt code/lib/b.txt; do \
    [ -f $f ] && echo has $f; done; touch code/new 2>/dev/null || echo read-only; pwd";

#[test]
fn code_is_there_before_the_command_starts() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "[[nodes]]\nname = \"node\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         cpus = 2\nmemory_mb = 4096\nports = \"36000-36999\"\n",
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    write_code(&folder.path().join("data/storage/admin/benchmarks"));
    let client = berth.client();
    let log = |name: &str| client.get(&format!("/api/v1/jobs/{name}/logs?role=main&index=0"));

    // Only keys of the earliest documents: it starts inside.
    client.submit(&job("earliest", json!({})));
    assert_eq!(client.ended("earliest")["jobStatus"]["state"], "SUCCEEDED");
    let found = log("earliest");
    assert_eq!(
        found,
        "has a.txt\nhas code/a.txt\nhas code/lib/b.txt\nread-only\n/start/here/code\n"
    );
    // All others start where the image says, with the code beside.
    client.submit(&job("later", json!({ "retryCount": 0, "virtualCluster": "default" })));
    assert_eq!(client.ended("later")["jobStatus"]["state"], "SUCCEEDED");
    let found = log("later");
    assert_eq!(
        found,
        "has code/a.txt\nhas benchmarks/a.txt\nhas code/lib/b.txt\nread-only\n/start/here\n"
    );
    a_failed_task_is_kept(&client);
    until(|| dockerd.docker(&["ps", "-aq"]).is_empty());
    berth.kill();
    let _berth = Berth::start(folder.path());
    // What no job needs any more goes from the node.
    until(|| !dockerd.docker(&["volume", "ls", "-q"]).contains("-code"));
    assert!(dockerd.docker(&["volume", "ls", "-q"]).contains("-guest-"));
}

#[test]
fn nodes_that_share_the_storage_show_it_to_tasks() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let storage = folder.path().join("data/storage");
    let config = format!(
        "[storage]\nmount = \"{}\"\n\
         [[nodes]]\nname = \"node\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         cpus = 1\nmemory_mb = 1024\nports = \"38000-38099\"\n",
        storage.display(),
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    write_code(&storage.join("admin/benchmarks"));
    std::fs::create_dir_all(storage.join("data")).unwrap();
    std::fs::write(storage.join("data/set.txt"), "a set").unwrap();
    let client = berth.client();
    let command = "cat $BERTH_DATA/set.txt; echo kept > $BERTH_OUTPUT/model; \
        echo mine > $BERTH_HOME/note; touch $BERTH_DATA/new 2>/dev/null || echo read-only; ls /berth";
    let text = job("shown", json!({ "dataDir": "/data", "retryCount": 0 })).replace(LOOK, command);
    client.submit(&text);
    assert_eq!(client.ended("shown")["jobStatus"]["state"], "SUCCEEDED");
    let said = client.get("/api/v1/jobs/shown/logs?role=main&index=0");
    assert_eq!(said, "a setread-only\ndata\nhome\noutput\n");
    assert_eq!(client.get("/api/v2/files/Output/shown/model"), "kept\n");
    assert_eq!(client.get("/api/v2/files/admin/note"), "mine\n");
    // What lies beneath another mount is where it would be by itself as well.
    std::fs::create_dir_all(storage.join("data/sets/one")).unwrap();
    std::fs::write(storage.join("data/sets/one/set.txt"), "one").unwrap();
    let command = "echo $BERTH_OUTPUT $BERTH_DATA; cat /berth/data/set.txt; \
        echo kept > /berth/output/model; touch $BERTH_DATA/new 2>/dev/null || echo read-only";
    let places = json!({ "dataDir": "/data/sets/one", "outputDir": "$PAI_DEFAULT_FS_URI/admin/runs/1",
        "retryCount": 0 });
    client.submit(&job("deeper", places).replace(LOOK, command));
    assert_eq!(client.ended("deeper")["jobStatus"]["state"], "SUCCEEDED");
    let said = client.get("/api/v1/jobs/deeper/logs?role=main&index=0");
    assert_eq!(said, "/berth/home/runs/1 /berth/of-data/one\noneread-only\n");
    assert_eq!(client.get("/api/v2/files/admin/runs/1/model"), "kept\n");
}

/// With `isDebug`, until it is stopped.
fn a_failed_task_is_kept(client: &Client) {
    let more = json!({ "retryCount": 0, "jobEnvs": { "isDebug": true } });
    let failing = job("debugged", more).replace(LOOK, "echo left > /trace; exit 3");
    client.submit(&failing);
    let deadline = Instant::now() + Duration::from_secs(90);
    let said = loop {
        let detail = client.json("/api/v2/jobs/admin~debugged");
        let task = &detail["taskRoles"]["main"]["taskStatuses"][0];
        if let Some(words) = task["progress"].as_str()
            && words.contains("kept")
        {
            assert_eq!(task["taskState"], "RUNNING", "{task:#}");
            break words.to_owned();
        }
        assert!(Instant::now() < deadline, "{task:#}");
        std::thread::sleep(Duration::from_millis(500));
    };
    assert_eq!(said, "failed with exit code 3: kept to be looked into");
    client.stop("debugged");
    assert_eq!(client.ended("debugged")["jobStatus"]["state"], "STOPPED");
}

fn write_code(code: &Path) {
    std::fs::create_dir_all(code.join("lib")).unwrap();
    std::fs::write(code.join("a.txt"), "a").unwrap();
    std::fs::write(code.join("lib/b.txt"), "b").unwrap();
}

fn job(name: &str, more: Value) -> String {
    let mut job = json!({
        "jobName": name, "image": image::PLAIN,
        "codeDir": "$PAI_DEFAULT_FS_URI/admin/benchmarks",
        "taskRoles": [{ "name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": 0, "command": LOOK }],
    });
    job.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
    job.to_string()
}

fn until(done: impl Fn() -> bool) {
    let deadline = Instant::now() + Duration::from_secs(60);
    while !done() {
        assert!(Instant::now() < deadline);
        std::thread::sleep(Duration::from_millis(100));
    }
}
