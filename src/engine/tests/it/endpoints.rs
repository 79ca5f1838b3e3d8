//! The ways to an engine: TCP with certificates, SSH, and those that lead nowhere.

use std::net::TcpListener;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use engine::{EndpointOptions, EngineError, connect};
use futures::StreamExt;
use tokio::io::AsyncWriteExt;

use crate::contract::{LIMIT, World};
use crate::dockerd::Dockerd;
use crate::{certificates, image};

fn free_port() -> u16 {
    TcpListener::bind(("127.0.0.1", 0)).unwrap().local_addr().unwrap().port()
}

fn options(endpoint: String, credentials: Option<&Path>) -> EndpointOptions {
    EndpointOptions { endpoint, tls: credentials.map(Path::to_owned), ..Default::default() }
}

/// Short work over a transport: a call, a stream, an upgraded connection.
async fn works(options: &EndpointOptions) {
    let world = World { engine: connect(options).unwrap(), image: image::PLAIN.into() };
    assert!(world.engine.info().await.unwrap().version.starts_with("Docker "));
    let name = world.run(1, "echo over $GREETING; exit 3").await;
    assert_eq!(world.code(&name).await, 3);
    assert_eq!(world.log(&name, Default::default()).await, "over good day\n");
    world.engine.remove(&name).await.unwrap();
    let name = world.run(2, "sleep 600").await;
    let mut exec = world.engine.exec(&name, vec!["cat".into()], false).await.unwrap();
    exec.input.write_all(b"hi\n").await.unwrap();
    exec.input.shutdown().await.unwrap();
    let output = exec.output.collect::<Vec<_>>();
    let output = tokio::time::timeout(LIMIT, output).await.expect("cat ends");
    assert_eq!(&output[0].as_ref().unwrap().bytes[..], b"hi\n");
    world.engine.remove(&name).await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn tcp_with_certificates() {
    let (ours, foreign) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    certificates::write(ours.path());
    certificates::write(foreign.path());
    let address = format!("tcp://127.0.0.1:{}", free_port());
    let file = |name: &str| ours.path().join(name).display().to_string();
    let dockerd = Dockerd::start_with(&[
        "-H",
        &address,
        "--tlsverify",
        "--tlscacert",
        &file("ca.pem"),
        "--tlscert",
        &file("cert.pem"),
        "--tlskey",
        &file("key.pem"),
    ]);
    image::load(&dockerd);
    works(&options(address.clone(), Some(ours.path()))).await;

    // An engine of somebody else, and a client of somebody else, get no further than the greeting.
    let stranger = connect(&options(address, Some(foreign.path()))).unwrap();
    let error = stranger.info().await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
    assert!(error.to_string().contains("certificate"), "{error}");
}

#[tokio::test(flavor = "multi_thread")]
async fn ssh() {
    let dockerd = Dockerd::start();
    image::load(&dockerd);
    let folder = tempfile::tempdir().unwrap();
    let port = free_port();
    let sshd = Sshd::start(folder.path(), port, &dockerd.endpoint());
    works(&options(format!("ssh://root@127.0.0.1:{port}"), Some(folder.path()))).await;
    drop(sshd);
    let nobody = format!("ssh://root@127.0.0.1:{}", free_port());
    let error = connect(&options(nobody, None)).unwrap().info().await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
    assert!(error.to_string().contains("refused"), "{error}");
}

struct Sshd {
    child: Child,
    port: u16,
}

impl Sshd {
    fn start(folder: &Path, port: u16, docker: &str) -> Self {
        let path = |name: &str| folder.join(name).display().to_string();
        for key in ["host", "key.pem"] {
            let made = Command::new("ssh-keygen")
                .args(["-q", "-t", "ed25519", "-N", "", "-f", &path(key)])
                .status()
                .expect("no ssh-keygen here: apt-get install openssh-client");
            assert!(made.success());
        }
        let settings = format!(
            "ListenAddress 127.0.0.1\nPort {port}\nHostKey {}\nAuthorizedKeysFile {}\nPidFile \
             none\nStrictModes no\nUsePAM no\nPasswordAuthentication no\nPermitRootLogin \
             prohibit-password\nSetEnv DOCKER_HOST={docker}\n",
            path("host"),
            path("key.pem.pub"),
        );
        std::fs::write(path("sshd_config"), settings).unwrap();
        std::fs::create_dir_all("/run/sshd").unwrap();
        forget_host(port);
        let mut child = Command::new("/usr/sbin/sshd")
            .args(["-D", "-e", "-f", &path("sshd_config")])
            .stderr(Stdio::piped())
            .spawn()
            .expect("no sshd here: apt-get install openssh-server");
        let mut words = std::io::BufReader::new(child.stderr.take().unwrap());
        let mut line = String::new();
        std::io::BufRead::read_line(&mut words, &mut line).unwrap();
        assert!(line.contains("listening"), "{line}");
        std::thread::spawn(move || std::io::copy(&mut words, &mut std::io::sink()));
        Self { child, port }
    }
}

impl Drop for Sshd {
    fn drop(&mut self) {
        // The connection that was kept for further calls.
        let port = self.port.to_string();
        let _ = Command::new("ssh")
            .args([
                "-o",
                "ControlPath=~/.ssh/berth-%C",
                "-O",
                "exit",
                "-p",
                &port,
                "root@127.0.0.1",
            ])
            .output();
        let _ = self.child.kill();
        let _ = self.child.wait();
        forget_host(self.port);
    }
}

/// OpenSSH remembers a host at its first visit; the next test's host has another key.
fn forget_host(port: u16) {
    let host = format!("[127.0.0.1]:{port}");
    let _ = Command::new("ssh-keygen").args(["-R", &host]).output();
}

#[tokio::test]
async fn an_engine_that_never_answers_is_unreachable_in_time() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("tcp://{}", listener.local_addr().unwrap());
    let engine = connect(&options(address, None)).unwrap();
    let began = Instant::now();
    let error = engine.info().await.unwrap_err();
    assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
    assert!(matches!(engine.changes("test").await, Err(EngineError::Unreachable(_))));
    let took = began.elapsed();
    assert!(took > Duration::from_secs(8) && took < Duration::from_secs(15), "{took:?}");
}

#[tokio::test]
async fn an_engine_that_is_not_there_is_unreachable() {
    for endpoint in ["unix:///nowhere/docker.sock", &format!("tcp://127.0.0.1:{}", free_port())] {
        let engine = connect(&options(endpoint.to_owned(), None)).unwrap();
        let error = engine.info().await.unwrap_err();
        assert!(matches!(error, EngineError::Unreachable(_)), "{error:?}");
        assert!(matches!(engine.list("test").await, Err(EngineError::Unreachable(_))));
    }
}
