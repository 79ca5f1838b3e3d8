//! What OpenPAI's plugins do in a real container.

use serde_json::{Value, json};

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;

/// A program that says what it is called with, where the image has none.
const GIT: &str = "printf '#!/bin/sh\\necho git \"$@\"\\n' > /tmp/bin/git";

fn job(name: &str, plugins: &Value) -> String {
    let role = json!({
        "name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 200, "gpuNumber": 0,
        "command": "echo during",
    });
    json!({
        "jobName": name, "image": image::PLAIN, "retryCount": 0, "taskRoles": [role],
        "extras": { "com.microsoft.pai.runtimeplugin": plugins },
    })
    .to_string()
}

/// How a job with plugins ends, and what its task says.
fn outcome(client: &Client, name: &str, plugins: &Value) -> (String, Vec<String>) {
    client.submit(&job(name, plugins));
    let state = client.ended(name)["jobStatus"]["state"].as_str().unwrap().to_owned();
    let log = client.get(&format!("/api/v2/jobs/admin~{name}/logs?role=main&index=0"));
    (state, log.lines().map(str::to_owned).collect())
}

#[test]
fn plugins_do_in_a_container_what_they_say() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "[[nodes]]\nname = \"node-0\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\ncpus = 2\n\
         memory_mb = 2048\nports = \"20000-20999\"\n",
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    let before = ["mkdir -p /tmp/bin", GIT, "chmod +x /tmp/bin/git", "export PATH=/tmp/bin:$PATH"];
    let plugins = json!([
        { "plugin": "cmd",
          "parameters": { "preCommands": before, "postCommands": ["echo after"] } },
        { "plugin": "git", "parameters": { "repo_uri": "https://code.example/a.git",
                                           "options": ["--depth=1"], "clone_dir": "/tmp/code" } },
    ]);
    let (state, said) = outcome(&client, "whole", &plugins);
    assert_eq!(state, "SUCCEEDED", "{said:?}");
    let cloned = "git clone --depth=1 -- https://code.example/a.git /tmp/code";
    assert_eq!(said, [cloned, "during", "after"]);
    let failing = |policy: &str| {
        json!([{ "plugin": "cmd", "failurePolicy": policy,
                 "parameters": { "preCommands": ["echo before", "false"] } }])
    };
    let (state, said) = outcome(&client, "broken", &failing("fail"));
    assert_eq!((state.as_str(), &said[..]), ("FAILED", &["before".to_owned()][..]));
    let (state, said) = outcome(&client, "spared", &failing("ignore"));
    assert_eq!(state, "SUCCEEDED", "{said:?}");
    assert_eq!(said, ["before", "during"]);
}
