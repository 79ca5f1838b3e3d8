//! A local folder. What waits for the disk is done on threads that may wait.

mod beneath;
mod clear;
mod names;

use std::fs::File;
use std::io::{Seek, SeekFrom, Write};
use std::path::Path;
use std::sync::Arc;

use bytes::{Bytes, BytesMut};
use futures::TryStreamExt;
use futures::stream::{self, BoxStream};
use protocol::time::Timestamp;
use rustix::fd::{AsFd, OwnedFd};
use rustix::fs::{AtFlags, FileType, OFlags, Stat, fstat, linkat, renameat};
use rustix::io::Errno;
use tokio::io::{AsyncReadExt, AsyncWriteExt};

use crate::content::{Content, Range};
use crate::entry::{Entry, EntryKind, Page, Smallest};
use crate::error::{Result, StorageError, failed};
use crate::own::{MOVING, OWN, REMOVED, UNFINISHED};
use crate::path::StoragePath;
use beneath::{Root, kind, remove_folder, rename_new, stat_in, unlink};

/// Bytes of a file that are read at once.
const PIECE: u64 = 256 * 1024;

/// The folder, opened once; cheap to clone.
#[derive(Debug, Clone)]
pub(crate) struct Folder(Arc<Root>);

impl Folder {
    /// Opens it, and makes what Berth itself needs in it.
    pub(crate) fn open(path: &Path) -> std::result::Result<Self, String> {
        std::fs::create_dir_all(path).map_err(|error| error.to_string())?;
        let root = Root::open(path).map_err(cannot_open)?;
        for folder in [UNFINISHED, MOVING, REMOVED] {
            let made = root.make(&StoragePath::own(folder));
            made.map_err(|error| format!("/{OWN}/{folder}: {error}"))?;
        }
        Ok(Self(Arc::new(root)))
    }

