//! `api::cluster::VirtualClusters`.

use std::collections::BTreeMap;
use std::sync::Arc;

use api::audit::AuditAction;
use api::cluster::{Promise, VirtualClusterView, VirtualClusters};
use api::queue::Effect;
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use protocol::cluster::VirtualClusterSettings;
use protocol::ids::{UserName, VirtualClusterName};
use scheduler::Change;

use super::uses::Uses;
use super::{effects, views};
use crate::accounts::rights::{Usable, administrators_only};
use crate::error::internal;
use crate::known::members::scheduler_cluster;
use crate::known::promises;
use crate::records::audit::{Note, difference};
use crate::shared::Shared;
use crate::wake::now;

/// So many of a virtual cluster's users, and of its groups, are shown with what they have and have had.
const USERS: usize = 20;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

impl Ops {
    async fn changed(&self) -> Result<()> {
        self.0.nodes.cluster.read_virtual_clusters(&self.0.store.database).await?;
        self.0.live.tell(api::changes::Change::Cluster);
        self.0.live.wakeups.schedule.wake();
        Ok(())
    }

    /// These as a user sees them, each with whether he may use it: put together off the runtime's threads, and
    /// off the scheduler's, which only says what is free and who has had what.
    async fn seen(
        &self,
        user: &UserName,
        shown: Vec<(bool, VirtualClusterSettings)>,
    ) -> Result<Vec<VirtualClusterView>> {
        let usable = shown.iter().map(|(usable, settings)| usable.then(|| settings.name.clone()));
        let usable: Vec<_> = usable.collect();
        let user = user.clone();
        let asked = self.0.jobs.ask(move |queue| {
            let now = now();
            let free = usable.into_iter().map(|name| {
                let name = name?;
                let mut users = queue.uses(&name, now);
                users.truncate(USERS);
                let mut groups = queue.uses_of_groups(&name, now);
                groups.truncate(USERS);
                let weights = if users.is_empty() { BTreeMap::new() } else { queue.weights() };
                let free = queue.free(&name, &user, now);
                Some(views::Shown { free, users, groups, weights })
            });
            free.collect::<Vec<Option<views::Shown>>>()
        });
        let free = asked.await?;
        let (cluster, known) = (self.0.nodes.cluster(), self.0.jobs.seen());
        let seen = tokio::task::spawn_blocking(move || {
            let uses = Uses::of(&cluster, &known.holdings, known.waiting_jobs());
            let shown = shown.into_iter().map(|(_, settings)| {
                let stopped = cluster.stopped.contains(&settings.name);
                (settings, stopped)
            });
            let shown = shown.zip(free);
            shown.map(|(settings, free)| views::virtual_cluster(settings, free, &uses)).collect()
        });
        seen.await.map_err(internal)
    }
}

#[async_trait]
impl VirtualClusters for Ops {
    async fn list(&self, actor: &Actor) -> Result<Vec<VirtualClusterView>> {
        let usable = Usable::by(&self.0.store, &self.0.people, actor).await?;
        let all = self.0.nodes.cluster().virtual_clusters.clone();
        let may_use = |settings: VirtualClusterSettings| (usable.admits(&settings), settings);
        self.seen(&actor.user, all.into_iter().map(may_use).collect()).await
    }

    async fn get(&self, actor: &Actor, name: &VirtualClusterName) -> Result<VirtualClusterView> {
        let usable = Usable::by(&self.0.store, &self.0.people, actor).await?;
        let settings = self.0.nodes.cluster().virtual_cluster(name).cloned();
        let settings = settings.ok_or_else(|| missing(name))?;
        let shown = vec![(usable.admits(&settings), settings)];
        let seen = self.seen(&actor.user, shown).await?;
        seen.into_iter().next().ok_or_else(|| missing(name))
    }

    async fn save(&self, actor: &Actor, settings: VirtualClusterSettings) -> Result<()> {
        administrators_only(actor)?;
        let save = async |t: &_| {
            let known = database::virtual_clusters::list(t).await?;
            let before = known.iter().find(|before| before.name == settings.name);
            let detail = difference(before, &settings);
            let checked = check(&settings, known);
            if checked.is_ok() {
                database::virtual_clusters::save(t, &settings).await?;
                let note = note(AuditAction::VirtualClusterSaved, &settings.name, detail);
                database::audit::insert(t, &note.by(actor)).await?;
            }
            Ok(checked)
        };
        self.0.store.change(save).await??;
        tracing::info!(by = %actor.user, virtual_cluster = %settings.name, "virtual cluster saved");
        self.changed().await
    }

