//! A job of three tasks on three engines is entered by OpenSSH's own clients, from outside and from
//! task to task.

use std::fmt::Write as _;
use std::fs::Permissions;
use std::io::Read;
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::berth::{Berth, Client};
use crate::dockerd::Dockerd;
use crate::image;

const TASKS: usize = 3;

/// Ends as soon as somebody has entered and asked for it.
const WAIT: &str = "until [ -e /finish ]; do sleep 0.1; done";

#[test]
fn tasks_are_entered_with_the_jobs_key_and_enter_each_other() {
    let engines: Vec<Dockerd> = (0..TASKS).map(|_| Dockerd::start()).collect();
    let folder = tempfile::tempdir().unwrap();
    engines.iter().for_each(image::load);
    std::fs::write(folder.path().join("berth.toml"), nodes(&engines)).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    let given = folder.path().join("given");
    client.submit(&job(&make_key(&given, "given@desk")));
    client.running("entered");
    let ways = client.json("/api/v1/jobs/entered/ssh");
    let key = key_file(&client, folder.path());
    let tasks: Vec<Task> = (0..TASKS).map(|index| Task::new(&ways, index, &key)).collect();

    // A container runs a moment before its guest listens.
    tasks.iter().for_each(Task::listens);
    for (index, task) in tasks.iter().enumerate() {
        let said = task.ssh(
            "echo $PAI_TASK_INDEX; id -u; echo ${BERTH_TASK-hidden}; \
             (: </proc/1/environ) 2>/dev/null || echo hidden as well",
        );
        assert_eq!(text(&said), format!("{index}\n0\nhidden\nhidden as well\n"), "{said:?}");
    }
    // Each to each by its alias, with the client that the guest brings: this image has none.
    for task in &tasks {
        let fan = "for i in 0 1 2; do ssh worker-$i 'echo $PAI_TASK_INDEX'; done";
        assert_eq!(text(&task.ssh(fan)), "0\n1\n2\n");
    }
    assert_eq!(tasks[0].ssh("exit 7").status.code(), Some(7));
    copy_there_and_back(&tasks[1], folder.path());
    by_the_documents_steps(&berth, &client, &ways, folder.path());
    by_the_command_line(&berth, &client, folder.path());
    refuses_others(&client, &tasks[0], folder.path());
    let by_the_file = tasks[2].with_key(&given);
    assert_eq!(text(&by_the_file.ssh("echo in")), "in\n", "the key of the job's file opens it");
    opens_to_the_users_own_key(&client, &tasks[2], folder.path());
    assert_eq!(text(&by_the_file.ssh("echo in")), "in\n", "also after others came and went");
    // The task may be over before it can say how the command ended.
    tasks.iter().for_each(|task| drop(task.ssh("touch /finish")));
    let detail = client.ended("entered");
    assert_eq!(detail["jobStatus"]["state"], "SUCCEEDED", "{detail:#}");
}