    async fn work<T: Send + 'static>(
        &self,
        path: &StoragePath,
        work: impl FnOnce(&Root) -> Result<T> + Send + 'static,
    ) -> Result<T> {
        let root = Arc::clone(&self.0);
        let done = tokio::task::spawn_blocking(move || work(&root)).await;
        done.map_err(|error| failed(path, error))?
    }

    /// What is at a path; `None`: nothing, or neither a file nor a folder nor a link.
    pub(crate) async fn find(&self, path: &StoragePath) -> Result<Option<Entry>> {
        let of = path.clone();
        self.work(path, move |root| find(root, &of)).await
    }

    /// A part of a folder. Names that are not text are left out.
    pub(crate) async fn list(
        &self,
        path: &StoragePath,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page> {
        let (of, after) = (path.clone(), after.map(str::to_owned));
        self.work(path, move |root| list(root, &of, after.as_deref(), limit)).await
    }

    /// All names in one of Berth's own folders, which may not be there.
    pub(crate) async fn names(&self, path: &StoragePath) -> Result<Vec<String>> {
        let of = path.clone();
        let names = move |root: &Root| {
            let mut found = Vec::new();
            match each_name(root, &of, |name| found.push(name)) {
                Err(StorageError::NotFound { .. }) | Ok(_) => Ok(found),
                Err(error) => Err(error),
            }
        };
        self.work(path, names).await
    }

    /// A part of a file as it is read, and which part that is.
    pub(crate) async fn read(
        &self,
        path: &StoragePath,
        range: Range,
    ) -> Result<(std::ops::Range<u64>, BoxStream<'static, Result<Bytes>>)> {
        let of = path.clone();
        let open = move |root: &Root| {
            let (mut file, found) = open_file(root, &of, OFlags::RDONLY)?;
            let range = range.within(u64::try_from(found.st_size).unwrap_or(0));
            let sought = file.seek(SeekFrom::Start(range.start));
            sought.map_err(|error| StorageError::of_io(&of, error))?;
            Ok((file, range))
        };
        let (file, range) = self.work(path, open).await?;
        let file = tokio::fs::File::from_std(file);
        let content = stream::try_unfold((file, range.end - range.start), read_piece);
        let path = path.clone();
        let content = content.map_err(move |error| StorageError::of_io(&path, error));
        Ok((range, Box::pin(content)))
    }

    /// Adds to the end of a file; what arrived before a failure stays.
    pub(crate) async fn append(&self, path: &StoragePath, content: Content) -> Result<()> {
        self.add(path, OFlags::empty(), content).await
    }

    /// The same, and makes the file where there is none.
    pub(crate) async fn append_or_make(&self, path: &StoragePath, content: Content) -> Result<()> {
        self.add(path, OFlags::CREATE, content).await
    }

    async fn add(&self, path: &StoragePath, make: OFlags, content: Content) -> Result<()> {
        let of = path.clone();
        let flags = OFlags::WRONLY | OFlags::APPEND | make;
        let file = self.work(path, move |root| Ok(open_file(root, &of, flags)?.0)).await?;
        write_all(&mut tokio::fs::File::from_std(file), path, content).await
    }

    /// Writes a file aside, and puts it where it belongs when all of it has arrived.
    pub(crate) async fn create(
        &self,
        path: &StoragePath,
        replace: bool,
        content: Content,
    ) -> Result<()> {
        let of = path.clone();
        let (aside, file) = self.work(path, move |root| Aside::new(root, &of)).await?;
        write_all(&mut tokio::fs::File::from_std(file), path, content).await?;
        let to = path.clone();
        self.work(path, move |root| aside.finish(root, &to, replace)).await
    }

    /// The same with what is in memory already.
    pub(crate) async fn put(
        &self,
        path: &StoragePath,
        replace: bool,
        content: Bytes,
    ) -> Result<()> {
        let to = path.clone();
        let put = move |root: &Root| {
            let (aside, mut file) = Aside::new(root, &to)?;
            let written = file.write_all(&content).and_then(|()| file.sync_all());
            written.map_err(|error| StorageError::of_io(&to, error))?;
            aside.finish(root, &to, replace)
        };
        self.work(path, put).await
    }

    /// Puts an unfinished file where it belongs, in one step.
    pub(crate) async fn finish(
        &self,
        from: &StoragePath,
        to: &StoragePath,
        replace: bool,
    ) -> Result<()> {
        let (source, target) = (from.clone(), to.clone());
        let finish = move |root: &Root| {
            let held = root.parent(&source);
            let (folder, name) = held.map_err(|error| StorageError::of_errno(&source, error))?;
            finish(root, (&folder, name), &target, replace)
        };
        self.work(to, finish).await
    }

    /// Makes a folder and those above it.
    pub(crate) async fn make_folder(&self, path: &StoragePath) -> Result<()> {
        let of = path.clone();
        let make = move |root: &Root| match root.make(&of) {
            Ok(_) => Ok(()),
            Err(error) => Err(StorageError::of_errno(&of, error)),
        };
        self.work(path, make).await
    }

    /// Renames to a name that is free. A link may be renamed where it is, but comes to stand right
    /// below the root or right below that nowhere else: those names are mounted on nodes.
    pub(crate) async fn rename(&self, from: &StoragePath, to: &StoragePath) -> Result<()> {
        let (source, target) = (from.clone(), to.clone());
        let no_link = to.parts().count() <= 2 && from.parent() != to.parent();
        self.work(from, move |root| rename(root, &source, &target, no_link)).await
    }

    /// Removes what is there; false: nothing was. A link is removed, not what it leads to.
    pub(crate) async fn remove(&self, path: &StoragePath, recursive: bool) -> Result<bool> {
        let of = path.clone();
        self.work(path, move |root| remove(root, &of, recursive)).await
    }

    /// Removes a folder that is empty; `false`: it is not, or no folder.
    pub(crate) async fn remove_empty(&self, path: &StoragePath) -> Result<bool> {
        let of = path.clone();
        self.work(path, move |root| remove_empty(root, &of)).await
    }

    /// Goes on removing what was too much to be removed at once. What cannot be removed holds up nothing else.
    pub(crate) async fn sweep(&self) -> Result<()> {
        let folder = StoragePath::own(REMOVED);
        let mut swept = Ok(());
        for name in self.names(&folder).await? {
            let of = folder.clone();
            let clear = move |root: &Root| {
                let held = root.make(&of).map_err(|error| StorageError::of_errno(&of, error))?;
                let cleared = clear::clear(held.as_fd(), &name);
                cleared.map(drop).map_err(|error| StorageError::of_errno(&of, error))
            };
            swept = swept.and(self.work(&folder, clear).await);
        }
        swept
    }
}

