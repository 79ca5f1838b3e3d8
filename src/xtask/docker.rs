//! Docker engines: the machine's own, started when none answers, and private ones for tests.

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::packages;
use crate::process::{as_root, find_program, kill_of, output};
use crate::progress::{note, step};

/// Where the machine's engine listens.
const SOCKET: &str = "/var/run/docker.sock";

/// How long an engine may take until it answers.
const START_LIMIT: Duration = Duration::from_secs(60);

/// How long it may take to end, with its containers, before it is killed.
const STOP_LIMIT: Duration = Duration::from_secs(60);

/// Without a bridge and without rules of its own an engine also starts where the kernel's packet
/// filter may not be changed. Tasks still have a network of their own, whose ports a program of the
/// engine's forwards; what they miss is the way out of this machine.
const WITHOUT_NETWORK: [&str; 2] = ["--bridge=none", "--iptables=false"];

/// An engine that answers at a unix socket.
#[derive(Debug, Clone)]
pub(crate) struct Engine {
    socket: PathBuf,
}

impl Engine {
    /// The Docker client, talking to this engine.
    pub(crate) fn client(&self) -> Result<Command> {
        packages::ensure(&packages::CLIENT)?;
        let mut docker = Command::new(find_program("docker").context("there is no `docker` here")?);
        docker.env_remove("DOCKER_CONTEXT").env("DOCKER_HOST", self.endpoint());
        Ok(docker)
    }

    /// The engine's address, as Docker and Berth write it.
    pub(crate) fn endpoint(&self) -> String {
        format!("unix://{}", self.socket.display())
    }

    /// Whether the engine has an image.
    pub(crate) fn has_image(&self, image: &str) -> Result<bool> {
        let mut docker = self.client()?;
        let listed = output(docker.args(["image", "ls", "--quiet", image]))?;
        Ok(!listed.trim().is_empty())
    }

    /// Loads the images of a `docker save` archive.
    pub(crate) fn load(&self, archive: &Path) -> Result<()> {
        output(self.client()?.arg("load").arg("--quiet").arg("--input").arg(archive)).map(drop)
    }
}

/// The machine's engine; starts one when none answers. Its log then lies in the data folder.
pub(crate) fn ensure_engine(data: &Path) -> Result<Engine> {
    let engine = Engine { socket: PathBuf::from(SOCKET) };
    match ping(&engine.socket) {
        Ping::Answers => return Ok(engine),
        Ping::Forbidden => bail!(
            "the Docker engine at {SOCKET} does not let you in: add yourself to the group `docker` \
             (sudo usermod -aG docker $USER, then sign in again), or run this command as root"
        ),
        Ping::Silent => {}
    }
    packages::ensure(&packages::ENGINE)?;
    step("a Docker engine (none answers yet)", || start_machine_engine(&engine, data))?;
    Ok(engine)
}

fn start_machine_engine(engine: &Engine, data: &Path) -> Result<()> {
    if Path::new("/run/systemd/system").is_dir() {
        output(as_root("systemctl")?.args(["start", "docker"]))
            .context("see why with `journalctl -u docker`")?;
        return wait_until_it_answers(engine, None);
    }
    fs::create_dir_all(data)?;
    let log = data.join("dockerd.log");
    for extra in [&[][..], &WITHOUT_NETWORK[..]] {
        let mut dockerd = as_root("dockerd")?;
        let mut child = spawn_detached(dockerd.args(extra), &log)?;
        match wait_until_it_answers(engine, Some(&mut child)) {
            Ok(()) => {
                note(&format!("process {}, log in {}", child.id(), log.display()));
                return Ok(());
            }
            Err(error) if extra.is_empty() => note(&format!("{error:#}; trying without a bridge")),
            Err(error) => return Err(error).with_context(|| last_words(&log)),
        }
    }
    bail!("dockerd did not start; {}", last_words(&log))
}

