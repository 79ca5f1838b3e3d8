//! Secrets at rest: sealed with a key that is not in the database.

use std::io::Write;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use chacha20poly1305::aead::{Aead, KeyInit, Payload};
use chacha20poly1305::{XChaCha20Poly1305, XNonce};
use hkdf::Hkdf;
use protocol::ids::JobKey;
use rand::TryRngCore;
use rand::rngs::OsRng;
use sha2::Sha256;

use crate::error::Error;

const KEY_BYTES: usize = 32;
const NONCE_BYTES: usize = 24;

/// Bytes worked out of the key.
const DERIVED_BYTES: usize = 32;

/// Seals and opens secrets, and makes keys out of its own.
#[derive(Clone)]
pub(crate) struct Seal {
    cipher: XChaCha20Poly1305,
    source: Hkdf<Sha256>,
}

impl std::fmt::Debug for Seal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Seal")
    }
}

impl Seal {
    /// Reads the key file, or makes one that only its owner can read.
    pub(crate) fn open(path: &Path) -> Result<Self, Error> {
        let file = |source| Error::File { path: path.display().to_string(), source };
        let key = match std::fs::read(path) {
            Ok(key) => key,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {
                let key = random::<KEY_BYTES>().to_vec();
                let mut options = std::fs::OpenOptions::new();
                let created = options.write(true).create_new(true).mode(0o600).open(path);
                created
                    .and_then(|mut file| file.write_all(&key).and(file.sync_all()))
                    .map_err(file)?;
                key
            }
            Err(error) => return Err(file(error)),
        };
        let cipher = XChaCha20Poly1305::new_from_slice(&key)
            .map_err(|_| Error::Key(path.display().to_string()))?;
        Ok(Self { cipher, source: Hkdf::new(None, &key) })
    }

    /// Seals `text`; it opens only with the same `context`.
    pub(crate) fn seal(&self, context: &str, text: &str) -> Vec<u8> {
        let nonce = random::<NONCE_BYTES>();
        let payload = Payload { msg: text.as_bytes(), aad: context.as_bytes() };
        let sealed = self
            .cipher
            .encrypt(XNonce::from_slice(&nonce), payload)
            .expect("sealing fails only for texts of many gigabytes");
        [nonce.as_slice(), &sealed].concat()
    }

    /// What the key is known by, to who does not have it.
    pub(crate) fn fingerprint(&self) -> String {
        hex::encode(&self.derive("fingerprint of the key")[..8])
    }

    /// Bytes that nobody else can tell: the same for a context each time, others for each other.
    pub(crate) fn derive(&self, context: &str) -> [u8; DERIVED_BYTES] {
        let mut bytes = [0; DERIVED_BYTES];
        let derived = self.source.expand(context.as_bytes(), &mut bytes);
        derived.expect("so few bytes can always be derived");
        bytes
    }

    /// Opens what [`Seal::seal`] gave; `None`: it is damaged or was sealed with another key.
    pub(crate) fn unseal(&self, context: &str, sealed: &[u8]) -> Option<String> {
        let (nonce, text) = sealed.split_at_checked(NONCE_BYTES)?;
        let payload = Payload { msg: text, aad: context.as_bytes() };
        let opened = self.cipher.decrypt(XNonce::from_slice(nonce), payload).ok()?;
        String::from_utf8(opened).ok()
    }
}

/// What a sealed secret of a job is bound to.
pub(crate) fn context(key: &JobKey, name: &str) -> String {
    format!("{key}/{name}")
}

/// Bytes from the operating system's source of randomness.
pub(crate) fn random<const N: usize>() -> [u8; N] {
    let mut bytes = [0; N];
    OsRng.try_fill_bytes(&mut bytes).expect("the operating system has a source of randomness");
    bytes
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn secrets_open_only_with_key_and_context() {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::open(&folder.path().join("key")).unwrap();
        let again = Seal::open(&folder.path().join("key")).unwrap();
        let other = Seal::open(&folder.path().join("other")).unwrap();
        let sealed = seal.seal("job 1", "hunter2");
        assert_ne!(sealed, seal.seal("job 1", "hunter2"), "a new nonce each time");
        assert_eq!(again.unseal("job 1", &sealed).as_deref(), Some("hunter2"));
        assert_eq!(again.unseal("job 2", &sealed), None);
        assert_eq!(other.unseal("job 1", &sealed), None);
        assert_eq!(seal.unseal("job 1", b"short"), None);
    }
}