fn cannot_open(error: Errno) -> String {
    match error {
        // The latter where a container's rules do not know it.
        Errno::NOSYS | Errno::PERM => "this system cannot open files beneath a folder (openat2): \
            Linux 5.6 or newer is needed, and in a container an engine that lets it pass"
            .to_owned(),
        error => error.to_string(),
    }
}

fn find(root: &Root, path: &StoragePath) -> Result<Option<Entry>> {
    match root.stat(path) {
        Ok(found) => Ok(entry(path.name().unwrap_or_default(), &found)),
        Err(error) if is_missing(error) => Ok(None),
        Err(error) => Err(StorageError::of_errno(path, error)),
    }
}

fn list(root: &Root, path: &StoragePath, after: Option<&str>, limit: usize) -> Result<Page> {
    let mut names = Smallest::new(after, limit);
    let folder = each_name(root, path, |name| {
        // Berth's own files are nobody's to see.
        if path.child(&name).is_some_and(|path| !path.is_own()) {
            names.offer(name, ());
        }
    })?;
    let (names, more) = names.into_parts();
    let shown = names.into_keys().filter_map(|name| {
        let found = stat_in(&folder, &name).ok()?;
        entry(&name, &found)
    });
    Ok(Page { entries: shown.collect(), more })
}

/// Tells the names in a folder that are text, and gives the folder.
fn each_name(root: &Root, path: &StoragePath, mut tell: impl FnMut(String)) -> Result<OwnedFd> {
    let fail = |error| StorageError::of_errno(path, error);
    let mut names = root.list(path).map_err(fail)?;
    while let Some(found) = names.read() {
        let found = found.map_err(fail)?;
        match found.file_name().to_str() {
            Ok("." | "..") | Err(_) => {}
            Ok(name) => tell(name.to_owned()),
        }
    }
    let folder = names.fd().map_err(fail)?.try_clone_to_owned();
    folder.map_err(|error| StorageError::of_io(path, error))
}

/// A file that is open, and nothing but a file.
fn open_file(root: &Root, path: &StoragePath, flags: OFlags) -> Result<(File, Stat)> {
    let fail = |error| StorageError::of_errno(path, error);
    let file = root.file(path, flags).map_err(|error| match error {
        // Something is there, but it cannot be opened like a file; or below a file.
        Errno::NXIO | Errno::NOTDIR => StorageError::NotFound { path: path.to_string() },
        error => fail(error),
    })?;
    let found = fstat(&file).map_err(fail)?;
    match kind(&found) {
        FileType::RegularFile => Ok((File::from(file), found)),
        FileType::Directory => Err(StorageError::IsFolder { path: path.to_string() }),
        _ => Err(StorageError::NotFound { path: path.to_string() }),
    }
}

/// The next piece of a file of which so many bytes are left.
async fn read_piece(
    (mut file, left): (tokio::fs::File, u64),
) -> std::io::Result<Option<(Bytes, (tokio::fs::File, u64))>> {
    if left == 0 {
        return Ok(None);
    }
    let mut piece = BytesMut::with_capacity(usize::try_from(left.min(PIECE)).unwrap_or(0));
    let read = (&mut file).take(left.min(PIECE)).read_buf(&mut piece).await?;
    if read == 0 {
        return Err(std::io::Error::other("the file became shorter while it was read"));
    }
    Ok(Some((piece.freeze(), (file, left - read as u64))))
}

