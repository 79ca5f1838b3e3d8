//! What the guest, the program that runs beside a task in its container, is told and what it tells.
//! The one is a variable or a JSON file, the other a JSON file in [`FOLDER`].

use std::fmt;

use serde::{Deserialize, Serialize};

/// The guest's folder in every container: [`PROGRAMS`], [`AUTHORIZED_KEYS`], and what the guest
/// makes of what it is told.
pub const FOLDER: &str = "/.berth";

/// The folder of programs in it, the same for all containers of a node; the last of the `PATH`.
pub const PROGRAMS: &str = "/.berth/bin";

/// The guest itself.
pub const PROGRAM: &str = "/.berth/bin/guest";

/// The variable with the [`GuestConfig`] as JSON. Only the guest sees it.
pub const VARIABLE: &str = "BERTH_TASK";

/// The file with the [`GuestConfig`] where there is no [`VARIABLE`], readable by its owner only.
pub const CONFIG: &str = "task.json";

/// The public keys that may enter, one a line, as OpenSSH writes them. Read anew whenever somebody
/// wants to enter, so that it may change while the task runs.
pub const AUTHORIZED_KEYS: &str = "authorized_keys";

/// What the folder with the job's code is called, in the folder that the image starts in.
pub const CODE: &str = "code";

/// The file with the [`GuestExit`], written when the command has ended.
pub const EXIT: &str = "exit.json";

/// The host by which a forwarded connection is led to a port that the task's own programs listen at,
/// and to nobody else's. No name of a real host ends so.
pub const OWN_HOST: &str = "task.berth.invalid";

/// What the guest says, after the port's number, when a port that the task was given is somebody
/// else's. Nothing of the task has been started then.
pub const PORT_TAKEN: &str = "is taken by another program on this node";

/// How the guest begins to say why it cannot work. Nothing of the task has been started then.
pub const CANNOT_BEGIN: &str = "cannot begin";

/// The file with the [`GuestConfig::run`] that has begun in this container.
pub const BEGUN: &str = "begun";

/// What the guest says, last of all, when its task has begun in this container before. An engine that was killed while
/// it started a container may know nothing of that, and starts it again when it is told to. Nothing of the task is
/// started then.
pub const BEGUN_BEFORE: &str =
    "cannot begin: it has begun in this container before, which its engine does not know";

/// The guest's exit code when nothing of the task has been started, as Docker has it.
pub const UNUSABLE_CODE: u8 = 125;

/// What the guest says, last of all, when the task's command was started and has ended with that code by
/// itself.
pub const COMMAND_UNUSABLE: &str =
    "the command was started, and ended with exit code 125 by itself";

/// What the guest says, last of all, when the kernel has ended a process of the command for the memory of
/// the node, and not for the container's own limit.
pub const NODE_MEMORY: &str = "this node's memory ran out, and the kernel ended a process for it";

/// What it says last instead when the command has ended as if so.
pub const NODE_HAD_MEMORY: &str =
    "the command ended with exit code 137, and not for this node's memory as far as is known";

/// Before the block of the other tasks in an OpenSSH client's configuration.
pub const PEERS_BEGIN: &str =
    "# Berth: the tasks of this job. Between these lines everything is replaced.\n";

/// After it.
pub const PEERS_END: &str = "# Berth: end.\n";

/// A configuration without that block.
#[must_use]
pub fn without_peers(text: &str) -> String {
    let Some((before, rest)) = text.split_once(PEERS_BEGIN) else { return text.to_owned() };
    let after = rest.split_once(PEERS_END).map_or("", |(_, after)| after);
    format!("{before}{after}")
}

/// What to run in a container and how to be reached there.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestConfig {
    /// The user's text, for a shell.
    pub command: String,
    /// Which run of a task it is: that of this name begins once in a container. None else has the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub run: Option<String>,
    /// The folder that the command starts in, from the image's own; `None`: that one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub start_in: Option<String>,
    /// Another name of the folder [`CODE`], beside it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code_name: Option<String>,
    /// For how many seconds a failed command's container is kept for looking into it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub keep_on_failure_secs: Option<u64>,
    /// The task's ports. The command is started only if all of them are free.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub ports: Vec<u16>,
    /// The container's network is its own: nobody else listens there.
    #[serde(default)]
    pub own_network: bool,
    /// How to be reached; `None`: not at all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ssh: Option<GuestSsh>,
    /// Its lease, by which it is reached where its SSH server listens; `None`: it runs on without a word
    /// from its server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lease: Option<GuestLease>,
}

