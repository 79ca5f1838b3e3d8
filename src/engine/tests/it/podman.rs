//! A Podman of a test's own that answers as Docker does: its data and its socket lie in a temporary folder and
//! go with it. It only answers: where containers may not be given limits of their own, it can start none.

use std::os::unix::net::UnixStream;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

/// How long it may take to listen.
const STARTING: Duration = Duration::from_secs(60);

/// Its locks lie with its data, and it needs no systemd.
const CONFIGURATION: &str =
    "[engine]\nlock_type = \"file\"\ncgroup_manager = \"cgroupfs\"\nevents_logger = \"none\"\n";

/// One that serves.
#[derive(Debug)]
pub(crate) struct Podman {
    folder: tempfile::TempDir,
    child: Child,
}

impl Podman {
    pub(crate) fn start() -> Self {
        let folder = tempfile::Builder::new().prefix("berth-podman-").tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        std::fs::write(path("containers.conf"), CONFIGURATION).unwrap();
        let child = Command::new("podman")
            .env("CONTAINERS_CONF", path("containers.conf"))
            .arg("--root")
            .arg(path("root"))
            .arg("--runroot")
            .arg(path("run"))
            .arg("--tmpdir")
            .arg(path("tmp"))
            .args(["--storage-driver", "vfs", "system", "service", "--time", "0"])
            .arg(format!("unix://{}", path("podman.sock").display()))
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .expect("no podman here: apt-get install podman");
        let mut podman = Self { folder, child };
        podman.await_listener();
        podman
    }

    /// The endpoint of its socket.
    pub(crate) fn endpoint(&self) -> String {
        format!("unix://{}", self.socket().display())
    }

    /// The first two numbers of its version.
    pub(crate) fn version(&self) -> (u32, u32) {
        let output = Command::new("podman").arg("--version").output().unwrap();
        let said = String::from_utf8(output.stdout).unwrap();
        let version = said.trim().rsplit(' ').next().unwrap();
        let mut numbers = version.split('.').map(|number| number.parse::<u32>().unwrap());
        (numbers.next().unwrap(), numbers.next().unwrap())
    }

    fn socket(&self) -> PathBuf {
        self.folder.path().join("podman.sock")
    }

    fn await_listener(&mut self) {
        let deadline = Instant::now() + STARTING;
        while UnixStream::connect(self.socket()).is_err() {
            let ended = self.child.try_wait().unwrap();
            assert!(
                ended.is_none(),
                "podman ended, with its reasons above (it needs root): {ended:?}"
            );
            assert!(Instant::now() < deadline, "podman does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Podman {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
