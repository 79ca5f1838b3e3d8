//! What is ours on this machine is no other local user's to read: not what is made from now on, and
//! not what an earlier version made. And what tasks leave here becomes nobody's way to be root.

use std::fs::Permissions;
use std::io;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

use rustix::fs::{Mode, StatVfsMountFlags};

/// Files of the data folder, where they are.
const FILES: [&str; 5] =
    ["berth.db", "berth.db-wal", "berth.db-shm", "berth.db-journal", "secret.key"];

/// Lets nobody else read what this process makes.
pub(super) fn from_now_on() {
    rustix::process::umask(Mode::RWXG | Mode::RWXO);
}

/// Takes from all others what they may do with the data folder, its files, and the folder of the
/// users' files if it lies there. What cannot be changed is somebody else's to change, and said.
pub(super) fn what_is_there(data: &Path) {
    let folders = [data.to_owned(), data.join("storage")].map(|path| (path, 0o700));
    let files = FILES.map(|name| (data.join(name), 0o600));
    for (path, mode) in folders.into_iter().chain(files) {
        if let Err(error) = close(&path, mode) {
            tracing::warn!(%error, path = %path.display(), "others may read it");
        }
    }
}

/// Warns of a key that was given and is not this user's alone: it is somebody else's to change.
pub(super) fn what_is_given(key: &Path) {
    match is_private(key) {
        Ok(true) => {}
        Ok(false) => tracing::warn!(
            key_file = %key.display(),
            "others may read the key, which opens all secrets: take that from them (chmod 600)"
        ),
        // Whoever reads it says what is wrong.
        Err(error) => tracing::debug!(%error, "the rights of the key are not known"),
    }
}

/// Whether nobody else may do anything with a file, or with what a link leads to.
fn is_private(path: &Path) -> io::Result<bool> {
    Ok(std::fs::metadata(path)?.permissions().mode() & 0o077 == 0)
}

/// Warns where tasks, which are root in their containers, can leave a program in the storage that makes
/// whoever starts it root, or a device.
pub(super) fn what_tasks_leave(root: &str) {
    match rustix::fs::statvfs(root) {
        Ok(about) if is_harmless(about.f_flag) => {}
        Ok(_) => tracing::warn!(
            root,
            "tasks write to the storage as root: mount it with nosuid,nodev, here and on the nodes"
        ),
        Err(error) => tracing::debug!(%error, root, "how the storage is mounted is not known"),
    }
}

/// Whether programs and devices there are files like any other.
fn is_harmless(mount: StatVfsMountFlags) -> bool {
    mount.contains(StatVfsMountFlags::NOSUID | StatVfsMountFlags::NODEV)
}

/// Leaves of a path's rights only these; what is a link stays as it is.
fn close(path: &PathBuf, mode: u32) -> io::Result<()> {
    let about = match std::fs::symlink_metadata(path) {
        Ok(about) if about.is_symlink() => return Ok(()),
        Ok(about) => about,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    let now = about.permissions().mode() & 0o777;
    if now & !mode == 0 {
        return Ok(());
    }
    std::fs::set_permissions(path, Permissions::from_mode(now & mode))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_tasks_leave_is_harmless_without_programs_of_root_and_devices() {
        let (nosuid, nodev) = (StatVfsMountFlags::NOSUID, StatVfsMountFlags::NODEV);
        assert!(is_harmless(nosuid | nodev | StatVfsMountFlags::NOATIME));
        for harmful in [nosuid, nodev, StatVfsMountFlags::NOEXEC, StatVfsMountFlags::empty()] {
            assert!(!is_harmless(harmful), "{harmful:?}");
        }
    }

    #[test]
    fn a_key_that_others_may_read_is_told_from_one_that_is_ours_alone() {
        let folder = tempfile::tempdir().unwrap();
        let key = folder.path().join("key");
        assert!(is_private(&key).is_err(), "there is none");
        std::fs::write(&key, "x").unwrap();
        for (mode, alone) in [(0o400, true), (0o600, true), (0o440, false), (0o604, false)] {
            std::fs::set_permissions(&key, Permissions::from_mode(mode)).unwrap();
            assert_eq!(is_private(&key).unwrap(), alone, "{mode:o}");
            what_is_given(&key);
            let now = std::fs::metadata(&key).unwrap().permissions().mode() & 0o777;
            assert_eq!(now, mode, "it is as it was given");
        }
    }

    #[test]
    fn what_others_could_read_is_closed() {
        let folder = tempfile::tempdir().unwrap();
        let data = folder.path().join("data");
        std::fs::create_dir_all(data.join("storage/alice")).unwrap();
        for name in ["berth.db", "secret.key", "storage/alice/x"] {
            std::fs::write(data.join(name), "x").unwrap();
        }
        let set = |name: &str, mode| {
            std::fs::set_permissions(data.join(name), Permissions::from_mode(mode)).unwrap();
        };
        set("", 0o755);
        set("storage", 0o755);
        set("berth.db", 0o644);
        set("secret.key", 0o400);
        what_is_there(&data);
        let mode =
            |name: &str| std::fs::metadata(data.join(name)).unwrap().permissions().mode() & 0o777;
        assert_eq!((mode(""), mode("storage")), (0o700, 0o700));
        assert_eq!((mode("berth.db"), mode("secret.key")), (0o600, 0o400));
    }
}
