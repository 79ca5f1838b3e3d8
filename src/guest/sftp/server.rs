//! Answering a client's requests, one after the other.

mod change;
mod handles;

use std::fs::{self, Metadata};
use std::io::{self, BufReader, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, FileExt, symlink};
use std::path::{Path, PathBuf};

use super::wire::{Attributes, Content, Malformed, Packet, kind, read, status};
use handles::Handles;

/// The version of the protocol.
const VERSION: u32 = 3;

/// The most bytes of a file in one packet.
const CHUNK: u32 = 255 << 10;

/// What we know beyond the version.
const EXTENSIONS: [(&str, &str); 4] = [
    ("posix-rename@openssh.com", "1"),
    ("hardlink@openssh.com", "1"),
    ("fsync@openssh.com", "1"),
    ("limits@openssh.com", "1"),
];

/// A server and what its client has open.
#[derive(Debug, Default)]
pub(super) struct Server {
    handles: Handles,
}

/// Why a request is not answered as hoped.
#[derive(Debug)]
enum Refusal {
    File(io::Error),
    Malformed,
    Unsupported,
    End,
}

impl From<io::Error> for Refusal {
    fn from(error: io::Error) -> Self {
        Self::File(error)
    }
}

impl From<rustix::io::Errno> for Refusal {
    fn from(error: rustix::io::Errno) -> Self {
        Self::File(error.into())
    }
}

impl From<Malformed> for Refusal {
    fn from(_: Malformed) -> Self {
        Self::Malformed
    }
}

type Answer = Result<Packet, Refusal>;

impl Server {
    /// Answers until the client ends.
    pub(super) fn run<I: Read>(
        mut self,
        mut input: BufReader<I>,
        mut output: impl Write,
    ) -> io::Result<()> {
        while let Some(request) = read(&mut input)? {
            self.answer(&request)?.write(&mut output)?;
            // Answers to requests that have come together go together.
            if input.buffer().is_empty() {
                output.flush()?;
            }
        }
        output.flush()
    }

    fn answer(&mut self, request: &[u8]) -> Result<Packet, Malformed> {
        let mut content = Content::new(request);
        let kind = content.kind()?;
        let id = content.number()?;
        if kind == kind::INIT {
            return Ok(version());
        }
        Ok(self.act(kind, id, &mut content).unwrap_or_else(|refusal| refusal.packet(id)))
    }

    fn act(&mut self, kind: u8, id: u32, content: &mut Content<'_>) -> Answer {
        match kind {
            kind::OPEN => self.handles.open(id, content),
            kind::CLOSE => self.handles.close(content).map(|()| ok(id)),
            kind::READ => self.read(id, content),
            kind::WRITE => self.write(id, content),
            kind::FSTAT => Ok(attributes(id, &self.handles.file(content)?.metadata()?)),
            kind::FSETSTAT => {
                let file = self.handles.file(content)?;
                change::file(file, &content.attributes()?)?;
                Ok(ok(id))
            }
            kind::OPENDIR => self.handles.open_folder(id, &content.path()?),
            kind::READDIR => self.handles.read_folder(id, content),
            kind::EXTENDED => self.extended(id, content),
            _ => by_path(kind, id, content),
        }
    }

    fn read(&self, id: u32, content: &mut Content<'_>) -> Answer {
        let file = self.handles.file(content)?;
        let (offset, wanted) = (content.long()?, content.number()?.min(CHUNK));
        let mut data = vec![0; wanted as usize];
        let count = file.read_at(&mut data, offset)?;
        if count == 0 && wanted > 0 {
            return Err(Refusal::End);
        }
        Ok(Packet::numbered(kind::DATA, id).bytes(&data[..count]))
    }

    fn write(&self, id: u32, content: &mut Content<'_>) -> Answer {
        let file = self.handles.file(content)?;
        let offset = content.long()?;
        file.write_all_at(content.bytes()?, offset)?;
        Ok(ok(id))
    }

    fn extended(&self, id: u32, content: &mut Content<'_>) -> Answer {
        match content.bytes()? {
            b"posix-rename@openssh.com" => fs::rename(content.path()?, content.path()?)?,
            b"hardlink@openssh.com" => fs::hard_link(content.path()?, content.path()?)?,
            b"fsync@openssh.com" => self.handles.file(content)?.sync_all()?,
            b"limits@openssh.com" => return Ok(limits(id)),
            _ => return Err(Refusal::Unsupported),
        }
        Ok(ok(id))
    }
}

