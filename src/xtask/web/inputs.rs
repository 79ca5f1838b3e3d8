//! A fingerprint of everything that the front end is made from.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

use crate::process::output;
use crate::workspace::Workspace;

/// Files and folders whose content decides the site; xtask's own part is one of them.
const INPUTS: [&str; 10] = [
    ".cargo/config.toml",
    "Cargo.toml",
    "Cargo.lock",
    "app",
    "public",
    "style",
    "src/api",
    "src/protocol",
    "src/xtask/web",
    "src/xtask/web.rs",
];

/// A hash over the names and contents of all inputs, what only people read left out, and the compiler's
/// version.
pub(super) fn fingerprint(workspace: &Workspace) -> Result<String> {
    let mut hash = Sha256::new();
    hash.update(output(Command::new("rustc").arg("-vV"))?);
    for input in INPUTS {
        let files = files(&workspace.root.join(input))?.into_iter();
        for file in files.filter(|file| file.extension().is_none_or(|ending| ending != "md")) {
            let content =
                fs::read(&file).with_context(|| format!("cannot read {}", file.display()))?;
            hash.update(file.strip_prefix(&workspace.root)?.to_string_lossy().as_bytes());
            hash.update(content.len().to_le_bytes());
            hash.update(content);
        }
    }
    Ok(hex::encode(hash.finalize()))
}

/// A file itself, or all files below a folder in the order of their names, npm's left out.
pub(super) fn files(path: &Path) -> Result<Vec<PathBuf>> {
    if path.is_file() {
        return Ok(vec![path.to_owned()]);
    }
    let mut found = Vec::new();
    let Ok(entries) = fs::read_dir(path) else { return Ok(found) };
    let mut entries = entries.map(|entry| Ok(entry?.path())).collect::<Result<Vec<_>>>()?;
    entries.sort();
    for entry in entries {
        if entry.file_name().is_some_and(|name| name != "node_modules") {
            found.extend(files(&entry)?);
        }
    }
    Ok(found)
}
