//! The program itself, with little to work with.

use std::io::{BufRead, BufReader};
use std::path::Path;
use std::process::{Child, Command, Stdio};

use server::listen::raise_open_files;
use tokio::io::AsyncWriteExt;

use super::*;

/// A running `berth serve` that may have this many files open.
struct Program {
    child: Child,
    /// What it said until it served.
    greeting: String,
}

impl Program {
    fn start(folder: &Path, files: u32, config: &str, listen: &str) -> Self {
        let file = folder.join("berth.toml");
        std::fs::write(&file, config).unwrap();
        let mut child = Command::new("sh")
            .args(["-c", &format!("ulimit -n {files}; exec \"$0\" \"$@\"")])
            .arg(env!("CARGO_BIN_EXE_berth"))
            .args(["serve", "--listen", listen, "--data"])
            .arg(folder.join("data"))
            .arg("--config")
            .arg(file)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(std::fs::File::create(folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut words = BufReader::new(child.stdout.take().unwrap());
        let mut greeting = String::new();
        while !greeting.contains("Berth serves at") {
            let read = words.read_line(&mut greeting).unwrap();
            let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert_ne!(read, 0, "berth serve ended: {}", log());
        }
        Self { child, greeting }
    }

    fn port(&self) -> u16 {
        self.greeting.trim().rsplit_once(':').unwrap().1.parse().unwrap()
    }
}

impl Drop for Program {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Whoever started it may stop reading before it has said all, as `head -1` does.
#[tokio::test(flavor = "multi_thread")]
async fn it_serves_though_nobody_reads_what_it_says() {
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let mut child = Command::new(env!("CARGO_BIN_EXE_berth"))
        .args(["serve", "--listen", &format!("127.0.0.1:{port}"), "--data"])
        .arg(folder.path().join("data"))
        .stdin(Stdio::null())
        .stdout(writer)
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    until("it serves", async || is_well(port).await).await;
    assert!(child.try_wait().unwrap().is_none());
    child.kill().unwrap();
    child.wait().unwrap();
}

/// One that nobody has at the moment.
fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

async fn is_well(port: u16) -> Option<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).await.ok()?;
    let head = "GET /healthz HTTP/1.1\r\nhost: localhost\r\nconnection: close\r\n\r\n";
    stream.write_all(head.as_bytes()).await.ok()?;
    let mut seen = String::new();
    timeout(Duration::from_secs(5), stream.read_to_string(&mut seen)).await.ok()?.ok()?;
    seen.ends_with("ok").then_some(())
}

/// What is free between two things that stay is given back, and stays so.
#[test]
fn its_memory_comes_in_small_pages() {
    let folder = tempfile::tempdir().unwrap();
    let program = Program::start(folder.path(), 1_024, "", "127.0.0.1:0");
    let status = std::fs::read_to_string(format!("/proc/{}/status", program.child.id())).unwrap();
    assert!(status.contains("THP_enabled:\t0\n"), "{status}");
}

#[tokio::test(flavor = "multi_thread")]
async fn it_survives_when_no_file_can_be_opened() {
    let folder = tempfile::tempdir().unwrap();
    let config = "[connections]\ntotal = 4000\nper_address = 4000\n";
    raise_open_files();
    let program = Program::start(folder.path(), 192, config, "127.0.0.1:0");
    let port = program.port();
    let log = folder.path().join("log");
    let mut open = Vec::new();
    until("it runs out of files", async || {
        // All at once, and again: who asks nothing is soon sent away. Some are broken off.
        let connections = (0..400).map(|_| TcpStream::connect(("127.0.0.1", port)));
        open = futures::future::join_all(connections).await;
        tokio::time::sleep(Duration::from_secs(1)).await;
        std::fs::read_to_string(&log).unwrap().contains("no connection can be taken").then_some(())
    })
    .await;
    drop(open);
    until("it goes on", async || is_well(port).await).await;
    let told = std::fs::read_to_string(&log).unwrap();
    assert!(told.matches("no connection can be taken").count() < 20, "{told}");
}

#[tokio::test(flavor = "multi_thread")]
async fn without_encryption_it_warns_where_others_can_listen() {
    for (listen, config, warned) in [
        ("0.0.0.0:0", "", true),
        ("127.0.0.1:0", "", false),
        ("0.0.0.0:0", "public_url = 'https://berth.example.org'", false),
    ] {
        let folder = tempfile::tempdir().unwrap();
        let program = Program::start(folder.path(), 1_024, config, listen);
        let log = std::fs::read_to_string(folder.path().join("log")).unwrap();
        assert_eq!(program.greeting.contains("in clear"), warned, "{listen} {config}");
        assert_eq!(log.contains("pass the network in clear"), warned, "{log}");
    }
}
