//! A running `berth serve` of a test's own.

use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

const PASSWORD: &str = "correct horse battery";
/// Long enough for anything that happens at all on a busy machine.
const PATIENCE: Duration = Duration::from_secs(180);

/// A server with its data in `folder`.
pub(crate) struct Berth {
    child: Child,
    address: String,
    log: PathBuf,
}

impl Berth {
    /// Starts it and waits until it serves.
    pub(crate) fn start(folder: &Path) -> Self {
        let mut child = command(folder).spawn().unwrap();
        let mut words = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("http://") {
            line.clear();
            let read = words.read_line(&mut line).unwrap();
            let log = || std::fs::read_to_string(folder.join("log")).unwrap_or_default();
            assert_ne!(read, 0, "berth serve ended: {}", log());
        }
        let address = line.trim().rsplit_once("http://").unwrap().1.to_owned();
        Self { child, address, log: folder.join("log") }
    }

    /// What it says when it does not serve.
    pub(crate) fn refused(folder: &Path) -> String {
        let status = command(folder).stdout(Stdio::null()).status().unwrap();
        let log = std::fs::read_to_string(folder.join("log")).unwrap();
        assert!(!status.success(), "{log}");
        log
    }

    /// `kill -9`.
    pub(crate) fn kill(mut self) {
        self.child.kill().unwrap();
        self.child.wait().unwrap();
    }

    /// Lets it stand still.
    pub(crate) fn freeze(&self) {
        kill_process(Pid::from_child(&self.child), Signal::STOP).unwrap();
    }

    /// Lets it go on.
    pub(crate) fn thaw(&self) {
        kill_process(Pid::from_child(&self.child), Signal::CONT).unwrap();
    }

    /// Waits until it says that it leads, or that it does not.
    pub(crate) fn until_leads(&self, leads: bool) {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let said = self.readiness();
            if said.as_ref().is_some_and(|said| said["leads"] == leads) {
                return;
            }
            assert!(Instant::now() < deadline, "leads is not {leads}: {said:?}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until one of these leads; which.
    pub(crate) fn until_one_leads(servers: [&Self; 2]) -> usize {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let leads =
                |server: &Self| server.readiness().is_some_and(|said| said["leads"] == true);
            if let Some(leader) = servers.into_iter().position(leads) {
                return leader;
            }
            assert!(Instant::now() < deadline, "nobody leads");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn readiness(&self) -> Option<Value> {
        let answer = agent().get(self.url("/readyz")).call().ok()?;
        answer.into_body().read_json().ok()
    }

    pub(crate) fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.address)
    }

    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn client(&self) -> Client {
        Client::signed_in(&self.address, "admin", PASSWORD)
    }
}

fn command(folder: &Path) -> Command {
    let log = std::fs::File::options().create(true).append(true).open(folder.join("log"));
    let mut command = Command::new(env!("CARGO_BIN_EXE_berth"));
    command
        .args(["serve", "--listen", "127.0.0.1:0"])
        .arg("--data")
        .arg(folder.join("data"))
        .arg("--config")
        .arg(folder.join("berth.toml"))
        .env("BERTH_ADMIN_PASSWORD", PASSWORD)
        .env("BERTH_GUEST", guest())
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(log.unwrap());
    command
}

/// The static guest that `cargo xtask test` has built.
fn guest() -> std::ffi::OsString {
    let guest = std::env::var_os("BERTH_TEST_GUEST");
    guest.expect("BERTH_TEST_GUEST names the guest: `cargo xtask test` builds it and says where")
}

impl Drop for Berth {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
        if std::thread::panicking() {
            eprintln!("{}", std::fs::read_to_string(&self.log).unwrap_or_default());
        }
    }
}

fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build()
        .into()
}

/// A client of the REST doors.
pub(crate) struct Client {
    agent: ureq::Agent,
    address: String,
    token: String,
}

