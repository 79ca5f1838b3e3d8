//! PuTTY's own file form, version 3, without a passphrase: appendix C of PuTTY's manual.

use base64::Engine as _;
use base64::prelude::BASE64_STANDARD;
use hmac::{Hmac, KeyInit, Mac};
use sha2::Sha256;
use ssh_key::PrivateKey;

/// Characters a line.
const LINE: usize = 64;

/// An ed25519 key as PuTTY, WinSCP and MobaXterm read it.
pub(super) fn file(private: &PrivateKey) -> String {
    let public = private.public_key().to_bytes().expect("the public half can be written");
    let comment = private.comment().to_string();
    let secret = secret(private);
    let mac = mac(&comment, &public, &secret);
    format!(
        "PuTTY-User-Key-File-3: ssh-ed25519\r\nEncryption: none\r\nComment: {comment}\r\n\
         {}{}Private-MAC: {}\r\n",
        lines("Public", &public),
        lines("Private", &secret),
        hex::encode(mac)
    )
}

/// The private half as a number, which for this kind of key is a string of 32 bytes.
fn secret(private: &PrivateKey) -> Vec<u8> {
    let keys = private.key_data().ed25519().expect("a job's keys are ed25519");
    string(&keys.private.to_bytes())
}

/// A string as SSH writes it: its length, then its bytes.
fn string(bytes: &[u8]) -> Vec<u8> {
    let length = u32::try_from(bytes.len()).expect("keys are short").to_be_bytes();
    [length.as_slice(), bytes].concat()
}

/// Without a passphrase the code is made with an empty key.
fn mac(comment: &str, public: &[u8], secret: &[u8]) -> [u8; 32] {
    let mut mac = Hmac::<Sha256>::new_from_slice(&[]).expect("any length of key is allowed");
    for part in [b"ssh-ed25519", b"none".as_slice(), comment.as_bytes(), public, secret] {
        mac.update(&string(part));
    }
    mac.finalize().into_bytes().into()
}

fn lines(name: &str, bytes: &[u8]) -> String {
    let text = BASE64_STANDARD.encode(bytes);
    let lines: Vec<&str> =
        text.as_bytes().chunks(LINE).filter_map(|line| std::str::from_utf8(line).ok()).collect();
    format!("{name}-Lines: {}\r\n{}\r\n", lines.len(), lines.join("\r\n"))
}
