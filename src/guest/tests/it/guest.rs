//! A guest in a temporary folder, and the clients that talk to it.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdout, Command, ExitStatus, Output, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use protocol::guest::{GuestConfig, GuestPeer, GuestSsh};
use tempfile::TempDir;

/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);

/// A guest that is not running yet.
pub(crate) struct Plan {
    pub(crate) folder: TempDir,
    pub(crate) config: GuestConfig,
    /// What it is started by: itself, or another program that does so.
    pub(crate) wrapper: Vec<String>,
    pub(crate) variables: Vec<(String, String)>,
}

/// A guest that runs. It is ended when it is dropped.
pub(crate) struct Guest {
    pub(crate) folder: TempDir,
    pub(crate) port: u16,
    pub(crate) process: Child,
    pub(crate) output: BufReader<ChildStdout>,
    errors: PathBuf,
}

/// Where the program under test is: the one that Cargo has built, unless another is named.
pub(crate) fn program() -> PathBuf {
    let named = std::env::var_os("BERTH_TEST_GUEST").map(PathBuf::from);
    named.unwrap_or_else(|| env!("CARGO_BIN_EXE_berth-guest").into())
}

/// A program that a test needs; the test fails where there is none.
pub(crate) fn needed(name: &str, package: &str) -> PathBuf {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let mut folders = std::env::split_paths(&path);
    let found = folders.find_map(|folder| Some(folder.join(name)).filter(|path| path.is_file()));
    found.unwrap_or_else(|| panic!("these tests need `{name}`: apt-get install {package}"))
}

/// Puts the program under test there. A link will not do: it looks for its files beside itself.
pub(crate) fn place(path: &Path) {
    fs::create_dir_all(path.parent().unwrap()).unwrap();
    if fs::hard_link(program(), path).is_err() {
        fs::copy(program(), path).unwrap();
    }
}

/// A port that nobody has.
pub(crate) fn free_port() -> u16 {
    TcpListener::bind("0.0.0.0:0").unwrap().local_addr().unwrap().port()
}

/// Waits until something holds.
pub(crate) fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let deadline = Instant::now() + LIMIT;
    while !holds() {
        assert!(Instant::now() < deadline, "never: {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Makes a key pair and gives the file of the private half.
pub(crate) fn make_key(folder: &Path, name: &str, kind: &str) -> PathBuf {
    let path = folder.join(name);
    let mut keygen = Command::new(needed("ssh-keygen", "openssh-client"));
    keygen.args(["-q", "-N", "", "-t", kind, "-f"]).arg(&path);
    assert!(keygen.status().unwrap().success());
    path
}

/// The public half of a key.
pub(crate) fn public(key: &Path) -> String {
    fs::read_to_string(key.with_extension("pub")).unwrap()
}

impl Plan {
    /// A task with this command, and an SSH server that its own key opens.
    pub(crate) fn new(command: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path();
        for name in ["berth", "home", "work", "mine"] {
            fs::create_dir(path.join(name)).unwrap();
        }
        place(&path.join("berth/bin/guest"));
        let [host, job] = ["host", "job"].map(|name| make_key(path, name, "ed25519"));
        let port = free_port();
        let config = GuestConfig {
            command: command.to_owned(),
            run: None,
            start_in: None,
            code_name: None,
            keep_on_failure_secs: None,
            ports: Vec::new(),
            own_network: false,
            ssh: Some(GuestSsh {
                port,
                host_key: fs::read_to_string(host).unwrap(),
                job_key: fs::read_to_string(&job).unwrap(),
                authorized_keys: Vec::new(),
                peers: vec![peer("worker-0", port)],
            }),
            lease: None,
        };
        let plan = Self { folder, config, wrapper: Vec::new(), variables: Vec::new() };
        plan.authorize(&public(&job));
        plan
    }

    /// One that waits until it is ended.
    pub(crate) fn waiting() -> Self {
        Self::new("exec sleep 1000")
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// Lets in exactly who has one of these keys.
    pub(crate) fn authorize(&self, keys: &str) {
        fs::write(self.path("berth/authorized_keys"), keys).unwrap();
    }

    pub(crate) fn variable(mut self, name: &str, value: &str) -> Self {
        self.variables.push((name.to_owned(), value.to_owned()));
        self
    }

    /// Starts it as the first process of its own, as in a container.
    pub(crate) fn be_first_process(&mut self) {
        let config = self.path("berth/task.json").to_string_lossy().into_owned();
        let unshare = needed("unshare", "util-linux").to_string_lossy().into_owned();
        let words = ["--user", "--map-root-user", "--pid", "--fork", "--kill-child"];
        let program = program().to_string_lossy().into_owned();
        self.wrapper = std::iter::once(unshare)
            .chain(words.map(str::to_owned))
            .chain([program, "run".into(), "--config".into(), config])
            .collect();
    }

    /// Starts it.
    pub(crate) fn start(self) -> Guest {
        let config = self.path("berth/task.json");
        fs::write(&config, serde_json::to_vec(&self.config).unwrap()).unwrap();
        let mut words = self.wrapper.clone();
        if words.is_empty() {
            words.push(self.path("berth/bin/guest").to_string_lossy().into_owned());
            words.extend([
                "run".to_owned(),
                "--config".to_owned(),
                config.to_string_lossy().into(),
            ]);
        }
        let errors = self.path("errors");
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]).current_dir(self.path("work")).env("HOME", self.path("home"));
        command.env_remove("SSH_AUTH_SOCK").env_remove("SHELL").envs(self.variables);
        command.stdin(Stdio::null()).stdout(Stdio::piped());
        command.stderr(fs::File::create(&errors).unwrap());
        let mut process = command.spawn().unwrap();
        let output = BufReader::new(process.stdout.take().unwrap());
        let port = self.config.ssh.as_ref().map_or(0, |ssh| ssh.port);
        Guest { folder: self.folder, port, process, output, errors }
    }

    /// Starts it and waits until its SSH server answers.
    pub(crate) fn serve(self) -> Guest {
        let guest = self.start();
        until("the SSH server answers", || greeting(guest.port).is_some());
        guest
    }
}

fn greeting(port: u16) -> Option<String> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).ok()?;
    let mut line = [0; 8];
    stream.read_exact(&mut line).ok()?;
    Some(String::from_utf8_lossy(&line).into_owned())
}

