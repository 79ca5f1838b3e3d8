//! A local folder: what OpenDAL does not do there.

use std::fs::{self, File, Metadata};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

use bytes::Bytes;
use protocol::time::Timestamp;

use crate::entry::Smallest;
use crate::error::failed;
use crate::{Entry, EntryKind, OWN, Page, Result, StorageError, StoragePath};

/// The folder's real path: no name on the way to it is a link.
#[derive(Debug, Clone)]
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    /// The path with all links on its way followed.
    ///
    /// # Errors
    /// [`StorageError::Path`] for a link that leads out of the root, to Berth's own files, or
    /// nowhere.
    pub(crate) fn real(&self, path: &StoragePath) -> Result<StoragePath> {
        let refuse = |message: &str| {
            Err(StorageError::Path { path: path.to_string(), message: message.to_owned() })
        };
        let mut real = self.0.clone();
        let mut there = true;
        for part in path.parts() {
            real.push(part);
            match fs::symlink_metadata(&real) {
                _ if !there => continue,
                // What is not there yet leads nowhere.
                Err(error) if is_missing(&error) => there = false,
                Err(error) => return Err(StorageError::of_io(path, error)),
                Ok(found) if found.is_symlink() => match fs::canonicalize(&real) {
                    Ok(target) => real = target,
                    Err(_) => return refuse("it is a link that leads nowhere"),
                },
                Ok(_) => {}
            }
            match real.strip_prefix(&self.0) {
                Err(_) => return refuse("it is a link that leads out of the storage"),
                Ok(below) if below.starts_with(OWN) && !path.is_own() => {
                    return refuse("it is a link to files of the system");
                }
                Ok(_) => {}
            }
        }
        let below = real.strip_prefix(&self.0).unwrap_or(&real);
        match below.to_str() {
            Some(below) => Ok(StoragePath::found(below)),
            None => refuse("it leads to a name that is not UTF-8"),
        }
    }

    /// What is at a real path; `None`: nothing, or neither a file nor a folder.
    pub(crate) fn stat(&self, real: &StoragePath) -> Result<Option<Entry>> {
        match fs::symlink_metadata(self.at(real)) {
            Ok(found) => Ok(entry(real.name().unwrap_or_default(), &found, false)),
            Err(error) if is_missing(&error) => Ok(None),
            Err(error) => Err(StorageError::of_io(real, error)),
        }
    }

    /// A part of a folder. Names that are not text and links that lead out are left out.
    pub(crate) async fn list(
        &self,
        real: &StoragePath,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page> {
        let (this, real, after) = (self.clone(), real.clone(), after.map(str::to_owned));
        let path = real.clone();
        let work = move || this.list_now(&real, after.as_deref(), limit);
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| failed(&path, error))?
    }

    fn list_now(&self, real: &StoragePath, after: Option<&str>, limit: usize) -> Result<Page> {
        let mut names = Smallest::new(after, limit);
        let fail = |error| StorageError::of_io(real, error);
        for found in fs::read_dir(self.at(real)).map_err(fail)? {
            let name = found.map_err(fail)?.file_name();
            let Some(name) = name.to_str() else { continue };
            // Berth's own files are nobody's to see.
            if let Some(path) = real.child(name).filter(|path| !path.is_own()) {
                names.offer(name.to_owned(), path);
            }
        }
        let (names, more) = names.into_parts();
        let entries = names.into_iter().filter_map(|(name, path)| self.shown(&name, &path));
        Ok(Page { entries: entries.collect(), more })
    }

    /// An entry of a list; gone since it was read, or a link that leads out: none.
    fn shown(&self, name: &str, path: &StoragePath) -> Option<Entry> {
        let found = fs::symlink_metadata(self.at(path)).ok()?;
        if !found.is_symlink() {
            return entry(name, &found, false);
        }
        let target = self.real(path).ok()?;
        entry(name, &fs::symlink_metadata(self.at(&target)).ok()?, true)
    }

    /// Writes a small file at once: aside, and from there where it belongs.
    pub(crate) async fn put(
        &self,
        aside: &StoragePath,
        real: &StoragePath,
        replace: bool,
        content: Bytes,
    ) -> Result<()> {
        let (this, aside, to) = (self.clone(), aside.clone(), real.clone());
        let work = move || {
            let place = this.at(&aside);
            let written = write_new(&place, &content)
                .map_err(|error| StorageError::of_io(&to, error))
                .and_then(|()| this.finish(&aside, &to, replace));
            if written.is_err() {
                let _nothing_was_written = fs::remove_file(place);
            }
            written
        };
        let done = tokio::task::spawn_blocking(work).await;
        done.map_err(|error| failed(real, error))?
    }

    /// Puts an unfinished file where it belongs, in one step.
    pub(crate) fn finish(&self, from: &StoragePath, to: &StoragePath, replace: bool) -> Result<()> {
        let (source, target) = (self.at(from), self.at(to));
        let fail = |error| StorageError::of_io(to, error);
        if let Some(folder) = target.parent() {
            fs::create_dir_all(folder).map_err(|error| not_folder(to, error))?;
        }
        if replace {
            return fs::rename(source, target).map_err(fail);
        }
        // Unlike a rename, a second link never takes the place of another file.
        match fs::hard_link(&source, &target) {
            Ok(()) => fs::remove_file(source).map_err(fail),
            Err(error) if has_no_links(&error) => {
                if fs::symlink_metadata(&target).is_ok() {
                    return Err(StorageError::Exists { path: to.to_string() });
                }
                fs::rename(source, target).map_err(fail)
            }
            Err(error) => Err(fail(error)),
        }
    }

    pub(crate) fn rename(&self, from: &StoragePath, to: &StoragePath) -> Result<()> {
        fs::rename(self.at(from), self.at(to)).map_err(|error| StorageError::of_io(from, error))
    }

    /// Removes what is there; false: nothing was. A link is removed, not what it leads to.
    pub(crate) async fn remove(&self, path: &StoragePath, recursive: bool) -> Result<bool> {
        let place = self.at(path);
        let found = match fs::symlink_metadata(&place) {
            Ok(found) => found,
            Err(error) if is_missing(&error) => return Ok(false),
            Err(error) => return Err(StorageError::of_io(path, error)),
        };
        let removed = match (found.is_dir(), recursive) {
            (false, _) => tokio::fs::remove_file(place).await,
            (true, true) => tokio::fs::remove_dir_all(place).await,
            (true, false) => tokio::fs::remove_dir(place).await,
        };
        removed.map(|()| true).map_err(|error| StorageError::of_io(path, error))
    }

    /// Where it is on the disk.
    pub(crate) fn at(&self, path: &StoragePath) -> PathBuf {
        self.0.join(Path::new(path.as_str().trim_start_matches('/')))
    }
}

/// A new file that is on the disk when this returns.
fn write_new(place: &Path, content: &[u8]) -> io::Result<()> {
    if let Some(folder) = place.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::create_new(place)?;
    file.write_all(content)?;
    file.sync_all()
}

fn entry(name: &str, found: &Metadata, link: bool) -> Option<Entry> {
    let kind = match found.file_type() {
        kind if kind.is_dir() => EntryKind::Folder,
        kind if kind.is_file() => EntryKind::File,
        _ => return None,
    };
    let size = if kind == EntryKind::File { found.len() } else { 0 };
    let since = found.modified().ok().and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let modified = since.and_then(|since| i64::try_from(since.as_millis()).ok()).map(Timestamp);
    Some(Entry { name: name.to_owned(), kind, size, modified, link })
}

/// A file in the place of a folder on the way hides whatever could be below it.
fn is_missing(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

/// Some file systems know no second links.
fn has_no_links(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::Unsupported | io::ErrorKind::PermissionDenied)
}

/// Making folders says that something exists where a file is in the way.
fn not_folder(path: &StoragePath, error: io::Error) -> StorageError {
    match StorageError::of_io(path, error) {
        StorageError::Exists { path } => StorageError::NotFolder { path },
        error => error,
    }
}
