//! Packets: a length, a kind, and numbers and strings of bytes.

#[cfg(test)]
mod any;

use std::ffi::{OsStr, OsString};
use std::fs::Metadata;
use std::io::{self, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

/// The longest packet that is taken; OpenSSH has the same.
const LONGEST: u32 = 256 << 10;

/// Kinds of packets.
pub(crate) mod kind {
    pub(crate) const INIT: u8 = 1;
    pub(crate) const VERSION: u8 = 2;
    pub(crate) const OPEN: u8 = 3;
    pub(crate) const CLOSE: u8 = 4;
    pub(crate) const READ: u8 = 5;
    pub(crate) const WRITE: u8 = 6;
    pub(crate) const LSTAT: u8 = 7;
    pub(crate) const FSTAT: u8 = 8;
    pub(crate) const SETSTAT: u8 = 9;
    pub(crate) const FSETSTAT: u8 = 10;
    pub(crate) const OPENDIR: u8 = 11;
    pub(crate) const READDIR: u8 = 12;
    pub(crate) const REMOVE: u8 = 13;
    pub(crate) const MKDIR: u8 = 14;
    pub(crate) const RMDIR: u8 = 15;
    pub(crate) const REALPATH: u8 = 16;
    pub(crate) const STAT: u8 = 17;
    pub(crate) const RENAME: u8 = 18;
    pub(crate) const READLINK: u8 = 19;
    pub(crate) const SYMLINK: u8 = 20;
    pub(crate) const STATUS: u8 = 101;
    pub(crate) const HANDLE: u8 = 102;
    pub(crate) const DATA: u8 = 103;
    pub(crate) const NAME: u8 = 104;
    pub(crate) const ATTRS: u8 = 105;
    pub(crate) const EXTENDED: u8 = 200;
    pub(crate) const EXTENDED_REPLY: u8 = 201;
}

/// Codes of statuses.
pub(crate) mod status {
    pub(crate) const OK: u32 = 0;
    pub(crate) const EOF: u32 = 1;
    pub(crate) const NO_SUCH_FILE: u32 = 2;
    pub(crate) const PERMISSION_DENIED: u32 = 3;
    pub(crate) const FAILURE: u32 = 4;
    pub(crate) const BAD_MESSAGE: u32 = 5;
    pub(crate) const UNSUPPORTED: u32 = 8;
}

/// How a file is opened.
pub(crate) mod mode {
    pub(crate) const READ: u32 = 1;
    pub(crate) const WRITE: u32 = 2;
    pub(crate) const APPEND: u32 = 4;
    pub(crate) const CREATE: u32 = 8;
    pub(crate) const TRUNCATE: u32 = 16;
    pub(crate) const EXCLUSIVE: u32 = 32;
}

const SIZE: u32 = 1;
const OWNER: u32 = 2;
const PERMISSIONS: u32 = 4;
const TIMES: u32 = 8;
const EXTENDED: u32 = 1 << 31;

/// What is known of a file, or is to be set.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(crate) struct Attributes {
    pub(crate) size: Option<u64>,
    /// User and group.
    pub(crate) owner: Option<(u32, u32)>,
    /// With the kind of the file in the upper bits.
    pub(crate) permissions: Option<u32>,
    /// Seconds since 1970 of the last access and the last change.
    pub(crate) times: Option<(u32, u32)>,
}

impl From<&Metadata> for Attributes {
    fn from(metadata: &Metadata) -> Self {
        let seconds = |time: i64| u32::try_from(time.max(0)).unwrap_or(u32::MAX);
        Self {
            size: Some(metadata.size()),
            owner: Some((metadata.uid(), metadata.gid())),
            permissions: Some(metadata.mode()),
            times: Some((seconds(metadata.atime()), seconds(metadata.mtime()))),
        }
    }
}

/// A packet that is being written.
#[derive(Debug)]
pub(crate) struct Packet(Vec<u8>);

impl Packet {
    /// An empty one of a kind.
    pub(crate) fn new(kind: u8) -> Self {
        Self(vec![0, 0, 0, 0, kind])
    }

    /// One with the number that ties question and answer.
    pub(crate) fn numbered(kind: u8, id: u32) -> Self {
        Self::new(kind).number(id)
    }

    pub(crate) fn number(mut self, value: u32) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn long(mut self, value: u64) -> Self {
        self.0.extend_from_slice(&value.to_be_bytes());
        self
    }

    pub(crate) fn bytes(self, value: impl AsRef<[u8]>) -> Self {
        let value = value.as_ref();
        let mut packet = self.number(u32::try_from(value.len()).unwrap_or(u32::MAX));
        packet.0.extend_from_slice(value);
        packet
    }

    pub(crate) fn path(self, path: &Path) -> Self {
        self.bytes(path.as_os_str().as_bytes())
    }

