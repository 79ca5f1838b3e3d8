//! Debian's `rust-src` of exactly one version, fetched without touching the machine's package lists.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::packages::mirrors;
use crate::process::{output, run, succeeds};
use crate::progress::note;

/// Suites that hold current compilers, the one with the shortest list first.
const SUITES: [&str; 5] = ["trixie-backports", "forky-backports", "trixie", "forky", "sid"];

/// Debian's own keys, where a machine has them.
const KEYRINGS: [&str; 2] = [
    "/usr/share/keyrings/debian-archive-keyring.gpg",
    "/usr/share/keyrings/debian-archive-keyring.pgp",
];

/// Fetches and unpacks the package; gives its `library` folder, which lies inside `scratch`.
pub(super) fn fetch_library(version: &str, scratch: &Path) -> Result<PathBuf> {
    for mirror in &mirrors()? {
        for suite in SUITES {
            let apt = PrivateApt::new(&scratch.join("apt").join(suite), mirror, suite)?;
            let Some(package) = apt.find(version) else { continue };
            note(&format!("rust-src {package} from {suite}"));
            return apt.download(&package, version, scratch);
        }
    }
    bail!("none of the suites {} has rust-src {version}", SUITES.join(", "))
}

/// apt with lists, cache and sources of its own.
struct PrivateApt {
    folder: PathBuf,
}

impl PrivateApt {
    fn new(folder: &Path, mirror: &str, suite: &str) -> Result<Self> {
        for part in ["state/lists/partial", "cache/archives/partial", "unpacked"] {
            fs::create_dir_all(folder.join(part))?;
        }
        let keyring = KEYRINGS.into_iter().find(|path| Path::new(path).is_file());
        let signed = keyring.map(|path| format!("[signed-by={path}] ")).unwrap_or_default();
        fs::write(folder.join("sources.list"), format!("deb {signed}{mirror} {suite} main\n"))?;
        Ok(Self { folder: folder.to_owned() })
    }

    fn command(&self, program: &str) -> Command {
        let mut command = Command::new(program);
        let at = |part: &str| self.folder.join(part).display().to_string();
        command.current_dir(&self.folder).args([
            "-o".to_owned(),
            format!("Dir::Etc::sourcelist={}", at("sources.list")),
            "-o".to_owned(),
            "Dir::Etc::sourceparts=-".to_owned(),
            "-o".to_owned(),
            format!("Dir::State={}", at("state")),
            "-o".to_owned(),
            format!("Dir::Cache={}", at("cache")),
            "-o".to_owned(),
            "APT::Sandbox::User=root".to_owned(),
            "-o".to_owned(),
            "Acquire::Languages=none".to_owned(),
        ]);
        command
    }

    /// The newest package of exactly this compiler's version that the suite has.
    fn find(&self, version: &str) -> Option<String> {
        if !succeeds(self.command("apt-get").arg("update")) {
            return None;
        }
        let table = output(self.command("apt-cache").args(["madison", "rust-src"])).ok()?;
        let versions = table.lines().filter_map(|line| line.split('|').nth(1)).map(str::trim);
        versions.into_iter().find(|found| is_version(found, version)).map(str::to_owned)
    }

    fn download(&self, package: &str, version: &str, scratch: &Path) -> Result<PathBuf> {
        output(self.command("apt-get").arg("download").arg(format!("rust-src={package}")))?;
        let archive = fs::read_dir(&self.folder)?
            .flatten()
            .map(|entry| entry.path())
            .find(|path| path.extension().is_some_and(|extension| extension == "deb"))
            .context("apt-get downloaded nothing")?;
        let unpacked = scratch.join("rust-src");
        run(Command::new("dpkg-deb").arg("-x").arg(archive).arg(&unpacked))?;
        let library = unpacked.join(format!("usr/src/rustc-{version}/library"));
        if !library.is_dir() {
            bail!("rust-src {package} has no {}", library.display());
        }
        Ok(library)
    }
}

/// Whether a Debian version (`1.95.0+dfsg1-1~bpo13+1`) is of this compiler (`1.95.0`).
fn is_version(debian: &str, version: &str) -> bool {
    debian.strip_prefix(version).is_some_and(|rest| rest.starts_with(['+', '-', '~']))
}

#[cfg(test)]
mod tests {
    use super::is_version;

    #[test]
    fn a_debian_version_names_exactly_one_compiler() {
        assert!(is_version("1.95.0+dfsg1-1~bpo13+1", "1.95.0"));
        assert!(is_version("1.95.0-2", "1.95.0"));
        assert!(!is_version("1.95.01-1", "1.95.0"));
        assert!(!is_version("1.94.1+dfsg1-1", "1.95.0"));
    }
}
