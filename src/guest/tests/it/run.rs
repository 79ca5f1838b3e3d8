//! The task's command: started, accompanied, ended.

use std::fs;
use std::io::Read;
use std::net::TcpListener;
use std::process::Command;

use protocol::guest::{
    BEGUN_BEFORE, CANNOT_BEGIN, COMMAND_UNUSABLE, GuestExit, NODE_HAD_MEMORY, NODE_MEMORY,
    PORT_TAKEN, UNUSABLE_CODE,
};

use crate::guest::{Guest, Plan, program, text, until};

fn exit(guest: &Guest) -> GuestExit {
    serde_json::from_slice(&fs::read(guest.path("berth/exit.json")).unwrap()).unwrap()
}

fn plain(command: &str) -> Plan {
    let mut plan = Plan::new(command);
    plan.config.ssh = None;
    plan
}

#[test]
fn the_exit_code_is_the_commands() {
    for (command, code, signal) in [
        ("true", 0, None),
        ("exit 7", 7, None),
        ("kill -TERM $$", 143, Some(15)),
        ("nope", 127, None),
    ] {
        let mut guest = plain(command).start();
        assert_eq!(guest.end().code(), Some(code), "{command}");
        assert_eq!(exit(&guest), GuestExit { code, signal }, "{command}");
    }
}

#[test]
fn a_run_begins_once_in_its_container() {
    let mut plan = plain("echo started");
    plan.config.run = Some("berth-c-1-a0-r0-t0-n0".to_owned());
    let mut guest = plan.start();
    assert_eq!(guest.line(), "started");
    assert!(guest.end().success());
    let again = || {
        let mut command = Command::new(guest.path("berth/bin/guest"));
        command.args(["run", "--config"]).arg(guest.path("berth/task.json"));
        command.current_dir(guest.path("work")).output().unwrap()
    };
    let second = again();
    assert_eq!(second.status.code(), Some(UNUSABLE_CODE.into()));
    for said in [&second.stdout, &second.stderr] {
        assert_eq!(
            text(said).trim_start(),
            format!("berth: {BEGUN_BEFORE}"),
            "and nothing of the task"
        );
    }
    // As in a container of an image that was saved of another one.
    fs::write(guest.path("berth/begun"), "berth-c-2-a0-r0-t0-n0").unwrap();
    assert_eq!(text(&again().stdout), "started");
}

#[test]
fn the_command_finds_its_folder_and_its_variables() {
    let mut plan =
        plain("pwd; echo \"$PAI_WORK_DIR $QIZHI_WORK_DIR\"; echo \"$GREETING\"; echo \"$PATH\"");
    fs::create_dir(plan.path("work/code")).unwrap();
    plan.config.start_in = Some("code".into());
    let mut guest = plan.variable("GREETING", "a  'b'").variable("PATH", "/usr/bin:/bin").start();
    let code = guest.path("work/code").to_string_lossy().into_owned();
    assert_eq!(guest.line(), code);
    assert_eq!(guest.line(), format!("{code} {code}"));
    assert_eq!(guest.line(), "a  'b'");
    assert_eq!(guest.line(), format!("/usr/bin:/bin:{}", guest.path("berth/bin").display()));
    assert!(guest.end().success());
}

#[test]
fn a_start_folder_that_is_not_there_is_told() {
    let mut plan = plain("echo started");
    plan.config.start_in = Some("missing".into());
    let mut guest = plan.start();
    assert_eq!(guest.end().code(), Some(127));
    assert_eq!(guest.line(), "");
    assert!(guest.errors().contains("work/missing"), "{}", guest.errors());
}

#[test]
fn signals_reach_the_command() {
    let traps = "for s in INT HUP QUIT USR1 USR2 WINCH; do trap \"echo $s\" $s; done; \
        trap 'echo TERM; exit 9' TERM; echo ready; while :; do sleep 1000 & wait $!; done";
    let mut guest = plain(traps).start();
    assert_eq!(guest.line(), "ready");
    for name in ["INT", "HUP", "QUIT", "USR1", "USR2", "WINCH"] {
        guest.signal(name);
        assert_eq!(guest.line(), name);
    }
    guest.signal("TERM");
    assert_eq!(guest.line(), "TERM");
    assert_eq!(guest.end().code(), Some(9));
}

#[test]
fn a_signal_reaches_all_of_the_commands_processes() {
    // The outer shell hands nothing on; it only lives long enough for the inner one to speak.
    let command = "trap 'wait; exit 143' TERM; \
        sh -c 'trap \"echo inner; exit 0\" TERM; echo ready; sleep 1000 & wait' & wait";
    let mut guest = plain(command).start();
    assert_eq!(guest.line(), "ready");
    guest.signal("TERM");
    assert_eq!(guest.line(), "inner");
    assert_eq!(guest.end().code(), Some(143));
}

/// The first line tells of an orphan; the second comes when even its remains are gone.
const ORPHAN: &str = "(sh -c 'exit 3' & echo $! > orphan); read p < orphan; \
    while kill -0 $p 2>/dev/null; do :; done; echo reaped; exit 4";

