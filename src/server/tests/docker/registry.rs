//! Images of a private registry: pulled with what a job's `authFile` says.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::berth::Berth;
use crate::dockerd::Dockerd;
use crate::image;
use crate::images::save;

const USER: &str = "alice";
const PASSWORD: &str = "a pass phrase";
/// The password's hash, as the registry wants it.
const HASH: &str = "$2b$04$Y9NR5Qd2RZA6u7.ZGOfg5uQnS9YanqvSReT4DR2FeVQe/NipX8E3C";

#[test]
fn a_private_image_is_pulled_with_the_auth_file() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::start(folder.path());
    let private = format!("{}/team/plain:1", registry.address);
    let docker = |words: &[&str]| {
        let config = folder.path().join("docker").display().to_string();
        dockerd.docker(&[&["--config", config.as_str()], words].concat())
    };
    docker(&["login", "-u", USER, "-p", PASSWORD, &registry.address]);
    docker(&["tag", image::PLAIN, &private]);
    docker(&["push", "-q", &private]);
    docker(&["rmi", &private]);
    let config = format!(
        "[[nodes]]\nname = \"node\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         cpus = 2\nmemory_mb = 4096\nports = \"37000-37999\"\n",
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    let files = folder.path().join("data/storage/admin");
    std::fs::create_dir_all(&files).unwrap();
    let three_lines = |password: &str| format!("{}\n{USER}\n{password}\n", registry.address);
    std::fs::write(files.join("right"), three_lines(PASSWORD)).unwrap();
    std::fs::write(files.join("wrong"), three_lines("guessed")).unwrap();
    std::fs::write(files.join("short"), &registry.address).unwrap();
    let client = berth.client();

    let run = |name: &str, file: Option<&str>| {
        client.submit(&job(name, &private, file));
        client.ended(name)
    };
    let why = |detail: &Value| detail["jobStatus"]["appExitDiagnostics"].to_string();
    let alone = run("without", None);
    assert_eq!(alone["jobStatus"]["state"], "FAILED");
    assert!(why(&alone).contains("refused access"), "{}", why(&alone));
    let wrong = run("wrong", Some("wrong"));
    assert_eq!(wrong["jobStatus"]["state"], "FAILED");
    assert!(why(&wrong).contains("refused access"), "{}", why(&wrong));
    let short = run("short", Some("short"));
    assert_eq!(short["jobStatus"]["state"], "FAILED");
    assert!(why(&short).contains("three lines"), "{}", why(&short));
    let right = run("right", Some("right"));
    assert_eq!(right["jobStatus"]["state"], "SUCCEEDED", "{}", why(&right));
    // The node has it now. Nobody else gets it for that, however he calls it.
    let password = "a second pass phrase";
    let new = json!({ "username": "bob", "password": password, "admin": false });
    assert_eq!(client.post("/api/v2/users", &new.to_string()).0, 201);
    let bob = client.signed_in_as("bob", password);
    let digests =
        dockerd.docker(&["image", "inspect", "--format", "{{index .RepoDigests 0}}", &private]);
    for (name, image) in [("same", private.as_str()), ("digest", digests.trim())] {
        bob.submit(&job(name, image, None));
        let denied = bob.ended_of("bob", name);
        assert_eq!(denied["jobStatus"]["state"], "FAILED", "{denied:#}");
        assert!(why(&denied).contains("refused access"), "{}", why(&denied));
    }
    // Who has credentials of his own has it as well, and what the node had before is everybody's.
    let own = job("own", &private, Some("right")).replace("/admin/right", "/bob/right");
    let files = folder.path().join("data/storage/bob");
    std::fs::create_dir_all(&files).unwrap();
    std::fs::write(files.join("right"), three_lines(PASSWORD)).unwrap();
    for text in [own, job("plain", image::PLAIN, None)] {
        bob.submit(&text);
    }
    for name in ["own", "plain"] {
        let done = bob.ended_of("bob", name);
        assert_eq!(done["jobStatus"]["state"], "SUCCEEDED", "{}", why(&done));
    }
}

#[test]
fn a_container_is_pushed_to_a_private_registry() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::start(folder.path());
    let config = format!(
        "[[nodes]]\nname = \"node\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         cpus = 2\nmemory_mb = 4096\nports = \"38000-38999\"\n",
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    let berth = Berth::start(folder.path());
    let files = folder.path().join("data/storage/admin");
    std::fs::create_dir_all(&files).unwrap();
    let address = &registry.address;
    std::fs::write(files.join("auth"), format!("{address}\n{USER}\n{PASSWORD}\n")).unwrap();
    let client = berth.client();
    client.submit(&job("maker", image::PLAIN, None).replace("\"true\"", "\"sleep 600\""));
    client.running("maker");
    let task = "/api/v2/jobs/admin~maker/tasks/main/0/image";
    let target = format!("{address}/team/made:1");
    let push = |name: &str, file: &str| {
        let request = json!({ "name": name, "registry": target, "authFile": file });
        save(&client, task, &request)
    };
    let refused = push("without", "");
    assert_eq!(refused["state"], "FAILED", "{refused}");
    assert!(refused["problem"].to_string().contains("authFile"), "{refused}");
    let pushed = push("made", "/admin/auth");
    assert_eq!(pushed["state"], "PUSHED", "{pushed}");
    let images = dockerd.docker(&["images", "--format", "{{.Repository}}"]);
    assert!(!images.contains("made") && !images.contains("saved/"), "{images}");
    client.submit(&job("uses", &target, Some("auth")));
    let used = client.ended("uses");
    assert_eq!(used["jobStatus"]["state"], "SUCCEEDED", "{used:#}");
    // The node has that image now, and keeps it.
    let taken = push("again", "/admin/auth");
    assert!(taken["problem"].to_string().contains("another image"), "{taken}");
}

fn job(name: &str, image: &str, file: Option<&str>) -> String {
    json!({
        "jobName": name, "image": image, "retryCount": 0,
        "authFile": file.map_or(String::new(), |file| format!("$PAI_DEFAULT_FS_URI/admin/{file}")),
        "taskRoles": [{ "name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": 0, "command": "true" }],
    })
    .to_string()
}

/// A registry of the test's own, which ends with it.
struct Registry {
    child: Child,
    address: String,
}

impl Registry {
    fn start(folder: &Path) -> Self {
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let address = format!("127.0.0.1:{port}");
        let file = |name: &str| folder.join(name).display().to_string();
        std::fs::write(file("htpasswd"), format!("{USER}:{HASH}\n")).unwrap();
        let config = json!({
            "version": "0.1",
            "log": { "level": "error" },
            "storage": { "filesystem": { "rootdirectory": file("images") } },
            "http": { "addr": address },
            "auth": { "htpasswd": { "realm": "tests", "path": file("htpasswd") } },
        });
        std::fs::write(file("registry.yml"), config.to_string()).unwrap();
        let log = std::fs::File::create(file("registry.log")).unwrap();
        let child = Command::new("docker-registry")
            .args(["serve", &file("registry.yml")])
            .stdout(Stdio::null())
            .stderr(log)
            .spawn()
            .unwrap();
        let registry = Self { child, address };
        let deadline = Instant::now() + Duration::from_secs(30);
        while TcpStream::connect(&registry.address).is_err() {
            let log = || std::fs::read_to_string(file("registry.log")).unwrap_or_default();
            assert!(Instant::now() < deadline, "the registry does not start: {}", log());
            std::thread::sleep(Duration::from_millis(50));
        }
        registry
    }
}

impl Drop for Registry {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
