//! `api::files`: the storage, to each user as far as it is his. Whose what is says
//! [`storage::rights`].

use std::sync::Arc;

use api::audit::AuditAction;
use api::files::{
    FileContent, FilePart, FilePath, FileStream, FileUsage, FileView, Files, FolderPage,
    FolderQuery, FolderSize, Upload, WriteMode, Writing,
};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use futures::{StreamExt, TryStreamExt};
use storage::{Entry, EntryKind, Range, StoragePath, rights};

use crate::error::internal;
use crate::files::access::{Access, Claim, Standing, is_folder};
use crate::files::job_keys::KeyFile;
use crate::files::ledger::Ledger;
use crate::files::path_of;
use crate::files::uploads::{self, Turns};
use crate::records::audit;
use crate::shared::Shared;

mod view;

/// The most entries of a folder that are looked at together.
const LARGEST_PAGE: u32 = 10_000;

#[derive(Debug)]
pub(crate) struct Ops {
    shared: Arc<Shared>,
    ledger: Ledger,
    turns: Turns,
}

impl Ops {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        Self { shared, ledger: Ledger::default(), turns: Turns::default() }
    }

    fn access<'a>(&'a self, actor: &'a Actor) -> Access<'a> {
        Access { store: &self.shared.store, actor }
    }
}

#[async_trait]
impl Files for Ops {
    async fn home(&self, actor: &Actor) -> Result<FilePath> {
        let home = rights::home(&actor.user);
        let Some(home) = home else { return Ok(FilePath::new("/")) };
        self.shared.store.storage.create_folder(&home).await?;
        Ok(FilePath::new(home.as_str()))
    }

    async fn stat(&self, actor: &Actor, path: &FilePath) -> Result<FileView> {
        let path = path_of(&self.shared.store, path)?;
        if let Some(key) =
            KeyFile::find(&self.shared.seal, &self.shared.store, actor, &path).await?
        {
            return Ok(key.view());
        }
        let standing = self.access(actor).to_read(&path).await?;
        self.make_home(actor, &path).await?;
        let entry = self.shared.store.storage.stat(&path).await?;
        Ok(view::of(entry, &standing, actor))
    }

    async fn list(
        &self,
        actor: &Actor,
        path: &FilePath,
        query: &FolderQuery,
    ) -> Result<FolderPage> {
        let path = path_of(&self.shared.store, path)?;
        let access = self.access(actor);
        let standing = access.to_read(&path).await?;
        self.make_home(actor, &path).await?;
        let storage = &self.shared.store.storage;
        let folder = storage.stat(&path).await?;
        let limit = query.limit.clamp(1, LARGEST_PAGE) as usize;
        let page = storage.list(&path, query.after.as_deref(), limit).await?;
        let next = page.entries.last().filter(|_| page.more).map(|entry| entry.name.clone());
        let entries = access.visible(&path, &standing, page.entries).await?;
        let entries = entries.into_iter();
        Ok(FolderPage {
            folder: view::of(folder, &standing, actor),
            entries: entries.map(|(entry, standing)| view::of(entry, &standing, actor)).collect(),
            next,
        })
    }

    async fn measure(&self, actor: &Actor, path: &FilePath) -> Result<FolderSize> {
        let path = path_of(&self.shared.store, path)?;
        let standing = self.access(actor).to_read(&path).await?;
        if standing.is_shared() && !actor.admin {
            let message = "what is in common folders is counted for administrators only";
            return Err(Error::new(ErrorCode::ForbiddenUserError, message));
        }
        let size = self.shared.store.storage.measure(&path, u64::MAX).await?;
        Ok(FolderSize { bytes: size.bytes, files: size.files, folders: size.folders })
    }

    async fn read(&self, actor: &Actor, path: &FilePath, part: FilePart) -> Result<FileContent> {
        let path = path_of(&self.shared.store, path)?;
        if let Some(key) =
            KeyFile::find(&self.shared.seal, &self.shared.store, actor, &path).await?
        {
            return Ok(key.read(part));
        }
        let standing = self.access(actor).to_read(&path).await?;
        self.witness(actor, &standing, (AuditAction::FilesRead, &path)).await?;
        let entry = self.shared.store.storage.stat(&path).await?;
        let range = Range { offset: part.offset, length: part.length };
        let (range, content) = self.shared.store.storage.read_range(&path, range).await?;
        let content = content.map_err(api::Error::from).boxed();
        Ok(FileContent { file: view::of(entry, &standing, actor), range, content })
    }