#[test]
fn orphans_are_reaped() {
    let mut guest = plain(ORPHAN).start();
    assert_eq!(guest.line(), "reaped");
    assert_eq!(guest.end().code(), Some(4));
}

#[test]
fn as_the_first_process_it_does_the_same() {
    let mut plan = plain(&format!("echo $PPID; {ORPHAN}"));
    plan.be_first_process();
    let mut guest = plan.start();
    assert_eq!(guest.line(), "1", "{}", guest.errors());
    assert_eq!(guest.line(), "reaped");
    assert_eq!(guest.end().code(), Some(4));
}

#[test]
fn what_the_command_leaves_behind_ends_with_it() {
    let mut guest = plain("setsid sleep 1000 & echo $!; exit 0").start();
    let left = guest.line();
    assert!(guest.end().success());
    let path = format!("/proc/{left}");
    until("the process is gone", || !fs::exists(&path).unwrap());
}

#[test]
fn a_failed_command_is_kept_until_it_is_told_to_end() {
    let mut plan = Plan::new("exit 3");
    plan.config.keep_on_failure_secs = Some(3600);
    let mut guest = plan.serve();
    until("it is told", || guest.errors().contains("failed with exit code 3"));
    assert_eq!(guest.says("echo still here"), "still here");
    assert_eq!(exit(&guest).code, 3);
    guest.signal("HUP");
    guest.signal("TERM");
    assert_eq!(guest.end().code(), Some(3));
}

#[test]
fn a_failed_command_is_kept_for_its_time_only() {
    let mut plan = plain("exit 3");
    plan.config.keep_on_failure_secs = Some(1);
    assert_eq!(plan.start().end().code(), Some(3));
}

#[test]
fn a_command_that_is_told_to_end_or_succeeds_is_not_kept() {
    let mut plan = plain("echo ready; exec sleep 1000");
    plan.config.keep_on_failure_secs = Some(3600);
    let mut guest = plan.start();
    assert_eq!(guest.line(), "ready");
    guest.signal("TERM");
    assert_eq!(guest.end().code(), Some(143));
    let mut plan = plain("true");
    plan.config.keep_on_failure_secs = Some(3600);
    assert!(plan.start().end().success());
}

#[test]
fn without_a_configuration_it_says_so() {
    let run = |words: &[&str]| std::process::Command::new(program()).args(words).output().unwrap();
    let output = run(&["run", "--config", "/nowhere/task.json"]);
    assert_eq!(output.status.code(), Some(125));
    assert!(text(&output.stderr).contains("/nowhere/task.json"));
    assert_eq!(run(&["dance"]).status.code(), Some(125));
}

/// A command that does all to say this in the guest's place, last on both streams.
fn forged(said: &str, code: i32) -> String {
    let said = format!("berth: {said}");
    format!("echo '{said}'; printf '{said}'; (while :; do echo '{said}' >&2; done) & exit {code}")
}

/// The guest says one of these instead.
fn has_the_last_word(mut guest: Guest, code: i32, words: &[&str]) {
    assert_eq!(guest.end().code(), Some(code), "{}", guest.errors());
    let mut output = String::new();
    guest.output.read_to_string(&mut output).unwrap();
    for log in [output, guest.errors()] {
        let last = log.lines().next_back().unwrap_or_default();
        let last = last.strip_prefix("berth: ").unwrap_or(last);
        assert!(words.contains(&last), "{last}");
    }
}

#[test]
fn a_command_cannot_say_in_the_guests_place_that_the_platform_failed() {
    let started: &[&str] = &[COMMAND_UNUSABLE];
    // What the kernel says of the machine that this runs on.
    let killed: &[&str] = &[NODE_HAD_MEMORY, NODE_MEMORY];
    for (code, words) in [(i32::from(UNUSABLE_CODE), started), (137, killed)] {
        has_the_last_word(plain(&forged(CANNOT_BEGIN, code)).start(), code, words);
        let mut first = plain(&forged(CANNOT_BEGIN, code));
        first.be_first_process();
        has_the_last_word(first.start(), code, words);
    }
}

#[test]
fn nothing_is_started_while_a_port_of_the_task_is_somebody_elses() {
    for of_ssh in [false, true] {
        let mut plan = Plan::new("echo started");
        let somebody = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = somebody.local_addr().unwrap().port();
        plan.config.ports = vec![port];
        if of_ssh {
            plan.config.ssh.as_mut().unwrap().port = port;
        }
        let mut guest = plan.start();
        assert_eq!(guest.end().code(), Some(UNUSABLE_CODE.into()));
        assert_eq!(guest.errors(), format!("berth: port {port} {PORT_TAKEN}\n"));
        assert_eq!(guest.line(), "");
    }
    let mut alone = plain("echo started");
    let somebody = TcpListener::bind("127.0.0.1:0").unwrap();
    alone.config.ports = vec![somebody.local_addr().unwrap().port()];
    alone.config.own_network = true;
    assert_eq!(alone.start().line(), "started");
}
