//! A Docker Engine of a test's own: its data, sockets and processes lie in a temporary folder and
//! go with it. Other test suites include this file by its path.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::{Duration, Instant};

/// How long an engine may take to listen.
const STARTING: Duration = Duration::from_secs(120);
/// How long it may take to stop its containers and itself.
const STOPPING: Duration = Duration::from_secs(60);

/// A running engine.
#[derive(Debug)]
pub(crate) struct Dockerd {
    folder: tempfile::TempDir,
    arguments: Vec<String>,
    /// Where it finds programs before all other places.
    programs: Option<PathBuf>,
    /// Where its networks get their addresses: those of several engines would else be the same.
    addresses: String,
    listeners: usize,
    child: Option<Child>,
}

impl Dockerd {
    /// An engine on a socket in its folder.
    pub(crate) fn start() -> Self {
        Self::start_with(&[])
    }

    /// An engine with further arguments, as `-H` and `tcp://…` of a further listener.
    pub(crate) fn start_with(arguments: &[&str]) -> Self {
        Self::start_where(arguments, None)
    }

    /// One that finds programs in this folder before all other places.
    pub(crate) fn start_where(arguments: &[&str], programs: Option<PathBuf>) -> Self {
        for program in ["dockerd", "docker"] {
            let there = std::env::var_os("PATH").is_some_and(|path| {
                std::env::split_paths(&path).any(|folder| folder.join(program).exists())
            });
            assert!(there, "no {program} here: apt-get install docker.io iptables");
        }
        let folder = tempfile::Builder::new()
            .prefix("berth-dockerd-")
            .tempdir()
            .expect("a temporary folder can be made");
        let mut dockerd = Self {
            folder,
            arguments: arguments.iter().map(|text| (*text).to_owned()).collect(),
            programs,
            addresses: addresses(),
            listeners: 1 + arguments.iter().filter(|text| **text == "-H").count(),
            child: None,
        };
        dockerd.resume();
        dockerd
    }

    /// The endpoint of its socket.
    pub(crate) fn endpoint(&self) -> String {
        format!("unix://{}", self.path("docker.sock").display())
    }

    /// Starts it again, with the data it had, if it does not run.
    pub(crate) fn resume(&mut self) {
        if self.child.is_some() {
            return;
        }
        let _ = std::fs::remove_file(self.path("dockerd.pid"));
        let known = std::env::var_os("PATH").unwrap_or_default();
        let folders = self.programs.iter().cloned().chain(std::env::split_paths(&known));
        let path = std::env::join_paths(folders).expect("no folder has a colon in its name");
        let mut child = Command::new("dockerd")
            .env("PATH", path)
            .args(["--data-root", &self.text("data"), "--exec-root", &self.text("exec")])
            .args(["--pidfile", &self.text("dockerd.pid"), "-H", &self.endpoint()])
            .args(["--bridge=none", "--iptables=false", "--ip-forward=false", "--ip-masq=false"])
            .arg(format!("--default-address-pool=base={},size=26", self.addresses))
            .args(&self.arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("dockerd starts");
        let words = child.stderr.take().expect("its standard error is piped");
        self.child = Some(child);
        await_listeners(BufReader::new(words), self.listeners);
    }

    /// Kills the engine as a crash would; its containers run on until [`Dockerd::resume`], which
    /// finds them, or the end.
    pub(crate) fn kill(&mut self) {
        if let Some(mut child) = self.child.take() {
            child.kill().expect("dockerd was running");
            child.wait().expect("dockerd was ours");
        }
        // Its containerd would keep the folders of the next one.
        if let Ok(text) = std::fs::read_to_string(self.path("exec/containerd/containerd.pid")) {
            signal("-KILL", &[text.trim().to_owned()]);
            gone(&text, STOPPING);
            // Where nobody reaps it, the next engine would take it for a running one.
            let _ = std::fs::remove_file(self.path("exec/containerd/containerd.pid"));
        }
    }

    /// Runs the `docker` command on this engine and gives what it says.
    pub(crate) fn docker(&self, arguments: &[&str]) -> String {
        let output = Command::new("docker")
            .args(["-H", &self.endpoint()])
            .args(arguments)
            .output()
            .expect("docker is installed");
        let error = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "docker {arguments:?}: {error}");
        String::from_utf8_lossy(&output.stdout).trim().to_owned()
    }

    fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    fn text(&self, name: &str) -> String {
        self.path(name).display().to_string()
    }

