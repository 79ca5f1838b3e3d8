//! A WebHDFS server: Hadoop's own, its gateway HttpFS, or another one. OpenDAL reads, looks and
//! lists; what it does not do there (writing a stream of any length, appending, renaming, removing
//! a whole folder) is asked for here.

mod answer;
mod http;
mod transport;

use std::fmt;

use ::http::Method;
use bytes::Bytes;
use futures::TryStreamExt;
use futures::stream::BoxStream;
use opendal::{EntryMode, ErrorKind, HttpTransporter, OperationContext, Operator};
use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use protocol::time::Timestamp;

use crate::content::Content;
use crate::entry::{Entry, EntryKind, Page, Smallest};
use crate::error::{Result, StorageError, failed};
use crate::path::StoragePath;
use answer::Outcome;
use http::{Client, Sent};

/// What stays as it is in an address.
const PLAIN: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Where the server is, and who asks it.
pub(crate) struct WebOptions {
    /// `http://host:port`.
    pub(crate) endpoint: String,
    /// The folder that is the root, `/` or `/a/b`.
    pub(crate) folder: String,
    /// The name that a server without security believes.
    pub(crate) user: String,
    /// The token for one with security.
    pub(crate) delegation: Option<String>,
}

/// The server, seen from the root folder on.
#[derive(Clone)]
pub(crate) struct Web {
    client: Client,
    endpoint: String,
    folder: String,
    /// OpenDAL's view of it.
    operator: Operator,
    /// `&user.name=…` or `&delegation=…`.
    identity: String,
}

impl fmt::Debug for Web {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Web").field("endpoint", &self.endpoint).finish_non_exhaustive()
    }
}

impl Web {
    pub(crate) fn open(options: WebOptions) -> opendal::Result<Self> {
        let WebOptions { endpoint, folder, user, delegation } = options;
        let client = Client::new();
        let service = opendal::services::Webhdfs::default()
            .endpoint(&endpoint)
            .root(&folder)
            .user_name(&encode(&user))
            .delegation(&delegation.as_deref().map(encode).unwrap_or_default())
            // Pages of lists came late to Hadoop, and to some servers never.
            .disable_list_batch();
        let transport = HttpTransporter::new(transport::Transport(client.clone()));
        let context = OperationContext::new().with_http_transport(transport);
        let operator = Operator::new(service)?.with_context(context);
        let identity = match delegation {
            Some(token) => format!("&delegation={}", encode(&token)),
            None => format!("&user.name={}", encode(&user)),
        };
        let folder = folder.trim_end_matches('/').to_owned();
        Ok(Self { client, endpoint, folder, operator, identity })
    }

    /// What is at a path, if anything is.
    pub(crate) async fn find(&self, path: &StoragePath) -> Result<Option<Entry>> {
        match self.operator.stat(path.as_str()).await {
            Ok(found) => Ok(entry(path.name().unwrap_or_default(), &found)),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
            Err(error) => Err(StorageError::of(path, error)),
        }
    }

    /// A part of a file that is within it.
    pub(crate) async fn read(
        &self,
        path: &StoragePath,
        range: std::ops::Range<u64>,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        if range.is_empty() {
            return Ok(Box::pin(futures::stream::empty()));
        }
        let fail = |error| StorageError::of(path, error);
        let reader = self.operator.reader(path.as_str()).await.map_err(fail)?;
        let content = reader.into_bytes_stream(range).await.map_err(fail)?;
        let path = path.clone();
        Ok(Box::pin(content.map_err(move |error| failed(&path, error))))
    }

    /// The names of all files in one of Berth's own folders, which may not be there.
    pub(crate) async fn names(&self, folder: &StoragePath) -> Result<Vec<String>> {
        let names = self.listed(folder).await?.into_iter();
        Ok(names.filter(|name| !name.is_empty() && !name.ends_with('/')).collect())
    }

    /// The names of all folders in one of Berth's own folders, and its own name.
    pub(crate) async fn folders(&self, folder: &StoragePath) -> Result<Vec<String>> {
        let names = self.listed(folder).await?.into_iter();
        Ok(names.filter_map(|name| name.strip_suffix('/').map(str::to_owned)).collect())
    }

    /// What OpenDAL tells of a folder: names, those of folders with a slash at their end.
    async fn listed(&self, folder: &StoragePath) -> Result<Vec<String>> {
        let fail = |error| StorageError::of(folder, error);
        let lister = self.operator.lister(&format!("{folder}/")).await.map_err(fail)?;
        lister.map_ok(|entry| entry.name().to_owned()).try_collect().await.map_err(fail)
    }

    /// A part of a folder, of which the server tells all at once.
    pub(crate) async fn list(
        &self,
        path: &StoragePath,
        after: Option<&str>,
        limit: usize,
    ) -> Result<Page> {
        let fail = |error| StorageError::of(path, error);
        let mut found = Smallest::new(after, limit);
        let mut entries = self.operator.lister(&format!("{path}/")).await.map_err(fail)?;
        while let Some(entry) = entries.try_next().await.map_err(fail)? {
            let name = entry.name().trim_end_matches('/').to_owned();
            let own_name = path.child(&name).filter(|child| !child.is_own());
            // The folder itself is told as well.
            if own_name.is_none()
                || entry.path().trim_matches('/') == path.as_str().trim_matches('/')
            {
                continue;
            }
            if let Some(entry) = self::entry(&name, entry.metadata()) {
                found.offer(name, entry);
            }
        }
        let (entries, more) = found.into_parts();
        Ok(Page { entries: entries.into_values().collect(), more })
    }

