//! The program itself, packed once for all engines.

use bytes::Bytes;
use engine::Volume;
use protocol::architecture::Architecture;
use protocol::epoch::Epoch;
use sha2::{Digest, Sha256};
use tar::{Builder, EntryType, Header};

/// Other names of the program, by which it is a client for images that have none.
const CLIENTS: [&str; 2] = ["ssh", "scp"];

/// The program, as the nodes' engines get it.
#[derive(Debug)]
pub(crate) struct Guest {
    /// Named after what is in it, so that containers of before an upgrade keep theirs.
    pub(crate) volume: Volume,
    pub(crate) archive: Bytes,
    /// What it is made for; `None`: for whatever runs it.
    architecture: Option<Architecture>,
}

impl Guest {
    fn new((installation, epoch): (&str, Epoch), program: &[u8]) -> std::io::Result<Self> {
        let hash = hex::encode(&Sha256::digest(program)[..6]);
        let volume = Volume {
            name: format!("berth-{installation}-guest-{hash}"),
            cluster: installation.to_owned(),
            attempt: None,
            epoch,
        };
        let architecture = Architecture::of_program(program);
        Ok(Self { volume, archive: archive(program)?.into(), architecture })
    }
}

/// The programs, one for each kind of processor.
#[derive(Debug)]
pub(crate) struct Guests(Vec<Guest>);

impl Guests {
    pub(crate) fn new(
        (installation, epoch): (&str, Epoch),
        programs: &[Bytes],
    ) -> std::io::Result<Self> {
        let guests = programs.iter().map(|program| Guest::new((installation, epoch), program));
        guests.collect::<std::io::Result<_>>().map(Self)
    }

    /// Whether there is one for any node.
    pub(crate) fn are_there(&self) -> bool {
        !self.0.is_empty()
    }

    /// The one for a node with such processors; where its engine does not say what it has, the first.
    pub(crate) fn on(&self, node: Option<&Architecture>) -> Option<&Guest> {
        self.0.iter().find(|guest| match (&guest.architecture, node) {
            (Some(made), Some(node)) => made == node,
            (None, _) | (_, None) => true,
        })
    }

    /// Why a node with such processors runs no task, where others do.
    pub(crate) fn problem(&self, node: Option<&Architecture>) -> Option<String> {
        let node = node.filter(|_| self.are_there() && self.on(node).is_none())?;
        Some(format!(
            "there is no guest for {node}: install a Berth that was built with one for it"
        ))
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

#[cfg(test)]
mod tests {
    use super::*;

    fn guests(machines: &[u8]) -> Guests {
        let program = |machine: &u8| {
            let head = b"\x7fELF\x02\x01\x01\0\0\0\0\0\0\0\0\0\x03\0".to_vec();
            Bytes::from([head, vec![*machine, 0, 1]].concat())
        };
        let programs: Vec<Bytes> = machines.iter().map(program).collect();
        Guests::new(("c", Epoch::default()), &programs).unwrap()
    }

    #[test]
    fn a_node_has_the_program_for_its_processors() {
        let [intel, arm] = ["x86_64", "aarch64"].map(|name| Architecture::new(name).unwrap());
        let both = guests(&[0x3e, 0xb7]);
        let on = |node| both.on(node).and_then(|guest| guest.architecture.clone());
        assert_eq!(on(Some(&intel)), Some(intel.clone()));
        assert_eq!(on(Some(&arm)), Some(arm.clone()));
        assert_eq!(on(None), Some(intel.clone()), "most nodes are such");
        assert_ne!(both.0[0].volume.name, both.0[1].volume.name);
        assert_eq!(both.problem(Some(&arm)), None);

        let one = guests(&[0x3e]);
        assert!(one.on(Some(&arm)).is_none());
        let problem = one.problem(Some(&arm)).unwrap();
        assert!(problem.starts_with("there is no guest for aarch64"), "{problem}");
        assert_eq!((one.problem(Some(&intel)), one.problem(None)), (None, None));
        assert_eq!(guests(&[]).problem(Some(&arm)), None, "a shell runs the commands everywhere");
    }
}
