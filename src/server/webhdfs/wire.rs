//! Files and folders in Hadoop's words.

use api::files::{FileKind, FileView, FolderSize};
use axum::Json;
use axum::response::{IntoResponse, Response};
use serde::Serialize;

/// The size of a block, where a client insists on one.
const BLOCK: u64 = 128 * 1024 * 1024;
/// The owner of what is everybody's, and the group of everything.
const EVERYBODY: &str = "berth";

#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct FileStatus {
    access_time: i64,
    block_size: u64,
    children_num: u64,
    file_id: u64,
    group: &'static str,
    length: u64,
    modification_time: i64,
    owner: String,
    pub(super) path_suffix: String,
    permission: &'static str,
    replication: u64,
    storage_policy: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    symlink: Option<&'static str>,
    #[serde(rename = "type")]
    kind: &'static str,
}

impl FileStatus {
    /// A file or folder; `suffix` is its name below what was asked for.
    pub(super) fn new(file: FileView, suffix: String) -> Self {
        let (folder, kind) = match file.kind {
            FileKind::Folder => (true, "DIRECTORY"),
            FileKind::File => (false, "FILE"),
            FileKind::Link => (false, "SYMLINK"),
        };
        let time = file.modified.map_or(0, |time| time.0);
        let permission = match (folder, file.owner.is_some()) {
            (true, true) => "700",
            (true, false) => "755",
            (false, true) => "600",
            (false, false) => "644",
        };
        Self {
            access_time: time,
            block_size: if folder { 0 } else { BLOCK },
            children_num: 0,
            file_id: 0,
            group: EVERYBODY,
            length: file.size,
            modification_time: time,
            owner: file.owner.map_or_else(|| EVERYBODY.to_owned(), String::from),
            path_suffix: suffix,
            permission,
            replication: u64::from(!folder),
            storage_policy: 0,
            // Where it leads is nobody's business here, but clients want a text.
            symlink: (file.kind == FileKind::Link).then_some(""),
            kind,
        }
    }

    /// What is in a folder that was asked for.
    pub(super) fn child(file: FileView) -> Self {
        let suffix = file.name.clone();
        Self::new(file, suffix)
    }
}

pub(super) fn status(file: FileView) -> Response {
    let status = FileStatus::new(file, String::new());
    Json(serde_json::json!({ "FileStatus": status })).into_response()
}

/// A part of a folder; how much is left is not known, only whether anything is.
pub(super) fn listing(entries: &[FileStatus], more: bool) -> Response {
    Json(serde_json::json!({ "DirectoryListing": {
        "partialListing": { "FileStatuses": { "FileStatus": entries } },
        "remainingEntries": u8::from(more),
    }}))
    .into_response()
}

pub(super) fn summary(size: FolderSize) -> Response {
    Json(serde_json::json!({ "ContentSummary": {
        "directoryCount": size.folders,
        "ecPolicy": "",
        "fileCount": size.files,
        "length": size.bytes,
        "quota": -1,
        "spaceConsumed": size.bytes,
        "spaceQuota": -1,
        "typeQuota": {},
    }}))
    .into_response()
}

pub(super) fn boolean(value: bool) -> Response {
    Json(serde_json::json!({ "boolean": value })).into_response()
}

pub(super) fn path(path: &str) -> Response {
    Json(serde_json::json!({ "Path": path })).into_response()
}

pub(super) fn location(address: &str) -> Response {
    Json(serde_json::json!({ "Location": address })).into_response()
}
