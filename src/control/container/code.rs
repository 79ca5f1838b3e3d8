//! A job's code on its way to its containers: a folder of the storage, packed while it is read, in
//! a volume that all tasks of the attempt on a node have read-only.

use std::fmt::Display;
use std::sync::Arc;

use api::{Actor, ErrorCode};
use async_trait::async_trait;
use bytes::Bytes;
use engine::{Content, EngineError, Volume};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use protocol::epoch::Epoch;
use protocol::guest::CODE;
use protocol::ids::{JobId, UserName};
use protocol::spec::{Dialect, JobSpec};
use storage::stage::{Staging, tar_of_folder};
use storage::{StorageError, StoragePath};
use tar::{Builder, EntryType, Header};

use crate::accounts::people::People;
use crate::accounts::rights;
use crate::files::access::Access;
use crate::files::path_of;
use crate::records::store::Store;
use crate::shared::Shared;

/// The largest code folder, in bytes.
pub(crate) const LARGEST: u64 = 200_000_000;

/// The volume of an attempt. One of another life of the database has other code, whatever its number.
pub(crate) fn volume(installation: &str, (job, attempt): (JobId, u32), epoch: Epoch) -> Volume {
    let life = epoch.label().map(|epoch| format!("-e{epoch}")).unwrap_or_default();
    Volume {
        name: format!("berth-{installation}-{job}-a{attempt}{life}-code"),
        cluster: installation.to_owned(),
        attempt: Some((job, attempt)),
        epoch,
    }
}

/// Whether a job starts inside its code: the earliest documents' files say `python train.py`, later
/// ones `python code/train.py`.
pub(crate) fn starts_inside(spec: &JobSpec) -> bool {
    spec.code_dir.is_some()
        && match spec.dialect {
            Dialect::Earliest => true,
            Dialect::Pai | Dialect::Scm | Dialect::V2 => false,
        }
}

/// The code's own name, where it has another one than it always has.
pub(crate) fn own_name(spec: &JobSpec) -> Option<String> {
    let name = spec.code_dir.as_deref()?.trim_end_matches('/').rsplit('/').next()?;
    (!name.is_empty() && name != CODE && !name.contains('$')).then(|| name.to_owned())
}

/// A job's code.
pub(crate) struct Code {
    pub(crate) shared: Arc<Shared>,
    /// The folder, as the job file has it.
    pub(crate) told: String,
    /// The same, which the job's owner may read: see [`readable_whole`].
    pub(crate) path: StoragePath,
    /// See [`starts_inside`].
    pub(crate) starts_inside: bool,
}

#[async_trait]
impl Content for Code {
    async fn tar(&self) -> engine::Result<BoxStream<'static, engine::Result<Bytes>>> {
        let storage = &self.shared.store.storage;
        let failed = |error| about(&self.told, error);
        let staging = Staging { below: String::new(), limit: LARGEST };
        let tar = tar_of_folder(storage, &self.path, staging).await.map_err(failed)?;
        let place = self.told.clone();
        let tar = tar.map(move |piece| piece.map_err(|error| about(&place, error)));
        let own = self.path.child(CODE);
        let taken = match &own {
            Some(own) => storage.exists(own).await.map_err(failed)?,
            None => true,
        };
        if !self.starts_inside || taken {
            return Ok(tar.boxed());
        }
        let link = link_to_itself().map_err(|error| EngineError::Content(error.to_string()))?;
        Ok(stream::iter([Ok(link)]).chain(tar).boxed())
    }
}

/// A folder of a job file that is taken with all that is in it, checked as its owner's.
pub(crate) async fn readable_whole(
    store: &Store,
    people: &People,
    owner: &UserName,
    path: &str,
) -> api::Result<StoragePath> {
    let actor = acting(store, people, owner).await?;
    let path = path_of(store, &api::files::FilePath::new(path))?;
    Access { store, actor: &actor }.to_read_whole(&path).await?;
    Ok(path)
}

/// A file of a job file, checked as its owner's.
pub(crate) async fn readable(
    store: &Store,
    people: &People,
    owner: &UserName,
    path: &str,
) -> api::Result<StoragePath> {
    let actor = acting(store, people, owner).await?;
    let path = path_of(store, &api::files::FilePath::new(path))?;
    Access { store, actor: &actor }.to_read(&path).await?;
    Ok(path)
}

/// A job's owner with the rights that he has now.
pub(crate) async fn acting(store: &Store, people: &People, owner: &UserName) -> api::Result<Actor> {
    let found = database::users::get(store.database.read(), owner).await;
    let nobody = Actor { user: owner.clone(), admin: false };
    let Some(user) = found? else { return Ok(nobody) };
    let standing = rights::standing(store, people, &user).await?;
    Ok(standing.map_or(nobody, |standing| standing.actor))
}

/// Why something of the storage cannot be had for a job.
#[derive(Debug, Clone, thiserror::Error)]
pub(crate) enum LookError {
    /// The database does not answer.
    #[error("{0}")]
    Records(String),
    /// The storage does not answer.
    #[error("{0}")]
    Storage(String),
    /// It is not there, not what it should be, or not the owner's: asking again will not help.
    #[error("{0}")]
    Refused(String),
}

impl LookError {
    /// What a failure of the storage means; `of` is what was looked at.
    pub(crate) fn of(of: impl Display, error: StorageError) -> Self {
        let message = format!("{of}: {error}");
        match error {
            StorageError::Failed { .. } | StorageError::Root { .. } => Self::Storage(message),
            StorageError::Path { .. }
            | StorageError::NotFound { .. }
            | StorageError::Exists { .. }
            | StorageError::IsFolder { .. }
            | StorageError::NotFolder { .. }
            | StorageError::NotEmpty { .. }
            | StorageError::TooLarge { .. }
            | StorageError::Content { .. } => Self::Refused(message),
        }
    }
}

/// What an operation answers when it looks at the storage.
impl From<api::Error> for LookError {
    fn from(error: api::Error) -> Self {
        if error.is_ours() {
            Self::Records(error.message)
        } else if error.code == ErrorCode::UnavailableError {
            Self::Storage(error.message)
        } else {
            Self::Refused(error.message)
        }
    }
}

/// For what an engine reads: it is well itself.
impl From<LookError> for EngineError {
    fn from(error: LookError) -> Self {
        match error {
            LookError::Records(message) | LookError::Storage(message) => Self::Content(message),
            LookError::Refused(message) => Self::Refused(message),
        }
    }
}

fn about(path: &str, error: StorageError) -> EngineError {
    LookError::of(format_args!("codeDir {path}"), error).into()
}

/// `code` in the code itself, so that `python code/train.py` finds it from inside as well.
fn link_to_itself() -> std::io::Result<Bytes> {
    let mut header = Header::new_gnu();
    header.set_entry_type(EntryType::Symlink);
    header.set_mode(0o777);
    header.set_size(0);
    let mut archive = Builder::new(Vec::new());
    archive.append_link(&mut header, CODE, ".")?;
    Ok(Bytes::from(archive.get_ref().clone()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn code_has_its_last_name_as_well() {
        let name = |path: &str| {
            own_name(&JobSpec {
                code_dir: Some(path.into()),
                ..crate::container::guest::tests::spec(1)
            })
        };
        assert_eq!(name("$PAI_DEFAULT_FS_URI/alice/benchmarks/").as_deref(), Some("benchmarks"));
        for path in ["/alice/code", "/", "$PAI_DEFAULT_FS_URI"] {
            assert_eq!(name(path), None, "{path}");
        }
    }
}