    async fn may_write(&self, actor: &Actor, path: &FilePath, writing: Writing) -> Result<()> {
        let path = path_of(&self.shared.store, path)?;
        let standing = self.access(actor).to_change(&path).await?;
        self.check_name(&path, writing.mode).await?;
        self.ledger.check(&self.shared.store, actor, &standing, writing.length).await
    }

    async fn write(
        &self,
        actor: &Actor,
        path: &FilePath,
        writing: Writing,
        content: FileStream,
    ) -> Result<()> {
        let path = path_of(&self.shared.store, path)?;
        let access = self.access(actor);
        let standing = access.to_write(&path, Claim::unless_admin(actor)).await?;
        self.witness(actor, &standing, (AuditAction::FilesChanged, &path)).await?;
        let metered = self
            .ledger
            .meter(&self.shared.store, actor, &standing, writing.length, content)
            .await?;
        let storage = &self.shared.store.storage;
        let content = metered.content.map_err(Into::into).boxed();
        let written = match writing.mode {
            WriteMode::Append => storage.append(&path, content).await,
            WriteMode::New => storage.create(&path, false, content).await,
            WriteMode::Replace => storage.create(&path, true, content).await,
        };
        match writing.mode {
            // What was added before it broke off stays.
            WriteMode::Append => {}
            WriteMode::New | WriteMode::Replace if written.is_ok() => {}
            WriteMode::New | WriteMode::Replace => metered.count.take_back(),
        }
        written?;
        access.still_owned(&path, &standing).await
    }

    async fn arrived(&self, actor: &Actor, path: &FilePath, upload: &Upload) -> Result<u64> {
        let path = path_of(&self.shared.store, path)?;
        self.access(actor).to_change(&path).await?;
        let arriving = uploads::arriving(actor, &path, upload)?;
        Ok(self.shared.store.storage.arrived(&arriving).await?)
    }

    async fn upload(
        &self,
        actor: &Actor,
        path: &FilePath,
        upload: &Upload,
        offset: u64,
        content: FileStream,
    ) -> Result<u64> {
        let path = path_of(&self.shared.store, path)?;
        let arriving = uploads::arriving(actor, &path, upload)?;
        let standing = self.access(actor).to_change(&path).await?;
        self.check_name(&path, uploads::mode(upload)).await?;
        let turn = self.turns.take(&arriving).await?;
        let arrived = self.shared.store.storage.arrived(&arriving).await?;
        if arrived != offset || offset > upload.length {
            return Err(uploads::elsewhere(arrived, offset));
        }
        let rest = Some(upload.length - offset);
        let metered =
            self.ledger.meter(&self.shared.store, actor, &standing, rest, content).await?;
        let content = turn.listen(metered.content).map_err(Into::into).boxed();
        let (storage, of) = (self.shared.store.storage.clone(), arriving.clone());
        // To its end also where the sender has gone, so that nobody writes before that.
        let adding = tokio::spawn(async move {
            let added = storage.add(&of, content).await;
            drop(turn);
            added
        });
        adding.await.map_err(internal)??;
        let arrived = self.shared.store.storage.arrived(&arriving).await?;
        if arrived == upload.length {
            let access = self.access(actor);
            let standing = access.to_write(&path, Claim::unless_admin(actor)).await?;
            self.witness(actor, &standing, (AuditAction::FilesChanged, &path)).await?;
            let completed =
                self.shared.store.storage.complete(&arriving, &path, upload.replace).await;
            completed?;
            access.still_owned(&path, &standing).await?;
        }
        Ok(arrived)
    }

