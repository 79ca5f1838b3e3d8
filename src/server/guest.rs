//! The program that is put into containers: part of a release, read from a file while developing.

use std::path::Path;

use anyhow::Context;
use bytes::Bytes;

#[cfg(feature = "embed")]
const PROGRAM: Option<&[u8]> = Some(include_bytes!(env!("BERTH_GUEST")));
#[cfg(not(feature = "embed"))]
const PROGRAM: Option<&[u8]> = None;

/// The program of the file if one is named, else that of the binary.
pub(crate) fn program(file: Option<&Path>) -> anyhow::Result<Option<Bytes>> {
    match file {
        Some(file) => {
            let program = std::fs::read(file);
            let program = program.with_context(|| format!("guest = {}", file.display()))?;
            Ok(Some(program.into()))
        }
        None => {
            if PROGRAM.is_none() {
                tracing::warn!("there is no guest: nobody can enter a task by SSH");
            }
            Ok(PROGRAM.map(Bytes::from_static))
        }
    }
}
