use api::files::FilePath;
use storage::StoragePath;

use crate::records::store::Store;

/// A path, checked.
pub(crate) fn path_of(store: &Store, path: &FilePath) -> api::Result<StoragePath> {
    Ok(store.storage.resolve(path.as_str())?)
}