/// For how long a task runs on without a word from its server: see [`crate::lease`].
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestLease {
    /// So long.
    pub seconds: u64,
    /// What server and guest know each other by. No other task has the same.
    pub key: Vec<u8>,
}

/// A task's SSH server and the other tasks of its job.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestSsh {
    /// Where the server listens, on every address.
    pub port: u16,
    /// The server's private key, in OpenSSH's form without a passphrase. All tasks of a job have
    /// the same, so that each knows the others.
    pub host_key: String,
    /// The private key with which the tasks of the job enter each other, in the same form.
    pub job_key: String,
    /// The public keys that may enter, as OpenSSH writes them: what [`AUTHORIZED_KEYS`] begins as.
    #[serde(default)]
    pub authorized_keys: Vec<String>,
    /// All tasks of the job.
    #[serde(default)]
    pub peers: Vec<GuestPeer>,
}

/// A task of the same job.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GuestPeer {
    /// Its name among its own: `<role>-<index>`.
    pub alias: String,
    /// The IP address of its node.
    pub address: String,
    /// Where its SSH server listens.
    pub port: u16,
}

/// How a task's command ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct GuestExit {
    /// The exit code. A signal N is 128 + N.
    pub code: i32,
    /// The signal that ended it, if one did.
    pub signal: Option<i32>,
}

/// The command may hold secrets.
impl fmt::Debug for GuestConfig {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GuestConfig")
            .field("start_in", &self.start_in)
            .field("keep_on_failure_secs", &self.keep_on_failure_secs)
            .field("ssh", &self.ssh)
            .field("lease", &self.lease)
            .finish_non_exhaustive()
    }
}

/// The key is nobody's business.
impl fmt::Debug for GuestLease {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GuestLease").field("seconds", &self.seconds).finish_non_exhaustive()
    }
}

/// The private keys are nobody's business.
impl fmt::Debug for GuestSsh {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("GuestSsh")
            .field("port", &self.port)
            .field("peers", &self.peers)
            .finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn config() -> GuestConfig {
        GuestConfig {
            command: "python train.py --token s3cret".into(),
            run: Some("berth-c1f0-42-a1-r0-t7-n2".into()),
            start_in: Some("code".into()),
            code_name: Some("benchmarks".into()),
            keep_on_failure_secs: Some(3600),
            ports: vec![30022],
            own_network: true,
            ssh: Some(GuestSsh {
                port: 30022,
                host_key: "host s3cret".into(),
                job_key: "job s3cret".into(),
                authorized_keys: vec!["ssh-ed25519 AAAA alice~tf1".into()],
                peers: vec![GuestPeer {
                    alias: "worker-0".into(),
                    address: "10.0.0.1".into(),
                    port: 30022,
                }],
            }),
            lease: Some(GuestLease { seconds: 600, key: vec![77; 32] }),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let text = serde_json::to_string(&config()).unwrap();
        assert_eq!(serde_json::from_str::<GuestConfig>(&text).unwrap(), config());
        let exit = GuestExit { code: 143, signal: Some(15) };
        assert_eq!(serde_json::to_string(&exit).unwrap(), r#"{"code":143,"signal":15}"#);
    }

    #[test]
    fn a_command_alone_is_enough() {
        let short: GuestConfig = serde_json::from_str(r#"{"command":"true"}"#).unwrap();
        assert_eq!(short.command, "true");
        assert_eq!((short.ports.len(), short.own_network), (0, false));
        assert_eq!((short.start_in, short.keep_on_failure_secs, short.ssh), (None, None, None));
        assert_eq!(short.lease, None);
    }

    #[test]
    fn secrets_are_not_shown() {
        let shown = format!("{:?}", config());
        assert!(shown.contains("worker-0") && !shown.contains("s3cret"), "{shown}");
        assert!(shown.contains("600") && !shown.contains("77"), "{shown}");
    }
}
