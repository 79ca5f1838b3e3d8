//! The ways into a job's containers.

use async_trait::async_trait;
use protocol::ids::{JobKey, RoleName};
use protocol::state::State;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// What only the owner of a job and administrators are told.
#[async_trait]
pub trait Ssh: Send + Sync {
    /// How to enter the tasks of the job's current attempt.
    async fn access(&self, actor: &Actor, key: &JobKey) -> Result<SshAccess>;
    /// The actor's own public keys, oldest first: each opens all tasks of the actor's jobs.
    async fn public_keys(&self, actor: &Actor) -> Result<Vec<PublicKeyView>>;
    /// Adds a public key, in OpenSSH's form, with a name or else its comment; tasks that run take
    /// it as well.
    async fn add_public_key(&self, actor: &Actor, label: &str, key: &str) -> Result<PublicKeyView>;
    /// Removes one of the actor's public keys, from tasks that run as well.
    async fn remove_public_key(&self, actor: &Actor, id: i64) -> Result<()>;
}

/// A user's public key.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct PublicKeyView {
    /// What it is removed by.
    pub id: i64,
    /// What the user calls it.
    pub label: String,
    /// Its kind, as `ssh-ed25519`.
    pub kind: String,
    /// `SHA256:…`, as `ssh-keygen -l` shows it.
    pub fingerprint: String,
    /// Since when.
    pub created_at: Timestamp,
}

/// How a job's tasks are entered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshAccess {
    /// The user name in all containers.
    pub user: String,
    /// The job's own pair: it opens all its tasks and nothing else.
    pub keys: KeyPair,
    /// Where the keys lie in the storage, for those who fetch them from there.
    pub folder: String,
    /// The tasks that have been given their place, by role and index.
    pub tasks: Vec<SshTask>,
    /// The public key by which each of them is known, as one line without a comment.
    pub host_key: String,
}

/// One task's way in.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SshTask {
    /// Its role.
    pub role: RoleName,
    /// Its place in the role, from 0.
    pub index: u32,
    /// Its container's name.
    pub container: String,
    /// Where its node is reached.
    pub address: String,
    /// The port of its SSH server.
    pub port: u16,
    /// Whether it can be entered now: while it is RUNNING.
    pub state: State,
}

impl SshTask {
    /// Its name among the tasks of its job.
    #[must_use]
    pub fn alias(&self) -> String {
        format!("{}-{}", self.role, self.index)
    }
}

/// A key pair in the forms that clients read.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KeyPair {
    /// What the private key's file is called; the public one's ends in `.pub`, PuTTY's in `.ppk`.
    pub file_name: String,
    /// The public half, as one line.
    pub public: String,
    /// The private half as OpenSSH, PyCharm and VS Code read it.
    pub private: String,
    /// The private half as PuTTY, WinSCP and MobaXterm read it.
    pub putty: String,
}

/// The private half is not for logs.
impl std::fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("KeyPair").field("public", &self.public).finish_non_exhaustive()
    }
}
