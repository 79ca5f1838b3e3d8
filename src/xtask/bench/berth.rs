//! A `berth serve` with a data folder of its own, and a signed-in client of it.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail, ensure};
use serde_json::{Value, json};
use ureq::http::Response;
use ureq::typestate::WithBody;
use ureq::{Agent, Body, RequestBuilder};

use super::ports;
use crate::process::output;
use crate::progress::note;
use crate::workspace::SOURCE_VARIABLE;

const PASSWORD: &str = "a quay for measurements";

/// Connections kept open: as many as clients ask at the same time, two hundred browsers at the most.
const CONNECTIONS: usize = 256;

/// Prints the first column of a query's rows, without getting in anybody's way.
const ASK: &str = r#"
import sqlite3, sys
database = sqlite3.connect(f"file:{sys.argv[1]}?mode=ro", uri=True, timeout=60)
for row in database.execute(sys.argv[2]):
    print(row[0])
"#;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_secs(60);

/// How long the server may take until it is ready, also where others use the machine.
const READY_LIMIT: Duration = Duration::from_secs(180);

/// How long it may take to end in good order.
const ENDS: Duration = Duration::from_secs(120);

/// Where servers have their folders. It goes with this value, once all is measured: a file system that has just lost
/// very many files looks long for room for others, and whatever is measured next would be slower.
#[derive(Debug)]
pub(super) struct Home;

impl Home {
    /// The folder of one server, which no other one may have had.
    pub(super) fn folder(name: &str) -> PathBuf {
        Self::path().join(name)
    }

    fn path() -> PathBuf {
        std::env::temp_dir().join(format!("berth-bench-{}", std::process::id()))
    }
}

impl Drop for Home {
    fn drop(&mut self) {
        let folder = Self::path();
        match fs::remove_dir_all(&folder) {
            Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
                note(&format!("{} stays: {error}", folder.display()));
            }
            Ok(()) | Err(_) => {}
        }
    }
}

/// A running server; it ends with this value.
#[derive(Debug)]
pub(super) struct Berth {
    process: Mutex<Child>,
    folder: PathBuf,
    address: String,
    agent: Agent,
    token: String,
}

impl Berth {
    /// Starts a server with the nodes of a configuration file and signs in as administrator.
    pub(super) fn start(binary: &Path, nodes: &str) -> Result<Self> {
        Self::start_with(binary, nodes, &[])
    }

    /// The same with further arguments.
    pub(super) fn start_with(binary: &Path, nodes: &str, further: &[&str]) -> Result<Self> {
        // Several may serve at the same time, each in its own.
        static STARTED: AtomicU32 = AtomicU32::new(0);
        let number = STARTED.fetch_add(1, Ordering::Relaxed);
        Self::start_in((Home::folder(&number.to_string()), PATIENCE), binary, (nodes, further))
    }

    /// The same in a folder of [`Home`], and answers are waited for for so long. The server has guests for
    /// its tasks: without, nobody beside them knows what begins a second time and how it ended.
    pub(super) fn start_in(
        (folder, patience): (PathBuf, Duration),
        binary: &Path,
        (nodes, further): (&str, &[&str]),
    ) -> Result<Self> {
        fs::create_dir_all(&folder)?;
        // One user asks for all here: as quickly as it can, and as many at a time.
        let limits = "[limits]\nrequests_per_second = 0\nstreams_per_user = 0\n";
        let settings = format!("{nodes}\n{limits}");
        fs::write(folder.join("berth.toml"), settings)?;
        let address = format!("127.0.0.1:{}", ports::quiet()?);
        let process = Mutex::new(serve(binary, &folder, &address, further)?);
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_global(Some(patience))
            .max_idle_connections(CONNECTIONS)
            .max_idle_connections_per_host(CONNECTIONS)
            .build()
            .into();
        let mut berth = Self { process, folder, address, agent, token: String::new() };
        berth.wait_until_ready()?;
        ensure!(
            !berth.log().contains("there is no guest"),
            "{}: it has no guests; `cargo xtask build` makes one that has",
            binary.display()
        );
        berth.token = berth.sign_in(&berth.credentials())?;
        Ok(berth)
    }

    /// Stops the server, lets something be done to its database, and starts it again.
    pub(super) fn interrupt(
        &mut self,
        binary: &Path,
        work: impl FnOnce(&Path) -> Result<()>,
    ) -> Result<()> {
        stop(&mut self.process())?;
        work(&self.folder.join("data/berth.db"))?;
        self.revive(binary)?;
        self.wait_until_ready()
    }

    /// Kills the server as a crash would.
    pub(super) fn kill(&self) -> Result<()> {
        let mut process = self.process();
        process.kill()?;
        process.wait()?;
        Ok(())
    }

    /// Sends the server a signal, by its name without `SIG`, and does not wait for what it does then.
    pub(super) fn signal(&self, name: &str) -> Result<()> {
        signal(&self.process(), name)
    }

