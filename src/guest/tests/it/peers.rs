//! The tasks of a job among each other, by an OpenSSH client of the image.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::guest::{Guest, Plan, free_port, make_key, peer, succeed, text};

/// The tasks of one job, each with a port of its own.
pub(crate) fn job(count: usize, prepare: impl Fn(Plan) -> Plan) -> Vec<Guest> {
    let ports: Vec<u16> = (0..count).map(|_| free_port()).collect();
    let first = Plan::waiting();
    let ssh = first.config.ssh.clone().unwrap();
    let keys = fs::read_to_string(first.path("berth/authorized_keys")).unwrap();
    let peers = ports.iter().enumerate();
    let peers: Vec<_> =
        peers.map(|(index, port)| peer(&format!("worker-{index}"), *port)).collect();
    let plan = |port: &u16| {
        let mut plan = Plan::waiting();
        let ssh = protocol::guest::GuestSsh { port: *port, peers: peers.clone(), ..ssh.clone() };
        plan.config.ssh = Some(ssh);
        plan.authorize(&keys);
        prepare(plan).serve()
    };
    ports.iter().map(plan).collect()
}

#[test]
fn each_reaches_the_others_by_name() {
    let guests = job(3, |plan| plan);
    for (from, guest) in guests.iter().enumerate() {
        for (to, other) in guests.iter().enumerate() {
            let output = succeed(&mut guest.ssh(&[&format!("worker-{to}"), "echo $PAI_WORK_DIR"]));
            let folder = other.path("work");
            assert_eq!(text(&output.stdout), folder.to_str().unwrap(), "{from} to {to}");
        }
    }
}

#[test]
fn the_files_are_for_the_owner_only_and_the_users_own_lines_stay() {
    let plan = Plan::waiting();
    fs::create_dir(plan.path("home/.ssh")).unwrap();
    fs::write(plan.path("home/.ssh/config"), "User nobody\nHost mine\n  Port 7\n").unwrap();
    let guest = plan.serve();
    let mode = |name: &str| fs::metadata(guest.path(name)).unwrap().permissions().mode() & 0o777;
    assert_eq!((mode("berth/key"), mode("home/.ssh/config")), (0o600, 0o600));
    let text = fs::read_to_string(guest.path("home/.ssh/config")).unwrap();
    assert!(text.starts_with("# Berth") && text.ends_with("\nUser nobody\nHost mine\n  Port 7\n"));
    let shown = |host: &str| {
        let output = succeed(guest.openssh("ssh").args(["-G", host]));
        crate::guest::text(&output.stdout)
    };
    assert!(shown("worker-0").contains("user root\n"));
    assert!(shown("elsewhere").contains("user nobody\n"), "lines before any host hold for all");
}

#[test]
fn a_restart_replaces_the_entries() {
    let mut plan = Plan::new("true");
    plan.config.ssh.as_mut().unwrap().peers.push(peer("old-0", 7));
    let mut guest = plan.start();
    assert!(guest.end().success());
    let first = fs::read_to_string(guest.path("home/.ssh/config")).unwrap();
    assert!(first.contains("Host old-0\n"));
    let mut again = Plan::new("true");
    let home = guest.path("home").to_string_lossy().into_owned();
    again.config.ssh.as_mut().unwrap().peers = vec![peer("new-0", 7)];
    let mut second = again.variable("HOME", &home).start();
    assert!(second.end().success());
    let after = fs::read_to_string(guest.path("home/.ssh/config")).unwrap();
    assert!(after.contains("Host new-0\n") && !after.contains("old-0"), "{after}");
}

#[test]
fn somebody_elses_server_is_not_taken_for_a_task() {
    let mut other = Plan::waiting();
    let key = make_key(other.folder.path(), "other", "ed25519");
    other.config.ssh.as_mut().unwrap().host_key = fs::read_to_string(key).unwrap();
    let other = other.serve();
    let mut plan = Plan::waiting();
    plan.config.ssh.as_mut().unwrap().peers.push(peer("worker-1", other.port));
    let guest = plan.serve();
    let output = guest.ssh(&["worker-1", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(255));
    assert!(text(&output.stderr).contains("Host key verification failed"));
}
