//! Servers on one PostgreSQL and a real engine, of which one after the other stands still for longer than a
//! leader may be silent, is killed, or is cut off.

use std::path::Path;

use tokio::runtime::Runtime;

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;
use crate::postgres::new_database;
use crate::starts::Starts;
use crate::way::Way;

const JOBS: u32 = 5;
/// Jobs that come to each leader of three.
const IN_FLIGHT: u32 = 8;

fn submit(client: &Client, name: &str, command: &str) {
    let role = serde_json::json!({
        "name": "worker", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
        "command": command,
    });
    let job = serde_json::json!({
        "jobName": name, "image": image::PLAIN, "retryCount": 0, "taskRoles": [role],
    });
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
    let url = Runtime::new().unwrap().block_on(new_database()).unwrap();
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

/// Gives a leader jobs that are under way when it goes.
fn comes(leader: &Berth, names: &mut Vec<String>) {
    let client = leader.client();
    for number in 0..IN_FLIGHT {
        let name = format!("job-{}", names.len());
        submit(&client, &name, if number % 2 == 0 { "sleep 1" } else { "sleep 0.2; exit 3" });
        names.push(name);
    }
}

/// Each has ended as it would have by itself.
fn all_ended(leader: &Berth, names: &[String]) {
    let client = leader.client();
    for (number, name) in names.iter().enumerate() {
        let ended = client.ended(name);
        let status = &ended["jobStatus"];
        let state = if number % 2 == 0 { "SUCCEEDED" } else { "FAILED" };
        assert_eq!(status["state"], state, "{ended:#}");
        assert_eq!(status["retryDetails"]["user"], 0, "{ended:#}");
        assert_eq!(status["retryDetails"]["platform"], 0, "{ended:#}");
    }
}

#[test]
fn a_leader_is_killed_the_next_one_cut_off_and_the_third_one_frozen() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    // The lines are there as long as it is.
    let runtime = Runtime::new().unwrap();
    let url = runtime.block_on(new_database()).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let starts = Starts::watch(&dockerd);
    let endpoint = dockerd.endpoint();
    let home = |number: usize| folder.path().join(format!("server-{number}"));
    let start = |number: usize| {
        let way = runtime.block_on(Way::to(&url)).unwrap();
        let first = home(0);
        let key_of = (number > 0).then_some(first.as_path());
        furnish(&home(number), (&way.url, &endpoint), key_of);
        (Berth::start(&home(number)), way)
    };
    let (mut names, (first, _first_way)) = (Vec::new(), start(0));
    let others = [start(1), start(2)];
    submit(&first.client(), "long", "sleep 1000");
    first.client().running("long");
    comes(&first, &mut names);

    first.kill();
    let second = Berth::until_one_leads([&others[0].0, &others[1].0]);
    let ((second, way), (third, _)) = (&others[second], &others[1 - second]);
    comes(second, &mut names);
    way.stuck.send(true).unwrap();
    third.until_leads(true);
    comes(third, &mut names);
    way.stuck.send(false).unwrap();
    second.until_leads(false);
    third.freeze();
    second.until_leads(true);
    comes(second, &mut names);
    third.thaw();
    third.until_leads(false);

    all_ended(second, &names);
    let client = second.client();
    client.stop("long");
    let long = client.ended("long");
    assert_eq!(long["jobStatus"]["state"], "STOPPED", "{long:#}");
    assert_eq!(long["jobStatus"]["retryDetails"]["platform"], 0, "{long:#}");
    let times = starts.times();
    assert_eq!(times.len(), 1 + names.len(), "{times:?}");
    assert!(times.values().all(|times| *times == 1), "{times:?}");
}