/// Requests that name files by their paths.
fn by_path(kind: u8, id: u32, content: &mut Content<'_>) -> Answer {
    match kind {
        kind::STAT => return Ok(attributes(id, &fs::metadata(content.path()?)?)),
        kind::LSTAT => return Ok(attributes(id, &fs::symlink_metadata(content.path()?)?)),
        kind::REALPATH => return Ok(name(id, &real_path(&content.path()?)?)),
        kind::READLINK => return Ok(name(id, &fs::read_link(content.path()?)?)),
        kind::SETSTAT => change::path(&content.path()?, &content.attributes()?)?,
        kind::REMOVE => fs::remove_file(content.path()?)?,
        kind::MKDIR => make_folder(&content.path()?, &content.attributes()?)?,
        kind::RMDIR => fs::remove_dir(content.path()?)?,
        kind::RENAME => rename(&content.path()?, &content.path()?)?,
        // The order is OpenSSH's, whom all clients follow, and not the standard's.
        kind::SYMLINK => symlink(content.path()?, content.path()?)?,
        _ => return Err(Refusal::Unsupported),
    }
    Ok(ok(id))
}

fn make_folder(path: &Path, attributes: &Attributes) -> io::Result<()> {
    let mode = attributes.permissions.unwrap_or(0o777) & 0o7777;
    fs::DirBuilder::new().mode(mode).create(path)
}

/// Renames without replacing.
fn rename(from: &Path, to: &Path) -> Result<(), Refusal> {
    if fs::symlink_metadata(to).is_ok() {
        return Err(io::Error::from(io::ErrorKind::AlreadyExists).into());
    }
    Ok(fs::rename(from, to)?)
}

/// A path from the root without links, of which the last part may be missing.
fn real_path(path: &Path) -> io::Result<PathBuf> {
    let absolute = std::path::absolute(path)?;
    match (absolute.canonicalize(), absolute.parent(), absolute.file_name()) {
        (Ok(found), _, _) => Ok(found),
        (Err(_), Some(parent), Some(name)) => match parent.canonicalize() {
            Ok(parent) => Ok(parent.join(name)),
            Err(_) => Ok(absolute),
        },
        (Err(error), _, _) => Err(error),
    }
}

fn version() -> Packet {
    EXTENSIONS.iter().fold(Packet::new(kind::VERSION).number(VERSION), |packet, (name, version)| {
        packet.bytes(name).bytes(version)
    })
}

fn limits(id: u32) -> Packet {
    let chunk = u64::from(CHUNK);
    Packet::numbered(kind::EXTENDED_REPLY, id).long(256 << 10).long(chunk).long(chunk).long(0)
}

fn ok(id: u32) -> Packet {
    status_packet(id, status::OK, "")
}

fn status_packet(id: u32, code: u32, message: &str) -> Packet {
    Packet::numbered(kind::STATUS, id).number(code).bytes(message).bytes("en")
}

fn attributes(id: u32, metadata: &Metadata) -> Packet {
    Packet::numbered(kind::ATTRS, id).attributes(&metadata.into())
}

fn name(id: u32, path: &Path) -> Packet {
    let name = path.as_os_str().as_bytes();
    let packet = Packet::numbered(kind::NAME, id).number(1);
    packet.bytes(name).bytes(name).attributes(&Attributes::default())
}

impl Refusal {
    fn packet(&self, id: u32) -> Packet {
        match self {
            Self::File(error) => status_packet(id, code(error), &error.to_string()),
            Self::Malformed => status_packet(id, status::BAD_MESSAGE, "malformed request"),
            Self::Unsupported => status_packet(id, status::UNSUPPORTED, "unsupported request"),
            Self::End => status_packet(id, status::EOF, "end of file"),
        }
    }
}

fn code(error: &io::Error) -> u32 {
    match error.kind() {
        io::ErrorKind::NotFound => status::NO_SUCH_FILE,
        io::ErrorKind::PermissionDenied => status::PERMISSION_DENIED,
        _ => status::FAILURE,
    }
}
