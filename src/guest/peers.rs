//! The other tasks of the job, made known to an OpenSSH client of the image: `ssh worker-0`.
//!
//! A block with one entry a task is kept at the top of the user's own configuration. It is written
//! out rather than included: clients before 7.3 cannot include.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt;
use std::path::Path;

use protocol::guest::{GuestSsh, PEERS_BEGIN, PEERS_END, without_peers};
use russh::keys::PrivateKey;

use crate::environment;
use crate::folder::{Folder, write};

/// Why they cannot be made known.
#[derive(Debug, thiserror::Error)]
pub(crate) enum PeersError {
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] io::Error),
    /// The server's key is none.
    #[error("the host key: {0}")]
    HostKey(#[from] russh::keys::ssh_key::Error),
}

/// Writes key, known hosts and both configurations.
pub(crate) fn announce(folder: &Folder, ssh: &GuestSsh) -> Result<(), PeersError> {
    folder.link_clients()?;
    write(&folder.key(), ssh.job_key.as_bytes(), 0o600)?;
    let host_key = PrivateKey::from_openssh(&ssh.host_key)?;
    let public = host_key.public_key().to_openssh()?;
    write(&folder.known_hosts(), format!("* {public}\n").as_bytes(), 0o644)?;
    let entries = entries(folder, ssh);
    write(&folder.ssh_config(), entries.as_bytes(), 0o644)?;
    Ok(amend(&environment::home().join(".ssh"), &entries)?)
}

/// The entries of all tasks, and a last one that lets what follows hold for every host again.
fn entries(folder: &Folder, ssh: &GuestSsh) -> String {
    let mut text = String::new();
    for peer in &ssh.peers {
        let (alias, address, port) = (&peer.alias, &peer.address, peer.port);
        // Writing to a string cannot fail.
        let _ = writeln!(text, "Host {alias}\n  HostName {address}\n  Port {port}");
    }
    if !ssh.peers.is_empty() {
        let aliases: Vec<&str> = ssh.peers.iter().map(|peer| peer.alias.as_str()).collect();
        let (key, hosts) = (folder.key(), folder.known_hosts());
        let _ = write!(
            text,
            "Host {}\n  User root\n  IdentityFile {}\n  UserKnownHostsFile {}\n  \
             StrictHostKeyChecking yes\n  LogLevel ERROR\nHost *\n",
            aliases.join(" "),
            key.display(),
            hosts.display(),
        );
    }
    text
}

/// Puts the entries at the top of the user's configuration.
fn amend(ssh: &Path, entries: &str) -> io::Result<()> {
    fs::DirBuilder::new().recursive(true).mode(0o700).create(ssh)?;
    let path = ssh.join("config");
    let before = match fs::read_to_string(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
        other => other?,
    };
    let after = format!("{PEERS_BEGIN}{entries}{PEERS_END}{}", without_peers(&before));
    if after == before { Ok(()) } else { write(&path, after.as_bytes(), 0o600) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_block_is_replaced_and_the_rest_kept() {
        let folder = tempfile::tempdir().unwrap();
        let ssh = folder.path().join(".ssh");
        fs::create_dir(&ssh).unwrap();
        let path = ssh.join("config");
        fs::write(&path, "Host mine\n  Port 7\n").unwrap();
        amend(&ssh, "Host a-0\n").unwrap();
        amend(&ssh, "Host b-0\n").unwrap();
        let expected = format!("{PEERS_BEGIN}Host b-0\n{PEERS_END}Host mine\n  Port 7\n");
        assert_eq!(fs::read_to_string(&path).unwrap(), expected);
    }
}
