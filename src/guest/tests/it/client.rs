//! Our own `ssh` and `scp`, where the image has none.

use std::fs;
use std::os::unix::fs::symlink;
use std::process::Command;

use crate::files::{assert_same, make_tree};
use crate::guest::{Guest, Plan, make_key, needed, noise, peer, succeed, text, with_input};
use crate::peers::job;

/// What an image without a client has.
const PROGRAMS: [&str; 17] = [
    "bash", "cat", "chmod", "diff", "echo", "env", "head", "ls", "md5sum", "mkdir", "rsync",
    "script", "sh", "sleep", "stty", "tty", "wc",
];

/// A `PATH` without an SSH client.
pub(crate) fn without_ssh(plan: &Plan) -> String {
    let folder = plan.path("programs");
    fs::create_dir(&folder).unwrap();
    for name in PROGRAMS {
        symlink(needed(name, "coreutils rsync bsdutils"), folder.join(name)).unwrap();
    }
    folder.to_string_lossy().into_owned()
}

fn bare_job(count: usize) -> Vec<Guest> {
    job(count, |plan| {
        let path = without_ssh(&plan);
        plan.variable("PATH", &path)
    })
}

/// Our client by a name of its own.
fn ssh(guest: &Guest, words: &[&str]) -> Command {
    let mut command = Command::new(guest.path("berth/bin/ssh"));
    command.args(words).current_dir(guest.path("mine"));
    command
}

#[test]
fn a_program_in_the_task_finds_it() {
    let guests = bare_job(2);
    let said = guests[0].says("command -v ssh scp; ssh worker-1 'echo $PAI_WORK_DIR'");
    let lines: Vec<String> = said.lines().map(str::to_owned).collect();
    let expected =
        ["berth/bin/ssh", "berth/bin/scp"].map(|name| guests[0].path(name).display().to_string());
    assert_eq!(lines[..2], expected);
    assert_eq!(lines[2], guests[1].path("work").to_str().unwrap());
}

#[test]
fn output_exit_codes_and_failures_are_handed_through() {
    let guest = Plan::waiting().serve();
    let output = ssh(&guest, &["worker-0", "echo out; echo err >&2; exit 9"]).output().unwrap();
    assert_eq!(output.status.code(), Some(9));
    assert_eq!((text(&output.stdout), text(&output.stderr)), ("out".into(), "err".into()));
    let port = guest.port.to_string();
    let foreign = make_key(guest.folder.path(), "foreign", "ed25519");
    for (words, said) in [
        (vec!["worker-0", "kill -9 $$"], ""),
        (vec!["nowhere", "true"], "could not resolve"),
        (vec!["-p", "1", "127.0.0.1", "true"], "refused"),
        (vec!["-q", "-p", "1", "127.0.0.1", "true"], ""),
        (vec!["-L", "1:h:2", "worker-0"], "cannot do -L"),
        (vec![], "usage"),
    ] {
        let output = ssh(&guest, &words).output().unwrap();
        assert_eq!(output.status.code(), Some(255), "{words:?}");
        let errors = text(&output.stderr);
        assert!(errors.contains(said) && errors.is_empty() == said.is_empty(), "{errors}");
    }
    let by_key = ["-i", foreign.to_str().unwrap(), "-p", &port, "-oUser=me", "127.0.0.1", "true"];
    succeed(&mut ssh(&guest, &by_key));
    fs::write(guest.path("berth/authorized_keys"), "").unwrap();
    let output = ssh(&guest, &by_key).output().unwrap();
    assert!(text(&output.stderr).contains("permission denied"));
}

#[test]
fn data_pass_in_both_directions() {
    let guest = Plan::waiting().serve();
    let data = noise(64 << 20);
    let output = with_input(&mut ssh(&guest, &["worker-0", "cat"]), &data);
    assert!(output.stdout == data);
    let script = format!("{}exit 5\n", "# a long line of a script\n".repeat(20_000));
    let output = with_input(&mut ssh(&guest, &["-T", "worker-0", "bash", "-s"]), script.as_bytes());
    assert_eq!(output.status.code(), Some(5));
    let mut quick = ssh(&guest, &["-n", "worker-0", "wc", "-c"]);
    assert_eq!(text(&with_input(&mut quick, b"").stdout), "0");
}

