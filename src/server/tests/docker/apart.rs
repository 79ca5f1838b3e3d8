//! Tasks on the portal's own machine, and what they serve: kept apart from the portal and from each
//! other.

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;

const PATIENCE: Duration = Duration::from_secs(90);

/// Serves a page at a port as soon as it is told to.
const SERVE: &str = "mkdir -p /www; echo 'served by the task' > /www/index.html; \
                     until [ -e /go ]; do sleep 0.1; done; httpd -f -p $ADDRESS$PORT -h /www";

/// One engine, whose node is described with these further lines.
fn world(more: &str, top: &str) -> (Dockerd, tempfile::TempDir) {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let config = format!(
        "{top}\n[[nodes]]\nname = \"local\"\naddress = \"127.0.0.1\"\nendpoint = \"{}\"\n\
         cpus = 4\nmemory_mb = 4096\n{more}\n",
        dockerd.endpoint()
    );
    std::fs::write(folder.path().join("berth.toml"), config).unwrap();
    (dockerd, folder)
}

fn job(name: &str, command: &str, ports: &Value) -> String {
    json!({
        "jobName": name, "image": image::PLAIN, "retryCount": 0,
        "taskRoles": [{ "name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": 0, "command": command, "portList": ports }],
    })
    .to_string()
}

/// A task that serves at its `http` port, at this address with a colon, or everywhere.
fn serving(name: &str, address: &str) -> String {
    let command =
        SERVE.replace("$ADDRESS", address).replace("$PORT", "$PAI_CONTAINER_HOST_http_PORT_LIST");
    job(name, &command, &json!([]))
}

fn go(client: &Client, name: &str) {
    let path = format!("/api/v1/user/admin/jobs/{name}/files?role=main&index=0&path=/go");
    let (status, answer) = client.put(&path, "");
    assert!((200..300).contains(&status), "{status} {answer}");
}

/// Asks until the answer has this status.
fn answered(client: &Client, path: &str, status: u16) {
    let deadline = Instant::now() + PATIENCE;
    while client.status(path) != status {
        assert!(Instant::now() < deadline, "{path}: {} and never {status}", client.status(path));
        std::thread::sleep(Duration::from_millis(50));
    }
}

fn http_port(client: &Client, name: &str) -> u16 {
    let detail = client.json(&format!("/api/v2/jobs/admin~{name}"));
    let ports = &detail["taskRoles"]["main"]["taskStatuses"][0]["containerPorts"];
    ports["http"].as_str().unwrap_or_else(|| panic!("{detail:#}")).parse().unwrap()
}

#[test]
fn tasks_on_the_portals_machine_have_an_address_of_their_own() {
    let (_dockerd, folder) = world("", "");
    let berth = Berth::start(folder.path());
    let client = berth.client();
    let portal = berth.address().rsplit_once(':').unwrap().1.to_owned();
    // The task takes the portal's port, on all addresses that it has.
    let look = format!(
        "nc -w 2 127.0.0.1 {portal} </dev/null && echo REACHED || echo refused; \
         (httpd -f -p {portal} -h / & sleep 1; kill $! && echo listened); {}",
        SERVE.replace("$ADDRESS", "").replace("$PORT", "$PAI_CONTAINER_HOST_http_PORT_LIST")
    );
    client.submit(&job("apart", &look, &json!([])));
    client.running("apart");
    let node = client.json("/api/v2/nodes/local");
    let own: IpAddr = node["tasks_address"].as_str().unwrap().parse().unwrap();
    assert!(!own.is_loopback(), "{own}");
    assert_eq!(node["at_portal"], false);
    let ways = client.json("/api/v1/jobs/apart/ssh");
    assert_eq!(ways["containers"][0]["sshIp"], own.to_string());
    // A cookie is sent to the host that set it, whatever the port: theirs is another one.
    assert_ne!(berth.address().split(':').next().unwrap(), own.to_string());

    go(&client, "apart");
    answered(&client, "/proxy/apart/main/0/http/", 200);
    assert_eq!(client.get("/proxy/apart/main/0/http/"), "served by the task\n");
    // What it publishes is at that address, and nowhere else on this machine.
    let port = http_port(&client, "apart");
    TcpListener::bind(("127.0.0.1", port)).expect("nothing of the task is at the portal's host");
    assert!(TcpListener::bind((own, port)).is_err(), "it is at its own");
    client.stop("apart");
    client.ended("apart");
    let log = client.get("/api/v1/jobs/apart/logs?role=main&index=0");
    assert!(log.contains("refused") && log.contains("listened"), "{log}");
    assert!(!log.contains("REACHED"), "the portal is not at the task's own address: {log}");
}

