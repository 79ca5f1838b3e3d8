//! Nodes, what they have, and whose it is.

use std::collections::BTreeMap;

use api::cluster::{
    Drain, FreeGpus, NodeView, Nodes, Promise, Silent, Trial, Usage, VirtualClusterView,
    VirtualClusters,
};
use api::images::{ImageSize, Images, SaveImage, SavedImageView, TaskOfJob};
use api::node_map::{NodeMap, NodeQuery};
use api::quarantine::{Quarantine, Quarantined};
use api::queue::Effect;
use api::servers::{ServerView, Servers};
use api::storages::{StorageView, Storages};
use api::templates::{ShareTemplate, Template, TemplateView, Templates};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use protocol::cluster::{NodeSettings, VirtualClusterSettings};
use protocol::ids::{NodeName, StorageName, TemplateName, VirtualClusterName};
use protocol::storages::StorageSettings;
use protocol::time::Timestamp;

use super::World;

/// Nobody has saved anything.
#[derive(Debug)]
pub(super) struct NoImages;

#[async_trait]
impl Images for NoImages {
    async fn size(&self, _: &Actor, _: &TaskOfJob) -> Result<ImageSize> {
        Ok(ImageSize { own: 5, whole: 9 })
    }
    async fn save(&self, _: &Actor, _: &SaveImage) -> Result<SavedImageView> {
        Err(Error::new(ErrorCode::ConflictImageError, "taken"))
    }
    async fn list(&self, _: &Actor) -> Result<Vec<SavedImageView>> {
        Ok(Vec::new())
    }
    async fn remove(&self, _: &Actor, _: i64) -> Result<()> {
        Err(Error::new(ErrorCode::NoImageError, "none"))
    }
}

#[async_trait]
impl Storages for World {
    async fn list(&self, _: &Actor) -> Result<Vec<StorageView>> {
        Ok(vec![StorageView {
            name: "data".parse().unwrap(),
            kind: "other".to_owned(),
            source: None,
            mount: "/mnt/data".to_owned(),
            read_only: true,
            default: false,
            own_folders: false,
            users: Vec::new(),
            groups: Vec::new(),
            has_password: false,
        }])
    }
    async fn save(&self, _: &Actor, _: StorageSettings) -> Result<()> {
        Ok(())
    }
    async fn remove(&self, _: &Actor, name: &StorageName) -> Result<()> {
        Err(Error::new(ErrorCode::NoStorageError, format!("Storage {name} is not found.")))
    }
}

/// The only template.
fn hello() -> Template {
    let view = TemplateView {
        name: "hello".parse().unwrap(),
        description: "says hello".to_owned(),
        author: "alice".parse().unwrap(),
        changed_at: Timestamp(1_000),
    };
    Template { view, text: "a job".to_owned() }
}

#[async_trait]
impl Templates for World {
    async fn list(&self, _: &Actor) -> Result<Vec<TemplateView>> {
        Ok(vec![hello().view])
    }
    async fn get(&self, _: &Actor, name: &TemplateName) -> Result<Template> {
        let missing = || Error::new(ErrorCode::NoTemplateError, "none");
        Some(hello()).filter(|known| known.view.name == *name).ok_or_else(missing)
    }
    async fn save(&self, _: &Actor, template: ShareTemplate) -> Result<bool> {
        Ok(template.name != hello().view.name)
    }
    async fn remove(&self, _: &Actor, _: &TemplateName) -> Result<()> {
        Err(Error::new(ErrorCode::NoTemplateError, "none"))
    }
}

