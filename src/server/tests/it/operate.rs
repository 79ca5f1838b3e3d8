//! What operators do: the program itself, its files, and a server that goes on meanwhile.

use std::fs;
use std::io::{BufRead, BufReader};
use std::net::TcpListener;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use database::{Database, jobs};
use serde_json::{Value, json};

/// The administrator's.
pub(crate) const PASSWORD: &str = "correct horse battery";
const CONFIG: &str = r#"
[[nodes]]
name = "n1"
address = "10.0.0.1"
endpoint = "sim://operate"
cpus = 8
memory_mb = 16384
"#;
/// So many jobs are stored before a backup is made.
const BEFORE: usize = 20;
/// Nobody submits more.
const MOST: usize = 400;

/// `berth serve` on simulated nodes.
pub(crate) struct Program {
    child: Child,
    address: String,
}

impl Program {
    pub(crate) fn start(place: &Place) -> Self {
        let mut child = place
            .berth(&["serve", "--listen", "127.0.0.1:0", "--log-format", "journal"])
            .env("BERTH_ADMIN_PASSWORD", PASSWORD)
            .stdout(Stdio::piped())
            .stderr(fs::File::create(place.folder.join("log")).unwrap())
            .spawn()
            .unwrap();
        let mut words = BufReader::new(child.stdout.take().unwrap());
        let mut line = String::new();
        while !line.contains("Berth serves at") {
            line.clear();
            assert_ne!(
                words.read_line(&mut line).unwrap(),
                0,
                "berth serve ended: {}",
                place.log()
            );
        }
        let address = line.trim().rsplit_once(' ').unwrap().1.to_owned();
        Self { child, address }
    }

    /// As it says it itself: `http://127.0.0.1:…`.
    pub(crate) fn address(&self) -> &str {
        &self.address
    }

    pub(crate) fn token(&self) -> String {
        let asked = json!({ "username": "admin", "password": PASSWORD });
        let answer = agent().post(format!("{}/api/v1/token", self.address)).send_json(asked);
        let answer: Value = answer.unwrap().into_body().read_json().unwrap();
        answer["token"].as_str().unwrap().to_owned()
    }

    /// Submits one job after the other, and counts those that the server says it has.
    fn submit(&self, acknowledged: &AtomicUsize, stop: &AtomicBool) {
        let (agent, token) = (agent(), self.token());
        for number in 0..MOST {
            if stop.load(Ordering::SeqCst) {
                return;
            }
            assert_eq!(self.submit_one(&agent, &token, &format!("j{number}")), 202);
            acknowledged.fetch_add(1, Ordering::SeqCst);
        }
    }

    /// Submits a job that ends at once, and gives the status of the answer.
    pub(crate) fn submit_one(&self, agent: &ureq::Agent, token: &str, name: &str) -> u16 {
        self.submit_command(agent, token, (name, "exit 0"))
    }

    /// Submits a job that does this, and gives the status of the answer.
    pub(crate) fn submit_command(
        &self,
        agent: &ureq::Agent,
        token: &str,
        (name, command): (&str, &str),
    ) -> u16 {
        let role = json!({ "name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 128,
            "gpuNumber": 0, "command": command });
        let job = json!({ "jobName": name, "image": "berth/base", "taskRoles": [role] });
        let answer = agent
            .post(format!("{}/api/v1/jobs", self.address))
            .header("authorization", format!("Bearer {token}"))
            .send_json(job);
        answer.unwrap().status().as_u16()
    }

    /// Has a job stopped.
    pub(crate) fn stop(&self, agent: &ureq::Agent, token: &str, name: &str) {
        let asked = agent.put(format!("{}/api/v2/jobs/admin~{name}/executionType", self.address));
        let asked = asked.header("authorization", format!("Bearer {token}"));
        let answer = asked.send_json(json!({ "value": "STOP" })).unwrap();
        assert_eq!(answer.status().as_u16(), 202);
    }

    /// What becomes of a job, as the server says.
    pub(crate) fn job_status(&self, agent: &ureq::Agent, token: &str, name: &str) -> Value {
        let asked = agent.get(format!("{}/api/v2/jobs/admin~{name}", self.address));
        let answer = asked.header("authorization", format!("Bearer {token}")).call().unwrap();
        let mut job: Value = answer.into_body().read_json().unwrap();
        job["jobStatus"].take()
    }

    /// The status of the answer to who asks for a path.
    pub(crate) fn status(&self, agent: &ureq::Agent, token: &str, path: &str) -> u16 {
        let asked = agent.get(format!("{}{path}", self.address));
        let asked = asked.header("authorization", format!("Bearer {token}"));
        asked.call().unwrap().status().as_u16()
    }
}

