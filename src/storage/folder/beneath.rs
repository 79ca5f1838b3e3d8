//! Names below a folder that was opened once. Whoever has a part of the folder (a task that it is
//! mounted for) may put a link in the place of a folder at any moment. So no name is looked up
//! twice: what was opened is what is asked and changed, parents are held open while something
//! happens in them, and no link is followed anywhere.

use std::ffi::CStr;
use std::path::Path;

use rustix::fd::{AsFd, BorrowedFd, OwnedFd};
use rustix::fs::{
    AtFlags, CWD, Dir, FileType, Mode, OFlags, RenameFlags, ResolveFlags, Stat, fstat, mkdirat,
    openat, openat2, renameat, renameat_with, statat, unlinkat,
};
use rustix::io::{Errno, Result};

use crate::path::StoragePath;

/// Never out of the folder, and over no link.
const BENEATH: ResolveFlags =
    ResolveFlags::BENEATH.union(ResolveFlags::NO_SYMLINKS).union(ResolveFlags::NO_MAGICLINKS);
/// To hold a place open, whatever it is.
const HOLD: OFlags = OFlags::PATH.union(OFlags::NOFOLLOW);
/// To hold a folder open.
const HOLD_FOLDER: OFlags = OFlags::PATH.union(OFlags::DIRECTORY);
/// To read the names in a folder.
const LIST: OFlags = OFlags::RDONLY.union(OFlags::DIRECTORY);
/// What the process's mask leaves of these.
const FOLDER_MODE: Mode = Mode::RWXU.union(Mode::RWXG).union(Mode::RWXO);
const FILE_MODE: Mode = Mode::from_raw_mode(0o666);

/// The folder.
#[derive(Debug)]
pub(crate) struct Root(OwnedFd);

impl Root {
    /// Opens it; links on the way to it are its administrator's and are followed.
    ///
    /// # Errors
    /// `ENOSYS`: the kernel cannot look names up so.
    pub(crate) fn open(path: &Path) -> Result<Self> {
        let root = Self(openat(CWD, path, HOLD_FOLDER | OFlags::CLOEXEC, Mode::empty())?);
        open_beneath(root.0.as_fd(), ".", HOLD_FOLDER)?;
        Ok(root)
    }

    /// What is at a path now; of a link, the link.
    pub(crate) fn stat(&self, path: &StoragePath) -> Result<Stat> {
        fstat(self.at(path, HOLD)?)
    }

    /// A folder, to read its names.
    pub(crate) fn list(&self, path: &StoragePath) -> Result<Dir> {
        Dir::new(self.at(path, LIST)?)
    }

    /// A file to be read or written; of a pipe nobody waits for the other end.
    pub(crate) fn file(&self, path: &StoragePath, flags: OFlags) -> Result<OwnedFd> {
        self.at(path, flags | OFlags::NONBLOCK | OFlags::NOCTTY)
    }

    /// The folder that a path is in, and its name there. The root is in none.
    pub(crate) fn parent<'a>(&self, path: &'a StoragePath) -> Result<(OwnedFd, &'a str)> {
        let (folder, name) = path.parent().zip(path.name()).ok_or(Errno::BUSY)?;
        Ok((self.at(&folder, HOLD_FOLDER)?, name))
    }

    /// The folder of a path, which is made with those above it where it is missing.
    pub(crate) fn make(&self, path: &StoragePath) -> Result<OwnedFd> {
        match self.at(path, HOLD_FOLDER) {
            Err(Errno::NOENT) => {}
            found => return found,
        }
        // Mostly it alone is.
        match self.parent(path) {
            Err(Errno::NOENT) => {}
            held => return held.and_then(|(folder, name)| make_in(folder.as_fd(), name)),
        }
        let mut folder = self.0.try_clone().map_err(|_| Errno::MFILE)?;
        for name in path.parts() {
            folder = match open_beneath(folder.as_fd(), name, HOLD_FOLDER) {
                Err(Errno::NOENT) => make_in(folder.as_fd(), name)?,
                found => found?,
            };
        }
        Ok(folder)
    }

    fn at(&self, path: &StoragePath, flags: OFlags) -> Result<OwnedFd> {
        let below = path.as_str().trim_start_matches('/');
        open_beneath(self.0.as_fd(), if below.is_empty() { "." } else { below }, flags)
    }
}

/// Makes a folder in another one, unless somebody has meanwhile, and holds it open.
fn make_in(folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
    match mkdirat(folder, name, FOLDER_MODE) {
        Err(error) if error != Errno::EXIST => Err(error),
        Ok(()) | Err(_) => open_beneath(folder, name, HOLD_FOLDER),
    }
}

/// Opens a name, or several, below an open folder.
fn open_beneath(
    folder: BorrowedFd<'_>,
    below: impl rustix::path::Arg,
    flags: OFlags,
) -> Result<OwnedFd> {
    let mode = if flags.contains(OFlags::CREATE) { FILE_MODE } else { Mode::empty() };
    openat2(folder, below, flags | OFlags::CLOEXEC, mode, BENEATH)
}

/// The folder of a name in another one, to be held open.
pub(super) fn hold_folder(folder: BorrowedFd<'_>, name: &str) -> Result<OwnedFd> {
    open_beneath(folder, name, HOLD_FOLDER)
}

/// The folder of a name in another one, to read its names.
pub(super) fn list_beneath(folder: BorrowedFd<'_>, name: &CStr) -> Result<Dir> {
    Dir::new(open_beneath(folder, name, LIST)?)
}

/// What a name in an open folder is; of a link, the link.
pub(super) fn stat_in(folder: impl AsFd, name: &str) -> Result<Stat> {
    statat(folder, name, AtFlags::SYMLINK_NOFOLLOW)
}

/// What is of a kind.
pub(crate) fn kind(found: &Stat) -> FileType {
    FileType::from_raw_mode(found.st_mode)
}

/// Removes what is not a folder.
pub(super) fn unlink(folder: impl AsFd, name: impl rustix::path::Arg) -> Result<()> {
    unlinkat(folder, name, AtFlags::empty())
}

/// Removes an empty folder.
pub(super) fn remove_folder(folder: impl AsFd, name: impl rustix::path::Arg) -> Result<()> {
    unlinkat(folder, name, AtFlags::REMOVEDIR)
}

/// Renames to a name that is free.
pub(super) fn rename_new<From: AsFd, To: AsFd>(
    (from, name): (From, &str),
    (to, new): (To, &str),
) -> Result<()> {
    match renameat_with(&from, name, &to, new, RenameFlags::NOREPLACE) {
        // Some file systems cannot; a folder in itself is refused with the same word, below again.
        Err(Errno::INVAL) => {}
        renamed => return renamed,
    }
    match stat_in(&to, new) {
        Ok(_) => Err(Errno::EXIST),
        Err(Errno::NOENT) => renameat(from, name, to, new),
        Err(error) => Err(error),
    }
}
