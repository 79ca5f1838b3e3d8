//! Several names of one file: what is to be found under each of them is written once.

use std::io::Write;

use bytes::Bytes;
use rustix::fd::OwnedFd;
use rustix::fs::{AtFlags, OFlags, linkat};
use rustix::io::Errno;

use super::beneath::Root;
use super::{Aside, Folder, find, is_missing};
use crate::error::{Result, StorageError};
use crate::path::StoragePath;

impl Folder {
    /// Writes one file under several names. Says of each whether it is that now: none that was taken
    /// is.
    pub(crate) async fn put_as(
        &self,
        paths: Vec<StoragePath>,
        content: Bytes,
    ) -> Result<Vec<bool>> {
        let Some(first) = paths.first().cloned() else { return Ok(Vec::new()) };
        let about = first.clone();
        let put = move |root: &Root| -> Result<Vec<bool>> {
            let (aside, mut file) = Aside::new(root, &first)?;
            let written = file.write_all(&content).and_then(|()| file.sync_all());
            written.map_err(|error| StorageError::of_io(&first, error))?;
            let named =
                paths.iter().map(|path| match link(root, (&aside.folder, &aside.name), path) {
                    Err(StorageError::Exists { .. }) => Ok(false),
                    named => named,
                });
            named.collect()
        };
        self.work(&about, put).await
    }

    /// Gives a file another name, which must be free. `false`: there is no such file, or it cannot
    /// have one more.
    pub(crate) async fn link(&self, from: &StoragePath, to: &StoragePath) -> Result<bool> {
        let (source, target) = (from.clone(), to.clone());
        self.work(to, move |root| link_from(root, &source, &target)).await
    }

    /// Makes an empty file, unless there is a file.
    pub(crate) async fn touch(&self, path: &StoragePath) -> Result<()> {
        let of = path.clone();
        self.work(path, move |root| touch(root, &of)).await
    }

    /// Where nothing is at a place, gives a file two more names and makes a folder at the place, all of it at once.
    /// `false`: something is there, or the file has no such names, and no folder is made. The first of the names
    /// says nothing by itself, and may be there already.
    pub(crate) async fn make_and_link(
        &self,
        place: &StoragePath,
        from: &StoragePath,
        (first, second): (&StoragePath, &StoragePath),
    ) -> Result<bool> {
        let (of, source) = (place.clone(), from.clone());
        let (first, second) = (first.clone(), second.clone());
        let all = move |root: &Root| -> Result<bool> {
            if find(root, &second)?.is_some() || find(root, &of)?.is_some() {
                return Ok(false);
            }
            // Another name costs half of what another file does.
            match link_from(root, &source, &first) {
                Ok(true) | Err(StorageError::Exists { .. }) => {}
                other => return other,
            }
            match link_from(root, &source, &second) {
                Ok(true) => {}
                Ok(false) | Err(StorageError::Exists { .. }) => return Ok(false),
                Err(error) => return Err(error),
            }
            let made = root.make(&of).map_err(|error| StorageError::of_errno(&of, error));
            made.map(|_| true)
        };
        self.work(place, all).await
    }
}

fn touch(root: &Root, path: &StoragePath) -> Result<()> {
    let fail = |error| StorageError::of_errno(path, error);
    root.make(&path.parent().unwrap_or_else(|| path.clone())).map_err(fail)?;
    let made = root.file(path, OFlags::WRONLY | OFlags::CREATE);
    made.map(drop).map_err(fail)
}

fn link_from(root: &Root, from: &StoragePath, to: &StoragePath) -> Result<bool> {
    let held = match root.parent(from) {
        Err(error) if is_missing(error) => return Ok(false),
        held => held,
    };
    let (folder, name) = held.map_err(|error| StorageError::of_errno(from, error))?;
    link(root, (&folder, name), to)
}

/// Gives a file another name, which must be free. `false`: it is not there, or the file system knows
/// no second names, or not so many.
fn link(root: &Root, (from, name): (&OwnedFd, &str), to: &StoragePath) -> Result<bool> {
    let fail = |error| StorageError::of_errno(to, error);
    let (folder, new) = to.parent().zip(to.name()).ok_or_else(|| fail(Errno::ISDIR))?;
    let folder = root.make(&folder).map_err(fail)?;
    match linkat(from, name, &folder, new, AtFlags::empty()) {
        Ok(()) => Ok(true),
        Err(Errno::EXIST) => Err(fail(Errno::EXIST)),
        Err(_) => Ok(false),
    }
}