    /// Makes a folder and those above it.
    pub(crate) async fn make_folder(&self, path: &StoragePath) -> Result<()> {
        match self.ask(Method::PUT, path, "MKDIRS", "").await? {
            Outcome::Done | Outcome::Silent => Ok(()),
            Outcome::NotDone => Err(StorageError::NotFolder { path: path.to_string() }),
        }
    }

    /// Renames to a name that is free.
    pub(crate) async fn rename(&self, from: &StoragePath, to: &StoragePath) -> Result<()> {
        let destination = format!("&destination={}", encode(&self.whole(to)));
        match self.ask(Method::PUT, from, "RENAME", &destination).await? {
            Outcome::Done | Outcome::Silent => Ok(()),
            // The server does not say why; the name is taken, or its folder is not there.
            Outcome::NotDone => Err(StorageError::Exists { path: to.to_string() }),
        }
    }

    /// Puts an unfinished file where it belongs.
    pub(crate) async fn finish(
        &self,
        from: &StoragePath,
        to: &StoragePath,
        replace: bool,
    ) -> Result<()> {
        if let Some(folder) = to.parent() {
            self.make_folder(&folder).await?;
        }
        if replace {
            let destination = encode(&self.whole(to));
            let replacing = format!("&destination={destination}&renameoptions=OVERWRITE");
            // In one step where the server can; a gateway refuses the option or overlooks it.
            if let Ok(Outcome::Done | Outcome::Silent) =
                self.ask(Method::PUT, from, "RENAME", &replacing).await
            {
                return Ok(());
            }
            self.remove(to, false).await?;
        }
        self.rename(from, to).await
    }

    /// Removes what is there; false: nothing was.
    pub(crate) async fn remove(&self, path: &StoragePath, recursive: bool) -> Result<bool> {
        let recursive = format!("&recursive={recursive}");
        match self.ask(Method::DELETE, path, "DELETE", &recursive).await {
            Ok(Outcome::Done | Outcome::Silent) => Ok(true),
            Ok(Outcome::NotDone) | Err(StorageError::NotFound { .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    /// Writes a new file.
    pub(crate) async fn create(&self, path: &StoragePath, content: Content) -> Result<()> {
        self.send(Method::PUT, path, "CREATE", "&overwrite=true", content).await
    }

    /// Adds to a file.
    pub(crate) async fn append(&self, path: &StoragePath, content: Content) -> Result<()> {
        self.send(Method::POST, path, "APPEND", "", content).await
    }

    /// In two steps: the server names who takes the bytes, who then gets them.
    async fn send(
        &self,
        method: Method,
        path: &StoragePath,
        operation: &str,
        parameters: &str,
        content: Content,
    ) -> Result<()> {
        let address = self.address(path, operation, parameters);
        let fail = |error: http::Error| failed(path, error);
        let answer = self.client.send(method.clone(), &address, Sent::Nothing).await;
        let taker = answer::taker(path, answer.map_err(fail)?).await?;
        let taker = http::absolute(&self.endpoint, &taker);
        let answer = self.client.send(method, &taker, Sent::Stream(content)).await;
        match answer {
            Ok(answer) => answer::outcome(path, answer).await.map(drop),
            Err(http::Error::Content(source)) => {
                Err(StorageError::Content { path: path.to_string(), source })
            }
            Err(error) => Err(fail(error)),
        }
    }

    async fn ask(
        &self,
        method: Method,
        path: &StoragePath,
        operation: &str,
        parameters: &str,
    ) -> Result<Outcome> {
        let address = self.address(path, operation, parameters);
        let answer = self.client.send(method, &address, Sent::Nothing).await;
        answer::outcome(path, answer.map_err(|error| failed(path, error))?).await
    }

    fn address(&self, path: &StoragePath, operation: &str, parameters: &str) -> String {
        let (endpoint, identity) = (&self.endpoint, &self.identity);
        let path = encode(&self.whole(path));
        format!("{endpoint}/webhdfs/v1{path}?op={operation}{parameters}{identity}")
    }

    /// The path as the server knows it.
    fn whole(&self, path: &StoragePath) -> String {
        let whole = format!("{}{path}", self.folder);
        if whole.is_empty() { "/".to_owned() } else { whole }
    }
}

/// What OpenDAL tells of a file or folder.
fn entry(name: &str, found: &opendal::Metadata) -> Option<Entry> {
    let kind = match found.mode() {
        EntryMode::FILE => EntryKind::File,
        EntryMode::DIR => EntryKind::Folder,
        EntryMode::Unknown => return None,
    };
    let modified = found.last_modified().map(|time| Timestamp(time.into_inner().as_millisecond()));
    let size = if kind == EntryKind::File { found.content_length() } else { 0 };
    Some(Entry { name: name.to_owned(), kind, size, modified })
}

fn encode(text: &str) -> String {
    utf8_percent_encode(text, PLAIN).to_string()
}