#[test]
fn a_server_that_is_not_known_is_refused_unless_that_is_wanted() {
    let other = Plan::waiting().serve();
    let mut plan = Plan::waiting();
    plan.config.ssh.as_mut().unwrap().peers.push(peer("worker-1", other.port));
    let guest = plan.serve();
    let output = ssh(&guest, &["worker-1", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(255));
    assert!(text(&output.stderr).contains("host key verification failed"));
    let key = other.path("job").to_string_lossy().into_owned();
    let lax = ["-o", "StrictHostKeyChecking=no", "-i", &key, "worker-1", "echo in"];
    assert_eq!(text(&succeed(&mut ssh(&guest, &lax)).stdout), "in");
}

#[test]
fn a_fan_out_like_that_of_mpirun_works() {
    let guests = bare_job(3);
    // Options before and after the host, everything at once, each starting others in turn.
    let start = "for i in 0 1 2; do ssh -x -q -o BatchMode=yes worker-$i -n \
        PATH=$PATH:/opt/mpi/bin ';' export PATH ';' 'echo $PAI_WORK_DIR; ssh worker-0 true' & done; wait";
    let mut said: Vec<String> = guests[0].says(start).lines().map(str::to_owned).collect();
    let mut expected: Vec<String> =
        guests.iter().map(|guest| guest.path("work").display().to_string()).collect();
    said.sort();
    expected.sort();
    assert_eq!(said, expected);
}

#[test]
fn rsync_uses_it() {
    let guests = bare_job(2);
    make_tree(&guests[0].path("home/tree"));
    for _ in 0..3 {
        guests[0]
            .says("rsync -a -e ssh tree/ worker-1:copy/ && rsync -a -e ssh worker-1:copy/ back/");
        assert_same(&guests[0].path("home/tree"), &guests[1].path("home/copy"), true);
        assert_same(&guests[0].path("home/tree"), &guests[0].path("home/back"), true);
        fs::remove_dir_all(guests[1].path("home/copy")).unwrap();
        fs::remove_dir_all(guests[0].path("home/back")).unwrap();
    }
}

#[test]
fn scp_copies_files_and_folders() {
    let guests = bare_job(2);
    make_tree(&guests[0].path("home/tree"));
    guests[0].says(
        "scp -rpq tree worker-1:copy && scp -rp worker-1:copy back && scp tree/sub/run tree/sub/large worker-1:",
    );
    assert_same(&guests[0].path("home/tree"), &guests[1].path("home/copy"), true);
    assert_same(&guests[0].path("home/tree"), &guests[0].path("home/back"), true);
    assert_eq!(fs::read_to_string(guests[1].path("home/run")).unwrap(), "#!/bin/sh\n");
    for wrong in ["scp worker-1:missing x", "scp tree worker-1:x", "scp a b", "scp none worker-1:"]
    {
        let said = guests[0].says(&format!("{wrong} 2>&1; echo code $?"));
        assert!(said.ends_with("code 1") && said.contains("scp"), "{wrong}: {said}");
    }
}

#[test]
fn a_terminal_is_asked_for_when_there_is_one() {
    let guests = bare_job(2);
    let inner = "ssh -t worker-1 'stty size; tty; exit 4'; echo code \\$?";
    let command = format!("script -qec \"stty cols 91 rows 33; {inner}\" /dev/null");
    let said = guests[0].says(&command).replace('\r', "");
    // `script` hands on the end of its own input, whose echo may come in between.
    for expected in ["33 91\n", "/dev/pts/", "code 4"] {
        assert!(said.contains(expected), "{expected:?}: {said}");
    }
    let plain = guests[0].says("ssh worker-1 'tty; exit 4' </dev/null; echo code $?");
    assert_eq!(plain, "not a tty\ncode 4");
}
