//! Where traces are and how their files are read.

use std::io::Read;
use std::path::{Path, PathBuf};

/// The folder of one trace.
pub(crate) fn folder(name: &str) -> Result<PathBuf, String> {
    let root = match std::env::var_os("BERTH_TRACES") {
        Some(folder) => PathBuf::from(folder),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/traces"),
    };
    let folder = root.join(name);
    if folder.is_dir() {
        return Ok(folder);
    }
    Err(format!("there is no folder {}; BERTH_TRACES may name another", folder.display()))
}

/// The text of a file, unpacked when its name ends in `.gz`.
pub(crate) fn text(path: &Path) -> Result<String, String> {
    let failed = |error: std::io::Error| format!("{}: {error}", path.display());
    let bytes = std::fs::read(path).map_err(failed)?;
    let mut text = String::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).map_err(failed)?;
    } else {
        text = String::from_utf8(bytes).map_err(|error| format!("{}: {error}", path.display()))?;
    }
    Ok(text)
}

/// The rows of a CSV file without its heading.
pub(crate) fn rows(text: &str) -> impl Iterator<Item = Vec<&str>> {
    text.lines().skip(1).filter(|line| !line.is_empty()).map(|line| line.split(',').collect())
}

/// A number in a row; empty counts as 0.
pub(crate) fn number(row: &[&str], column: usize) -> u64 {
    row.get(column).and_then(|text| text.parse::<f64>().ok()).map_or(0, |value| value as u64)
}