/// What has arrived is written when it returns, also where the content broke off.
async fn write_all(
    file: &mut tokio::fs::File,
    path: &StoragePath,
    mut content: Content,
) -> Result<()> {
    let fail = |error| StorageError::of_io(path, error);
    let outcome = loop {
        match content.try_next().await {
            Ok(Some(piece)) => file.write_all(&piece).await.map_err(fail)?,
            Ok(None) => break Ok(()),
            Err(source) => break Err(StorageError::Content { path: path.to_string(), source }),
        }
    };
    file.flush().await.map_err(fail)?;
    file.sync_all().await.map_err(fail)?;
    outcome
}

/// A file that is being written; what is left of it is removed, whatever happens.
struct Aside {
    folder: OwnedFd,
    name: String,
}

impl Aside {
    fn new(root: &Root, meant: &StoragePath) -> Result<(Self, File)> {
        let fail = |error| StorageError::of_errno(meant, error);
        let (folder, name) = (StoragePath::own(UNFINISHED), any_name());
        let held = root.make(&folder).map_err(fail)?;
        let path = StoragePath::own(&format!("{UNFINISHED}/{name}"));
        let flags = OFlags::WRONLY | OFlags::CREATE | OFlags::EXCL;
        let file = root.file(&path, flags).map_err(fail)?;
        Ok((Self { folder: held, name }, File::from(file)))
    }

    fn finish(self, root: &Root, to: &StoragePath, replace: bool) -> Result<()> {
        finish(root, (&self.folder, &self.name), to, replace)
    }
}

impl Drop for Aside {
    fn drop(&mut self) {
        let _gone_when_finished = unlink(&self.folder, self.name.as_str());
    }
}

fn any_name() -> String {
    format!("{:032x}", rand::random::<u128>())
}

/// Puts a file where it belongs, in one step; folders are made.
fn finish(
    root: &Root,
    (from, name): (&OwnedFd, &str),
    to: &StoragePath,
    replace: bool,
) -> Result<()> {
    let fail = |error| StorageError::of_errno(to, error);
    let (folder, new) = to.parent().zip(to.name()).ok_or_else(|| fail(Errno::ISDIR))?;
    let folder = root.make(&folder).map_err(|error| match fail(error) {
        StorageError::Exists { path } => StorageError::NotFolder { path },
        error => error,
    })?;
    if replace {
        return renameat(from, name, &folder, new).map_err(fail);
    }
    // Unlike a rename, a second link never takes the place of another file.
    match linkat(from, name, &folder, new, AtFlags::empty()) {
        Ok(()) => unlink(from, name).map_err(fail),
        // Some file systems know no second links.
        Err(Errno::PERM | Errno::OPNOTSUPP | Errno::NOSYS) => {
            rename_new((from, name), (&folder, new)).map_err(fail)
        }
        Err(error) => Err(fail(error)),
    }
}

fn rename(root: &Root, from: &StoragePath, to: &StoragePath, no_link: bool) -> Result<()> {
    let taken = |error| match error {
        Errno::EXIST | Errno::NOTEMPTY => StorageError::of_errno(to, Errno::EXIST),
        error => StorageError::of_errno(from, error),
    };
    let (source, name) = root.parent(from).map_err(|error| StorageError::of_errno(from, error))?;
    let (target, new) = root.parent(to).map_err(|error| StorageError::of_errno(to, error))?;
    if !no_link {
        return rename_new((&source, name), (&target, new)).map_err(taken);
    }
    // Where nobody else changes it: what it is there is what it will be in its new place.
    let moving = StoragePath::own(MOVING);
    let moving = root.make(&moving).map_err(|error| StorageError::of_errno(to, error))?;
    let aside = any_name();
    rename_new((&source, name), (&moving, &aside)).map_err(taken)?;
    let moved = match stat_in(&moving, &aside).map(|found| kind(&found)) {
        Ok(FileType::RegularFile | FileType::Directory) => {
            rename_new((&moving, &aside), (&target, new)).map_err(taken)
        }
        Ok(_) => Err(StorageError::link(from)),
        Err(error) => Err(taken(error)),
    };
    if moved.is_err()
        && let Err(error) = rename_new((&moving, &aside), (&source, name))
    {
        let (path, left_at) = (from.as_str(), format!("/{OWN}/{MOVING}/{aside}"));
        tracing::error!(path, left_at, %error, "what could not be moved could not be put back");
    }
    moved
}

