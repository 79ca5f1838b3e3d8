//! The program that runs beside each task in its container: how it gets there and what it is told.

use bytes::Bytes;
use protocol::guest::{GuestConfig, GuestPeer, GuestSsh};
use protocol::ids::{JobId, JobKey, TaskKey};
use protocol::placement::TaskPlacement;
use protocol::spec::JobSpec;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::keys::{self, Pair};
use crate::sealing::Seal;

/// Other names of the program, by which it is a client for images that have none.
const CLIENTS: [&str; 2] = ["ssh", "scp"];

/// The program, as the nodes' engines get it.
#[derive(Debug)]
pub(crate) struct Guest {
    /// Named after what is in it, so that containers of before an upgrade keep theirs.
    pub(crate) volume: String,
    pub(crate) archive: Bytes,
}

impl Guest {
    pub(crate) fn new(program: &[u8]) -> std::io::Result<Self> {
        let hash = hex::encode(&Sha256::digest(program)[..6]);
        Ok(Self { volume: format!("berth-guest-{hash}"), archive: archive(program)?.into() })
    }
}

fn archive(program: &[u8]) -> std::io::Result<Vec<u8>> {
    let mut archive = Builder::new(Vec::new());
    let mut header = Header::new_gnu();
    header.set_mode(0o755);
    header.set_size(program.len() as u64);
    archive.append_data(&mut header, "guest", program)?;
    for name in CLIENTS {
        let mut header = Header::new_gnu();
        header.set_entry_type(EntryType::Symlink);
        header.set_mode(0o777);
        header.set_size(0);
        archive.append_link(&mut header, name, "guest")?;
    }
    archive.into_inner()
}

/// What a task's guest is told.
pub(crate) fn config(
    seal: &Seal,
    job: (JobId, &JobKey, &JobSpec),
    task: &TaskKey,
    places: &[TaskPlacement],
    command: String,
) -> GuestConfig {
    let (id, key, spec) = job;
    let mine = places.iter().find(|place| (place.role, place.index) == (task.role, task.index));
    let ssh = mine.and_then(TaskPlacement::ssh_port).map(|port| {
        let entry = keys::private_key(seal, id, key, Pair::Entry);
        let host = keys::private_key(seal, id, key, Pair::Host);
        GuestSsh {
            port,
            host_key: keys::openssh(&host),
            job_key: keys::openssh(&entry),
            authorized_keys: vec![keys::public_line(&entry)],
            peers: places.iter().filter_map(|place| peer(spec, place)).collect(),
        }
    });
    GuestConfig { command, start_in: None, keep_on_failure_secs: None, ssh }
}

fn peer(spec: &JobSpec, place: &TaskPlacement) -> Option<GuestPeer> {
    let role = spec.roles.get(place.role as usize)?;
    Some(GuestPeer {
        alias: format!("{}-{}", role.name, place.index),
        address: place.address.clone(),
        port: place.ssh_port()?,
    })
}
