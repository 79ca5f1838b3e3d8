//! The server's half of the protocol that `scp` spoke before SFTP: lines that tell of files and
//! folders, each confirmed by a zero.

use std::ffi::{OsStr, OsString};
use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{self, BufRead, BufReader, Read, Stdin, Stdout, Write, stdin, stdout};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use super::arguments::Options;
use super::copy::keep_here;
use crate::sftp::wire::Attributes;

/// Bytes of the longest line.
const LINE: u64 = 16 << 10;

/// Receives files; whether all were received.
pub(super) fn receive(options: &Options) -> io::Result<bool> {
    let target = options.paths.first().ok_or(io::ErrorKind::InvalidInput)?;
    let mut talk = Talk::new();
    if options.into_folder && !target.is_dir() {
        talk.complain(&format!("{}: not a folder", target.display()))?;
        return Ok(false);
    }
    talk.confirm()?;
    Receiver { talk, options, times: None, whole: true }.run(target)
}

/// Sends files; whether all were sent.
pub(super) fn send(options: &Options) -> io::Result<bool> {
    let mut talk = Talk::new();
    talk.confirmed()?;
    let mut whole = true;
    for path in &options.paths {
        whole &= send_one(&mut talk, path, options)?;
    }
    Ok(whole)
}

/// Both directions.
struct Talk {
    input: BufReader<Stdin>,
    output: Stdout,
}

impl Talk {
    fn new() -> Self {
        Self { input: BufReader::new(stdin()), output: stdout() }
    }

    fn say(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.output.write_all(bytes)?;
        self.output.flush()
    }

    fn confirm(&mut self) -> io::Result<()> {
        self.say(&[0])
    }

    /// Tells of something that went wrong and does not end it all.
    fn complain(&mut self, text: &str) -> io::Result<()> {
        self.say(format!("\x01scp: {text}\n").as_bytes())
    }

    /// The next line without its end; `None`: there is none any more.
    fn line(&mut self) -> io::Result<Option<Vec<u8>>> {
        let mut line = Vec::new();
        (&mut self.input).take(LINE).read_until(b'\n', &mut line)?;
        match line.pop() {
            None => Ok(None),
            Some(b'\n') => Ok(Some(line)),
            Some(_) => Err(malformed()),
        }
    }

    /// Waits for the other side's word; whether it is content.
    fn confirmed(&mut self) -> io::Result<bool> {
        let mut word = [0];
        self.input.read_exact(&mut word)?;
        match word[0] {
            0 => Ok(true),
            1 => self.line().map(|_| false),
            _ => Err(io::ErrorKind::ConnectionAborted.into()),
        }
    }
}

fn malformed() -> io::Error {
    io::Error::new(io::ErrorKind::InvalidData, "the client speaks strangely")
}

struct Receiver<'a> {
    talk: Talk,
    options: &'a Options,
    /// Those of the next file or folder.
    times: Option<(u32, u32)>,
    whole: bool,
}

impl Receiver<'_> {
    fn run(mut self, target: &Path) -> io::Result<bool> {
        self.level(target, target.is_dir())?;
        Ok(self.whole)
    }

    /// Receives what lies in one folder.
    fn level(&mut self, target: &Path, into: bool) -> io::Result<()> {
        while let Some(line) = self.talk.line()? {
            let (kind, rest) = line.split_first().ok_or_else(malformed)?;
            match kind {
                b'T' => {
                    self.times = Some(times(rest)?);
                    self.talk.confirm()?;
                }
                b'C' | b'D' => {
                    let (mode, size, name) = header(rest)?;
                    let path = if into { target.join(name) } else { target.to_owned() };
                    let permissions = Some(mode);
                    let told = Attributes {
                        permissions,
                        times: self.times.take(),
                        ..Attributes::default()
                    };
                    if *kind == b'C' {
                        self.file(&path, size, &told)?;
                    } else {
                        self.folder(&path, &told)?;
                    }
                }
                b'E' => return self.talk.confirm(),
                1 => self.whole = false,
                _ => return Err(malformed()),
            }
        }
        Ok(())
    }

    fn file(&mut self, path: &Path, size: u64, told: &Attributes) -> io::Result<()> {
        let mode = told.permissions.unwrap_or(0o666) & 0o777;
        let mut how = OpenOptions::new();
        let file = how.write(true).create(true).truncate(true).mode(mode).open(path);
        let mut file = match file {
            Ok(file) => file,
            Err(error) => return self.refuse(path, &error),
        };
        self.talk.confirm()?;
        let mut content = (&mut self.talk.input).take(size);
        let mut written = io::copy(&mut content, &mut file);
        // What could not be written has still to be read before the next line.
        io::copy(&mut content, &mut io::sink())?;
        self.talk.confirmed()?;
        if written.is_ok() {
            written = keep_here(&file, told, self.options).map(|()| size);
        }
        match written {
            Ok(_) => self.talk.confirm(),
            Err(error) => self.refuse(path, &error),
        }
    }

    fn folder(&mut self, path: &Path, told: &Attributes) -> io::Result<()> {
        if !self.options.recursive {
            return Err(malformed());
        }
        let mode = told.permissions.unwrap_or(0o777) & 0o777 | 0o700;
        if !path.is_dir()
            && let Err(error) = DirBuilder::new().mode(mode).create(path)
        {
            return self.refuse(path, &error);
        }
        self.talk.confirm()?;
        self.level(path, true)?;
        match File::open(path).and_then(|folder| keep_here(&folder, told, self.options)) {
            Ok(()) => Ok(()),
            Err(_) => {
                self.whole = false;
                Ok(())
            }
        }
    }

    fn refuse(&mut self, path: &Path, error: &io::Error) -> io::Result<()> {
        self.whole = false;
        self.talk.complain(&format!("{}: {error}", path.display()))
    }
}