    /// The interfaces of its networks.
    fn networks(&self) -> Vec<String> {
        let listed = Command::new("docker")
            .args(["-H", &self.endpoint(), "network", "ls", "-q", "--filter", "driver=bridge"])
            .output();
        let ids = listed.map(|listed| listed.stdout).unwrap_or_default();
        String::from_utf8_lossy(&ids).lines().map(|id| format!("br-{id}")).collect()
    }

    /// Ends containers first: an engine that is told to end waits for each.
    fn end_containers(&self) {
        let shims = processes_about(self.folder.path(), "containerd-shim");
        signal("-KILL", &children_of(&shims));
    }
}

impl Drop for Dockerd {
    fn drop(&mut self) {
        self.end_containers();
        let networks = self.networks();
        if let Some(mut child) = self.child.take() {
            signal("-TERM", &[child.id().to_string()]);
            let deadline = Instant::now() + STOPPING;
            while child.try_wait().is_ok_and(|status| status.is_none()) {
                if Instant::now() > deadline {
                    let _ = child.kill();
                }
                std::thread::sleep(Duration::from_millis(20));
            }
        }
        // After a crash: what the engine would have ended.
        signal("-KILL", &processes_about(self.folder.path(), ""));
        // An engine keeps its networks for its next start.
        for network in networks {
            let _ = Command::new("ip").args(["link", "delete", &network]).output();
        }
        let mounts = std::fs::read_to_string("/proc/mounts").unwrap_or_default();
        let inside = self.folder.path().display().to_string();
        for mount in mounts.lines().filter_map(|line| line.split(' ').nth(1)) {
            if mount.starts_with(&inside) {
                let _ = Command::new("umount").args(["-l", mount]).output();
            }
        }
    }
}

/// Reads until the engine listens everywhere; goes on reading so that its pipe never fills.
fn await_listeners(words: impl BufRead + Send + 'static, listeners: usize) {
    let (told, lines) = channel();
    std::thread::spawn(move || {
        for line in words.lines().map_while(Result::ok) {
            let _ = told.send(line);
        }
    });
    let deadline = Instant::now() + STARTING;
    let (mut seen, mut log) = (0, String::new());
    while seen < listeners {
        match lines.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(line) => {
                seen += usize::from(line.contains("API listen on"));
                log.push_str(&line);
                log.push('\n');
            }
            Err(RecvTimeoutError::Timeout) => panic!("dockerd does not listen:\n{log}"),
            Err(RecvTimeoutError::Disconnected) => {
                panic!("dockerd ended (it needs root and cgroups):\n{log}")
            }
        }
    }
}

/// 64 addresses that no other engine of a test has: of those that are set aside for measurements.
fn addresses() -> String {
    static ENGINES: AtomicU32 = AtomicU32::new(0);
    let number = std::process::id() * 16 + ENGINES.fetch_add(1, Ordering::Relaxed);
    let [_, second, third, fourth] = (number % 2048 * 64).to_be_bytes();
    format!("198.{}.{third}.{fourth}/26", 18 + second)
}

fn signal(signal: &str, pids: &[String]) {
    if !pids.is_empty() {
        let _ = Command::new("kill").arg(signal).args(pids).output();
    }
}

/// Waits for a process that is not our child.
fn gone(pid: &str, limit: Duration) {
    let deadline = Instant::now() + limit;
    let stat = format!("/proc/{}/stat", pid.trim());
    while std::fs::read_to_string(&stat).is_ok_and(|text| !text.contains(") Z ")) {
        assert!(Instant::now() < deadline, "process {pid} does not end");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// Processes whose command line names a folder and a program.
fn processes_about(folder: &Path, program: &str) -> Vec<String> {
    let folder = folder.display().to_string();
    let about = |pid: &String| {
        std::fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| {
            let line = String::from_utf8_lossy(&line);
            line.contains(&folder) && line.contains(program)
        })
    };
    pids().into_iter().filter(about).collect()
}

fn children_of(parents: &[String]) -> Vec<String> {
    let child = |pid: &String| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        let parent = stat.rsplit(") ").next().and_then(|rest| rest.split(' ').nth(1));
        parent.is_some_and(|parent| parents.iter().any(|one| one == parent))
    };
    pids().into_iter().filter(child).collect()
}

fn pids() -> Vec<String> {
    let folders = std::fs::read_dir("/proc").expect("/proc is there").flatten();
    let names = folders.map(|entry| entry.file_name().to_string_lossy().into_owned());
    names.filter(|name| name.bytes().all(|byte| byte.is_ascii_digit())).collect()
}
