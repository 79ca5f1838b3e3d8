//! The program that runs beside each task in its container: what it is told.

use std::collections::BTreeSet;
use std::fmt;

use protocol::environment::stripped;
use protocol::guest::{CODE, GuestConfig, GuestLease, GuestPeer, GuestSsh};
use protocol::ids::{JobId, JobKey};
use protocol::placement::TaskPlacement;
use protocol::spec::JobSpec;

use crate::container::code;
use crate::secrets::keys::{self, Pair};
use crate::secrets::sealing::Seal;

pub(crate) mod exit;
pub(crate) mod program;

/// The kernel takes no variable longer than 128 KiB.
const LONGEST: usize = 120_000;

/// So long a failed task of a job with `isDebug` is kept, unless it is stopped before: a day, so that
/// what fails at night is looked into in the morning.
const KEPT_SECS: u64 = 24 * 60 * 60;

/// All tasks of a job, for each to be told of, under OpenPAI's names for them as well (`psserver-0` of
/// `ps_server`). A job of thousands of tasks is told of none, since they would not fit a variable.
pub(crate) fn peers(spec: &JobSpec, places: &[TaskPlacement]) -> Vec<GuestPeer> {
    let own: Vec<_> = places.iter().filter_map(|place| peer(spec, place)).collect();
    let mut all = own.clone();
    let mut known: BTreeSet<_> = own.iter().map(|peer| peer.alias.clone()).collect();
    for peer in places.iter().filter_map(|place| renamed(spec, place)) {
        if known.insert(peer.alias.clone()) {
            all.push(peer);
        }
    }
    let length =
        |peers: &[GuestPeer]| serde_json::to_string(peers).map_or(usize::MAX, |told| told.len());
    // What else is told needs its room, too: rather the own names alone than none.
    if length(&all) <= LONGEST / 2 {
        all
    } else if length(&own) <= LONGEST {
        own
    } else {
        Vec::new()
    }
}

/// A job's key pairs as its tasks' guests are told of them: worked out once, however many tasks it has.
pub(crate) struct JobKeys {
    host: String,
    entry: String,
    /// The public half of the entry.
    line: String,
}

/// They are secrets.
impl fmt::Debug for JobKeys {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JobKeys")
    }
}

impl JobKeys {
    pub(crate) fn of(seal: &Seal, job: JobId, key: &JobKey) -> Self {
        let host = keys::private_key(seal, job, key, Pair::Host);
        let entry = keys::private_key(seal, job, key, Pair::Entry);
        Self {
            host: keys::openssh(&host),
            line: keys::public_line(&entry),
            entry: keys::openssh(&entry),
        }
    }
}

/// What a task's guest is told, as JSON; of its [`peers`] only if it fits a variable with them.
/// `own_network`: nobody else is in the container's. `admitted` are public keys that may enter besides
/// the job's own.
pub(crate) fn told(
    (spec, keys): (&JobSpec, &JobKeys),
    place: (&TaskPlacement, &[GuestPeer], bool),
    (run, command): (String, String),
    (admitted, lease): (Vec<String>, Option<GuestLease>),
) -> String {
    let mut config =
        GuestConfig { run: Some(run), lease, ..config((spec, keys), place, command, admitted) };
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
    (spec, keys): (&JobSpec, &JobKeys),
    (mine, peers, own_network): (&TaskPlacement, &[GuestPeer], bool),
    command: String,
    admitted: Vec<String>,
) -> GuestConfig {
    let ssh = mine.ssh_port().map(|port| GuestSsh {
        port,
        host_key: keys.host.clone(),
        job_key: keys.entry.clone(),
        authorized_keys: [keys.line.clone()].into_iter().chain(admitted).collect(),
        peers: peers.to_vec(),
    });
    GuestConfig {
        command,
        ports: mine.ports.values().flatten().copied().collect(),
        start_in: code::starts_inside(spec).then(|| CODE.to_owned()),
        code_name: code::own_name(spec),
        keep_on_failure_secs: spec.debug.then_some(KEPT_SECS),
        own_network,
        ssh,
        run: None,
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

/// The task under the name that OpenPAI gave it, where it is another one.
fn renamed(spec: &JobSpec, place: &TaskPlacement) -> Option<GuestPeer> {
    let own = spec.roles.get(place.role as usize)?.name.as_str();
    let role = stripped(own);
    let is_other = !role.is_empty() && role != own;
    let alias = is_other.then(|| format!("{role}-{}", place.index))?;
    Some(GuestPeer { alias, ..peer(spec, place)? })
}

#[cfg(test)]
pub(crate) mod tests {
    use protocol::placement::TaskPorts;

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
        let ports = TaskPorts::from([("ssh".parse().unwrap(), vec![20_022])]);
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
        let keys = JobKeys::of(&seal, JobId(1), &key);
        let text = super::told(
            (&spec, &keys),
            (&places[0], &peers(&spec, &places), false),
            ("run".into(), "true".into()),
            (Vec::new(), None),
        );
        assert!(text.len() <= LONGEST);
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn tasks_are_known_by_openpais_names_as_well() {
        let mut spec = spec(2);
        let place = |role, index| TaskPlacement {
            role,
            index,
            node: "node-1".parse().unwrap(),
            address: "10.0.0.1".into(),
            gpus: Vec::new(),
            ports: TaskPorts::from([("ssh".parse().unwrap(), vec![20_022])]),
        };
        let first = spec.roles[0].clone();
        spec.roles = ["ps_server", "psserver", "~"]
            .map(|name| protocol::spec::TaskRole { name: name.parse().unwrap(), ..first.clone() })
            .to_vec();
        let places = [place(0, 0), place(0, 1), place(1, 0), place(2, 0)];
        let peers = peers(&spec, &places);
        let aliases: Vec<_> = peers.iter().map(|peer| peer.alias.as_str()).collect();
        assert_eq!(aliases, ["ps_server-0", "ps_server-1", "psserver-0", "~-0", "psserver-1"]);
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