fn remove(root: &Root, path: &StoragePath, recursive: bool) -> Result<bool> {
    let fail = |error| StorageError::of_errno(path, error);
    let (folder, name) = match root.parent(path) {
        Err(error) if is_missing(error) => return Ok(false),
        held => held.map_err(fail)?,
    };
    let unlinked = match unlink(&folder, name) {
        // A folder, in the words of one system or the other.
        Err(Errno::ISDIR | Errno::PERM) if recursive => {
            return remove_tree(root, &folder, name).map(|()| true).map_err(fail);
        }
        Err(Errno::ISDIR | Errno::PERM) => remove_folder(&folder, name),
        unlinked => unlinked,
    };
    match unlinked {
        Err(Errno::NOENT) => Ok(false),
        removed => removed.map(|()| true).map_err(fail),
    }
}

fn remove_empty(root: &Root, path: &StoragePath) -> Result<bool> {
    let fail = |error| StorageError::of_errno(path, error);
    let (folder, name) = match root.parent(path) {
        Err(error) if is_missing(error) => return Ok(false),
        held => held.map_err(fail)?,
    };
    match remove_folder(&folder, name) {
        // It is gone, a file or a link, or something is in it, in the words of one system or the other.
        Err(Errno::NOENT | Errno::NOTDIR | Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        removed => removed.map(|()| true).map_err(fail),
    }
}

/// A tree is gone from its place at once, and then emptied where nobody else has a way to it.
fn remove_tree(root: &Root, folder: &OwnedFd, name: &str) -> rustix::io::Result<()> {
    let removed = root.make(&StoragePath::own(REMOVED))?;
    let aside = any_name();
    match renameat(folder, name, &removed, &aside) {
        // What is more than can be removed at once is left to the sweep.
        Ok(()) => clear::clear(removed.as_fd(), &aside).map(drop),
        // It is on another file system.
        Err(Errno::XDEV) if clear::clear(folder.as_fd(), name)? => Ok(()),
        Err(Errno::XDEV) => Err(Errno::NOTEMPTY),
        Err(error) => Err(error),
    }
}

fn entry(name: &str, found: &Stat) -> Option<Entry> {
    let kind = match kind(found) {
        FileType::Directory => EntryKind::Folder,
        FileType::RegularFile => EntryKind::File,
        FileType::Symlink => EntryKind::Link,
        _ => return None,
    };
    let is_file = kind == EntryKind::File;
    let size = if is_file { u64::try_from(found.st_size).unwrap_or(0) } else { 0 };
    let thousandths = i64::try_from(found.st_mtime_nsec / 1_000_000).unwrap_or(0);
    let modified = found.st_mtime.saturating_mul(1_000).saturating_add(thousandths);
    Some(Entry { name: name.to_owned(), kind, size, modified: Some(Timestamp(modified)) })
}

/// A file in the place of a folder on the way hides whatever could be below it.
fn is_missing(error: Errno) -> bool {
    [Errno::NOENT, Errno::NOTDIR].contains(&error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_kernel_that_is_too_old_is_told() {
        for error in [Errno::NOSYS, Errno::PERM] {
            assert!(cannot_open(error).contains("Linux 5.6 or newer"), "{error}");
        }
        assert!(!cannot_open(Errno::ACCESS).contains("Linux"));
    }
}
