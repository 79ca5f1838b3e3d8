//! Removing a folder with all that is in it, of any depth and width, while others may change it.

use std::ffi::CStr;

use rustix::fd::{AsFd, BorrowedFd};
use rustix::fs::renameat;
use rustix::io::{Errno, Result};

use super::beneath::{hold_folder, list_beneath, remove_folder, unlink};

/// Files and folders that are removed in one go: who adds to a folder while it is removed holds
/// nobody up for ever.
const AT_ONCE: u32 = 1_000_000;

/// Removes what a name in an open folder is, with all that is in it; false: some of it is left.
pub(super) fn clear(folder: BorrowedFd<'_>, name: &str) -> Result<bool> {
    match unlink(folder, name) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(Errno::NOENT) => return Ok(true),
        removed => return removed.map(|()| true),
    }
    let mut left = AT_ONCE;
    let opened = hold_folder(folder, name)?;
    while left > 0 {
        match remove_folder(folder, name) {
            Err(Errno::NOTEMPTY | Errno::EXIST) => {}
            Err(Errno::NOENT) => return Ok(true),
            removed => return removed.map(|()| true),
        }
        left -= 1;
        clear_once(opened.as_fd(), &mut left)?;
    }
    Ok(false)
}

/// Removes what is in a folder, and brings what is in its folders up into it, to be removed the
/// next time: so a tree of any depth needs no more than three open files.
fn clear_once(folder: BorrowedFd<'_>, left: &mut u32) -> Result<()> {
    each(folder, c".", left, |_, name, left| {
        if removed(folder, name)? {
            return Ok(());
        }
        each(folder, name, left, |below, name, _| {
            if removed(below, name)? {
                return Ok(());
            }
            let new = format!("{:032x}", rand::random::<u128>());
            match renameat(below, name, folder, new) {
                Err(Errno::NOENT) => Ok(()),
                renamed => renamed,
            }
        })
    })
}

/// Does something with each name in a folder of an open one; when that is no folder any more, with
/// none.
fn each(
    folder: BorrowedFd<'_>,
    name: &CStr,
    left: &mut u32,
    mut act: impl FnMut(BorrowedFd<'_>, &CStr, &mut u32) -> Result<()>,
) -> Result<()> {
    let mut names = match list_beneath(folder, name) {
        Err(Errno::NOENT | Errno::NOTDIR | Errno::LOOP) => return Ok(()),
        found => found?,
    };
    while *left > 0
        && let Some(entry) = names.read()
    {
        let entry = entry?;
        let name = entry.file_name();
        if !matches!(name.to_bytes(), b"." | b"..") {
            *left -= 1;
            act(names.fd()?, name, left)?;
        }
    }
    Ok(())
}

/// Removes what is no folder, or an empty one; false: it is a folder with something in it.
fn removed(folder: BorrowedFd<'_>, name: &CStr) -> Result<bool> {
    match unlink(folder, name) {
        Err(Errno::ISDIR | Errno::PERM) => {}
        Err(Errno::NOENT) => return Ok(true),
        unlinked => return unlinked.map(|()| true),
    }
    match remove_folder(folder, name) {
        Err(Errno::NOTEMPTY | Errno::EXIST) => Ok(false),
        // It has become something else since: the next look finds it.
        Err(Errno::NOENT | Errno::NOTDIR) => Ok(true),
        removed => removed.map(|()| true),
    }
}
