//! Folders of the storage in containers, on nodes that have the storage as a folder of theirs.
//!
//! An engine is told names, which it looks up itself, as the node's administrator, whenever it
//! starts the container. So it is told only names that no user and no task can change: the topmost
//! folder that has one owner, such as a user's own. What lies deeper is told to the task alone,
//! beneath that folder: there the kernel follows whatever it finds within the container.

use api::Result;
use api::files::FilePath;
use api::{Error, ErrorCode};
use database::nodes::NodeRecord;
use engine::Folder;
use protocol::environment::{self, JobFacts};
use protocol::ids::{JobId, UserName};
use protocol::spec::Dialect;
use storage::{EntryKind, StoragePath, rights};

use crate::accounts::people::People;
use crate::container::code::acting;
use crate::files::access::Access;
use crate::files::path_of;
use crate::known::settings::Settings;
use crate::records::store::Store;

/// The label of a node that says where it has the storage, in place of the configuration's word;
/// `none`: it has it not.
const LABEL: &str = "storage";
/// Where containers have folders of the storage.
const BERTH: &str = "/berth";

/// What a container is given: folders, and the variables that say where they are.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Shown {
    pub(crate) folders: Vec<Folder>,
    pub(crate) variables: Vec<(String, String)>,
}

/// A path of the storage that a job's tasks are to see, wherever their nodes have the storage.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Wanted {
    /// What it is to them.
    name: &'static str,
    path: StoragePath,
    /// The topmost folder on its way that has one owner.
    top: StoragePath,
    read_only: bool,
}

impl Shown {
    /// Mounts what is wanted, or the folder above it that nobody can rename, unless it is there
    /// already.
    fn add(&mut self, mount: &str, wanted: &Wanted) {
        let Wanted { name, path, top, read_only } = wanted;
        let (name, source) = (name.to_lowercase(), format!("{}{top}", mount.trim_end_matches('/')));
        let below = path.below(top).unwrap_or_default();
        let same = |folder: &&Folder| folder.source == source && folder.read_only == *read_only;
        let target = match self.folders.iter().find(same) {
            Some(folder) => folder.target.clone(),
            None => {
                let above = if below.is_empty() { "" } else { "of-" };
                let target = format!("{BERTH}/{above}{name}");
                let read_only = *read_only;
                self.folders.push(Folder { source, target: target.clone(), read_only });
                target
            }
        };
        let told = if below.is_empty() { target } else { format!("{target}/{below}") };
        self.variables.push((format!("BERTH_{}", wanted.name), told));
    }
}

/// Where a node has the storage, if it has it.
pub(crate) fn mount<'a>(settings: &'a Settings, node: &'a NodeRecord) -> Option<&'a str> {
    let label = node.settings.labels.get(LABEL).filter(|path| !path.is_empty());
    let mount = label.or(settings.of_nodes.storage_mount.as_ref());
    mount.map(String::as_str).filter(|mount| *mount != "none")
}

/// What is wanted, as a container has it on a node that has the storage there.
pub(crate) fn shown(mount: &str, wanted: &[Wanted]) -> Shown {
    let mut shown = Shown::default();
    wanted.iter().for_each(|wanted| shown.add(mount, wanted));
    shown
}