/// Permissions, size and name of a file or folder.
fn header(text: &[u8]) -> io::Result<(u32, u64, OsString)> {
    let mut parts = text.splitn(3, |&byte| byte == b' ');
    let mut next = || parts.next().ok_or_else(malformed);
    let (mode, size, name) = (next()?, next()?, next()?);
    let mode = std::str::from_utf8(mode).ok().and_then(|mode| u32::from_str_radix(mode, 8).ok());
    let unsafe_name = name.is_empty() || name.contains(&b'/') || name == b"." || name == b"..";
    match (mode, number(size)) {
        (Some(mode), Some(size)) if !unsafe_name => {
            Ok((mode, size, OsStr::from_bytes(name).into()))
        }
        _ => Err(malformed()),
    }
}

/// Last access and last change; the line has them the other way round, each with a fraction.
fn times(text: &[u8]) -> io::Result<(u32, u32)> {
    let parts: Vec<&[u8]> = text.split(|&byte| byte == b' ').collect();
    let [change, _, access, _] = parts[..] else { return Err(malformed()) };
    let seconds = |part| number(part).and_then(|seconds| u32::try_from(seconds).ok());
    seconds(access).zip(seconds(change)).ok_or_else(malformed)
}

fn number(text: &[u8]) -> Option<u64> {
    std::str::from_utf8(text).ok()?.parse().ok()
}

/// Sends a file or a folder; whether all of it was sent.
fn send_one(talk: &mut Talk, path: &Path, options: &Options) -> io::Result<bool> {
    let opened = File::open(path).and_then(|file| Ok((file.metadata()?, file)));
    let (metadata, file) = match opened {
        Ok(opened) => opened,
        Err(error) => return complain(talk, path, &error.to_string()),
    };
    let known = Attributes::from(&metadata);
    let mode = known.permissions.unwrap_or_default() & 0o7777;
    let absolute = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    let name = absolute.file_name().unwrap_or_default().as_bytes();
    if metadata.is_dir() && !options.recursive {
        return complain(talk, path, "not a regular file");
    }
    if let (true, Some((access, change))) = (options.preserve, known.times) {
        talk.say(format!("T{change} 0 {access} 0\n").as_bytes())?;
        if !talk.confirmed()? {
            return Ok(false);
        }
    }
    let (kind, size) = if metadata.is_dir() { ('D', 0) } else { ('C', metadata.len()) };
    let head = [format!("{kind}{mode:04o} {size} ").as_bytes(), name, b"\n"].concat();
    talk.say(&head)?;
    if !talk.confirmed()? {
        return Ok(false);
    }
    if metadata.is_dir() { send_folder(talk, path, options) } else { send_file(talk, file, size) }
}

fn send_file(talk: &mut Talk, file: File, size: u64) -> io::Result<bool> {
    let sent = io::copy(&mut file.take(size), &mut talk.output)?;
    if sent < size {
        // It has become shorter; the client waits for as many bytes as were promised.
        io::copy(&mut io::repeat(0).take(size - sent), &mut talk.output)?;
    }
    talk.confirm()?;
    Ok(talk.confirmed()? && sent == size)
}

fn send_folder(talk: &mut Talk, path: &Path, options: &Options) -> io::Result<bool> {
    let mut whole = true;
    let entries: Vec<PathBuf> = fs::read_dir(path)?.flatten().map(|entry| entry.path()).collect();
    for entry in entries {
        whole &= send_one(talk, &entry, options)?;
    }
    talk.say(b"E\n")?;
    Ok(talk.confirmed()? && whole)
}

fn complain(talk: &mut Talk, path: &Path, reason: &str) -> io::Result<bool> {
    talk.complain(&format!("{}: {reason}", path.display()))?;
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_read_and_names_stay_in_their_folder() {
        assert_eq!(header(b"0644 12 a b").unwrap(), (0o644, 12, "a b".into()));
        assert_eq!(times(b"7 0 9 0").unwrap(), (9, 7));
        for line in ["0644 12 ../x", "0644 12 ..", "0644 12 /x", "0644 x a", "0648 1 a", "0644 1"] {
            assert!(header(line.as_bytes()).is_err(), "{line}");
        }
    }
}
