//! The first passwords of users whose old ones nobody knows: their hashes stay where they are.

use std::fs::{File, OpenOptions, Permissions};
use std::io::Write;
use std::os::unix::fs::{OpenOptionsExt, PermissionsExt};
use std::path::Path;

use anyhow::Context;
use rand::RngCore;

/// A file that nobody else can read.
pub(super) struct Passwords {
    file: File,
    place: String,
}

impl Passwords {
    /// What the file has already stays, but for who else could read it.
    pub(super) fn open(path: &Path) -> anyhow::Result<Self> {
        let place = path.display().to_string();
        let file = OpenOptions::new().create(true).append(true).mode(0o600).open(path);
        let file = file.with_context(|| place.clone())?;
        file.set_permissions(Permissions::from_mode(0o600)).with_context(|| place.clone())?;
        Ok(Self { file, place })
    }

    /// A password for a user. It is written down before it is used, so that none is lost.
    pub(super) fn next(&mut self, user: &str) -> anyhow::Result<String> {
        let mut bytes = [0; 12];
        rand::rng().fill_bytes(&mut bytes);
        let password = hex::encode(bytes);
        writeln!(self.file, "{user},{password}").with_context(|| self.place.clone())?;
        Ok(password)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn passwords_are_written_for_one_pair_of_eyes_and_kept() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("passwords.csv");
        std::fs::write(&path, "").unwrap();
        std::fs::set_permissions(&path, Permissions::from_mode(0o644)).unwrap();
        let first = Passwords::open(&path).unwrap().next("ada").unwrap();
        let second = Passwords::open(&path).unwrap().next("bob").unwrap();
        let written = std::fs::read_to_string(&path).unwrap();
        assert_eq!(written, format!("ada,{first}\nbob,{second}\n"));
        assert!(first.len() >= 20 && first != second);
        assert_eq!(std::fs::metadata(&path).unwrap().permissions().mode() & 0o777, 0o600);
    }
}