/// What a job's tasks see of the storage: its owner's own folder, in it one for checkpoints if it asks
/// for a grace, its output folder, and `dataDir`,
/// not to be changed. Whose they are is looked at anew: they may have changed hands since the job
/// was submitted.
pub(crate) async fn wanted(
    store: &Store,
    people: &People,
    facts: &JobFacts<'_>,
) -> Result<Vec<Wanted>> {
    let mut wanted = Vec::new();
    let owner = acting(store, people, &facts.key.user).await?;
    let access = Access { store, actor: &owner };
    if let Some(home) = rights::home(&owner.user) {
        store.storage.create_folder(&home).await?;
        must_be(store, &home, &[EntryKind::Folder]).await?;
        let (name, path, top) = ("HOME", home.clone(), home.clone());
        wanted.push(Wanted { name, path, top, read_only: false });
        wanted.extend(checkpoints(store, facts, home).await?);
    }
    let none = facts.spec.dialect == Dialect::V2 && facts.spec.output_dir.is_none();
    if !none {
        let path = path_of(store, &FilePath::new(environment::output_dir(facts)))?;
        access.to_write_whole(&path).await?;
        store.storage.create_folder(&path).await?;
        let top = access.top(&path).await?;
        must_be(store, &top, &[EntryKind::Folder]).await?;
        wanted.push(Wanted { name: "OUTPUT", path, top, read_only: false });
    }
    if let Some(data) = &facts.spec.data_dir {
        let path = path_of(store, &FilePath::new(environment::substitute(data, facts)))?;
        access.to_read_whole(&path).await?;
        let top = access.top(&path).await?;
        for place in [&top, &path] {
            must_be(store, place, &[EntryKind::Folder, EntryKind::File]).await?;
        }
        wanted.push(Wanted { name: "DATA", path, top, read_only: true });
    }
    Ok(wanted)
}

/// Where all attempts of a job that asks for a grace keep what they go on from. It goes with the job.
async fn checkpoints(
    store: &Store,
    facts: &JobFacts<'_>,
    home: StoragePath,
) -> Result<Option<Wanted>> {
    let Some(path) =
        checkpoints_of(&facts.key.user, facts.job_id).filter(|_| facts.spec.grace.is_some())
    else {
        return Ok(None);
    };
    store.storage.create_folder(&path).await?;
    must_be(store, &path, &[EntryKind::Folder]).await?;
    Ok(Some(Wanted { name: "CHECKPOINTS", path, top: home, read_only: false }))
}

pub(super) fn checkpoints_of(user: &UserName, job: JobId) -> Option<StoragePath> {
    rights::checkpoints(user)?.child(&job.to_string())
}

/// A link that an engine follows leads anywhere on the node.
async fn must_be(store: &Store, path: &StoragePath, kinds: &[EntryKind]) -> Result<()> {
    let found = store.storage.find(path).await?;
    match found {
        Some(found) if kinds.contains(&found.kind) => Ok(()),
        Some(_) => {
            let message = format!("{path} is not what it was: tasks are not given links");
            Err(Error::new(ErrorCode::ConflictFileError, message))
        }
        None => Err(Error::new(ErrorCode::NoFileError, format!("{path} does not exist"))),
    }
}

#[cfg(test)]
mod tests {
    use storage::Storage;

    use super::*;

    #[test]
    fn what_is_wanted_once_is_shown_wherever_nodes_have_the_storage() {
        let folder = tempfile::tempdir().unwrap();
        let storage = Storage::open(folder.path().to_str().unwrap()).unwrap();
        let at = |path: &str| storage.resolve(path).unwrap();
        let wanted = [
            Wanted { name: "HOME", path: at("/alice"), top: at("/alice"), read_only: false },
            Wanted { name: "OUTPUT", path: at("/alice/out"), top: at("/alice"), read_only: false },
            Wanted { name: "DATA", path: at("/alice/set"), top: at("/alice"), read_only: true },
        ];
        for (mount, source) in [("/mnt/a", "/mnt/a/alice"), ("/mnt/b/", "/mnt/b/alice")] {
            let shown = shown(mount, &wanted);
            let folder = |target: &str, read_only| Folder {
                source: source.to_owned(),
                target: target.to_owned(),
                read_only,
            };
            assert_eq!(
                shown.folders,
                [folder("/berth/home", false), folder("/berth/of-data", true)]
            );
            let told: Vec<_> = shown.variables.iter().map(|(_, place)| place.as_str()).collect();
            assert_eq!(told, ["/berth/home", "/berth/home/out", "/berth/of-data/set"]);
        }
    }
}