impl Drop for Program {
    /// As a machine that loses its power.
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(crate) fn agent() -> ureq::Agent {
    ureq::Agent::config_builder()
        .http_status_as_error(false)
        .timeout_global(Some(Duration::from_secs(60)))
        .build()
        .into()
}

/// A data folder, and the configuration beside it.
pub(crate) struct Place {
    folder: PathBuf,
}

impl Place {
    pub(crate) fn new(folder: &Path, name: &str) -> Self {
        let folder = folder.join(name);
        fs::create_dir(&folder).unwrap();
        fs::write(folder.join("berth.toml"), CONFIG).unwrap();
        Self { folder }
    }

    pub(crate) fn data(&self) -> PathBuf {
        self.folder.join("data")
    }

    fn log(&self) -> String {
        fs::read_to_string(self.folder.join("log")).unwrap_or_default()
    }

    fn berth(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_berth"));
        command.args(arguments).arg("--data").arg(self.data());
        command.arg("--config").arg(self.folder.join("berth.toml")).stdin(Stdio::null());
        command
    }

    /// Whether a command did what it should, and what it said.
    fn run(&self, arguments: &[&str]) -> (bool, String) {
        let output = self.berth(arguments).output().unwrap();
        let said = [output.stdout, output.stderr].concat();
        (output.status.success(), String::from_utf8(said).unwrap())
    }

    fn does(&self, arguments: &[&str]) -> String {
        let (done, said) = self.run(arguments);
        assert!(done, "{arguments:?}: {said}");
        said
    }

    fn refuses(&self, arguments: &[&str], why: &str) {
        let (done, said) = self.run(arguments);
        assert!(!done && said.contains(why), "{arguments:?}: {said}");
    }

    /// How many of the first jobs its database has, each with its text.
    async fn jobs(&self) -> usize {
        let url = format!("sqlite://{}", self.data().join("berth.db").display());
        let database = Database::open(&url).await.unwrap();
        let mut found = 0;
        while found < MOST {
            let key = format!("admin~j{found}").parse().unwrap();
            let Some(job) = jobs::by_key(database.read(), &key).await.unwrap() else { break };
            jobs::text(database.read(), job.row.id).await.unwrap();
            found += 1;
        }
        database.close().await.unwrap();
        found
    }
}

/// All names in a folder, with what is in the files.
fn contents(folder: &Path) -> Vec<(PathBuf, Option<Vec<u8>>)> {
    let entries = fs::read_dir(folder).unwrap().map(|entry| entry.unwrap().path());
    let mut contents: Vec<_> = entries.map(|path| (path.clone(), fs::read(path).ok())).collect();
    contents.sort();
    contents
}

#[tokio::test(flavor = "multi_thread")]
async fn a_backup_amid_submissions_has_all_that_was_acknowledged_before() {
    let folder = tempfile::tempdir().unwrap();
    let (of_before, of_after) =
        (Place::new(folder.path(), "before"), Place::new(folder.path(), "after"));
    let backup = folder.path().join("backup");
    let backup = backup.to_str().unwrap();
    let program = Program::start(&of_before);
    let (acknowledged, stop) = (AtomicUsize::new(0), AtomicBool::new(false));
    let before = std::thread::scope(|scope| {
        let submitting = scope.spawn(|| program.submit(&acknowledged, &stop));
        while acknowledged.load(Ordering::SeqCst) < BEFORE && !submitting.is_finished() {
            std::thread::yield_now();
        }
        let before = acknowledged.load(Ordering::SeqCst);
        let said = of_before.does(&["backup", backup]);
        stop.store(true, Ordering::SeqCst);
        assert!(said.contains("from SQLite") && said.contains("tables as of m0"), "{said}");
        before
    });
    of_before.refuses(&["restore", backup, "--replace"], "a server uses");
    drop(program);

    let said = of_after.does(&["restore", backup]);
    assert!(said.contains("Restored what was made"), "{said}");
    assert!(said.contains("berth.toml"), "it says where the configuration is: {said}");
    let (there, all) = (of_after.jobs().await, acknowledged.load(Ordering::SeqCst));
    assert!((before..=all + 1).contains(&there), "{there} jobs, of {before} and then {all}");
    let key = |place: &Place| fs::read(place.data().join("secret.key")).unwrap();
    assert_eq!(key(&of_after), key(&of_before));
    assert!(!of_after.data().join("restoring").exists());
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_damaged_or_has_no_place_is_not_restored_at_all() {
    let folder = tempfile::tempdir().unwrap();
    let (one, other) = (Place::new(folder.path(), "one"), Place::new(folder.path(), "other"));
    let backup = folder.path().join("backup");
    let path = backup.to_str().unwrap();
    other.refuses(&["backup", path], "was ever started");
    drop(Program::start(&one));
    one.does(&["backup", path]);

    let whole = fs::read(&backup).unwrap();
    let mut damaged = whole.clone();
    damaged[whole.len() / 2] ^= 1;
    for wrong in [damaged.as_slice(), &whole[..whole.len() - 3], b"these are my notes"] {
        fs::write(&backup, wrong).unwrap();
        other.refuses(&["restore", path], "damaged");
        let left: Vec<_> = contents(&other.data()).into_iter().map(|(path, _)| path).collect();
        assert_eq!(left, [other.data().join("berth.db.lock")], "nothing is left of it");
    }

    fs::write(&backup, &whole).unwrap();
    drop(Program::start(&other));
    let there = contents(&other.data());
    other.refuses(&["restore", path], "is not empty");
    assert!(contents(&other.data()) == there, "nothing is changed");
    let said = other.does(&["restore", path, "--replace"]);
    assert!(said.contains("0 jobs and 1 users"), "{said}");
    let key = |place: &Place| fs::read(place.data().join("secret.key")).unwrap();
    assert_eq!(key(&other), key(&one));
    for name in ["berth.db.replaced-1", "secret.key.replaced-1"] {
        assert!(other.data().join(name).exists(), "{name} is set aside");
    }
}

#[test]
fn what_was_lost_meanwhile_is_told() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(folder.path(), "place");
    let backup = folder.path().join("backup");
    let backup = backup.to_str().unwrap();
    drop(Program::start(&place));
    let home = place.data().join("storage/alice");
    fs::create_dir_all(&home).unwrap();
    for name in ["model.pt", "data.csv"] {
        fs::write(home.join(name), "1234").unwrap();
    }
    place.does(&["backup", backup]);
    fs::remove_file(home.join("model.pt")).unwrap();
    let said = place.does(&["restore", backup, "--replace"]);
    assert!(said.contains("Of 2 files of users 1 are not there"), "{said}");
    assert!(said.contains("/alice/model.pt"), "{said}");
    let said = place.does(&["restore", backup, "--replace", "--without-files"]);
    assert!(!said.contains("model.pt"), "{said}");
}

#[test]
fn moving_to_postgres_wants_to_be_told_where_to() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(folder.path(), "place");
    fs::create_dir(place.data()).unwrap();
    place.refuses(&["migrate"], "write the empty PostgreSQL database into the configuration");
    assert!(contents(&place.data()).is_empty());
}

