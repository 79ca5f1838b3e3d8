//! Two servers on one PostgreSQL and a real engine, of which one after the other stands still for longer
//! than a leader may be silent.

use std::path::Path;

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;
use crate::postgres::new_database;
use crate::starts::Starts;

const JOBS: u32 = 5;

fn submit(client: &Client, name: &str, command: &str) {
    let role = serde_json::json!({
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": command,
    });
    let job = serde_json::json!({ "jobName": name, "image": image::PLAIN, "taskRoles": [role] });
    client.submit(&job.to_string());
}

/// What a server has that is one of two: both have the files and the key of the first one.
fn furnish(folder: &Path, (url, endpoint): (&str, &str), key_of: Option<&Path>) {
    let files = folder.parent().unwrap().join("files");
    for made in [&folder.join("data"), &files] {
        std::fs::create_dir_all(made).unwrap();
    }
    let config = format!(
        "[database]\nurl = \"{url}\"\n[storage]\nroot = \"{}\"\n\
         [[nodes]]\nname = \"node-1\"\naddress = \"127.0.0.1\"\nendpoint = \"{endpoint}\"\n\
         cpus = 64\nmemory_mb = 65536\ngpu_runtime = \"none\"\n",
        files.display()
    );
    std::fs::write(folder.join("berth.toml"), config).unwrap();
    if let Some(other) = key_of {
        let key = |folder: &Path| folder.join("data/secret.key");
        std::fs::copy(key(other), key(folder)).unwrap();
    }
}

#[test]
fn a_frozen_leader_is_followed_and_starts_nothing_twice() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let url = tokio::runtime::Runtime::new().unwrap().block_on(new_database()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let starts = Starts::watch(&dockerd);
    let [one_home, other_home] = ["one", "other"].map(|name| folder.path().join(name));
    let endpoint = dockerd.endpoint();
    furnish(&one_home, (&url, &endpoint), None);
    let one = Berth::start(&one_home);
    furnish(&other_home, (&url, &endpoint), Some(&one_home));
    let other = Berth::start(&other_home);
    let client = one.client();
    submit(&client, "long", "sleep 1000");
    client.running("long");

    one.freeze();
    other.until_leads(true);
    let client = other.client();
    let names = || (0..JOBS).map(|number| format!("quick-{number}"));
    names().for_each(|name| submit(&client, &name, "true"));
    for name in names() {
        assert_eq!(client.ended(&name)["jobStatus"]["state"], "SUCCEEDED");
    }
    one.thaw();
    one.until_leads(false);
    // And the other way round.
    other.freeze();
    one.until_leads(true);
    let client = one.client();
    submit(&client, "last", "true");
    assert_eq!(client.ended("last")["jobStatus"]["state"], "SUCCEEDED");
    other.thaw();
    other.until_leads(false);
    client.stop("long");
    let long = client.ended("long");
    assert_eq!(long["jobStatus"]["state"], "STOPPED", "{long:#}");
    assert_eq!(long["jobStatus"]["retryDetails"]["platform"], 0, "{long:#}");

    let times = starts.times();
    assert!(times.len() > usize::try_from(JOBS).unwrap(), "{times:?}");
    assert!(times.values().all(|times| *times == 1), "{times:?}");
}
