//! Which files were chosen or dropped, folders with all that is in them.

use js_sys::{Array, Function, Promise, Reflect};
use wasm_bindgen::{JsCast, JsValue};
use wasm_bindgen_futures::JsFuture;
use web_sys::{
    DataTransfer, File, FileList, FileSystemDirectoryEntry, FileSystemEntry, FileSystemFileEntry,
};

/// A file, and its path below the folder that it goes to.
#[derive(Debug, Clone)]
pub(super) struct Chosen {
    pub(super) file: File,
    pub(super) path: String,
}

/// What was chosen in a field; of a folder the files with their paths.
pub(super) fn of_list(files: Option<FileList>) -> Vec<Chosen> {
    let Some(files) = files else { return Vec::new() };
    let chosen = (0..files.length()).filter_map(|at| files.get(at));
    chosen.map(|file| Chosen { path: relative_path(&file), file }).collect()
}

/// The path of a file of a chosen folder; else its name.
fn relative_path(file: &File) -> String {
    let path = Reflect::get(file, &JsValue::from_str("webkitRelativePath"));
    let path = path.ok().and_then(|path| path.as_string()).filter(|path| !path.is_empty());
    path.unwrap_or_else(|| file.name())
}

/// What was dropped. It is only there while the event is handled, so it is taken at once; what is
/// in folders is then asked for.
pub(super) fn of_drop(transfer: &DataTransfer) -> Dropped {
    let items = transfer.items();
    let entries = (0..items.length()).filter_map(|at| items.get(at)?.webkit_get_as_entry().ok()?);
    Dropped { entries: entries.collect(), files: of_list(transfer.files()) }
}

/// Files and folders that were dropped.
pub(super) struct Dropped {
    entries: Vec<FileSystemEntry>,
    files: Vec<Chosen>,
}

impl Dropped {
    /// All files. What cannot be read is left out.
    pub(super) async fn files(self) -> Vec<Chosen> {
        if self.entries.is_empty() {
            return self.files;
        }
        let mut found = Vec::new();
        let mut waiting = self.entries;
        while let Some(entry) = waiting.pop() {
            let path = entry.full_path().trim_start_matches('/').to_owned();
            if entry.is_directory() {
                waiting.extend(children(entry.unchecked_into()).await);
            } else if let Some(file) = file(entry.unchecked_into()).await {
                found.push(Chosen { file, path });
            }
        }
        found
    }
}

async fn file(entry: FileSystemFileEntry) -> Option<File> {
    let read = promise(|done, failed| {
        entry.file_with_callback_and_callback(done, failed);
    });
    read.await.ok()?.dyn_into().ok()
}

/// A browser tells what is in a folder in parts, the last of which is empty.
async fn children(folder: FileSystemDirectoryEntry) -> Vec<FileSystemEntry> {
    let reader = folder.create_reader();
    let mut found = Vec::new();
    loop {
        let part = promise(|done, failed| {
            // A reader that cannot be asked never answers: that is a failure as well.
            if reader.read_entries_with_callback_and_callback(done, failed).is_err() {
                let _ = failed.call0(&JsValue::NULL);
            }
        });
        let Ok(part) = part.await else { return found };
        let part: Array = part.unchecked_into();
        if part.length() == 0 {
            return found;
        }
        found.extend(part.iter().map(JsCast::unchecked_into::<FileSystemEntry>));
    }
}

async fn promise(ask: impl Fn(&Function, &Function)) -> Result<JsValue, JsValue> {
    JsFuture::from(Promise::new(&mut |done, failed| ask(&done, &failed))).await
}
