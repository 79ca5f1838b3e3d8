use api::files::{FilePath, FileUsage, FileView, FolderPage};
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// What is at a path, as the Files page shows it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct OpenedPath {
    /// The path; the reader's own folder when none was asked for.
    pub(crate) path: FilePath,
    pub(crate) shown: Shown,
    /// How much the reader's files take, in the reader's own folder.
    pub(crate) usage: Option<FileUsage>,
}

/// A folder or a file.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Shown {
    Folder(FolderPage),
    File {
        file: FileView,
        /// Its content, where it is a text that is short enough.
        text: Option<String>,
    },
}

/// Opens a path.
#[server(prefix = "/fn", endpoint = "files/open", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn open_path(
    #[server(default)] path: String,
    #[server(default)] after: String,
) -> Result<OpenedPath, Failed> {
    use api::files::{FileKind, FolderQuery};

    use crate::edge::{call, failed};
    use crate::preview;
    let (backend, actor) = call()?;
    let home = backend.files.home(&actor).await.map_err(failed)?;
    let path = if path.is_empty() { home.clone() } else { FilePath::new(path) };
    let file = backend.files.stat(&actor, &path).await.map_err(failed)?;
    let shown = match file.kind {
        FileKind::Folder => {
            let after = (!after.is_empty()).then_some(after);
            let query = FolderQuery { after, limit: 500 };
            Shown::Folder(backend.files.list(&actor, &path, &query).await.map_err(failed)?)
        }
        FileKind::File => {
            let text = preview::text(&backend, &actor, &path, &file).await.map_err(failed)?;
            Shown::File { file, text }
        }
        FileKind::Link => {
            let message = format!("{path} is a link: it is followed nowhere but in a task");
            return Err(failed(api::Error::new(api::ErrorCode::ConflictFileError, message)));
        }
    };
    let usage = match path == home {
        true => Some(backend.files.usage(&actor).await.map_err(failed)?),
        false => None,
    };
    Ok(OpenedPath { path, shown, usage })
}

/// Makes a folder.
#[server(prefix = "/fn", endpoint = "files/make-folder", output = Answer)]
pub(crate) async fn make_folder(folder: FilePath, name: String) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.files.make_folder(&actor, &folder.child(&name)).await.map_err(failed)
}

/// Gives a file or folder another name.
#[server(prefix = "/fn", endpoint = "files/rename", output = Answer)]
pub(crate) async fn rename_file(path: FilePath, name: String) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let folder = path.parent().unwrap_or_else(|| FilePath::new("/"));
    backend.files.rename(&actor, &path, &folder.child(&name)).await.map_err(failed)
}

/// Removes a file, or a folder with all that is in it.
#[server(prefix = "/fn", endpoint = "files/remove", output = Answer)]
pub(crate) async fn remove_file(path: FilePath) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.files.remove(&actor, &path, true).await.map(drop).map_err(failed)
}