impl Client {
    fn signed_in(address: &str, user: &str, password: &str) -> Self {
        let agent = agent();
        let answer = agent
            .post(format!("http://{address}/api/v1/token"))
            .send_json(json!({ "username": user, "password": password }))
            .unwrap()
            .into_body()
            .read_json::<Value>()
            .unwrap();
        let token = answer["token"].as_str().unwrap().to_owned();
        Self { agent, address: address.to_owned(), token }
    }

    pub(crate) fn signed_in_as(&self, user: &str, password: &str) -> Self {
        Self::signed_in(&self.address, user, password)
    }

    pub(crate) fn token(&self) -> &str {
        &self.token
    }

    /// What a request for this path is answered with.
    pub(crate) fn status(&self, path: &str) -> u16 {
        let answer = self
            .agent
            .get(format!("http://{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token))
            .call();
        answer.unwrap().status().as_u16()
    }

    pub(crate) fn submit(&self, text: &str) {
        let (status, answer) = self.post("/api/v1/jobs", text);
        assert_eq!(status, 202, "{answer}");
    }

    pub(crate) fn post(&self, path: &str, text: &str) -> (u16, String) {
        let mut answer = self
            .agent
            .post(format!("http://{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token))
            .header("content-type", "application/json")
            .send(text)
            .unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    }

    /// The command line, signed in as this client.
    pub(crate) fn command(&self, berth: &Berth, home: &Path) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_berth"));
        command
            .env("BERTH_SERVER", format!("http://{}", berth.address))
            .env("BERTH_TOKEN", &self.token)
            .env("XDG_CONFIG_HOME", home);
        command
    }

    pub(crate) fn stop(&self, name: &str) {
        let answer = self
            .agent
            .put(format!("http://{}/api/v2/jobs/admin~{name}/executionType", self.address))
            .header("authorization", format!("Bearer {}", self.token))
            .send_json(json!({ "value": "STOP" }));
        assert_eq!(answer.unwrap().status().as_u16(), 202);
    }

    pub(crate) fn delete(&self, path: &str) {
        let (status, answer) = self.try_delete(path);
        assert!((200..300).contains(&status), "{path}: {status} {answer}");
    }

    pub(crate) fn try_delete(&self, path: &str) -> (u16, String) {
        let mut answer = self
            .agent
            .delete(format!("http://{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token))
            .call()
            .unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    }

    pub(crate) fn put(&self, path: &str, text: &str) -> (u16, String) {
        let mut answer = self
            .agent
            .put(format!("http://{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token))
            .send(text)
            .unwrap();
        (answer.status().as_u16(), answer.body_mut().read_to_string().unwrap())
    }

    pub(crate) fn get(&self, path: &str) -> String {
        let mut answer = self
            .agent
            .get(format!("http://{}{path}", self.address))
            .header("authorization", format!("Bearer {}", self.token))
            .call()
            .unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        assert_eq!(answer.status().as_u16(), 200, "{path}: {text}");
        text
    }

    pub(crate) fn json(&self, path: &str) -> Value {
        serde_json::from_str(&self.get(path)).unwrap()
    }

    /// Waits until all tasks of the job run.
    pub(crate) fn running(&self, name: &str) {
        let deadline = Instant::now() + Duration::from_secs(60);
        loop {
            let detail = self.json(&format!("/api/v2/jobs/admin~{name}"));
            if detail["jobStatus"]["state"] == "RUNNING" {
                return;
            }
            assert!(Instant::now() < deadline, "{name} does not run: {detail:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    /// Waits until the job has ended; gives its detail.
    pub(crate) fn ended(&self, name: &str) -> Value {
        self.ended_of("admin", name)
    }

    /// The same for another user's job.
    pub(crate) fn ended_of(&self, user: &str, name: &str) -> Value {
        let deadline = Instant::now() + PATIENCE;
        loop {
            let detail = self.json(&format!("/api/v2/jobs/{user}~{name}"));
            let state = detail["jobStatus"]["state"].as_str().unwrap();
            if ["SUCCEEDED", "FAILED", "STOPPED"].contains(&state) {
                return detail;
            }
            assert!(Instant::now() < deadline, "{name} does not end: {detail:#}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }
}