/// A task of the same job on this machine.
pub(crate) fn peer(alias: &str, port: u16) -> GuestPeer {
    GuestPeer { alias: alias.to_owned(), address: "127.0.0.1".to_owned(), port }
}

impl Guest {
    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    /// The next line that the command prints.
    pub(crate) fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line.trim_end().to_owned()
    }

    /// What was said on standard error so far.
    pub(crate) fn errors(&self) -> String {
        fs::read_to_string(&self.errors).unwrap()
    }

    /// Sends a signal to the guest itself.
    pub(crate) fn signal(&self, name: &str) {
        let mut kill = Command::new(needed("kill", "procps"));
        kill.arg(format!("-{name}")).arg(self.process.id().to_string());
        assert!(kill.status().unwrap().success());
    }

    /// Waits for its end.
    pub(crate) fn end(&mut self) -> ExitStatus {
        let mut status = None;
        until("the guest ends", || {
            status = self.process.try_wait().unwrap();
            status.is_some()
        });
        status.unwrap()
    }

    /// Kibibytes of memory that it has now.
    pub(crate) fn memory(&self) -> u64 {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process.id())).unwrap();
        let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
        line.split_whitespace().nth(1).unwrap().parse().unwrap()
    }

    /// An OpenSSH program that knows the way, its first arguments given.
    pub(crate) fn openssh(&self, program: &str) -> Command {
        let mut command = Command::new(needed(program, "openssh-client"));
        command.arg("-F").arg(self.path("home/.ssh/config")).args(["-o", "BatchMode=yes"]);
        command.current_dir(self.path("mine"));
        command
    }

    /// A command of OpenSSH's `ssh`.
    pub(crate) fn ssh(&self, words: &[&str]) -> Command {
        let mut command = self.openssh("ssh");
        command.args(words);
        command
    }

    /// What a command prints; it must succeed.
    pub(crate) fn says(&self, command: &str) -> String {
        text(&succeed(&mut self.ssh(&["worker-0", command])).stdout)
    }

    /// Runs a Python script with paramiko; gives what it prints.
    pub(crate) fn paramiko(&self, script: &str) -> String {
        let mut python = Command::new(python());
        python.arg("-c").arg(script).arg(self.port.to_string()).arg(self.path("job"));
        python.current_dir(self.path("mine"));
        text(&succeed(&mut python).stdout)
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        if matches!(self.process.try_wait(), Ok(None)) {
            self.signal("TERM");
            let ended = (0..100).any(|_| {
                thread::sleep(Duration::from_millis(50));
                !matches!(self.process.try_wait(), Ok(None))
            });
            // A wrapper may wait for the guest without handing signals on.
            if !ended {
                let _ = self.process.kill();
                let _ = self.process.wait();
            }
        }
    }
}

/// A Python that has paramiko: the system's own knows Debian's package.
fn python() -> &'static str {
    let has = |python: &&str| {
        let mut python = Command::new(python);
        python.args(["-c", "import paramiko"]).stderr(Stdio::null());
        python.status().is_ok_and(|status| status.success())
    };
    let found = ["/usr/bin/python3", "python3"].into_iter().find(has);
    found.expect("these tests need paramiko: apt-get install python3-paramiko")
}

/// Runs a program that must succeed.
pub(crate) fn succeed(command: &mut Command) -> Output {
    let output = command.stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success(), "{command:?}\n{}", text(&output.stderr));
    output
}

/// Runs a program with this input; gives its output whatever its exit code.
pub(crate) fn with_input(command: &mut Command, input: &[u8]) -> Output {
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut process = command.spawn().unwrap();
    let mut stdin = process.stdin.take().unwrap();
    thread::scope(|scope| {
        scope.spawn(move || {
            // A program need not read all of it.
            let _ = stdin.write_all(input);
        });
        process.wait_with_output().unwrap()
    })
}

/// Bytes that nothing can compress or guess.
pub(crate) fn noise(count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    fs::File::open("/dev/urandom").unwrap().read_exact(&mut bytes).unwrap();
    bytes
}

pub(crate) fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).trim_end().to_owned()
}
