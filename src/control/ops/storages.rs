//! `api::storages`.

use std::sync::Arc;

use api::audit::AuditAction;
use api::storages::{StorageView, Storages};
use api::{Actor, Error, Result};
use async_trait::async_trait;
use database::storages::Storage;
use protocol::ids::StorageName;
use protocol::problem::Problem;
use protocol::storages::{StorageSettings, StorageSource};

use crate::accounts::rights::{Usable, administrators_only};
use crate::container::folders;
use crate::container::storages::{missing, overlaps, sealed};
use crate::records::audit::{Note, difference};
use crate::shared::Shared;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Storages for Ops {
    async fn list(&self, actor: &Actor) -> Result<Vec<StorageView>> {
        let usable = Usable::by(&self.0.store, &self.0.people, actor).await?;
        let stored = database::storages::list(self.0.store.database.read()).await?;
        let open = stored.into_iter().filter(|storage| usable.opens(&storage.settings));
        Ok(open.map(|storage| view(actor, storage)).collect())
    }

    async fn save(&self, actor: &Actor, settings: StorageSettings) -> Result<()> {
        administrators_only(actor)?;
        let save = async |t: &_| {
            let known = database::storages::list(t).await?;
            let before = known.iter().find(|before| before.settings.name == settings.name);
            let detail = difference(before.map(|before| &before.settings), &settings);
            let storage = sealed(&self.0.seal, &settings, before);
            let checked = self.check(&settings, &known);
            if checked.is_ok() {
                database::storages::save(t, &storage).await?;
                let note = note(AuditAction::StorageSaved, &settings.name, detail);
                database::audit::insert(t, &note.by(actor)).await?;
            }
            Ok(checked)
        };
        self.0.store.change(save).await??;
        tracing::info!(by = %actor.user, storage = %settings.name, "storage saved");
        self.look_anew(&settings.name);
        Ok(())
    }

    async fn remove(&self, actor: &Actor, name: &StorageName) -> Result<()> {
        administrators_only(actor)?;
        let remove = async |t: &_| {
            let there = database::storages::remove(t, name).await?;
            if there {
                let note = note(AuditAction::StorageRemoved, name, String::new());
                database::audit::insert(t, &note.by(actor)).await?;
            }
            Ok(there)
        };
        if !self.0.store.change(remove).await? {
            return Err(missing(name));
        }
        tracing::info!(by = %actor.user, storage = %name, "storage removed");
        self.look_anew(name);
        Ok(())
    }
}

impl Ops {
    /// It may be elsewhere now: that nodes were found to lack it says nothing any more.
    fn look_anew(&self, name: &StorageName) {
        if self.0.nodes.lacking.keep(|_, part| part.storage != *name) {
            self.0.live.wakeups.schedule.wake();
        }
    }

    /// Whether storages go together once one is as it is to be saved, and nodes have none of them
    /// where users have their own files.
    fn check(&self, settings: &StorageSettings, known: &[Storage]) -> Result<()> {
        let others = known.iter().map(|storage| &storage.settings);
        let mut all: Vec<_> = others.filter(|other| other.name != settings.name).cloned().collect();
        all.push(settings.clone());
        let mut mistakes = protocol::storages::mistakes(&all);
        let cluster = self.0.nodes.cluster();
        let mounts = cluster.nodes.iter().filter_map(|node| folders::mount(&self.0.settings, node));
        let mut mounts = mounts.chain(self.0.settings.of_nodes.storage_mount.as_deref());
        if mounts.any(|mount| overlaps(settings, mount)) {
            let message = "the users' own files are there".to_owned();
            let place = format!("storages.{}.source", settings.name);
            mistakes.push(Problem::of_setting(place, message, "a place of its own"));
        }
        if mistakes.is_empty() { Ok(()) } else { Err(Error::invalid_settings(mistakes)) }
    }
}

/// Who else may use it, and where nodes have it, is for administrators.
fn view(actor: &Actor, Storage { settings, password }: Storage) -> StorageView {
    let (kind, mount) = (settings.source.kind().to_owned(), settings.target());
    let StorageSettings { name, source, read_only, default, own_folders, users, groups, .. } =
        settings;
    let is_told = actor.admin || !matches!(source, StorageSource::Path(_));
    let (users, groups) = if actor.admin { (users, groups) } else { (Vec::new(), Vec::new()) };
    StorageView {
        name,
        kind,
        source: is_told.then_some(source),
        mount,
        read_only,
        default,
        own_folders,
        users,
        groups,
        has_password: password.is_some(),
    }
}

fn note(action: AuditAction, name: &StorageName, detail: String) -> Note {
    Note { action, object: name.to_string(), detail, address: None }
}
