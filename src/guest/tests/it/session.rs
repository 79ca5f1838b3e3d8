//! Commands and shells over SSH.

use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::process::{Command, Stdio};

use crate::guest::{Guest, Plan, noise, succeed, text, until, with_input};

/// Kibibytes that the guest may have at most, as built for tests.
const MEMORY: u64 = 40 << 10;

fn make_pipe(guest: &Guest, name: &str) {
    let path = guest.path("home").join(name);
    assert!(Command::new("mkfifo").arg(path).status().unwrap().success());
}

#[test]
fn exit_codes_and_both_outputs_are_exact() {
    let guest = Plan::waiting().serve();
    for code in [0, 1, 77, 255] {
        let command = format!("echo out; echo err >&2; exit {code}");
        let output = guest.ssh(&["worker-0", &command]).output().unwrap();
        assert_eq!(output.status.code(), Some(code));
        assert_eq!((text(&output.stdout), text(&output.stderr)), ("out".into(), "err".into()));
    }
    assert_eq!(guest.ssh(&["worker-0", "no-such"]).output().unwrap().status.code(), Some(127));
}

#[test]
fn an_end_by_a_signal_is_told_as_such() {
    let guest = Plan::waiting().serve();
    let mut ssh = guest.ssh(&["-v", "-o", "LogLevel=DEBUG1", "worker-0", "kill -KILL $$"]);
    let output = ssh.output().unwrap();
    assert_eq!(output.status.code(), Some(255));
    assert!(text(&output.stderr).contains("exit-signal"), "{}", text(&output.stderr));
}

#[test]
fn the_tasks_variables_are_there_and_the_clients_are_added() {
    let guest = Plan::waiting().variable("PAI_JOB_NAME", "a 'b'").serve();
    let command = "echo $PAI_JOB_NAME $HOME $USER $SHELL $LC_MINE; pwd; echo ${SSH_CONNECTION%% *}";
    let output = succeed(&mut guest.ssh(&["-o", "SetEnv=LC_MINE=mine", "worker-0", command]));
    let home = guest.path("home");
    let said = text(&output.stdout);
    let lines: Vec<&str> = said.lines().collect();
    assert!(lines[0].starts_with(&format!("a 'b' {} root /", home.display())), "{said}");
    assert!(lines[0].ends_with(" mine"), "{said}");
    assert_eq!((lines[1], lines[2]), (home.to_str().unwrap(), "127.0.0.1"));
    assert_eq!(guest.says("echo $PAI_WORK_DIR"), guest.path("work").to_str().unwrap());
}

#[test]
fn a_long_script_comes_by_standard_input() {
    let guest = Plan::waiting().serve();
    let line = format!("x=$((x+1)) # {}\n", "-".repeat(90));
    let script = format!("{}echo $x; exit 5\n", line.repeat(10_000));
    let output = with_input(&mut guest.ssh(&["-T", "worker-0", "bash -s"]), script.as_bytes());
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(5), "10000".into()));
    let output = with_input(&mut guest.ssh(&["-T", "worker-0"]), b"echo shell; exit 6\n");
    assert_eq!((output.status.code(), text(&output.stdout)), (Some(6), "shell".into()));
}

#[test]
fn large_data_pass_in_each_direction_and_in_both() {
    let guest = Plan::waiting().serve();
    let data = noise(64 << 20);
    fs::write(guest.path("home/down"), &data).unwrap();
    let down = succeed(&mut guest.ssh(&["worker-0", "cat down"]));
    assert!(down.stdout == data);
    assert!(with_input(&mut guest.ssh(&["worker-0", "cat > up"]), &data).status.success());
    assert!(fs::read(guest.path("home/up")).unwrap() == data);
    let both = with_input(&mut guest.ssh(&["worker-0", "cat"]), &data);
    assert!(both.stdout == data);
    assert!(guest.memory() < MEMORY, "{} KiB", guest.memory());
}

#[test]
fn what_a_program_does_not_read_waits_outside_of_memory() {
    let guest = Plan::waiting().serve();
    make_pipe(&guest, "go");
    let mut ssh = guest.ssh(&["worker-0", "read x < go; md5sum"]);
    let mut ssh = ssh.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let data = noise(64 << 20);
    let mut input = ssh.stdin.take().unwrap();
    input.write_all(&data).unwrap();
    drop(input);
    assert!(guest.memory() < MEMORY, "{} KiB", guest.memory());
    assert_eq!(guest.says("echo meanwhile"), "meanwhile");
    fs::write(guest.path("home/go"), "\n").unwrap();
    let found = text(&ssh.wait_with_output().unwrap().stdout);
    let expected = with_input(&mut Command::new("md5sum"), &data);
    assert_eq!(found, text(&expected.stdout));
}