    pub(crate) fn attributes(self, attributes: &Attributes) -> Self {
        let Attributes { size, owner, permissions, times } = attributes;
        let flag = |set: bool, flag: u32| if set { flag } else { 0 };
        let mut packet = self.number(
            flag(size.is_some(), SIZE)
                | flag(owner.is_some(), OWNER)
                | flag(permissions.is_some(), PERMISSIONS)
                | flag(times.is_some(), TIMES),
        );
        if let Some(size) = size {
            packet = packet.long(*size);
        }
        if let Some((user, group)) = owner {
            packet = packet.number(*user).number(*group);
        }
        if let Some(permissions) = permissions {
            packet = packet.number(*permissions);
        }
        if let Some((access, change)) = times {
            packet = packet.number(*access).number(*change);
        }
        packet
    }

    /// Writes it.
    pub(crate) fn write(mut self, target: &mut impl Write) -> io::Result<()> {
        let length = u32::try_from(self.0.len() - 4).map_err(io::Error::other)?;
        self.0[..4].copy_from_slice(&length.to_be_bytes());
        target.write_all(&self.0)
    }
}

/// Reads a packet's content; `None`: the other side has ended.
pub(crate) fn read(source: &mut impl Read) -> io::Result<Option<Vec<u8>>> {
    let mut length = [0; 4];
    match source.read_exact(&mut length) {
        Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => return Ok(None),
        other => other?,
    }
    let length = u32::from_be_bytes(length);
    if length > LONGEST {
        return Err(io::Error::other("a packet is too long"));
    }
    let mut content = vec![0; length as usize];
    source.read_exact(&mut content)?;
    Ok(Some(content))
}

/// A packet's content that is being read. What is missing is an error of the other side.
#[derive(Debug)]
pub(crate) struct Content<'a>(&'a [u8]);

/// A packet that is not what it should be.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
#[error("a packet is malformed")]
pub(crate) struct Malformed;

impl From<Malformed> for io::Error {
    fn from(error: Malformed) -> Self {
        Self::new(io::ErrorKind::InvalidData, error)
    }
}

impl<'a> Content<'a> {
    pub(crate) fn new(content: &'a [u8]) -> Self {
        Self(content)
    }

    fn take(&mut self, count: usize) -> Result<&'a [u8], Malformed> {
        let (taken, rest) = self.0.split_at_checked(count).ok_or(Malformed)?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], Malformed> {
        self.take(N)?.try_into().map_err(|_| Malformed)
    }

    pub(crate) fn kind(&mut self) -> Result<u8, Malformed> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn number(&mut self) -> Result<u32, Malformed> {
        self.array().map(u32::from_be_bytes)
    }

    pub(crate) fn long(&mut self) -> Result<u64, Malformed> {
        self.array().map(u64::from_be_bytes)
    }

    pub(crate) fn bytes(&mut self) -> Result<&'a [u8], Malformed> {
        let length = self.number()?;
        self.take(length as usize)
    }

    pub(crate) fn name(&mut self) -> Result<OsString, Malformed> {
        self.bytes().map(|bytes| OsStr::from_bytes(bytes).to_owned())
    }

    /// A path; the empty one is the folder we are in.
    pub(crate) fn path(&mut self) -> Result<PathBuf, Malformed> {
        self.name().map(|name| if name.is_empty() { ".".into() } else { name.into() })
    }

    pub(crate) fn attributes(&mut self) -> Result<Attributes, Malformed> {
        let flags = self.number()?;
        let mut attributes = Attributes::default();
        if flags & SIZE != 0 {
            attributes.size = Some(self.long()?);
        }
        if flags & OWNER != 0 {
            attributes.owner = Some((self.number()?, self.number()?));
        }
        if flags & PERMISSIONS != 0 {
            attributes.permissions = Some(self.number()?);
        }
        if flags & TIMES != 0 {
            attributes.times = Some((self.number()?, self.number()?));
        }
        if flags & EXTENDED != 0 {
            for _ in 0..self.number()? {
                self.bytes()?;
                self.bytes()?;
            }
        }
        Ok(attributes)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        let attributes = Attributes {
            size: Some(1 << 40),
            owner: None,
            permissions: Some(0o100_644),
            times: Some((1, 2)),
        };
        let mut sent = Vec::new();
        let packet = Packet::numbered(kind::OPEN, 7).path(Path::new("a/b")).attributes(&attributes);
        packet.write(&mut sent).unwrap();
        let content = read(&mut sent.as_slice()).unwrap().unwrap();
        let mut content = Content::new(&content);
        assert_eq!((content.kind(), content.number()), (Ok(kind::OPEN), Ok(7)));
        assert_eq!(content.path(), Ok("a/b".into()));
        assert_eq!(content.attributes(), Ok(attributes));
        assert_eq!(content.number(), Err(Malformed));
        assert_eq!(read(&mut [].as_slice()).unwrap(), None);
        assert!(read(&mut [255; 8].as_slice()).is_err());
    }
}
