//! Changing what a file is: its length, owner, permissions and times.

use std::fs::{File, OpenOptions, Permissions, set_permissions};
use std::io;
use std::os::unix::fs::{PermissionsExt, chown, fchown};
use std::path::Path;

use rustix::fs::{AtFlags, CWD, Timespec, Timestamps, futimens, utimensat};

use super::super::wire::Attributes;

/// Changes an open file.
pub(super) fn file(file: &File, wanted: &Attributes) -> io::Result<()> {
    if let Some(size) = wanted.size {
        file.set_len(size)?;
    }
    if let Some((user, group)) = wanted.owner {
        fchown(file, Some(user), Some(group))?;
    }
    if let Some(permissions) = wanted.permissions {
        file.set_permissions(Permissions::from_mode(permissions & 0o7777))?;
    }
    if let Some(times) = wanted.times {
        futimens(file, &timestamps(times))?;
    }
    Ok(())
}

/// Changes the file at a path.
pub(super) fn path(path: &Path, wanted: &Attributes) -> io::Result<()> {
    if let Some(size) = wanted.size {
        OpenOptions::new().write(true).open(path)?.set_len(size)?;
    }
    if let Some((user, group)) = wanted.owner {
        chown(path, Some(user), Some(group))?;
    }
    if let Some(permissions) = wanted.permissions {
        set_permissions(path, Permissions::from_mode(permissions & 0o7777))?;
    }
    if let Some(times) = wanted.times {
        utimensat(CWD, path, &timestamps(times), AtFlags::empty())?;
    }
    Ok(())
}

fn timestamps((access, change): (u32, u32)) -> Timestamps {
    let exactly = |seconds: u32| Timespec { tv_sec: seconds.into(), tv_nsec: 0 };
    Timestamps { last_access: exactly(access), last_modification: exactly(change) }
}
