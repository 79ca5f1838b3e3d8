//! Asking a server for files, several pieces under way at a time.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io::{self, BufReader, Read, Write};
use std::os::unix::fs::FileExt;
use std::path::Path;

use super::wire::{Attributes, Content, Packet, kind, mode, read, status};

/// Bytes in one piece.
const PIECE: u32 = 32 << 10;

/// Pieces under way.
const PIECES: usize = 64;

/// A server at the other end of two pipes.
#[derive(Debug)]
pub(crate) struct Client<R: Read, W> {
    input: BufReader<R>,
    output: W,
    last: u32,
}

/// An open file or folder of the server.
#[derive(Debug, Clone)]
pub(crate) struct Handle(Vec<u8>);

impl<R: Read, W: Write> Client<R, W> {
    /// Begins to talk.
    pub(crate) fn new(input: R, mut output: W) -> io::Result<Self> {
        Packet::new(kind::INIT).number(3).write(&mut output)?;
        output.flush()?;
        let mut input = BufReader::new(input);
        let answer = read(&mut input)?.ok_or(io::ErrorKind::UnexpectedEof)?;
        match Content::new(&answer).kind()? {
            kind::VERSION => Ok(Self { input, output, last: 0 }),
            _ => Err(strange()),
        }
    }

    /// What is known of a file; `None`: there is none.
    pub(crate) fn attributes(&mut self, path: &Path) -> io::Result<Option<Attributes>> {
        match self.ask(kind::STAT, |packet| packet.path(path)) {
            Ok(answer) => Ok(Some(answer.content(kind::ATTRS)?.attributes()?)),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Makes a folder.
    pub(crate) fn make_folder(&mut self, path: &Path, wanted: &Attributes) -> io::Result<()> {
        self.ask(kind::MKDIR, |packet| packet.path(path).attributes(wanted)).map(drop)
    }

    /// Changes what a file is.
    pub(crate) fn change(&mut self, path: &Path, wanted: &Attributes) -> io::Result<()> {
        self.ask(kind::SETSTAT, |packet| packet.path(path).attributes(wanted)).map(drop)
    }

    /// Opens a file to be read.
    pub(crate) fn open(&mut self, path: &Path) -> io::Result<Handle> {
        self.open_as(path, mode::READ, &Attributes::default())
    }

    /// Opens an empty file to be written.
    pub(crate) fn create(&mut self, path: &Path, wanted: &Attributes) -> io::Result<Handle> {
        self.open_as(path, mode::WRITE | mode::CREATE | mode::TRUNCATE, wanted)
    }

    fn open_as(&mut self, path: &Path, how: u32, wanted: &Attributes) -> io::Result<Handle> {
        let answer =
            self.ask(kind::OPEN, |packet| packet.path(path).number(how).attributes(wanted))?;
        answer.handle()
    }

    /// Closes either.
    pub(crate) fn close(&mut self, handle: Handle) -> io::Result<()> {
        self.ask(kind::CLOSE, |packet| packet.bytes(handle.0)).map(drop)
    }

    /// The entries of a folder.
    pub(crate) fn list(&mut self, path: &Path) -> io::Result<Vec<(OsString, Attributes)>> {
        let handle = self.ask(kind::OPENDIR, |packet| packet.path(path))?.handle()?;
        let mut entries = Vec::new();
        loop {
            let answer = match self.ask(kind::READDIR, |packet| packet.bytes(&handle.0)) {
                Ok(answer) => answer,
                Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => break,
                Err(error) => return Err(error),
            };
            let mut content = answer.content(kind::NAME)?;
            for _ in 0..content.number()? {
                let name = content.name()?;
                content.bytes()?;
                entries.push((name, content.attributes()?));
            }
        }
        self.close(handle)?;
        entries.retain(|(name, _)| name != "." && name != "..");
        Ok(entries)
    }

    /// Writes all that the source has.
    pub(crate) fn upload(&mut self, handle: &Handle, mut source: impl Read) -> io::Result<()> {
        let mut piece = vec![0; PIECE as usize];
        let (mut offset, mut open) = (0, 0);
        loop {
            let count = source.read(&mut piece)?;
            if count == 0 {
                break;
            }
            self.send(kind::WRITE, |packet| {
                packet.bytes(&handle.0).long(offset).bytes(&piece[..count])
            })?;
            offset += count as u64;
            open += 1;
            if open == PIECES {
                self.output.flush()?;
                self.receive()?.ok()?;
                open -= 1;
            }
        }
        self.output.flush()?;
        (0..open).try_for_each(|_| self.receive()?.ok())
    }

    /// Reads everything into a file.
    pub(crate) fn download(&mut self, handle: &Handle, target: &File) -> io::Result<()> {
        let mut asked: HashMap<u32, (u64, u32)> = HashMap::new();
        let (mut next, mut end) = (0, false);
        loop {
            while !end && asked.len() < PIECES {
                self.ask_piece(handle, (next, PIECE), &mut asked)?;
                next += u64::from(PIECE);
            }
            if asked.is_empty() {
                return Ok(());
            }
            let answer = self.receive()?;
            let (offset, wanted) = asked.remove(&answer.id).ok_or_else(strange)?;
            if answer.kind == kind::STATUS {
                match answer.ok() {
                    Err(error) if error.kind() == io::ErrorKind::UnexpectedEof => end = true,
                    other => return other.and(Err(strange())),
                }
                continue;
            }
            let mut content = answer.content(kind::DATA)?;
            let data = content.bytes()?;
            target.write_all_at(data, offset)?;
            let count = u32::try_from(data.len()).map_err(io::Error::other)?;
            if count < wanted {
                let rest = (offset + u64::from(count), wanted - count);
                self.ask_piece(handle, rest, &mut asked)?;
            }
        }
    }

    fn ask_piece(
        &mut self,
        handle: &Handle,
        (offset, length): (u64, u32),
        asked: &mut HashMap<u32, (u64, u32)>,
    ) -> io::Result<()> {
        let id =
            self.send(kind::READ, |packet| packet.bytes(&handle.0).long(offset).number(length))?;
        asked.insert(id, (offset, length));
        self.output.flush()
    }

    /// Asks and waits for the answer; a status other than success is an error.
    fn ask(&mut self, kind: u8, fill: impl FnOnce(Packet) -> Packet) -> io::Result<Answer> {
        let id = self.send(kind, fill)?;
        self.output.flush()?;
        let answer = self.receive()?;
        if answer.id != id {
            return Err(strange());
        }
        if answer.kind == kind::STATUS {
            answer.ok()?;
        }
        Ok(answer)
    }

    fn send(&mut self, kind: u8, fill: impl FnOnce(Packet) -> Packet) -> io::Result<u32> {
        self.last = self.last.wrapping_add(1);
        fill(Packet::numbered(kind, self.last)).write(&mut self.output)?;
        Ok(self.last)
    }

    fn receive(&mut self) -> io::Result<Answer> {
        let packet = read(&mut self.input)?.ok_or(io::ErrorKind::ConnectionAborted)?;
        let mut content = Content::new(&packet);
        let (kind, id) = (content.kind()?, content.number()?);
        Ok(Answer { kind, id, packet })
    }
}

/// What the server says to a request.
struct Answer {
    kind: u8,
    id: u32,
    packet: Vec<u8>,
}

impl Answer {
    /// The content of an answer of this kind.
    fn content(&self, kind: u8) -> io::Result<Content<'_>> {
        if self.kind != kind {
            return Err(strange());
        }
        Ok(Content::new(self.packet.get(5..).unwrap_or_default()))
    }

    fn handle(&self) -> io::Result<Handle> {
        Ok(Handle(self.content(kind::HANDLE)?.bytes()?.to_owned()))
    }

    /// Whether a status tells success.
    fn ok(&self) -> io::Result<()> {
        let mut content = self.content(kind::STATUS)?;
        let kind = match content.number()? {
            status::OK => return Ok(()),
            status::EOF => io::ErrorKind::UnexpectedEof,
            status::NO_SUCH_FILE => io::ErrorKind::NotFound,
            status::PERMISSION_DENIED => io::ErrorKind::PermissionDenied,
            _ => io::ErrorKind::Other,
        };
        let message = content.bytes().unwrap_or_default();
        Err(io::Error::new(kind, String::from_utf8_lossy(message)))
    }
}

fn strange() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the server answers strangely")
}
