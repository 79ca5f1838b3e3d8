//! What a client has open.

use std::collections::HashMap;
use std::fs::{self, File, OpenOptions, ReadDir};
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::super::listing;
use super::super::wire::{Attributes, Content, Packet, kind, mode};
use super::{Answer, Refusal};

/// The most that may be open at the same time.
const MOST: usize = 512;

/// Entries of a folder told at once, and the bytes after which no further one is added.
const ENTRIES: (u32, usize) = (128, 64 << 10);

/// Open files and folders by the names that the client knows them by.
#[derive(Debug, Default)]
pub(super) struct Handles {
    open: HashMap<[u8; 4], Open>,
    last: u32,
}

#[derive(Debug)]
enum Open {
    File(File),
    Folder(PathBuf, ReadDir),
}

impl Handles {
    /// Opens a file.
    pub(super) fn open(&mut self, id: u32, content: &mut Content<'_>) -> Answer {
        let (path, how, attributes) = (content.path()?, content.number()?, content.attributes()?);
        let has = |flag| how & flag != 0;
        let file = OpenOptions::new()
            .read(has(mode::READ))
            .write(has(mode::WRITE))
            .append(has(mode::APPEND))
            .create(has(mode::CREATE))
            .create_new(has(mode::CREATE) && has(mode::EXCLUSIVE))
            .truncate(has(mode::TRUNCATE) && !has(mode::APPEND))
            .mode(attributes.permissions.unwrap_or(0o666) & 0o7777)
            .open(path)?;
        self.keep(id, Open::File(file))
    }

    /// Opens a folder.
    pub(super) fn open_folder(&mut self, id: u32, path: &Path) -> Answer {
        let entries = fs::read_dir(path)?;
        self.keep(id, Open::Folder(path.to_owned(), entries))
    }

    fn keep(&mut self, id: u32, open: Open) -> Answer {
        if self.open.len() >= MOST {
            return Err(io::Error::other("too many open files").into());
        }
        self.last = self.last.wrapping_add(1);
        let handle = self.last.to_be_bytes();
        self.open.insert(handle, open);
        Ok(Packet::numbered(kind::HANDLE, id).bytes(handle))
    }

    /// Closes either.
    pub(super) fn close(&mut self, content: &mut Content<'_>) -> Result<(), Refusal> {
        let handle = handle(content)?;
        self.open.remove(&handle).map(drop).ok_or_else(unknown)
    }

    /// An open file.
    pub(super) fn file(&self, content: &mut Content<'_>) -> Result<&File, Refusal> {
        match self.open.get(&handle(content)?) {
            Some(Open::File(file)) => Ok(file),
            Some(Open::Folder(..)) | None => Err(unknown()),
        }
    }

    /// The next entries of an open folder.
    pub(super) fn read_folder(&mut self, id: u32, content: &mut Content<'_>) -> Answer {
        let Some(Open::Folder(path, entries)) = self.open.get_mut(&handle(content)?) else {
            return Err(unknown());
        };
        let mut names: Vec<(Vec<u8>, Attributes, u64)> = Vec::new();
        let mut bytes = 0;
        while names.len() < ENTRIES.0 as usize && bytes < ENTRIES.1 {
            let Some(entry) = entries.next().transpose()? else { break };
            let name = entry.file_name().as_bytes().to_owned();
            // An entry that is gone meanwhile is none any more.
            if let Ok(metadata) = fs::symlink_metadata(path.join(entry.file_name())) {
                bytes += 2 * name.len() + 100;
                names.push((name, (&metadata).into(), metadata.nlink()));
            }
        }
        if names.is_empty() {
            return Err(Refusal::End);
        }
        let count = u32::try_from(names.len()).unwrap_or(ENTRIES.0);
        let packet = Packet::numbered(kind::NAME, id).number(count);
        Ok(names.iter().fold(packet, |packet, (name, attributes, links)| {
            let line = listing::line(name, attributes, *links);
            packet.bytes(name).bytes(line).attributes(attributes)
        }))
    }
}

fn handle(content: &mut Content<'_>) -> Result<[u8; 4], Refusal> {
    content.bytes()?.try_into().map_err(|_| unknown())
}

fn unknown() -> Refusal {
    io::Error::other("no such handle").into()
}
