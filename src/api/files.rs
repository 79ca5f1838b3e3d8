//! Users' files: looked at, read and written by streams, moved about.

use std::fmt;
use std::ops::Range;

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::ids::UserName;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// What people do with files. Whose they are is decided by their paths: each user has a folder of
/// his own, what a user makes elsewhere is his, what nobody has made is everybody's to read.
#[async_trait]
pub trait Files: Send + Sync {
    /// The actor's own folder; it is made if it is missing.
    async fn home(&self, actor: &Actor) -> Result<FilePath>;
    /// What is at a path.
    async fn stat(&self, actor: &Actor, path: &FilePath) -> Result<FileView>;
    /// A part of a folder, by name; of common folders what the actor may see.
    async fn list(&self, actor: &Actor, path: &FilePath, query: &FolderQuery)
    -> Result<FolderPage>;
    /// How much is in a folder, or in a file.
    async fn measure(&self, actor: &Actor, path: &FilePath) -> Result<FolderSize>;
    /// A file, or a part of it, as it is read.
    async fn read(&self, actor: &Actor, path: &FilePath, part: FilePart) -> Result<FileContent>;
    /// Whether a file may be written, before its content is sent.
    async fn may_write(&self, actor: &Actor, path: &FilePath, writing: Writing) -> Result<()>;
    /// Writes a file; folders are made. It appears when all has arrived, or not at all.
    async fn write(
        &self,
        actor: &Actor,
        path: &FilePath,
        writing: Writing,
        content: FileStream,
    ) -> Result<()>;
    /// How much has arrived of a file that is sent in parts.
    async fn arrived(&self, actor: &Actor, path: &FilePath, upload: &Upload) -> Result<u64>;
    /// Takes the next part of such a file, which begins at `offset`, and says how much there is
    /// now. What arrived before a failure stays; the file appears when all has arrived.
    async fn upload(
        &self,
        actor: &Actor,
        path: &FilePath,
        upload: &Upload,
        offset: u64,
        content: FileStream,
    ) -> Result<u64>;
    /// Makes a folder and those above it; one that is there is left as it is.
    async fn make_folder(&self, actor: &Actor, path: &FilePath) -> Result<()>;
    /// Gives a file or folder another path, which must be free and in a folder that is there.
    async fn rename(&self, actor: &Actor, from: &FilePath, to: &FilePath) -> Result<()>;
    /// Removes a file, or a folder; one that is not empty only with all that is in it. False:
    /// there was nothing.
    async fn remove(&self, actor: &Actor, path: &FilePath, recursive: bool) -> Result<bool>;
    /// How much the actor's files take, and how much they may.
    async fn usage(&self, actor: &Actor) -> Result<FileUsage>;
}

/// Bytes of a file on their way.
pub type FileStream = BoxStream<'static, Result<Bytes>>;

/// A path as somebody wrote it: `/a/b`, or `$PAI_DEFAULT_FS_URI/a/b` with its value. The operations
/// say whether it is one.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct FilePath(String);

impl FilePath {
    /// Takes a text as it is.
    pub fn new(text: impl Into<String>) -> Self {
        Self(text.into())
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// What is called `name` in the folder of this path.
    #[must_use]
    pub fn child(&self, name: &str) -> Self {
        Self(format!("{}/{name}", self.0.trim_end_matches('/')))
    }

    /// The folder that it is in; `None`: it is the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        let (folder, name) = self.0.trim_end_matches('/').rsplit_once('/')?;
        let root = folder.is_empty() && !name.is_empty();
        Some(Self(if root { "/".to_owned() } else { folder.to_owned() }))
    }

    /// The last name; empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.trim_end_matches('/').rsplit('/').next().unwrap_or_default()
    }
}

impl fmt::Display for FilePath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// File, folder or link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum FileKind {
    /// A file.
    File,
    /// A folder.
    Folder,
    /// A symbolic link that a task made: nothing follows it, but it can be renamed and removed.
    Link,
}

/// A file or folder as the pages show it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct FileView {
    /// The last name of its path; empty for the root.
    pub name: String,
    /// File, folder or link.
    pub kind: FileKind,
    /// Bytes of a file; 0 for all else.
    pub size: u64,
    /// When it was last changed, where the storage tells.
    pub modified: Option<Timestamp>,
    /// Whose it is; `None`: everybody's.
    pub owner: Option<UserName>,
    /// Whether the actor may change it.
    pub may_change: bool,
}

/// Which part of a folder.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderQuery {
    /// The name after which the part begins.
    pub after: Option<String>,
    /// How many entries are looked at; at most 10 000.
    pub limit: u32,
}

/// A part of a folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FolderPage {
    /// The folder itself.
    pub folder: FileView,
    /// What is in it, by name.
    pub entries: Vec<FileView>,
    /// The name after which there is more, if there is.
    pub next: Option<String>,
}

/// How much is in a folder.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FolderSize {
    /// Bytes of all files.
    pub bytes: u64,
    /// Files.
    pub files: u64,
    /// Folders, the one that was asked for among them.
    pub folders: u64,
}

/// Which part of a file.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct FilePart {
    /// First byte, from 0.
    pub offset: u64,
    /// How many bytes at most; `None`: all that follow.
    pub length: Option<u64>,
}

/// A file that is read.
pub struct FileContent {
    /// The file.
    pub file: FileView,
    /// Which bytes of it follow.
    pub range: Range<u64>,
    /// The bytes; a stream that breaks off ends with an error.
    pub content: FileStream,
}

impl fmt::Debug for FileContent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("FileContent").field("file", &self.file).finish_non_exhaustive()
    }
}

/// How a file is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Writing {
    /// What happens to a file that is there.
    pub mode: WriteMode,
    /// How many bytes will come, where that is known.
    pub length: Option<u64>,
}

/// What happens to a file that is there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WriteMode {
    /// Nothing: the name must be free.
    New,
    /// It is replaced.
    Replace,
    /// It grows at its end; there must be one. What arrived before a failure stays.
    Append,
}

/// A file that is sent in parts: whoever was interrupted goes on where he was, a week long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Upload {
    /// By which the sender knows the content again, in 1 to 200 bytes; not by the path alone, since
    /// the file there may have become another one.
    pub id: String,
    /// Bytes of the whole file.
    pub length: u64,
    /// Whether a file that is there is replaced.
    pub replace: bool,
}

/// How much of a user's room is taken.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FileUsage {
    /// Bytes of all that is the user's.
    pub bytes: u64,
    /// The most they may be; `None`: whatever there is room for.
    pub quota: Option<u64>,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_know_their_relatives() {
        for (path, parent, name) in [
            ("/", None, ""),
            ("/a", Some("/"), "a"),
            ("/a/b/", Some("/a"), "b"),
            ("hdfs://n:1/a", Some("hdfs://n:1"), "a"),
        ] {
            let path = FilePath::new(path);
            let found = path.parent();
            assert_eq!(found.as_ref().map(FilePath::as_str), parent, "{path}");
            assert_eq!(path.name(), name, "{path}");
        }
        assert_eq!(FilePath::new("/").child("a").as_str(), "/a");
        assert_eq!(FilePath::new("/a").child("b").as_str(), "/a/b");
    }
}