    async fn save_effect(&self, actor: &Actor, settings: VirtualClusterSettings) -> Result<Effect> {
        administrators_only(actor)?;
        check(&settings, self.0.nodes.cluster().virtual_clusters.clone())?;
        let promises = self.promises(actor, Some(settings.clone())).await?;
        let cluster = self.0.nodes.cluster();
        let share = Box::new(scheduler_cluster(&settings, &cluster.members));
        let change = Change::Share(share);
        let overpromised = promises.into_iter().filter(Promise::is_too_much).collect();
        Ok(Effect { overpromised, ..effects::of(&self.0.jobs, change).await? })
    }

    async fn promises(
        &self,
        actor: &Actor,
        settings: Option<VirtualClusterSettings>,
    ) -> Result<Vec<Promise>> {
        administrators_only(actor)?;
        let cluster = self.0.nodes.cluster();
        let mut clusters = cluster.virtual_clusters.clone();
        if let Some(settings) = settings {
            clusters.retain(|other| other.name != settings.name);
            clusters.push(settings);
        }
        Ok(promises::of(cluster.records(), &clusters))
    }

    async fn set_stopped(
        &self,
        actor: &Actor,
        name: &VirtualClusterName,
        stopped: bool,
    ) -> Result<()> {
        administrators_only(actor)?;
        if *name == VirtualClusterName::default() {
            let message = "jobs that name no virtual cluster need `default`: it is not stopped";
            return Err(Error::new(ErrorCode::ForbiddenUserError, message));
        }
        let detail = if stopped { "takes no new jobs" } else { "takes new jobs" };
        let note = note(AuditAction::VirtualClusterSaved, name, detail.to_owned()).by(actor);
        let set = self.0.store.write(async |t| {
            let there = database::virtual_clusters::set_stopped(t, name, stopped).await?;
            if there {
                database::audit::insert(t, &note).await?;
            }
            Ok(there)
        });
        if !set.await? {
            return Err(missing(name));
        }
        tracing::info!(by = %actor.user, virtual_cluster = %name, stopped, "virtual cluster changed");
        self.changed().await
    }

    async fn remove(&self, actor: &Actor, name: &VirtualClusterName) -> Result<()> {
        administrators_only(actor)?;
        let conflict = |message: String| Error::new(ErrorCode::ConflictVcError, message);
        if *name == VirtualClusterName::default() {
            return Err(conflict("jobs that name no virtual cluster need `default`".into()));
        }
        let cluster = self.0.nodes.cluster();
        let parts = cluster.virtual_clusters.iter().filter(|c| c.parent.as_ref() == Some(name));
        let parts: Vec<_> = parts.map(|part| part.name.as_str()).collect();
        if !parts.is_empty() {
            let parts = parts.join(", ");
            return Err(conflict(format!(
                "{parts} are parts of {name}: remove or change them first"
            )));
        }
        let active = database::jobs::active(self.0.store.database.read()).await?;
        match active.iter().filter(|job| job.virtual_cluster == *name).count() {
            0 => {}
            1 => return Err(conflict(format!("1 active job uses {name}: stop it first"))),
            jobs => {
                return Err(conflict(format!("{jobs} active jobs use {name}: stop them first")));
            }
        }
        let remove = async |t: &_| {
            let there = database::virtual_clusters::remove(t, name).await?;
            if there {
                let note = note(AuditAction::VirtualClusterRemoved, name, String::new());
                database::audit::insert(t, &note.by(actor)).await?;
            }
            Ok(there)
        };
        if !self.0.store.change(remove).await? {
            return Err(missing(name));
        }
        tracing::info!(by = %actor.user, virtual_cluster = %name, "virtual cluster removed");
        self.changed().await
    }
}

fn note(action: AuditAction, name: &VirtualClusterName, detail: String) -> Note {
    Note { action, object: name.to_string(), detail, address: None }
}

/// Whether virtual clusters go together once one is as it is to be saved.
fn check(
    settings: &VirtualClusterSettings,
    mut clusters: Vec<VirtualClusterSettings>,
) -> Result<()> {
    clusters.retain(|other| other.name != settings.name);
    clusters.push(settings.clone());
    match protocol::shares::mistakes(&clusters) {
        mistakes if mistakes.is_empty() => Ok(()),
        mistakes => Err(Error::invalid_settings(mistakes)),
    }
}

pub(crate) fn missing(name: &VirtualClusterName) -> Error {
    let message = format!("there is no virtual cluster {name}");
    Error::new(ErrorCode::NoVirtualClusterError, message)
}
