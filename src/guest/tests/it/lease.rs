//! The task's lease, with a test in its server's place.

use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::time::Duration;

use hmac::{Hmac, KeyInit, Mac};
use protocol::guest::GuestLease;
use protocol::lease::{
    GREETING, HEARD, LEASE_OVER_CODE, NONCE_BYTES, Nonce, PROOF_BYTES, answer, question,
};
use sha2::Sha256;

use crate::guest::{Plan, until};

const KEY: [u8; 32] = [7; 32];
/// How long anything may take.
const LIMIT: Duration = Duration::from_secs(60);

fn leased(command: &str, seconds: u64) -> Plan {
    let mut plan = Plan::new(command);
    plan.config.lease = Some(GuestLease { seconds, key: KEY.to_vec() });
    plan
}

fn mac(key: &[u8], text: &[u8]) -> Vec<u8> {
    let mut mac = Hmac::<Sha256>::new_from_slice(key).unwrap();
    mac.update(text);
    mac.finalize().into_bytes().to_vec()
}

/// Asked by the guest, answers with a key.
fn answer_with(key: &[u8], port: u16) -> io::Result<()> {
    let mut stream = TcpStream::connect(("127.0.0.1", port))?;
    stream.set_read_timeout(Some(LIMIT))?;
    let ours: Nonce = [1; NONCE_BYTES];
    stream.write_all(&[GREETING.as_slice(), ours.as_slice()].concat())?;
    let (mut theirs, mut proof): (Nonce, _) = ([0; NONCE_BYTES], [0; PROOF_BYTES]);
    stream.read_exact(&mut theirs)?;
    stream.read_exact(&mut proof)?;
    assert_eq!(mac(&KEY, &question(&ours, &theirs)), proof, "it is the guest that asks");
    stream.write_all(&mac(key, &answer(&ours, &theirs)))?;
    let mut heard = [0];
    stream.read_exact(&mut heard)?;
    assert_eq!(heard, [HEARD]);
    Ok(())
}

fn is_heard(port: u16) -> bool {
    answer_with(&KEY, port).is_ok()
}

#[test]
fn a_task_begins_when_its_server_is_heard_and_ends_with_its_lease() {
    // It does not end by itself when it is asked to.
    let mut guest = leased("trap '' TERM; echo began; while :; do sleep 1; done", 2).start();
    until("it is heard", || is_heard(guest.port));
    assert_eq!(guest.line(), "began");
    assert_eq!(guest.end().code(), Some(LEASE_OVER_CODE.into()), "{}", guest.errors());
}

#[test]
fn only_the_server_is_heard() {
    let mut guest = leased("echo began; exec sleep 1000", 600).start();
    until("it listens", || TcpStream::connect(("127.0.0.1", guest.port)).is_ok());
    assert!(answer_with(&[8; 32], guest.port).is_err(), "somebody else's key");
    assert!(!guest.path("berth/exit.json").exists());
    guest.signal("TERM");
    assert_eq!(guest.end().code(), Some(143));
    assert_eq!(guest.line(), "", "nothing has begun");
}

#[test]
fn people_enter_a_task_with_a_lease_as_any_other() {
    let mut guest = leased("echo began; exec sleep 1000", 600).start();
    until("it is heard", || is_heard(guest.port));
    assert_eq!(guest.line(), "began");
    assert_eq!(guest.says("echo here"), "here");
    guest.signal("TERM");
    assert_eq!(guest.end().code(), Some(143), "that is no end by its lease");
}