/// An engine of our own in a folder of its own; both end with this value.
#[derive(Debug)]
pub(crate) struct PrivateEngine {
    engine: Engine,
    folder: PathBuf,
    process: Child,
}

impl PrivateEngine {
    /// Starts an engine whose data, state and socket all lie in `folder`.
    pub(crate) fn start(folder: &Path) -> Result<Self> {
        if find_program("dockerd").is_none() {
            packages::ensure(&packages::ENGINE)?;
        }
        fs::create_dir_all(folder)?;
        let engine = Engine { socket: folder.join("docker.sock") };
        let process = start_in(folder, &engine)?;
        Ok(Self { engine, folder: folder.to_owned(), process })
    }

    /// Kills it as a crash would. Its containers run on until it comes again, which ends them.
    pub(crate) fn kill(&mut self) -> Result<()> {
        output(as_root("sh")?.args(["-c", KILL, "sh"]).arg(&self.folder))?;
        self.process.wait()?;
        Ok(())
    }

    /// Ends it in good order, if it has not ended by itself: by SIGTERM, not a kill, it stops its
    /// containers and unmounts their file systems.
    pub(crate) fn stop(&mut self) -> Result<()> {
        if self.process.try_wait()?.is_some() {
            return Ok(());
        }
        // The shell's own `kill` is there also where no package with the program is.
        let id = self.process.id().to_string();
        output(as_root("sh")?.args(["-c", "kill \"$1\"", "sh", &id]))?;
        let deadline = Instant::now() + STOP_LIMIT;
        while self.process.try_wait()?.is_none() {
            if Instant::now() > deadline {
                note(&format!("the private engine {id} does not end, and is killed"));
                return self.kill();
            }
            thread::sleep(Duration::from_millis(50));
        }
        Ok(())
    }

    /// Ends an engine whose owner is gone, with its containers, and removes its folder.
    pub(crate) fn clear(folder: &Path) -> Result<()> {
        kill_of(folder, &["dockerd", "containerd"])?;
        output(as_root("sh")?.args(["-c", FORGET, "sh"]).arg(folder))?;
        // One that comes again ends what runs without it.
        Self::start(folder).map(drop)
    }

    /// Starts it again with what it had, once it has ended.
    pub(crate) fn resume(&mut self) -> Result<()> {
        self.process = start_in(&self.folder, &self.engine)?;
        Ok(())
    }

    /// Where it listens.
    pub(crate) fn socket(&self) -> &Path {
        &self.engine.socket
    }

    /// A folder for one: short, because a socket's path may have a hundred characters at most.
    pub(crate) fn folder() -> PathBuf {
        std::env::temp_dir().join(format!("berth-engine-{}", std::process::id()))
    }

    /// How to talk to it.
    pub(crate) fn engine(&self) -> &Engine {
        &self.engine
    }
}

impl Drop for PrivateEngine {
    fn drop(&mut self) {
        let listed = self.engine.client().and_then(|mut docker| {
            output(docker.args(["network", "ls", "--quiet", "--filter", "driver=bridge"]))
        });
        let networks = listed.unwrap_or_default();
        if let Err(error) = self.stop() {
            note(&format!("the private engine {} did not end: {error:#}", self.process.id()));
            return;
        }
        // The engine leaves its own network namespace mounted, and the networks of its tasks.
        let remove = "umount \"$1/exec/netns/default\" 2>/dev/null; \
                      for id in $2; do ip link delete \"br-$id\" 2>/dev/null; done; rm -rf \"$1\"";
        let removed = as_root("sh").and_then(|mut sh| {
            output(sh.args(["-c", remove, "sh"]).arg(&self.folder).arg(networks))
        });
        if let Err(error) = removed {
            note(&format!("{} stays: {error:#}", self.folder.display()));
        }
    }
}