    /// Whether its process has ended.
    pub(super) fn has_ended(&self) -> Result<bool> {
        Ok(self.process().try_wait()?.is_some())
    }

    /// Starts the server again, and does not wait for it.
    pub(super) fn revive(&self, binary: &Path) -> Result<()> {
        *self.process() = serve(binary, &self.folder, &self.address, &[])?;
        Ok(())
    }

    /// Starts the server again if it has ended, as who supervises it does. Says whether it had.
    pub(super) fn keep(&self, binary: &Path) -> Result<bool> {
        let has_ended = self.has_ended()?;
        if has_ended {
            self.revive(binary)?;
        }
        Ok(has_ended)
    }

    /// Whether the server says that it is ready.
    pub(super) fn is_ready(&self) -> bool {
        let asked = self.agent.get(self.url("/readyz")).call();
        asked.is_ok_and(|answer| answer.status().is_success())
    }

    /// What it says of itself within so long: whether it is ready, and whether it leads.
    pub(super) fn readiness(&self, patience: Duration) -> Option<[bool; 2]> {
        let asked = self.agent.get(self.url("/readyz"));
        let answer = asked.config().timeout_global(Some(patience)).build().call();
        let said: Value = answer.ok()?.body_mut().read_json().ok()?;
        Some(["ready", "leads"].map(|what| said[what] == true))
    }

    /// Where configuration, data and log are.
    pub(super) fn folder(&self) -> &Path {
        &self.folder
    }

    /// The server's process id.
    pub(super) fn process_id(&self) -> u32 {
        self.process().id()
    }

    fn process(&self) -> MutexGuard<'_, Child> {
        self.process.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A line of what the kernel tells of the server's memory, in MiB.
    pub(super) fn memory(&self, line: &str) -> Result<f64> {
        let status = fs::read_to_string(format!("/proc/{}/status", self.process_id()))?;
        let found = status.lines().find_map(|text| text.strip_prefix(line)?.strip_prefix(':'));
        let kilobytes = found.and_then(|text| text.split_whitespace().next());
        let kilobytes = kilobytes.with_context(|| format!("the kernel tells no {line}"))?;
        Ok(kilobytes.parse::<f64>()? / 1024.0)
    }

    /// What the server has used of processors, in seconds.
    pub(super) fn processor_seconds(&self) -> Result<f64> {
        let stat = fs::read_to_string(format!("/proc/{}/stat", self.process_id()))?;
        // The name before it may have spaces and brackets.
        let (_, rest) = stat.rsplit_once(')').context("the kernel tells no times")?;
        let ticks = rest.split_whitespace().skip(11).take(2).map(str::parse::<f64>);
        // Linux counts hundredths of a second here.
        Ok(ticks.sum::<Result<f64, _>>()? / 100.0)
    }

    /// A path of the server as an address.
    pub(super) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    /// Where it listens.
    pub(super) fn address(&self) -> &str {
        &self.address
    }

    /// What its administrator is known by.
    pub(super) fn token(&self) -> &str {
        &self.token
    }

    /// A client that is not signed in.
    pub(super) fn agent(&self) -> &Agent {
        &self.agent
    }

    /// What signing in by a page's form sends.
    pub(super) fn credentials(&self) -> Value {
        json!({ "username": "admin", "password": PASSWORD })
    }

    /// Adds a user, and gives what he signs in with: a token.
    pub(super) fn add_user(&self, name: &str) -> Result<String> {
        let user = json!({ "username": name, "password": PASSWORD });
        self.send(self.agent.post(self.url("/api/v2/users")), &self.token, &user)?;
        self.sign_in(&user)
    }

    /// Gives a job file to the server.
    pub(super) fn submit(&self, job: &Value) -> Result<()> {
        self.submit_as(&self.token, job)
    }

    /// Gives the job file of somebody with this token to the server.
    pub(super) fn submit_as(&self, token: &str, job: &Value) -> Result<()> {
        self.send(self.agent.post(self.url("/api/v1/jobs")), token, job)
    }

    /// Changes a resource of the REST interface.
    pub(super) fn put(&self, path: &str, value: &Value) -> Result<()> {
        self.send(self.agent.put(self.url(path)), &self.token, value)
    }

    fn send(&self, request: RequestBuilder<WithBody>, token: &str, value: &Value) -> Result<()> {
        let request = request.header("Authorization", format!("Bearer {token}"));
        succeeded(request.send_json(value).context("the server does not answer")?)
    }

    /// Removes a resource of the REST interface.
    pub(super) fn delete(&self, path: &str) -> Result<()> {
        let request = self.agent.delete(self.url(path));
        let request = request.header("Authorization", format!("Bearer {}", self.token));
        succeeded(request.call().context("the server does not answer")?)
    }

    /// The first column of what a query of its SQLite database gives.
    pub(super) fn ask(&self, query: &str) -> Result<Vec<String>> {
        let database = self.folder.join("data/berth.db");
        let mut python = Command::new("python3");
        let said = output(python.args(["-c", ASK]).arg(database).arg(query))?;
        Ok(said.lines().map(str::to_owned).collect())
    }

