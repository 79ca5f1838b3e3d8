//! The program that runs beside each task in its container: how it gets there and what it is told.

use bytes::Bytes;
use engine::Volume;
use protocol::epoch::Epoch;
use protocol::guest::{CODE, GuestConfig, GuestLease, GuestPeer, GuestSsh};
use protocol::ids::{JobId, JobKey};
use protocol::placement::TaskPlacement;
use protocol::spec::JobSpec;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

use crate::container::code;
use crate::secrets::keys::{self, Pair};
use crate::secrets::sealing::Seal;

/// The kernel takes no variable longer than 128 KiB.
const LONGEST: usize = 120_000;

/// So long a failed task of a job with `isDebug` is kept, unless it is stopped before: a day, so that
/// what fails at night is looked into in the morning.
const KEPT_SECS: u64 = 24 * 60 * 60;

/// Other names of the program, by which it is a client for images that have none.
const CLIENTS: [&str; 2] = ["ssh", "scp"];

/// The program, as the nodes' engines get it.
#[derive(Debug)]
pub(crate) struct Guest {
    /// Named after what is in it, so that containers of before an upgrade keep theirs.
    pub(crate) volume: Volume,
    pub(crate) archive: Bytes,
}

impl Guest {
    pub(crate) fn new(
        (installation, epoch): (&str, Epoch),
        program: &[u8],
    ) -> std::io::Result<Self> {
        let hash = hex::encode(&Sha256::digest(program)[..6]);
        let volume = Volume {
            name: format!("berth-{installation}-guest-{hash}"),
            cluster: installation.to_owned(),
            attempt: None,
            epoch,
        };
        Ok(Self { volume, archive: archive(program)?.into() })
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

/// All tasks of a job, for each to be told of. A job of thousands of tasks is told of none, since
/// they would not fit a variable.
pub(crate) fn peers(spec: &JobSpec, places: &[TaskPlacement]) -> Vec<GuestPeer> {
    let peers: Vec<_> = places.iter().filter_map(|place| peer(spec, place)).collect();
    let length = serde_json::to_string(&peers).map_or(usize::MAX, |told| told.len());
    if length > LONGEST { Vec::new() } else { peers }
}

/// What a task's guest is told, as JSON; of its [`peers`] only if it fits a variable with them.
/// `own_network`: nobody else is in the container's. `admitted` are public keys that may enter besides
/// the job's own.
pub(crate) fn told(
    seal: &Seal,
    job: (JobId, &JobKey, &JobSpec),
    place: (&TaskPlacement, &[GuestPeer], bool),
    command: String,
    (admitted, lease): (Vec<String>, Option<GuestLease>),
) -> String {
    let mut config = GuestConfig { lease, ..config(seal, job, place, command, admitted) };
    let told = json(&config);
    match &mut config.ssh {
        Some(ssh) if told.len() > LONGEST => {
            ssh.peers.clear();
            json(&config)
        }
        Some(_) | None => told,
    }
}

fn json(config: &GuestConfig) -> String {
    serde_json::to_string(config).expect("texts and numbers can always be written")
}

fn config(
    seal: &Seal,
    job: (JobId, &JobKey, &JobSpec),
    (mine, peers, own_network): (&TaskPlacement, &[GuestPeer], bool),
    command: String,
    admitted: Vec<String>,
) -> GuestConfig {
    let (id, key, spec) = job;
    let ssh = mine.ssh_port().map(|port| {
        let entry = keys::private_key(seal, id, key, Pair::Entry);
        let host = keys::private_key(seal, id, key, Pair::Host);
        GuestSsh {
            port,
            host_key: keys::openssh(&host),
            job_key: keys::openssh(&entry),
            authorized_keys: [keys::public_line(&entry)].into_iter().chain(admitted).collect(),
            peers: peers.to_vec(),
        }
    });
    GuestConfig {
        command,
        ports: mine.ports.values().flatten().copied().collect(),
        start_in: code::starts_inside(spec).then(|| CODE.to_owned()),
        code_name: code::own_name(spec),
        keep_on_failure_secs: spec.debug.then_some(KEPT_SECS),
        own_network,
        ssh,
        lease: None,
    }
}

fn peer(spec: &JobSpec, place: &TaskPlacement) -> Option<GuestPeer> {
    let role = spec.roles.get(place.role as usize)?;
    Some(GuestPeer {
        alias: format!("{}-{}", role.name, place.index),
        address: place.address.clone(),
        port: place.ssh_port()?,
    })
}

#[cfg(test)]
pub(crate) mod tests {
    use std::collections::BTreeMap;

    use super::*;

    pub(crate) fn spec(tasks: u32) -> JobSpec {
        let text = format!(
            r#"{{"jobName": "big", "image": "i", "taskRoles": [{{"name": "worker",
                "taskNumber": {tasks}, "cpuNumber": 1, "memoryMB": 100, "gpuNumber": 0,
                "command": "true"}}]}}"#
        );
        protocol::parse::parse(&text).unwrap().spec
    }

    fn told(tasks: u32) -> GuestConfig {
        let folder = tempfile::tempdir().unwrap();
        let seal = Seal::open(&folder.path().join("key")).unwrap();
        let spec = spec(tasks);
        let key = JobKey { user: "alice".parse().unwrap(), name: "big".parse().unwrap() };
        let ports = BTreeMap::from([("ssh".parse().unwrap(), vec![20_022])]);
        let places: Vec<_> = (0..tasks)
            .map(|index| TaskPlacement {
                role: 0,
                index,
                node: "node-1".parse().unwrap(),
                address: "10.0.0.1".into(),
                gpus: Vec::new(),
                ports: ports.clone(),
            })
            .collect();
        let job = (JobId(1), &key, &spec);
        let text = super::told(
            &seal,
            job,
            (&places[0], &peers(&spec, &places), false),
            "true".into(),
            (Vec::new(), None),
        );
        assert!(text.len() <= LONGEST);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_task_is_told_of_the_others_as_long_as_they_fit() {
        let few = told(3).ssh.unwrap();
        let aliases: Vec<_> = few.peers.iter().map(|peer| peer.alias.as_str()).collect();
        assert_eq!((few.port, aliases), (20_022, vec!["worker-0", "worker-1", "worker-2"]));
        let many = told(5_000).ssh.unwrap();
        assert_eq!((many.port, many.peers.len()), (20_022, 0));
        assert_eq!(many.authorized_keys.len(), 1);
    }
}