    async fn make_folder(&self, actor: &Actor, path: &FilePath) -> Result<()> {
        let path = path_of(&self.shared.store, path)?;
        let storage = &self.shared.store.storage;
        let access = self.access(actor);
        // To be told that a folder is there, it is enough to be allowed to see it.
        if access.to_read(&path).await.is_ok()
            && storage.find(&path).await?.is_some_and(|found| is_folder(&found))
        {
            return Ok(());
        }
        let standing = access.to_write(&path, Claim::unless_admin(actor)).await?;
        storage.create_folder(&path).await?;
        access.still_owned(&path, &standing).await
    }

    async fn rename(&self, actor: &Actor, from: &FilePath, to: &FilePath) -> Result<()> {
        let (from, to) = (path_of(&self.shared.store, from)?, path_of(&self.shared.store, to)?);
        let access = self.access(actor);
        let standing = access.to_change(&from).await?;
        if standing.is_shared() {
            let message = "a common folder is not renamed: what is in it has owners of its own";
            return Err(Error::new(ErrorCode::ForbiddenUserError, message));
        }
        // What was somebody's stays his where it goes.
        let claim = standing.owner().map_or_else(|| Claim::unless_admin(actor), Claim::For);
        access.to_write(&to, claim).await?;
        self.witness(actor, &standing, (AuditAction::FilesChanged, &from)).await?;
        self.shared.store.storage.rename(&from, &to).await?;
        access.release(&from).await
    }

    async fn remove(&self, actor: &Actor, path: &FilePath, recursive: bool) -> Result<bool> {
        let path = path_of(&self.shared.store, path)?;
        let access = self.access(actor);
        let standing = access.to_change(&path).await?;
        if recursive && standing.is_shared() {
            access.release_within(&path).await?;
        }
        self.witness(actor, &standing, (AuditAction::FilesChanged, &path)).await?;
        let removed = self.shared.store.storage.remove(&path, recursive).await?;
        access.release(&path).await?;
        self.ledger.forget(&standing);
        tracing::info!(by = %actor.user, path = path.as_str(), recursive, removed, "files removed");
        Ok(removed)
    }

    async fn usage(&self, actor: &Actor) -> Result<FileUsage> {
        let bytes = self.ledger.used(&self.shared.store, &actor.user).await?.get();
        Ok(FileUsage { bytes, quota: self.shared.store.storage.quota() })
    }
}

impl Ops {
    /// Writes down that an administrator reached somebody else's files: once a minute, with the
    /// first of them.
    async fn witness(
        &self,
        actor: &Actor,
        standing: &Standing,
        (action, path): (AuditAction, &StoragePath),
    ) -> Result<()> {
        let Some(owner) = standing.owner() else { return Ok(()) };
        let about = (action, owner.to_string(), path.to_string());
        Ok(audit::looked(&self.shared.store, actor, owner, about).await?)
    }

    /// A user's own folder is there as soon as he looks.
    async fn make_home(&self, actor: &Actor, path: &StoragePath) -> Result<()> {
        let storage = &self.shared.store.storage;
        let is_home = rights::home(&actor.user).as_ref() == Some(path);
        if is_home && !storage.exists(path).await? {
            storage.create_folder(path).await?;
        }
        Ok(())
    }

    /// Whether what is at a path now lets a file be written there.
    async fn check_name(&self, path: &StoragePath, mode: WriteMode) -> Result<()> {
        let found = self.shared.store.storage.find(path).await?;
        let conflict = |message: String| Err(Error::new(ErrorCode::ConflictFileError, message));
        match (found, mode) {
            (Some(found), _) if is_folder(&found) => conflict(format!("{path} is a folder")),
            (Some(Entry { kind: EntryKind::Link, .. }), _) => {
                let message = format!("{path} is a link: links are not followed here");
                Err(Error::new(ErrorCode::InvalidParametersError, message))
            }
            (Some(_), WriteMode::New) => conflict(format!("{path} exists already")),
            (None, WriteMode::Append) => {
                Err(Error::new(ErrorCode::NoFileError, format!("{path} does not exist")))
            }
            (Some(_), WriteMode::Append | WriteMode::Replace)
            | (None, WriteMode::New | WriteMode::Replace) => Ok(()),
        }
    }
}