    /// Reads a resource of the REST interface.
    pub(super) fn get(&self, path: &str) -> Result<Value> {
        self.find(path)?.with_context(|| format!("{path}: there is no such thing"))
    }

    /// Reads a resource of the REST interface; `None`: there is none.
    pub(super) fn find(&self, path: &str) -> Result<Option<Value>> {
        let text = self.text(path)?;
        Ok(text.map(|text| serde_json::from_str(&text)).transpose()?)
    }

    /// The same as it was sent.
    pub(super) fn text(&self, path: &str) -> Result<Option<String>> {
        let sent = self
            .agent
            .get(self.url(path))
            .header("Authorization", format!("Bearer {}", self.token))
            .call();
        let mut answer = sent.context("the server does not answer")?;
        let status = answer.status();
        if status.as_u16() == 404 {
            return Ok(None);
        }
        let text = answer.body_mut().with_config().limit(100_000_000).read_to_string()?;
        if !status.is_success() {
            bail!("{path}: {status}: {text}");
        }
        Ok(Some(text))
    }

    /// How many jobs are in a state.
    pub(super) fn count(&self, state: &str) -> Result<u64> {
        let page = self.get(&format!("/api/v2/jobs?state={state}&limit=1&withTotalCount=true"))?;
        page["totalCount"].as_u64().context("the list has no totalCount")
    }

    fn wait_until_ready(&self) -> Result<()> {
        let deadline = Instant::now() + READY_LIMIT;
        while Instant::now() < deadline {
            if let Some(status) = self.process().try_wait()? {
                bail!("berth ended at once ({status}):\n{}", self.log());
            }
            if self.is_ready() {
                return Ok(());
            }
            thread::sleep(Duration::from_millis(50));
        }
        bail!("berth is not ready after {} s:\n{}", READY_LIMIT.as_secs(), self.log())
    }

    fn sign_in(&self, credentials: &Value) -> Result<String> {
        let sent = self.agent.post(self.url("/api/v1/token")).send_json(credentials);
        let answer: Value = sent.context("no token")?.body_mut().read_json()?;
        let token = answer["token"].as_str();
        Ok(token.with_context(|| format!("signing in failed: {answer}"))?.to_owned())
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("berth.log")).unwrap_or_default()
    }
}

impl Drop for Berth {
    fn drop(&mut self) {
        let stopped = stop(&mut self.process());
        if let Err(error) = stopped {
            note(&format!("berth (process {}) did not end: {error:#}", self.process_id()));
        }
    }
}

/// An answer that is no success is an error that says what was answered. It is read to its end in any case: a
/// connection of which something is left to be read is closed, and the next request opens one anew.
fn succeeded(mut answer: Response<Body>) -> Result<()> {
    let said = answer.body_mut().read_to_string()?;
    if !answer.status().is_success() {
        bail!("{}: {said}", answer.status());
    }
    Ok(())
}

/// Starts a server whose configuration lies in the folder.
fn serve(binary: &Path, folder: &Path, address: &str, further: &[&str]) -> Result<Child> {
    let log = File::options().create(true).append(true).open(folder.join("berth.log"))?;
    Command::new(binary)
        .args(["serve", "--listen", address, "--data"])
        .arg(folder.join("data"))
        .arg("--config")
        .arg(folder.join("berth.toml"))
        .args(further)
        .env("BERTH_ADMIN_PASSWORD", PASSWORD)
        .env_remove(SOURCE_VARIABLE)
        .stdin(Stdio::null())
        .stdout(log.try_clone()?)
        .stderr(log)
        .spawn()
        .with_context(|| format!("cannot start {}", binary.display()))
}

/// Lets a server end in good order, if it has not ended by itself.
fn stop(process: &mut Child) -> Result<()> {
    if process.try_wait()?.is_some() {
        return Ok(());
    }
    // One that stands still hears it when it goes on.
    ["TERM", "CONT"].into_iter().try_for_each(|name| signal(process, name))?;
    let deadline = Instant::now() + ENDS;
    while process.try_wait()?.is_none() {
        if Instant::now() > deadline {
            note(&format!("berth (process {}) does not end, and is killed", process.id()));
            process.kill()?;
            process.wait()?;
        }
        thread::sleep(Duration::from_millis(20));
    }
    Ok(())
}

fn signal(process: &Child, name: &str) -> Result<()> {
    let id = process.id().to_string();
    output(Command::new("sh").args(["-c", "kill -s \"$2\" \"$1\"", "sh", &id, name])).map(drop)
}

/// A job of one small task.
pub(super) fn small_job(name: &str, image: &str, command: &str) -> Value {
    json!({
        "jobName": name,
        "image": image,
        "taskRoles": [{
            "name": "main",
            "taskNumber": 1,
            "cpuNumber": 1,
            "memoryMB": 256,
            "gpuNumber": 0,
            "command": command,
        }],
    })
}
