//! `kill -9` of the server at random moments while twenty jobs run on a real engine.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::time::Duration;

use rand::rngs::StdRng;
use rand::{Rng, SeedableRng};

use crate::berth::Berth;
use crate::dockerd::Dockerd;
use crate::image;
use crate::starts::Starts;

const JOBS: u32 = 20;
const KILLS: u32 = 12;

fn job(index: u32) -> String {
    let (tasks, retries, command) = match index % 4 {
        0 => (2, 0, "echo one; sleep 1; echo two"),
        1 => (1, 0, "sleep 0.3; exit 7"),
        2 => (1, 0, "echo quick"),
        _ => (1, 1, "sleep 0.5; exit 1"),
    };
    serde_json::json!({
        "jobName": format!("job-{index}"),
        "image": image::PLAIN,
        "retryCount": retries,
        "taskRoles": [{
            "name": "worker", "taskNumber": tasks, "cpuNumber": 1, "memoryMB": 100,
            "gpuNumber": 0, "command": command,
        }],
    })
    .to_string()
}

#[test]
fn every_job_ends_as_it_should_and_every_task_ran_once() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "[[nodes]]\nname = \"node-1\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         cpus = 64\nmemory_mb = 65536\ngpu_runtime = \"none\"\n",
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let starts = Starts::watch(&dockerd);

    let berth = Berth::start(folder.path());
    let client = berth.client();
    (0..JOBS).for_each(|index| client.submit(&job(index)));
    let mut random = StdRng::seed_from_u64(97);
    let mut berth = berth;
    for _ in 0..KILLS {
        // Not a wait for anything: the moment of the blow.
        std::thread::sleep(Duration::from_millis(random.random_range(0..900)));
        berth.kill();
        berth = Berth::start(folder.path());
    }
    let client = berth.client();
    for index in 0..JOBS {
        let detail = client.ended(&format!("job-{index}"));
        let status = &detail["jobStatus"];
        let (state, user_retries) = match index % 4 {
            0 | 2 => ("SUCCEEDED", 0),
            1 => ("FAILED", 0),
            _ => ("FAILED", 1),
        };
        assert_eq!(status["state"], state, "{detail:#}");
        assert_eq!(status["retryDetails"]["user"], user_retries, "{detail:#}");
        assert_eq!(status["retryDetails"]["platform"], 0, "{detail:#}");
    }
    let mut left = String::new();
    for _ in 0..600 {
        left = dockerd.docker(&["ps", "--all", "--quiet"]);
        if left.is_empty() {
            break;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    assert_eq!(left, "", "containers are left: {}", dockerd.docker(&["ps", "--all"]));
    each_ran_once(&starts.times());
}

/// Every task of every attempt was started exactly once: 5 × (2 + 1 + 1 + 2) containers.
fn each_ran_once(times: &BTreeMap<String, u32>) {
    let mut twice = String::new();
    for (name, times) in times.iter().filter(|(_, times)| **times != 1) {
        let _infallible = writeln!(twice, "{name} was started {times} times");
    }
    assert_eq!(twice, "");
    assert_eq!(times.len(), 30, "{times:#?}");
}