#[test]
fn an_image_without_a_shell_runs_its_program_and_serves_its_files() {
    let engines = [Dockerd::start()];
    let folder = tempfile::tempdir().unwrap();
    image::load(&engines[0]);
    std::fs::write(folder.path().join("berth.toml"), nodes(&engines)).unwrap();
    let berth = Berth::start(folder.path());
    let client = berth.client();
    // The only program in it is the guest's own.
    let job = json!({
        "jobName": "bare", "image": image::EMPTY, "retryCount": 0,
        "taskRoles": [{ "name": "only", "taskNumber": 1, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": 0, "command": "/.berth/bin/guest no-such-part" }],
    });
    client.submit(&job.to_string());
    let detail = client.ended("bare");
    let log = client.get("/api/v1/jobs/bare/logs?role=only&index=0");
    assert!(log.contains("usage: berth-guest"), "{log}");
    assert_eq!(detail["jobStatus"]["appExitCode"], 125, "{detail:#}");
}

fn nodes(engines: &[Dockerd]) -> String {
    let mut config = String::new();
    for (index, dockerd) in engines.iter().enumerate() {
        // They share this machine's network, as real nodes do not: so each has ports of its own.
        let _infallible = write!(
            config,
            "[[nodes]]\nname = \"node-{index}\"\naddress = \"127.0.0.{}\"\nendpoint = \"{}\"\n\
             cpus = 1\nmemory_mb = 1024\nports = \"3{index}000-3{index}999\"\n",
            index + 1,
            dockerd.endpoint()
        );
    }
    config
}

fn job(public_key: &str) -> String {
    json!({
        "jobName": "entered", "image": image::PLAIN, "retryCount": 0,
        "extras": { "com.microsoft.pai.runtimeplugin": [{ "plugin": "ssh", "parameters": {
            "jobssh": true, "userssh": { "type": "custom", "value": public_key } } }] },
        "taskRoles": [{ "name": "worker", "taskNumber": TASKS, "cpuNumber": 1, "memoryMB": 200,
            "gpuNumber": 0, "command": WAIT }],
    })
    .to_string()
}

fn key_file(client: &Client, folder: &Path) -> PathBuf {
    let path = folder.join("admin~entered");
    std::fs::write(&path, client.get("/api/v1/user/admin/jobs/entered/ssh/key")).unwrap();
    std::fs::set_permissions(&path, Permissions::from_mode(0o600)).unwrap();
    path
}

/// A task as OpenSSH's clients reach it: they know its host key and take no other.
struct Task {
    address: String,
    options: Vec<String>,
}

impl Task {
    fn new(ways: &Value, index: usize, key: &Path) -> Self {
        let container = &ways["containers"][index];
        let word = |value: &Value| value.as_str().unwrap().to_owned();
        let (address, port) = (word(&container["sshIp"]), word(&container["sshPort"]));
        let known = key.with_file_name(format!("known-{index}"));
        let line = format!("[{address}]:{port} {}\n", ways["hostKey"].as_str().unwrap());
        std::fs::write(&known, line).unwrap();
        let mut options =
            vec![format!("-oPort={port}"), format!("-oIdentityFile={}", key.display())];
        options.push(format!("-oUserKnownHostsFile={}", known.display()));
        options.extend(
            ["-oStrictHostKeyChecking=yes", "-oBatchMode=yes", "-oIdentitiesOnly=yes"]
                .map(str::to_owned),
        );
        Self { address, options }
    }

    /// The same with another key.
    fn with_key(&self, key: &Path) -> Self {
        let mut other = Self { address: self.address.clone(), options: self.options.clone() };
        other.options[1] = format!("-oIdentityFile={}", key.display());
        other
    }

    /// Waits for the guest's greeting: whoever publishes the port takes connections before it.
    fn listens(&self) {
        let port = self.options[0].trim_start_matches("-oPort=");
        let address = format!("{}:{port}", self.address);
        let greeting = || -> std::io::Result<()> {
            let mut stream = TcpStream::connect(&address)?;
            stream.set_read_timeout(Some(Duration::from_secs(10)))?;
            stream.read_exact(&mut [0; 4])
        };
        let deadline = Instant::now() + Duration::from_secs(30);
        while let Err(error) = greeting() {
            assert!(Instant::now() < deadline, "{address}: {error}");
            std::thread::sleep(Duration::from_millis(50));
        }
    }

    fn ssh(&self, command: &str) -> Output {
        let mut ssh = Command::new("ssh");
        ssh.args(["-F", "none"]).args(&self.options);
        ssh.arg(format!("root@{}", self.address)).arg(command).output().unwrap()
    }
}

/// Makes a pair of keys and gives the public one.
fn make_key(path: &Path, comment: &str) -> String {
    let mut made = Command::new("ssh-keygen");
    made.args(["-q", "-t", "ed25519", "-N", "", "-C", comment, "-f"]).arg(path);
    assert!(made.status().unwrap().success());
    std::fs::read_to_string(path.with_extension("pub")).unwrap()
}

fn text(output: &Output) -> String {
    assert!(output.status.success(), "{output:?}");
    String::from_utf8(output.stdout.clone()).unwrap()
}

fn copy_there_and_back(task: &Task, folder: &Path) {
    let (there, back) = (folder.join("there"), folder.join("back"));
    let bytes: Vec<u8> = (0..2_000_000_u32).map(|number| (number % 251) as u8).collect();
    std::fs::write(&there, &bytes).unwrap();
    let remote = format!("root@{}:/copied", task.address);
    for (from, to) in
        [(there.display().to_string(), remote.clone()), (remote, back.display().to_string())]
    {
        let mut scp = Command::new("scp");
        let copied =
            scp.args(["-F", "none"]).args(&task.options).args([from, to]).output().unwrap();
        assert!(copied.status.success(), "{copied:?}");
    }
    assert!(std::fs::read(&back).unwrap() == bytes);
}

/// Literally as the documents have it: `wget` of the key by its path, `chmod 400`, `ssh`.
fn by_the_documents_steps(berth: &Berth, client: &Client, ways: &Value, folder: &Path) {
    let word = |value: &Value| value.as_str().unwrap().to_owned();
    let lies = word(&ways["keyPair"]["folderPath"]);
    let path = lies.split_once("/Container/").unwrap().1.to_owned();
    let application = path.split('/').nth(3).unwrap();
    let fetched = |query: &str| {
        let mut wget = Command::new("wget");
        wget.current_dir(folder).args(["-q", "-O", application]);
        let key = format!("{path}/{application}?op=OPEN{query}");
        wget.arg(berth.url(&format!("/webhdfs/v1/Container/{key}"))).output().unwrap()
    };
    assert!(!fetched("").status.success(), "the key is nobody's without a token");
    let got = fetched(&format!("&delegation={}", client.token()));
    assert!(got.status.success(), "{got:?}");
    let shell = format!(
        "chmod 400 {application} && ssh -F none -oStrictHostKeyChecking=no \
         -oUserKnownHostsFile=/dev/null -oBatchMode=yes -i {application} -p {} root@{} 'ssh worker-0 hostname >/dev/null && echo $PAI_TASK_INDEX'",
        word(&ways["containers"][1]["sshPort"]),
        word(&ways["containers"][1]["sshIp"])
    );
    let entered = Command::new("sh").current_dir(folder).args(["-c", &shell]).output().unwrap();
    assert_eq!(text(&entered), "1\n");
}

/// `berth ssh`, `cp` and `port-forward`, which find key and address by themselves.
fn by_the_command_line(berth: &Berth, client: &Client, folder: &Path) {
    let home = folder.join("home of me");
    let run = |words: &[&str]| {
        let mut command = client.command(berth, &home);
        command.args(words).stdin(std::process::Stdio::null()).output().unwrap()
    };
    assert_eq!(text(&run(&["ssh", "entered/worker-2", "echo", "$PAI_TASK_INDEX"])), "2\n");
    assert_eq!(run(&["ssh", "entered", "--", "exit 9"]).status.code(), Some(9));
    let nobody = run(&["ssh", "entered/worker-7", "true"]);
    let words = String::from_utf8_lossy(&nobody.stderr).into_owned();
    assert!(words.contains("worker-0, worker-1, worker-2"), "{words}");
    let (there, back) = (folder.join("to copy"), folder.join("copied back"));
    std::fs::write(&there, "some text").unwrap();
    let [there, back] = [&there, &back].map(|path| path.display().to_string());
    text(&run(&["cp", &there, "admin~entered/worker-1:/by-cp"]));
    text(&run(&["cp", "entered/worker-1:/by-cp", &back]));
    assert_eq!(std::fs::read_to_string(&back).unwrap(), "some text");
    let key = home.join("berth/keys/admin~entered");
    assert_eq!(std::fs::metadata(key).unwrap().permissions().mode() & 0o777, 0o600);

    // The task's own SSH server is something that listens there.
    let here = free_port();
    let mut command = client.command(berth, &home);
    command.args(["port-forward", "entered/worker-0", &format!("{here}:ssh")]);
    let mut forward = command.stdout(std::process::Stdio::null()).spawn().unwrap();
    let greeting = greeting(here);
    forward.kill().unwrap();
    forward.wait().unwrap();
    assert!(greeting.starts_with("SSH-2.0-"), "{greeting}");
}

fn free_port() -> u16 {
    std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port()
}

/// The first bytes that a server says, as soon as it can be reached.
fn greeting(port: u16) -> String {
    let deadline = std::time::Instant::now() + Duration::from_secs(30);
    loop {
        let mut word = [0; 8];
        let answered = std::net::TcpStream::connect(("127.0.0.1", port))
            .and_then(|mut stream| std::io::Read::read_exact(&mut stream, &mut word));
        if answered.is_ok() {
            return String::from_utf8_lossy(&word).into_owned();
        }
        assert!(std::time::Instant::now() < deadline, "{answered:?}");
        std::thread::sleep(Duration::from_millis(100));
    }
}

/// A key that is added while the task runs opens it, and no more when it is removed.
fn opens_to_the_users_own_key(client: &Client, task: &Task, folder: &Path) {
    let key = folder.join("mine");
    let public = make_key(&key, "me@laptop");
    let own = task.with_key(&key);
    assert_eq!(own.ssh("true").status.code(), Some(255));
    let (status, answer) =
        client.post("/api/v2/public-keys", &json!({ "key": public }).to_string());
    assert_eq!(status, 201, "{answer}");
    assert_eq!(text(&own.ssh("echo in")), "in\n");
    assert_eq!(text(&task.ssh("echo in")), "in\n", "the job's key opens it as before");
    let listed = client.json("/api/v2/public-keys");
    assert_eq!(listed[0]["label"], "me@laptop");
    client.delete(&format!("/api/v2/public-keys/{}", listed[0]["id"]));
    assert_eq!(own.ssh("true").status.code(), Some(255));
}

fn refuses_others(client: &Client, task: &Task, folder: &Path) {
    let other = folder.join("other");
    make_key(&other, "");
    let refused = task.with_key(&other).ssh("true");
    assert_eq!(refused.status.code(), Some(255), "{refused:?}");
    let words = String::from_utf8_lossy(&refused.stderr).into_owned();
    assert!(words.contains("Permission denied (publickey)"), "{words}");
    let bob = json!({ "username": "bob", "password": "another long one" }).to_string();
    assert_eq!(client.post("/api/v2/users", &bob).0, 201);
    let bob = client.signed_in_as("bob", "another long one");
    for path in ["/api/v1/user/admin/jobs/entered/ssh", "/api/v1/user/admin/jobs/entered/ssh/key"] {
        assert_eq!(bob.status(path), 403, "{path}");
    }
}
