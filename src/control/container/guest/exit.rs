//! How a task's command has ended, as the program beside it says.

use engine::{Engine, EngineError};
use futures::TryStreamExt;
use protocol::guest::{EXIT, FOLDER, GuestExit};

/// The most bytes that are read of what it says.
const LARGEST: usize = 64 * 1024;

/// What was said in a container; `None`: nothing, or nothing that can be understood.
///
/// # Errors
/// The engine does not answer, or fails.
pub(crate) async fn said(engine: &dyn Engine, name: &str) -> engine::Result<Option<GuestExit>> {
    match read(engine, name).await {
        Ok(bytes) => Ok(bytes.and_then(|bytes| parse(&bytes))),
        Err(error) if error.is_of_engine() => Err(error),
        // There is no such file, or container.
        Err(_) => Ok(None),
    }
}

async fn read(engine: &dyn Engine, name: &str) -> Result<Option<Vec<u8>>, EngineError> {
    let mut archive = engine.get_archive(name, &format!("{FOLDER}/{EXIT}")).await?;
    let mut bytes = Vec::new();
    while let Some(piece) = archive.try_next().await? {
        bytes.extend_from_slice(&piece);
        if bytes.len() > LARGEST {
            return Ok(None);
        }
    }
    Ok(Some(bytes))
}

fn parse(archive: &[u8]) -> Option<GuestExit> {
    let mut archive = tar::Archive::new(archive);
    let entry = archive.entries().ok()?.next()?.ok()?;
    serde_json::from_reader(entry).ok()
}
