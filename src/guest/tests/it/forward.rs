//! Forwarding in both directions.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Shutdown, TcpListener, TcpStream};
use std::os::unix::net::UnixListener;
use std::process::{Child, Stdio};
use std::thread;

use protocol::guest::OWN_HOST;

use crate::guest::{Guest, Plan, free_port, needed, noise, succeed, text, until, with_input};

/// Somebody who sends back what he gets; gives his port.
fn echo() -> u16 {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    thread::spawn(move || {
        for stream in listener.incoming() {
            thread::spawn(move || {
                let mut stream = stream.unwrap();
                let mut other = stream.try_clone().unwrap();
                std::io::copy(&mut stream, &mut other).unwrap();
                other.shutdown(Shutdown::Write).unwrap();
            });
        }
    });
    port
}

fn send_and_get(port: u16, data: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let mut writer = stream.try_clone().unwrap();
    let mut got = Vec::new();
    thread::scope(|scope| {
        scope.spawn(move || {
            writer.write_all(data).unwrap();
            writer.shutdown(Shutdown::Write).unwrap();
        });
        stream.read_to_end(&mut got).unwrap();
    });
    got
}

/// An `ssh` that only forwards, ended when it is dropped.
struct Forwarder(Child);

impl Forwarder {
    fn start(guest: &Guest, options: &[&str]) -> Self {
        let mut ssh = guest.ssh(&["-N", "-o", "ExitOnForwardFailure=yes"]);
        ssh.args(options).arg("worker-0").stdin(Stdio::null()).stderr(Stdio::piped());
        Self(ssh.spawn().unwrap())
    }
}

impl Drop for Forwarder {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

fn is_open(port: u16) -> bool {
    TcpStream::connect(("127.0.0.1", port)).is_ok()
}

#[test]
fn local_ports_lead_to_hosts_and_sockets_behind_the_task() {
    let guest = Plan::waiting().serve();
    let (port, other, target) = (free_port(), free_port(), echo());
    let socket = guest.path("socket");
    let listener = UnixListener::bind(&socket).unwrap();
    thread::spawn(move || {
        let (mut stream, _) = listener.accept().unwrap();
        stream.write_all(b"by socket").unwrap();
    });
    let (first, second) =
        (format!("{port}:localhost:{target}"), format!("{other}:{}", socket.display()));
    let _ssh = Forwarder::start(&guest, &["-L", &first, "-L", &second]);
    until("the port is open", || is_open(port));
    let data = noise(20 << 20);
    thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| assert!(send_and_get(port, &data) == data));
        }
    });
    assert_eq!(send_and_get(other, b""), b"by socket");
}

#[test]
fn a_script_and_a_forwarded_connection_are_all_an_editor_needs() {
    let guest = Plan::waiting().serve();
    let target = echo();
    let script = "echo found:$(uname -s); exit 0\n";
    let output = with_input(
        &mut guest.ssh(&["-T", "-D", &free_port().to_string(), "worker-0", "bash"]),
        script.as_bytes(),
    );
    assert_eq!(text(&output.stdout), "found:Linux");
    let there = format!("127.0.0.1:{target}");
    let output = with_input(&mut guest.ssh(&["-W", &there, "worker-0"]), b"hello");
    assert_eq!(output.stdout, b"hello");
}

#[test]
fn where_nobody_listens_the_client_is_told() {
    let guest = Plan::waiting().serve();
    for there in [format!("127.0.0.1:{}", free_port()), "no.such.host.invalid:80".into()] {
        let output = guest.ssh(&["-W", &there, "worker-0"]).stdin(Stdio::null()).output().unwrap();
        assert!(text(&output.stderr).contains("forwarding failed"), "{}", text(&output.stderr));
        assert!(!output.status.success());
    }
}

#[test]
fn a_port_of_the_tasks_own_leads_to_its_programs_alone() {
    let mut plan = Plan::waiting();
    let unshare = needed("unshare", "util-linux").to_string_lossy().into_owned();
    let program = plan.path("berth/bin/guest").to_string_lossy().into_owned();
    let config = plan.path("berth/task.json").to_string_lossy().into_owned();
    // In a container the guest is the first process, and sees those of the container.
    let apart = ["-r", "-p", "-f", "--mount-proc", "--kill-child"].map(str::to_owned);
    let words = [program, "run".to_owned(), "--config".to_owned(), config];
    plan.wrapper = std::iter::once(unshare).chain(apart).chain(words).collect();
    let guest = plan.serve();
    let ask = |port: u16| {
        let there = format!("{OWN_HOST}:{port}");
        with_input(&mut guest.ssh(&["-W", &there, "worker-0"]), b"")
    };
    let own = ask(guest.port);
    assert!(text(&own.stdout).starts_with("SSH-2.0-Berth"), "{own:?}");
    // Somebody else on the same network.
    let other = ask(echo());
    assert!(text(&other.stderr).contains("forwarding failed"), "{}", text(&other.stderr));
    assert!(!ask(free_port()).status.success());
}

#[test]
fn remote_ports_lead_back_and_can_be_given_up() {
    let guest = Plan::waiting().serve();
    let target = echo();
    let control = guest.path("mine/control").to_string_lossy().into_owned();
    let mut ssh = Forwarder::start(
        &guest,
        &["-o", "LogLevel=INFO", "-M", "-S", &control, "-R", &format!("0:127.0.0.1:{target}")],
    );
    let mut line = String::new();
    let mut errors = BufReader::new(ssh.0.stderr.take().unwrap());
    errors.read_line(&mut line).unwrap();
    let port: u16 = line.split_whitespace().nth(2).unwrap().parse().expect(&line);
    let data = noise(5 << 20);
    assert!(send_and_get(port, &data) == data);
    until("the client can be talked to", || fs::exists(&control).unwrap());
    let fixed = free_port();
    let forward = format!("{fixed}:127.0.0.1:{target}");
    let tell = |what: &str| {
        succeed(guest.ssh(&["-S", &control, "-O", what, "-R", &forward]).arg("worker-0"));
    };
    tell("forward");
    assert!(send_and_get(fixed, &data) == data);
    tell("cancel");
    until("the port is closed", || !is_open(fixed));
    drop(ssh);
    until("with the client its ports go", || !is_open(port));
}

#[test]
fn a_taken_remote_port_is_refused() {
    let guest = Plan::waiting().serve();
    let forward = format!("{}:127.0.0.1:1", guest.port);
    let mut ssh = guest.ssh(&["-N", "-o", "ExitOnForwardFailure=yes", "-R", &forward, "worker-0"]);
    let output = ssh.stdin(Stdio::null()).output().unwrap();
    assert!(!output.status.success());
    assert!(text(&output.stderr).contains("failed"), "{}", text(&output.stderr));
}
