//! Who is let in.

use std::fs;
use std::process::{Command, Stdio};

use crate::guest::{Guest, Plan, make_key, public, succeed, text};

/// Tries to get in with exactly these options; gives what the client says if it is refused.
fn refused(guest: &Guest, options: &[&str]) -> Option<String> {
    let mut ssh = Command::new("ssh");
    ssh.args(["-F", "none", "-o", "BatchMode=yes", "-o", "StrictHostKeyChecking=no"]);
    ssh.args(["-o", "UserKnownHostsFile=/dev/null", "-o", "IdentitiesOnly=yes"]).args(options);
    ssh.args(["-p", &guest.port.to_string(), "root@127.0.0.1", "true"]);
    let output = ssh.stdin(Stdio::null()).env_remove("SSH_AUTH_SOCK").output().unwrap();
    (!output.status.success()).then(|| text(&output.stderr))
}

#[test]
fn only_a_known_key_opens() {
    let guest = Plan::waiting().serve();
    let path = |name: &str| guest.path(name).to_string_lossy().into_owned();
    let foreign = make_key(guest.folder.path(), "foreign", "ed25519");
    assert_eq!(refused(&guest, &["-i", &path("job")]), None);
    for options in [
        vec!["-i", foreign.to_str().unwrap()],
        vec!["-o", "PubkeyAuthentication=no"],
        vec!["-o", "PreferredAuthentications=password"],
        vec!["-o", "PreferredAuthentications=keyboard-interactive,password"],
        vec!["-o", "PreferredAuthentications=none"],
    ] {
        let said = refused(&guest, &options).expect("it is refused");
        assert!(said.contains("Permission denied (publickey)"), "{options:?}: {said}");
    }
}

#[test]
fn keys_may_change_while_it_runs() {
    let plan = Plan::waiting();
    let keys = fs::read_to_string(plan.path("berth/authorized_keys")).unwrap();
    let guest = plan.serve();
    for kind in ["ed25519", "ecdsa", "rsa"] {
        let key = make_key(guest.folder.path(), kind, kind);
        let options = ["-i", key.to_str().unwrap()];
        assert!(refused(&guest, &options).is_some(), "{kind}");
        let file = guest.path("berth/authorized_keys");
        fs::write(&file, format!("{keys}# another\n{}", public(&key))).unwrap();
        assert_eq!(refused(&guest, &options), None, "{kind}");
        fs::write(&file, &keys).unwrap();
        assert!(refused(&guest, &options).is_some(), "{kind}");
    }
}

#[test]
fn a_signature_by_sha_1_is_refused() {
    let plan = Plan::waiting();
    let key = make_key(plan.folder.path(), "rsa", "rsa");
    plan.authorize(&public(&key));
    let guest = plan.serve();
    let options = ["-i", key.to_str().unwrap(), "-o", "PubkeyAcceptedAlgorithms=ssh-rsa"];
    assert!(refused(&guest, &options).is_some());
}

#[test]
fn without_a_file_of_keys_nobody_is_let_in() {
    let guest = Plan::waiting().serve();
    fs::remove_file(guest.path("berth/authorized_keys")).unwrap();
    assert!(refused(&guest, &["-i", guest.path("job").to_str().unwrap()]).is_some());
}

#[test]
fn any_user_name_will_do() {
    let guest = Plan::waiting().serve();
    succeed(&mut guest.ssh(&["-l", "somebody", "worker-0", "true"]));
}
