//! A folder as a tar archive, to be put into a container.

use bytes::{BufMut, Bytes, BytesMut};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};

use crate::content::Range;
use crate::entry::{Entry, EntryKind};
use crate::error::{Result, StorageError, failed};
use crate::measure::Walk;
use crate::path::StoragePath;
use crate::storage::Storage;

/// What everything in the archive may be: read, and folders entered.
const FILE_MODE: u32 = 0o444;
const FOLDER_MODE: u32 = 0o555;
/// The unit of the format.
const BLOCK: usize = 512;

/// What an archive is made of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Staging {
    /// The name that everything in the archive is below; empty for none.
    pub below: String,
    /// The most bytes that the files may have together.
    pub limit: u64,
}

/// What is still to be done.
struct State {
    storage: Storage,
    root: StoragePath,
    staging: Staging,
    walk: Option<Walk>,
    used: u64,
}

/// A folder with all that is in it, or a single file, as a tar archive that is made while it is
/// read: of a folder of any size only a few names and a piece of one file are in memory. Names are
/// relative, nothing can be written to, and links are left out. More than the limit ends the
/// stream with [`StorageError::TooLarge`].
///
/// # Errors
/// [`StorageError::NotFound`], [`StorageError::Path`].
pub async fn tar_of_folder(
    storage: &Storage,
    path: &StoragePath,
    staging: Staging,
) -> Result<BoxStream<'static, Result<Bytes>>> {
    let root = path.clone();
    let walk = Walk::from(storage, &root).await?;
    let state = State { storage: storage.clone(), root, staging, walk: Some(walk), used: 0 };
    Ok(stream::try_unfold(state, next).try_flatten().boxed())
}

/// The next entry with its content; after the last one, the end of the archive.
async fn next(mut state: State) -> Result<Option<(BoxStream<'static, Result<Bytes>>, State)>> {
    let Some(walk) = &mut state.walk else { return Ok(None) };
    let Some((path, entry)) = walk.next().await? else {
        state.walk = None;
        let end = Bytes::from_static(&[0; 2 * BLOCK]);
        return Ok(Some((stream::iter([Ok(end)]).boxed(), state)));
    };
    state.used = state.used.saturating_add(entry.size);
    if state.used > state.staging.limit {
        let (path, limit) = (state.root.to_string(), state.staging.limit);
        return Err(StorageError::TooLarge { path, limit });
    }
    let Some(name) = name_of(&state, &path, &entry) else {
        return Ok(Some((stream::empty().boxed(), state)));
    };
    let head = header(&name, &entry).map_err(|error| failed(&path, error))?;
    let content = content(&state.storage, path, entry).await?;
    Ok(Some((stream::iter([Ok(head)]).chain(content).boxed(), state)))
}

/// The name in the archive; `None`: the folder itself, when it has no name there.
fn name_of(state: &State, path: &StoragePath, entry: &Entry) -> Option<String> {
    let below = path.below(&state.root).unwrap_or_default();
    match (state.staging.below.as_str(), below) {
        ("", "") if entry.kind == EntryKind::File => Some(entry.name.clone()),
        ("", "") => None,
        ("", below) => Some(below.to_owned()),
        (folder, "") => Some(folder.to_owned()),
        (folder, below) => Some(format!("{folder}/{below}")),
    }
}

/// The blocks before an entry's content: one, or three for a long name.
fn header(name: &str, entry: &Entry) -> std::io::Result<Bytes> {
    let mut header = tar::Header::new_gnu();
    let (kind, mode, name) = match entry.kind {
        EntryKind::Folder => (tar::EntryType::Directory, FOLDER_MODE, format!("{name}/")),
        // A walk tells of no links.
        EntryKind::File | EntryKind::Link => (tar::EntryType::Regular, FILE_MODE, name.to_owned()),
    };
    header.set_entry_type(kind);
    header.set_mode(mode);
    header.set_size(entry.size);
    let seconds = entry.modified.map_or(0, |time| time.0.max(0) / 1_000);
    header.set_mtime(u64::try_from(seconds).unwrap_or_default());
    let mut archive = tar::Builder::new(Vec::new());
    // The content follows by itself: it need not be in memory.
    archive.append_data(&mut header, name, std::io::empty())?;
    Ok(Bytes::from(archive.get_ref().clone()))
}

/// A file's bytes, as many as the header says, filled up to a whole block.
async fn content(
    storage: &Storage,
    path: StoragePath,
    entry: Entry,
) -> Result<BoxStream<'static, Result<Bytes>>> {
    if entry.size == 0 {
        return Ok(stream::empty().boxed());
    }
    let range = Range { offset: 0, length: Some(entry.size) };
    let (range, bytes) = storage.read_range(&path, range).await?;
    if range.end != entry.size {
        return Err(failed(&path, "the file became shorter while it was read"));
    }
    let filling = (BLOCK - usize::try_from(entry.size % BLOCK as u64).unwrap_or(0)) % BLOCK;
    let mut end = BytesMut::with_capacity(filling);
    end.put_bytes(0, filling);
    Ok(bytes.chain(stream::iter([Ok(end.freeze())])).boxed())
}