#[test]
fn a_reader_that_stops_stops_the_program_and_nobody_else() {
    let guest = Plan::waiting().serve();
    let control = guest.path("mine/control").to_string_lossy().into_owned();
    let shared = ["-o", "ControlMaster=auto", "-o", "ControlPersist=60", "-S", &control];
    let mut yes = guest.ssh(&shared);
    let mut yes = yes.args(["worker-0", "yes"]).stdout(Stdio::piped()).spawn().unwrap();
    let mut start = [0; 2 << 10];
    let mut output = yes.stdout.take().unwrap();
    output.read_exact(&mut start).unwrap();
    for number in 0..20 {
        let mut ssh = guest.ssh(&shared);
        let said = succeed(ssh.args(["worker-0", "echo", &number.to_string()]));
        assert_eq!(text(&said.stdout), number.to_string());
    }
    assert!(guest.memory() < MEMORY, "{} KiB", guest.memory());
    drop(output);
    succeed(guest.ssh(&shared).args(["-O", "exit", "worker-0"]));
    yes.wait().unwrap();
}

#[test]
fn a_client_that_goes_away_hangs_up() {
    let guest = Plan::waiting().serve();
    let script =
        "trap 'echo hung up > told; exit' HUP; echo ready; while :; do sleep 1000 & wait; done";
    for words in [vec!["worker-0"], vec!["-tt", "worker-0"]] {
        let mut ssh = guest.ssh(&words);
        let mut ssh = ssh.arg(script).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
        let mut line = String::new();
        BufReader::new(ssh.stdout.take().unwrap()).read_line(&mut line).unwrap();
        assert_eq!(line.trim_end(), "ready");
        ssh.kill().unwrap();
        ssh.wait().unwrap();
        let told = guest.path("home/told");
        until("it is hung up", || fs::exists(&told).unwrap());
        fs::remove_file(told).unwrap();
    }
}

#[test]
fn what_is_left_in_the_background_goes_on() {
    let guest = Plan::waiting().serve();
    make_pipe(&guest, "go");
    guest.says("(read x < go; echo $x > came) </dev/null >/dev/null 2>&1 &");
    fs::write(guest.path("home/go"), "after\n").unwrap();
    until("it has gone on", || {
        fs::read_to_string(guest.path("home/came")).is_ok_and(|came| came == "after\n")
    });
}

#[test]
fn a_shell_with_a_terminal_starts_where_the_task_did() {
    let guest = Plan::waiting().serve();
    let script = "tty; echo folder:$PWD:$TERM:; test -t 0 && echo yes; exit 3\n";
    let mut ssh = guest.ssh(&["-tt", "worker-0"]);
    let output = with_input(ssh.env("TERM", "xterm-256color"), script.as_bytes());
    let said = text(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("/dev/pts/"), "{said}");
    let folder = format!("folder:{}:xterm-256color:", guest.path("work").display());
    assert!(said.contains(&folder), "{said}");
}

/// Sizes, signals and the exit code as seen by another client.
const PARAMIKO: &str = r#"
import paramiko, sys
client = paramiko.SSHClient()
client.set_missing_host_key_policy(paramiko.AutoAddPolicy())
client.connect("127.0.0.1", int(sys.argv[1]), "root", key_filename=sys.argv[2],
               allow_agent=False, look_for_keys=False)
channel = client.get_transport().open_session()
channel.set_environment_variable("MINE", "mine")
channel.get_pty("vt100", 100, 40)
channel.exec_command("trap 'stty size; exit 8' WINCH; echo $TERM $MINE; stty size; "
                     "while :; do sleep 1000 & wait $!; done")
lines = channel.makefile("r")
print(lines.readline().strip(), lines.readline().strip())
channel.resize_pty(132, 50)
print(lines.readline().strip(), channel.recv_exit_status())
channel = client.get_transport().open_session()
channel.exec_command("trap 'echo term; exit 6' TERM; echo ready; while :; do sleep 1000 & wait $!; done")
lines = channel.makefile("r")
print(lines.readline().strip())
message = paramiko.Message()
message.add_byte(paramiko.common.cMSG_CHANNEL_REQUEST)
message.add_int(channel.remote_chanid)
message.add_string("signal")
message.add_boolean(False)
message.add_string("TERM")
client.get_transport()._send_user_message(message)
print(lines.readline().strip(), channel.recv_exit_status())
stdin, stdout, stderr = client.exec_command("cat; echo err >&2; exit 4")
stdin.write("in"); stdin.channel.shutdown_write()
print(stdout.read().decode(), stderr.read().decode().strip(), stdout.channel.recv_exit_status())
try:
    client.get_transport().open_session().invoke_subsystem("netconf")
except paramiko.SSHException:
    print("refused")
"#;

#[test]
fn a_terminal_follows_its_size_and_signals_arrive() {
    let guest = Plan::waiting().serve();
    let said = guest.paramiko(PARAMIKO);
    let expected =
        ["vt100 mine 40 100", "50 132 8", "ready", "term 6", "in err 4", "refused"].join("\n");
    assert_eq!(said, expected);
}
