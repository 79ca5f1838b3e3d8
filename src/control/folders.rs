//! Folders of the storage in containers, on nodes that have the storage as a folder of theirs.

use api::files::FilePath;
use database::nodes::NodeRecord;
use engine::{EngineError, Folder};
use protocol::environment::{self, JobFacts};
use protocol::spec::Dialect;
use storage::{StoragePath, rights};

use crate::code::{acting, readable_whole, refused};
use crate::ops::files::access::{Access, Claim};
use crate::ops::files::{failure, path_of};
use crate::shared::Shared;

/// The label of a node that says where it has the storage, in place of the configuration's word;
/// `none`: it has it not.
const LABEL: &str = "storage";

/// What a container is given: folders, and the variables that say where they are.
#[derive(Debug, Default)]
pub(crate) struct Shown {
    pub(crate) folders: Vec<Folder>,
    pub(crate) variables: Vec<(String, String)>,
}

impl Shown {
    fn add(&mut self, mount: &str, path: &StoragePath, name: &str, read_only: bool) {
        let target = format!("/berth/{}", name.to_lowercase());
        self.variables.push((format!("BERTH_{name}"), target.clone()));
        let source = format!("{}{path}", mount.trim_end_matches('/'));
        self.folders.push(Folder { source, target, read_only });
    }
}

/// What a job's tasks see of the storage on a node: its owner's own folder as `/berth/home`, its
/// output folder as `/berth/output`, and `dataDir`, not to be changed, as `/berth/data`. Whose they
/// are is looked at anew: they may have changed hands since the job was submitted.
pub(crate) async fn shown(
    shared: &Shared,
    node: &NodeRecord,
    facts: &JobFacts<'_>,
) -> engine::Result<Shown> {
    let mut shown = Shown::default();
    let label = node.settings.labels.get(LABEL).filter(|path| !path.is_empty());
    let Some(mount) = label.or(shared.of_nodes.storage_mount.as_ref()) else { return Ok(shown) };
    if mount == "none" {
        return Ok(shown);
    }
    let owner = acting(shared, &facts.key.user).await.map_err(refused)?;
    if let Some(home) = rights::home(&owner.user) {
        let made = shared.storage.create_folder(&home).await;
        made.map_err(failure).map_err(refused)?;
        shown.add(mount, &real(shared, &home)?, "HOME", false);
    }
    let none = facts.spec.dialect == Dialect::V2 && facts.spec.output_dir.is_none();
    if !none {
        let output = environment::output_dir(facts);
        let path = path_of(shared, &FilePath::new(output)).map_err(refused)?;
        let access = Access { shared, actor: &owner };
        access.to_write(&path, Claim::For(&owner.user)).await.map_err(refused)?;
        shared.storage.create_folder(&path).await.map_err(failure).map_err(refused)?;
        shown.add(mount, &real(shared, &path)?, "OUTPUT", false);
    }
    if let Some(data) = &facts.spec.data_dir {
        let data = environment::substitute(data, facts);
        let path = readable_whole(shared, &owner.user, &data).await.map_err(refused)?;
        shown.add(mount, &real(shared, &path)?, "DATA", true);
    }
    Ok(shown)
}

fn real(shared: &Shared, path: &StoragePath) -> Result<StoragePath, EngineError> {
    shared.storage.real(path).map_err(failure).map_err(refused)
}
