//! The content of files that are texts.

use api::files::{FilePart, FilePath, FileView};
use api::{Actor, Backend, Result};
use futures::TryStreamExt;

/// The longest text that is shown, in bytes.
const LONGEST: u64 = 1_000_000;

/// A file's content, where it is a text that is short enough.
pub(crate) async fn text(
    backend: &Backend,
    actor: &Actor,
    path: &FilePath,
    file: &FileView,
) -> Result<Option<String>> {
    if file.size > LONGEST {
        return Ok(None);
    }
    let part = FilePart { offset: 0, length: Some(LONGEST) };
    let read = backend.files.read(actor, path, part).await?;
    let pieces: Vec<_> = read.content.try_collect().await?;
    let text = String::from_utf8(pieces.concat()).ok();
    Ok(text.filter(|text| !text.contains('\0')))
}
