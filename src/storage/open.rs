use std::path::Path;
use std::sync::Arc;

use crate::error::{Result, StorageError};
use crate::folder::Folder;
use crate::storage::{Place, Storage};
use crate::web::{Web, WebOptions};

/// Where a name node answers WebHDFS when nothing else is said.
const WEB_PORT: u16 = 9870;
/// The name Berth goes by at a WebHDFS server when nothing else is said.
const WEB_USER: &str = "berth";

/// Where the files are, and how they are reached.
#[derive(Clone, Default)]
pub struct StorageOptions {
    /// `file:///folder`, an absolute path, `webhdfs://host:port/folder` (the port of the web door),
    /// or `hdfs://host:port/folder` (the port of programs; the web door is at 9870 of that host).
    pub root: String,
    /// The web door of a WebHDFS server where it does not follow from the root: `http://host:port`.
    pub endpoint: Option<String>,
    /// The name Berth goes by at a WebHDFS server; it must be one that may read and write below
    /// the root.
    pub user: Option<String>,
    /// A delegation token for a WebHDFS server with security, in place of the name.
    pub delegation: Option<String>,
    /// The most that one user's files may take, in bytes.
    pub quota: Option<u64>,
}

impl std::fmt::Debug for StorageOptions {
    /// Without the token.
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StorageOptions").field("root", &self.root).finish_non_exhaustive()
    }
}

impl Storage {
    /// Opens a place without further options.
    ///
    /// # Errors
    /// As [`Storage::open_with`].
    pub fn open(root: &str) -> Result<Self> {
        Self::open_with(StorageOptions { root: root.to_owned(), ..StorageOptions::default() })
    }

    /// Opens a place. A folder is made if it is missing; a server is not asked yet.
    ///
    /// # Errors
    /// [`StorageError::Root`] for other places and for a folder that cannot be written.
    pub fn open_with(options: StorageOptions) -> Result<Self> {
        let root = options.root.clone();
        let fail = |message: String| StorageError::Root { root: root.clone(), message };
        match root.split_once("://") {
            None => open_folder(&root, options.quota, &fail),
            Some(("file", folder)) => open_folder(folder, options.quota, &fail),
            Some((scheme @ ("hdfs" | "webhdfs"), rest)) => open_web(scheme, rest, options, &fail),
            Some((scheme, _)) => Err(fail(format!(
                "{scheme}:// is not supported: allowed are file:///folder, an absolute path, \
                 hdfs://host:port/folder and webhdfs://host:port/folder"
            ))),
        }
    }
}

fn open_folder(
    folder: &str,
    quota: Option<u64>,
    fail: &impl Fn(String) -> StorageError,
) -> Result<Storage> {
    if !folder.starts_with('/') {
        return Err(fail("an absolute path is needed, as in file:///var/lib/berth/files".into()));
    }
    let opened = Folder::open(Path::new(folder)).map_err(fail)?;
    let folder = std::fs::canonicalize(folder).map_err(|error| fail(error.to_string()))?;
    let text = folder.to_str().ok_or_else(|| fail("the path is not UTF-8".into()))?;
    let uri = format!("file://{}", text.trim_end_matches('/'));
    Ok(Storage { uri, quota, place: Place::Folder(opened), short_logs: Arc::default() })
}

fn open_web(
    scheme: &str,
    rest: &str,
    options: StorageOptions,
    fail: &impl Fn(String) -> StorageError,
) -> Result<Storage> {
    let (authority, folder) = rest.split_once('/').unwrap_or((rest, ""));
    let (host, port) = match authority.rsplit_once(':') {
        Some((host, port)) => (host, port.parse().ok()),
        None => (authority, Some(WEB_PORT)),
    };
    let good =
        |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '[' | ']' | ':');
    let (Some(port), false, true) = (port, host.is_empty(), host.chars().all(good)) else {
        return Err(fail(format!("{scheme}://host:port/folder is needed")));
    };
    let folder =
        crate::path::resolve("", &format!("/{folder}")).map_err(|error| fail(error.to_string()))?;
    let port = if scheme == "hdfs" { WEB_PORT } else { port };
    let endpoint = options.endpoint.unwrap_or_else(|| format!("http://{host}:{port}"));
    if !endpoint.starts_with("http://") {
        return Err(fail(format!("endpoint {endpoint}: http://host:port is needed")));
    }
    let web = WebOptions {
        endpoint: endpoint.trim_end_matches('/').to_owned(),
        folder: folder.as_str().to_owned(),
        user: options.user.unwrap_or_else(|| WEB_USER.to_owned()),
        delegation: options.delegation,
    };
    let web = Web::open(web).map_err(|error| fail(error.to_string()))?;
    let uri = format!("{scheme}://{authority}{folder}");
    let (quota, place) = (options.quota, Place::Web(Box::new(web)));
    Ok(Storage { uri, quota, place, short_logs: Arc::default() })
}
