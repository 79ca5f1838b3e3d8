//! `api::cluster::Nodes`.

use std::sync::Arc;

use api::audit::AuditAction;
use api::cluster::{Drain, NodeView, Nodes};
use api::queue::{Affected, Effect};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::Transaction;
use database::audit::NewEntry;
use database::nodes::NodeRecord;
use protocol::cluster::NodeSettings;
use protocol::ids::NodeName;
use scheduler::Change;

use super::{administrators_only, effects, views};
use crate::cluster::{Cluster, condition};
use crate::error::database;
use crate::loops::nodes::endpoint;
use crate::shared::Shared;
use crate::wake::now;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

impl Ops {
    async fn changed(&self, name: &NodeName) -> Result<()> {
        let cluster = Cluster::read(&self.0.database).await.map_err(database)?;
        self.0.set_cluster(cluster);
        self.0.tell(api::changes::Change::Node { name: name.clone() });
        self.0.bells.nodes.ring();
        self.0.bells.schedule.ring();
        self.0.bells.jobs.ring();
        Ok(())
    }
}

#[async_trait]
impl Nodes for Ops {
    async fn list(&self, _everybody: &Actor) -> Result<Vec<NodeView>> {
        let (cluster, queue) = (self.0.cluster(), self.0.queue());
        Ok(cluster.nodes.iter().map(|node| views::node(node, &queue)).collect())
    }

    async fn get(&self, _everybody: &Actor, name: &NodeName) -> Result<NodeView> {
        let (cluster, queue) = (self.0.cluster(), self.0.queue());
        cluster.node(name).map(|node| views::node(node, &queue)).ok_or_else(|| missing(name))
    }

    async fn save(&self, actor: &Actor, node: NodeSettings) -> Result<()> {
        administrators_only(actor)?;
        let mistakes = node.link_mistakes();
        if !mistakes.is_empty() {
            return Err(Error::new(ErrorCode::InvalidParametersError, mistakes.join("\n")));
        }
        engine::connect(&endpoint(&self.0, &node))
            .map_err(|error| Error::new(ErrorCode::InvalidParametersError, error.to_string()))?;
        let saved = self.0.write(async |t| database::nodes::save(t, &node, false).await).await;
        saved.map_err(database)?;
        tracing::info!(by = %actor.user, node = %node.name, "node saved");
        self.changed(&node.name).await
    }

    async fn drain(&self, actor: &Actor, name: &NodeName, drain: Drain) -> Result<()> {
        administrators_only(actor)?;
        let (draining, emptied) = (drain != Drain::Off, drain == Drain::Now);
        let detail = match drain {
            Drain::Off => "takes tasks again",
            Drain::Quietly => "takes nothing new",
            Drain::Now => "is emptied at once",
        };
        let entry = NewEntry {
            at: now(),
            actor: actor.user.clone(),
            action: AuditAction::NodeDrained.as_str().to_owned(),
            object: name.to_string(),
            detail: detail.to_owned(),
            address: None,
        };
        let set = async |t: &Transaction| {
            let there = database::nodes::set_draining(t, name, draining, emptied).await?;
            if there {
                database::audit::insert(t, &entry).await?;
            }
            Ok(there)
        };
        let set = self.0.write(set).await;
        if !set.map_err(database)? {
            return Err(missing(name));
        }
        tracing::info!(by = %actor.user, node = %name, ?drain, "node draining changed");
        self.changed(name).await
    }

    async fn drain_effect(&self, actor: &Actor, name: &NodeName, drain: Drain) -> Result<Effect> {
        administrators_only(actor)?;
        let cluster = self.0.cluster();
        let node = cluster.node(name).ok_or_else(|| missing(name))?;
        let after = NodeRecord { draining: drain != Drain::Off, ..node.clone() };
        let effect = effects::of(&self.0, Change::Node(name.clone(), condition(&after))).await?;
        Ok(match drain {
            Drain::Now => {
                Effect { moved: effect.displaced, displaced: Affected::default(), ..effect }
            }
            Drain::Off | Drain::Quietly => effect,
        })
    }

    async fn remove(&self, actor: &Actor, name: &NodeName) -> Result<()> {
        administrators_only(actor)?;
        let holding = database::tasks::of_node(self.0.database.read(), name);
        let holding = holding.await.map_err(database)?;
        if !holding.is_empty() {
            let message =
                format!("{name} still has tasks: drain it and wait until they have ended");
            return Err(Error::new(ErrorCode::ConflictNodeError, message));
        }
        let removed = self.0.write(async |t| database::nodes::remove(t, name).await).await;
        if !removed.map_err(database)? {
            return Err(missing(name));
        }
        tracing::info!(by = %actor.user, node = %name, "node removed");
        self.changed(name).await
    }
}

fn missing(name: &NodeName) -> Error {
    Error::new(ErrorCode::NoNodeError, format!("there is no node {name}"))
}