#[test]
fn tasks_at_the_portals_host_are_refused_at_the_start() {
    let (_dockerd, folder) = world("network = \"host\"", "");
    let words = Berth::refused(folder.path());
    for word in ["local: network", "session", "network = \"bridge\"", "allow_tasks_at_portal"] {
        assert!(words.contains(word), "{word}: {words}");
    }
}

#[test]
fn who_takes_a_port_first_does_not_answer_for_a_task() {
    let (_dockerd, folder) = world("network = \"host\"", "allow_tasks_at_portal = true");
    let berth = Berth::start(folder.path());
    let client = berth.client();
    assert_eq!(client.json("/api/v2/nodes/local")["at_portal"], true);
    client.submit(&serving("late", "127.0.0.1:"));
    client.running("late");
    let path = "/proxy/late/main/0/http/";
    answered(&client, path, 502);
    // As a program of another container would be, from where the guest looks.
    let port = http_port(&client, "late");
    let impostor = TcpListener::bind(("0.0.0.0", port)).unwrap();
    let asked = std::thread::spawn(move || {
        let (mut stream, _) = impostor.accept()?;
        let mut head = [0; 1024];
        let length = stream.read(&mut head)?;
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\nstolen")?;
        std::io::Result::Ok(head[..length].to_vec())
    });
    for _ in 0..5 {
        assert_eq!(client.status(path), 502, "nobody of the task listens");
    }
    // It got nothing: what it gets now is this test's.
    std::net::TcpStream::connect(("127.0.0.1", port)).unwrap().write_all(b"test").unwrap();
    assert_eq!(asked.join().unwrap().unwrap(), b"test");
    // The impostor is gone: the task's own server is reached, though it listens for itself alone.
    go(&client, "late");
    answered(&client, path, 200);
    assert_eq!(client.get(path), "served by the task\n");
    client.stop("late");
    client.ended("late");
}

#[test]
fn a_task_whose_port_is_taken_is_tried_again() {
    for (network, top) in
        [("network = \"host\"", "allow_tasks_at_portal = true"), ("network = \"bridge\"", "")]
    {
        let (_dockerd, folder) = world(&format!("{network}\nports = \"21000-21999\""), top);
        let berth = Berth::start(folder.path());
        let client = berth.client();
        client.submit(&job("first", "true", &json!([])));
        assert_eq!(client.ended("first")["jobStatus"]["state"], "SUCCEEDED");
        let holder = TcpListener::bind("0.0.0.0:21500").unwrap();
        let asked = json!([{ "label": "tb", "beginAt": 21500, "portNumber": 1 }]);
        client.submit(&job("taken", "true", &asked));
        let deadline = Instant::now() + PATIENCE;
        loop {
            let detail = client.json("/api/v2/jobs/admin~taken");
            if detail["jobStatus"]["retryDetails"]["platform"].as_u64() > Some(0) {
                break;
            }
            assert!(Instant::now() < deadline, "{network}: {detail:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
        drop(holder);
        let detail = client.ended("taken");
        assert_eq!(detail["jobStatus"]["state"], "SUCCEEDED", "{network}: {detail:#}");
        assert_eq!(detail["jobStatus"]["retryDetails"]["user"], 0, "{detail:#}");
    }
}

#[test]
fn what_a_task_serves_flows_through_its_guest() {
    let (_dockerd, folder) = world("", "");
    let berth = Berth::start(folder.path());
    let client = berth.client();
    let command = "mkdir -p /www; head -c 9000000 /dev/zero > /www/large; \
                   echo small > /www/small; httpd -f -p $PAI_CONTAINER_HOST_http_PORT_LIST -h /www";
    client.submit(&job("flows", command, &json!([])));
    client.running("flows");
    answered(&client, "/proxy/flows/main/0/http/small", 200);
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                let large = client.get("/proxy/flows/main/0/http/large");
                assert_eq!(large.len(), 9_000_000);
            });
        }
        for _ in 0..20 {
            assert_eq!(client.get("/proxy/flows/main/0/http/small"), "small\n");
        }
    });
    client.stop("flows");
    client.ended("flows");
}