/// The engine dies, and its containerd, which would else keep the folders of the next one. Where nobody
/// takes note of its end, the next engine would take it for a running one by the file with its number.
const KILL: &str = r#"
kill -KILL "$(cat "$1/dockerd.pid")"
of_containerd="$1/exec/containerd/containerd.pid"
if [ -f "$of_containerd" ]; then
    id=$(cat "$of_containerd")
    kill -KILL "$id"
    while [ -e "/proc/$id" ] && ! grep -q ') Z ' "/proc/$id/stat"; do sleep 0.01; done
fi
rm -f "$1/dockerd.pid" "$of_containerd"
"#;

/// An engine that has ended is not taken for one that runs.
const FORGET: &str = r#"rm -f "$1/dockerd.pid" "$1/exec/containerd/containerd.pid""#;

/// Starts an engine whose data, state and socket all lie in a folder.
fn start_in(folder: &Path, engine: &Engine) -> Result<Child> {
    // The socket is ours also where the engine must be root's.
    let group = output(Command::new("id").arg("-g"))?.trim().to_owned();
    let at = |part: &str| folder.join(part).display().to_string();
    let mut dockerd = as_root("dockerd")?;
    dockerd
        .args(["--data-root", &at("data"), "--exec-root", &at("exec")])
        .args(["--pidfile", &at("dockerd.pid"), "--host", &engine.endpoint()])
        .args(["--group", &group])
        .args(WITHOUT_NETWORK);
    let log = folder.join("dockerd.log");
    let mut process = spawn_detached(&mut dockerd, &log)?;
    wait_until_it_answers(engine, Some(&mut process)).with_context(|| last_words(&log))?;
    Ok(process)
}

/// Starts a program in a process group of its own, so that Ctrl-C does not end it with us.
fn spawn_detached(command: &mut Command, log: &Path) -> Result<Child> {
    let output = File::create(log).with_context(|| format!("cannot write {}", log.display()))?;
    command
        .stdin(Stdio::null())
        .stdout(output.try_clone()?)
        .stderr(output)
        .process_group(0)
        .spawn()
        .context("cannot start dockerd")
}

/// Waits for the engine's first answer; fails at once when its process has ended.
fn wait_until_it_answers(engine: &Engine, mut process: Option<&mut Child>) -> Result<()> {
    let deadline = Instant::now() + START_LIMIT;
    while Instant::now() < deadline {
        match ping(&engine.socket) {
            Ping::Answers => return Ok(()),
            Ping::Forbidden => bail!("{} does not let you in", engine.socket.display()),
            Ping::Silent => {}
        }
        if let Some(child) = process.as_deref_mut()
            && let Some(status) = child.try_wait()?
        {
            bail!("dockerd ended at once ({status})");
        }
        thread::sleep(Duration::from_millis(100));
    }
    bail!("dockerd did not answer within {} s", START_LIMIT.as_secs())
}

fn last_words(log: &Path) -> String {
    let text = fs::read_to_string(log).unwrap_or_default();
    let lines: Vec<&str> = text.lines().collect();
    let tail = lines[lines.len().saturating_sub(5)..].join("\n");
    format!("the last lines of {}:\n{tail}", log.display())
}

enum Ping {
    Answers,
    Forbidden,
    Silent,
}

/// Asks the engine whether it is there, without a client program.
fn ping(socket: &Path) -> Ping {
    let mut stream = match UnixStream::connect(socket) {
        Ok(stream) => stream,
        Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ping::Forbidden,
        Err(_) => return Ping::Silent,
    };
    let mut first = [0_u8; 12];
    let answered = stream
        .set_read_timeout(Some(Duration::from_secs(5)))
        .and_then(|()| stream.write_all(b"GET /_ping HTTP/1.0\r\nHost: docker\r\n\r\n"))
        .and_then(|()| stream.read_exact(&mut first));
    if answered.is_ok() && first.ends_with(b"200") { Ping::Answers } else { Ping::Silent }
}