/// Keeps others from writing into a database, until its input ends.
const HOLD: &str = r#"
import sqlite3, sys
database = sqlite3.connect(sys.argv[1], isolation_level=None, timeout=60)
database.execute("BEGIN IMMEDIATE")
print("held", flush=True)
sys.stdin.read()
"#;
/// It ends within 25 s, on a machine that has other things to do as well.
const ENDS: Duration = Duration::from_secs(40);

#[test]
fn a_server_that_is_to_end_ends_whatever_hangs() {
    let folder = tempfile::tempdir().unwrap();
    let place = Place::new(folder.path(), "hangs");
    // It accepts, and never answers.
    let engine = TcpListener::bind("127.0.0.1:0").unwrap();
    let node = format!(
        "{CONFIG}\n[[nodes]]\nname = \"n2\"\naddress = \"10.0.0.2\"\nendpoint = \"tcp://{}\"\n\
         cpus = 8\nmemory_mb = 16384\n",
        engine.local_addr().unwrap()
    );
    fs::write(place.folder.join("berth.toml"), node).unwrap();
    let mut program = Program::start(&place);
    let token = program.token();
    let mut holder = Command::new("python3");
    holder.args(["-c", HOLD]).arg(place.data().join("berth.db"));
    let mut holder = holder.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let mut held = String::new();
    BufReader::new(holder.stdout.take().unwrap()).read_line(&mut held).unwrap();
    assert_eq!(held.trim(), "held");

    thread::scope(|scope| {
        let asking = scope.spawn(|| {
            let job = json!({ "jobName": "waits", "image": "berth/base", "taskRoles": [{
                "name": "main", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 128,
                "gpuNumber": 0, "command": "exit 0" }] });
            let asked = agent().post(format!("{}/api/v1/jobs", program.address));
            let asked = asked.header("authorization", format!("Bearer {token}")).send_json(job);
            asked.is_ok_and(|answer| answer.status().is_success())
        });
        while program.status(&agent(), &token, "/readyz") != 503 {
            thread::sleep(Duration::from_millis(50));
        }
        assert!(!asking.is_finished(), "it waits for the database as well");
        let (process, asked) = (program.child.id().to_string(), Instant::now());
        let end = ["-c", "kill -TERM \"$1\"", "sh", &process];
        assert!(Command::new("sh").args(end).status().unwrap().success());
        let is_there = || Path::new("/proc").join(&process).join("cmdline");
        while fs::read(is_there()).is_ok_and(|line| !line.is_empty()) {
            assert!(asked.elapsed() < ENDS, "{}", place.log());
            thread::sleep(Duration::from_millis(50));
        }
        assert!(!asking.join().unwrap(), "what is not stored is not acknowledged");
    });
    assert!(program.child.wait().unwrap().code().is_some(), "it was not killed");
    drop(holder.stdin.take());
    holder.wait().unwrap();
}
