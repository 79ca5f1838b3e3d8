//! What a run has left that was itself cut off: servers, engines with tasks, databases. They would hold ports,
//! processors and room of those that come after it.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::docker::PrivateEngine;
use crate::process::kill_of;
use crate::progress::note;

/// Ends what runs in a folder, and removes it.
type Remove = fn(&Path) -> Result<()>;

/// What lies in the folders, in the order in which it goes: servers would start again what engines end.
const KINDS: [(&str, Remove); 3] = [
    ("berth-bench-", |folder| end(folder, "berth")),
    // Those of benches have a number; those of tests have none, and go with them.
    ("berth-engine-", PrivateEngine::clear),
    ("berth-postgres-", |folder| end(folder, "postgres")),
];

/// Ends and removes what runs have left that are gone. What cannot be removed is told, and stays.
pub(super) fn clear() -> Result<()> {
    for (kind, remove) in KINDS {
        for entry in fs::read_dir(std::env::temp_dir())? {
            let path = entry?.path();
            if owner(&path, kind).is_some_and(|owner| !is_bench(owner)) {
                note(&format!("{} was left by a run that was cut off, and goes", path.display()));
                if let Err(error) = remove(&path) {
                    note(&format!("{} stays: {error:#}", path.display()));
                }
            }
        }
    }
    Ok(())
}

/// Which run a folder of this kind is of.
fn owner(folder: &Path, kind: &str) -> Option<u32> {
    let rest = folder.file_name()?.to_str()?.strip_prefix(kind)?;
    let (owner, number) =
        rest.split_once('-').map_or((rest, None), |(owner, number)| (owner, Some(number)));
    if kind == "berth-engine-" && number.is_none() {
        return None;
    }
    owner.parse().ok()
}

/// Whether a process is there that runs the same program as this one.
fn is_bench(process: u32) -> bool {
    let program = |process: &str| -> Option<PathBuf> {
        let line = fs::read(format!("/proc/{process}/cmdline")).ok()?;
        let program = String::from_utf8_lossy(line.split(|byte| *byte == 0).next()?).into_owned();
        Some(Path::new(&program).file_name()?.into())
    };
    let theirs = program(&process.to_string());
    theirs.is_some() && theirs == program("self")
}

/// Kills what of a program runs in a folder, and removes it.
fn end(folder: &Path, program: &str) -> Result<()> {
    kill_of(folder, &[program])?;
    Ok(fs::remove_dir_all(folder)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folders_tell_whose_they_are() {
        let owner = |name: &str, kind| owner(&Path::new("/tmp").join(name), kind);
        assert_eq!(owner("berth-bench-12", "berth-bench-"), Some(12));
        assert_eq!(owner("berth-bench-12-1", "berth-bench-"), Some(12));
        assert_eq!(owner("berth-engine-12-0", "berth-engine-"), Some(12));
        assert_eq!(owner("berth-engine-12", "berth-engine-"), None, "it is a test's");
        assert_eq!(owner("berth-engine-12-0", "berth-bench-"), None);
        assert_eq!(owner("berth-bench-x", "berth-bench-"), None);
    }

    #[test]
    fn who_runs_this_program_is_told_from_others_and_from_nobody() {
        assert!(is_bench(std::process::id()));
        assert!(!is_bench(1), "the first of all processes");
        assert!(!is_bench(u32::MAX), "nobody");
    }
}