#[async_trait]
impl Nodes for World {
    async fn list(&self, _: &Actor) -> Result<Vec<NodeView>> {
        Ok(Vec::new())
    }
    async fn map(&self, _: &Actor, _: &NodeQuery) -> Result<NodeMap> {
        Ok(NodeMap::default())
    }
    async fn get(&self, _: &Actor, _: &NodeName) -> Result<NodeView> {
        Err(Error::new(ErrorCode::NoNodeError, "no such node"))
    }
    async fn silent(&self, _: &Actor) -> Result<Silent> {
        Ok(Silent::default())
    }
    async fn settings(&self, _: &Actor, _: &NodeName) -> Result<NodeSettings> {
        Err(Error::new(ErrorCode::NoNodeError, "no such node"))
    }
    async fn save_effect(&self, _: &Actor, _: NodeSettings) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn remove_effect(&self, _: &Actor, _: &NodeName) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn save(&self, _: &Actor, _: NodeSettings) -> Result<()> {
        Ok(())
    }
    async fn drain(&self, _: &Actor, _: &NodeName, _: Drain) -> Result<()> {
        Ok(())
    }
    async fn drain_effect(&self, _: &Actor, _: &NodeName, _: Drain) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn probe(&self, _: &Actor, _: &NodeName) -> Result<()> {
        Ok(())
    }
    async fn try_pull(&self, _: &Actor, _: &NodeName, _: &str) -> Result<()> {
        Ok(())
    }
    async fn try_with(&self, _: &Actor, _: &NodeName, _: &Trial) -> Result<()> {
        Ok(())
    }
    async fn remove(&self, _: &Actor, _: &NodeName) -> Result<()> {
        Ok(())
    }
}

#[async_trait]
impl Quarantine for World {
    async fn list(&self, _: &Actor, _: Option<&NodeName>) -> Result<Vec<Quarantined>> {
        Ok(Vec::new())
    }
    async fn stop(&self, _: &Actor, _: &NodeName, _: &str) -> Result<()> {
        Err(Error::new(ErrorCode::NoTaskError, "no such container"))
    }
    async fn remove(&self, _: &Actor, _: &NodeName, _: &str) -> Result<()> {
        Err(Error::new(ErrorCode::NoTaskError, "no such container"))
    }
}

#[async_trait]
impl Servers for World {
    async fn list(&self, _: &Actor) -> Result<Vec<ServerView>> {
        Ok(Vec::new())
    }
}

#[async_trait]
impl VirtualClusters for World {
    async fn list(&self, _: &Actor) -> Result<Vec<VirtualClusterView>> {
        let amount = |cpus, gpus: u64| Usage {
            cpus,
            memory_mb: 100 * cpus,
            disk_gb: 0,
            gpus: BTreeMap::from([("A100".parse().unwrap(), gpus.into())]),
        };
        Ok(vec![VirtualClusterView {
            settings: VirtualClusterSettings::new(VirtualClusterName::default()),
            usable: true,
            stopped: false,
            used: amount(2, 1),
            borrowed: amount(0, 0),
            total: amount(8, 4),
            free: BTreeMap::from([(
                "A100".parse().unwrap(),
                FreeGpus { gpus: 3, on_one_node: 2, borrowed: 1 },
            )]),
            users: Vec::new(),
            groups: Vec::new(),
            weights: BTreeMap::new(),
            running_jobs: 1,
            waiting_jobs: 2,
        }])
    }
    async fn get(&self, actor: &Actor, name: &VirtualClusterName) -> Result<VirtualClusterView> {
        let all = VirtualClusters::list(self, actor).await?;
        let found = all.into_iter().find(|view| view.settings.name == *name);
        found.ok_or_else(|| Error::new(ErrorCode::NoVirtualClusterError, "no such cluster"))
    }
    async fn save(&self, _: &Actor, _: VirtualClusterSettings) -> Result<()> {
        Ok(())
    }
    async fn save_effect(&self, _: &Actor, _: VirtualClusterSettings) -> Result<Effect> {
        Ok(Effect::default())
    }
    async fn promises(&self, _: &Actor, _: Option<VirtualClusterSettings>) -> Result<Vec<Promise>> {
        Ok(Vec::new())
    }
    async fn set_stopped(&self, _: &Actor, _: &VirtualClusterName, _: bool) -> Result<()> {
        Ok(())
    }
    async fn remove(&self, _: &Actor, _: &VirtualClusterName) -> Result<()> {
        Ok(())
    }
}
