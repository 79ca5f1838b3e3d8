//! The key pairs of jobs: one by which people and the job's own tasks enter its tasks, one by which
//! the tasks are known to those who enter.
//!
//! They are not stored. Each is worked out from the installation's own key and the job's id, so
//! that there is nothing at rest to be read, and a job has its pair from the moment it is stored.

use api::ssh::KeyPair;
use protocol::ids::{JobId, JobKey};
use ssh_key::private::{Ed25519Keypair, Ed25519PrivateKey};
use ssh_key::{LineEnding, PrivateKey};

use crate::secrets::sealing::Seal;

mod putty;

/// Which of a job's pairs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Pair {
    /// Opens the job's tasks.
    Entry,
    /// Tells that a task is the job's.
    Host,
}

impl Pair {
    fn context(self, job: JobId) -> String {
        match self {
            Self::Entry => format!("ssh entry key of job {job}"),
            Self::Host => format!("ssh host key of job {job}"),
        }
    }
}

/// A job's key, with the job's name as its comment.
pub(crate) fn private_key(seal: &Seal, job: JobId, key: &JobKey, pair: Pair) -> PrivateKey {
    let seed = seal.derive(&pair.context(job));
    let keys = Ed25519Keypair::from(Ed25519PrivateKey::from_bytes(&seed));
    let mut private = PrivateKey::from(keys);
    private.set_comment(key.to_string());
    private
}

/// Both halves in the forms that clients read.
pub(crate) fn pair(seal: &Seal, job: JobId, key: &JobKey) -> KeyPair {
    let private = private_key(seal, job, key, Pair::Entry);
    KeyPair {
        file_name: key.to_string(),
        public: public_line(&private),
        private: openssh(&private),
        putty: putty::file(&private),
    }
}

/// The private half as OpenSSH writes it.
pub(crate) fn openssh(private: &PrivateKey) -> String {
    let text = private.to_openssh(LineEnding::LF);
    text.expect("an ed25519 key without a passphrase can be written").to_string()
}

/// The public half as one line.
pub(crate) fn public_line(private: &PrivateKey) -> String {
    let line = private.public_key().to_openssh();
    line.expect("the public half of an ed25519 key can be written")
}

/// The public half as one line without a comment: what a list of known hosts has.
pub(crate) fn host_line(private: &PrivateKey) -> String {
    let mut public = private.public_key().clone();
    public.set_comment("");
    public.to_openssh().expect("the public half of an ed25519 key can be written")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seal() -> (tempfile::TempDir, Seal) {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::open(&folder.path().join("key")).unwrap();
        (folder, seal)
    }

    fn key() -> JobKey {
        JobKey { user: "alice".parse().unwrap(), name: "tf1".parse().unwrap() }
    }

    #[test]
    fn a_job_keeps_its_pairs_and_shares_them_with_nobody() {
        let (folder, seal) = seal();
        let again = Seal::open(&folder.path().join("key")).unwrap();
        let mine = pair(&seal, JobId(1), &key());
        assert_eq!(pair(&again, JobId(1), &key()), mine);
        assert_ne!(pair(&seal, JobId(2), &key()).public, mine.public);
        let host = private_key(&seal, JobId(1), &key(), Pair::Host);
        assert_ne!(public_line(&host), mine.public);
        let (_other_folder, other) = self::seal();
        assert_ne!(pair(&other, JobId(1), &key()).public, mine.public);
    }

    #[test]
    fn all_forms_hold_the_same_key() {
        let (_folder, seal) = seal();
        let keys = pair(&seal, JobId(1), &key());
        let private = PrivateKey::from_openssh(&keys.private).unwrap();
        assert_eq!(public_line(&private), keys.public);
        assert!(keys.public.starts_with("ssh-ed25519 ") && keys.public.ends_with(" alice~tf1"));
        let putty = PrivateKey::from_ppk(&keys.putty, None).unwrap();
        assert_eq!(putty.key_data(), private.key_data());
    }
}
