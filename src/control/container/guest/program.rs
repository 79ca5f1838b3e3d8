//! The program itself, packed once for all engines.

use bytes::Bytes;
use engine::Volume;
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
