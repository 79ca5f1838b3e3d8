//! `api::cluster::Nodes`.

use std::sync::Arc;
use std::time::Duration;

use api::audit::AuditAction;
use api::cluster::{Drain, NodeView, Nodes, Silent, Trial};
use api::node_map::{NodeMap, NodeQuery, Shown};
use api::queue::{Affected, Effect};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::Transaction;
use database::nodes::{NodeObserved, NodeRecord};
use engine::{Engine, EngineError};
use futures::TryStreamExt;
use protocol::cluster::{NodeCondition, NodeSettings};
use protocol::health::Health;
use protocol::ids::{JobKey, NodeName};
use protocol::image::SavedImage;
use protocol::resources::Taken;
use scheduler::Change;

use super::jobs::name_taken;
use super::outlines::Outline;
use super::{effects, node_map, views};
use crate::accounts::rights::administrators_only;
use crate::container::endpoint::endpoint;
use crate::error::internal;
use crate::known::cluster::{Cluster, Observation, condition, scheduler_node};
use crate::known::queue::Published;
use crate::records::audit::{self, Note, difference};
use crate::records::health;
use crate::shared::Shared;
use crate::wake::now;

/// A pull that goes on for so long without a failure is well: its registry answers.
const PULLED: Duration = Duration::from_secs(20);

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

impl Ops {
    /// The engine of a node that may be saved: not what makes no node, nor what only the
    /// configuration file may change.
    fn check(&self, node: &NodeSettings) -> Result<Arc<dyn Engine>> {
        let mistakes = node.mistakes();
        if !mistakes.is_empty() {
            return Err(Error::invalid_settings(mistakes));
        }
        if let Some(refusal) = self.0.settings.of_nodes.refusal(node) {
            return Err(Error::new(ErrorCode::InvalidParametersError, refusal));
        }
        self.may_change(&node.name)?;
        let cluster = self.0.nodes.cluster();
        if let Some(refusal) =
            cluster.records().find_map(|other| node.refusal_beside(&other.settings))
        {
            return Err(Error::new(ErrorCode::ConflictNodeError, refusal));
        }
        engine::connect(&endpoint(&self.0, node))
            .map_err(|error| Error::new(ErrorCode::InvalidParametersError, error.to_string()))
    }

    fn may_change(&self, name: &NodeName) -> Result<()> {
        if !self.0.nodes.cluster().node(name).is_some_and(|node| node.from_file) {
            return Ok(());
        }
        let message = format!(
            "the configuration file describes {name}: change it there, it is read at the next start"
        );
        Err(Error::new(ErrorCode::ConflictNodeError, message))
    }

    /// What is made of all nodes as an actor sees them: off the runtime's threads, since there may be
    /// thousands.
    async fn seen_by<T: Send + 'static>(
        &self,
        actor: &Actor,
        make: impl FnOnce(&Seen) -> T + Send + 'static,
    ) -> Result<T> {
        let (shared, actor) = (Arc::clone(&self.0), actor.clone());
        let seen = tokio::task::spawn_blocking(move || {
            let (cluster, known) = (shared.nodes.cluster(), shared.jobs.seen());
            make(&Seen { cluster, actor, known, shared })
        });
        seen.await.map_err(internal)
    }

    /// Who tries a node has its engine do something, whatever comes of it.
    async fn note_trial(&self, actor: &Actor, name: &NodeName, detail: String) -> Result<()> {
        let note = note(AuditAction::NodeTried, name, detail);
        Ok(audit::write(&self.0.store, actor, note).await?)
    }

    async fn changed(&self, name: &NodeName) -> Result<()> {
        self.0.nodes.cluster.read_node(&self.0.store.database, name).await?;
        self.0.live.tell(api::changes::Change::Node { name: name.clone() });
        self.0.live.wakeups.nodes.wake();
        self.0.live.wakeups.schedule.wake();
        self.0.live.wakeups.jobs.wake();
        Ok(())
    }
}

/// All nodes at one moment, as an actor sees them.
struct Seen {
    cluster: Arc<Cluster>,
    known: Arc<Published>,
    actor: Actor,
    shared: Arc<Shared>,
}

impl Seen {
    fn all(&self) -> Vec<NodeView> {
        self.cluster.records().map(|node| self.view(node)).collect()
    }

    fn view(&self, node: &NodeRecord) -> NodeView {
        let held = self.known.holdings.on(&node.settings.name);
        views::node(&self.actor, node, held, &self.shared)
    }

    /// Of all of them, by name.
    fn outlines(&self) -> Vec<Outline<'_>> {
        let idle = self.shared.readings.loads.idle(now());
        let nodes = self.cluster.records().map(|node| {
            let name = &node.settings.name;
            let held = self.known.holdings.on(name);
            let unread = self.shared.jobs.active.damage().closes(name).is_some();
            let idle = idle.get(name).map(Vec::as_slice).unwrap_or_default();
            let endpoint = if self.actor.admin { node.settings.endpoint.as_str() } else { "" };
            let outline = Outline::of(node, held, unread, idle);
            Outline { endpoint, ..outline }
        });
        nodes.collect()
    }
}

#[async_trait]
impl Nodes for Ops {
    async fn list(&self, actor: &Actor) -> Result<Vec<NodeView>> {
        self.seen_by(actor, Seen::all).await
    }

    async fn map(&self, actor: &Actor, query: &NodeQuery) -> Result<NodeMap> {
        let query = query.clone();
        let select = move |seen: &Seen| {
            let view = |name: &NodeName| seen.cluster.node(name).map(|node| seen.view(node));
            node_map::select(seen.outlines(), &query, view)
        };
        let mut map = self.seen_by(actor, select).await?;
        if let Shown::Table(rows) = &mut map.shown {
            let at = now();
            for row in rows {
                row.lately = self.0.readings.lately.of_nodes.of(&row.name, at);
            }
        }
        Ok(map)
    }

    async fn silent(&self, _everybody: &Actor) -> Result<Silent> {
        let cluster = self.0.nodes.cluster();
        let (count, names) = some(&cluster, |node| condition(node) == NodeCondition::Unreachable);
        let (closed, closed_names) = some(&cluster, |node| {
            let closed = node.closed.is_some() || node.health.has_failed();
            closed && condition(node) != NodeCondition::Unreachable
        });
        Ok(Silent { count, names, closed, closed_names })
    }

    async fn get(&self, actor: &Actor, name: &NodeName) -> Result<NodeView> {
        let (cluster, known) = (self.0.nodes.cluster(), self.0.jobs.seen());
        let node = cluster.node(name).ok_or_else(|| missing(name))?;
        let held = known.holdings.on(name);
        let gpu_report = node.observed.as_ref().and_then(|observed| observed.gpus.clone());
        let health = node.health.clone();
        Ok(NodeView { gpu_report, health, ..views::node(actor, node, held, &self.0) })
    }

    async fn settings(&self, actor: &Actor, name: &NodeName) -> Result<NodeSettings> {
        administrators_only(actor)?;
        let cluster = self.0.nodes.cluster();
        cluster.node(name).map(|node| node.settings.clone()).ok_or_else(|| missing(name))
    }

    async fn save_effect(&self, actor: &Actor, node: NodeSettings) -> Result<Effect> {
        administrators_only(actor)?;
        let engine = self.check(&node)?;
        let known = self.0.nodes.cluster().node(&node.name).cloned();
        let after = match known {
            Some(known) => NodeRecord { settings: node, ..known },
            None => new(node, engine.as_ref()).await?,
        };
        effects::of(&self.0.jobs, Change::Node(Box::new(scheduler_node(&after)))).await
    }

    async fn remove_effect(&self, actor: &Actor, name: &NodeName) -> Result<Effect> {
        administrators_only(actor)?;
        self.0.nodes.cluster().node(name).ok_or_else(|| missing(name))?;
        self.may_change(name)?;
        effects::of(&self.0.jobs, Change::Removed(name.clone())).await
    }

    async fn save(&self, actor: &Actor, node: NodeSettings) -> Result<()> {
        administrators_only(actor)?;
        self.check(&node)?;
        let known = self.0.nodes.cluster().node(&node.name).map(|known| known.settings.clone());
        let entry = note(AuditAction::NodeSaved, &node.name, difference(known.as_ref(), &node));
        let entry = entry.by(actor);
        let save = async |t: &Transaction| {
            database::nodes::save(t, &node, false).await?;
            database::audit::insert(t, &entry).await
        };
        self.0.store.write(save).await?;
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
        let entry = note(AuditAction::NodeDrained, name, detail.to_owned()).by(actor);
        let set = async |t: &Transaction| {
            let there = database::nodes::set_draining(t, name, draining, emptied).await?;
            if drain == Drain::Off {
                database::nodes::open(t, name).await?;
            }
            if there {
                database::audit::insert(t, &entry).await?;
            }
            Ok(there)
        };
        let set = self.0.store.write(set).await;
        if !set? {
            return Err(missing(name));
        }
        if drain == Drain::Off {
            self.0.nodes.faults.forget(name);
            self.0.nodes.unkilled.excuse(name);
            let cleared = health::change(
                &self.0.store,
                &self.0.live,
                &self.0.jobs,
                &self.0.nodes,
                name,
                |known| known.cleared(&actor.user, now()),
            );
            cleared.await?;
        }
        tracing::info!(by = %actor.user, node = %name, ?drain, "node draining changed");
        self.changed(name).await
    }

    async fn drain_effect(&self, actor: &Actor, name: &NodeName, drain: Drain) -> Result<Effect> {
        administrators_only(actor)?;
        let cluster = self.0.nodes.cluster();
        let node = cluster.node(name).ok_or_else(|| missing(name))?;
        let closed = node.closed.clone().filter(|_| drain != Drain::Off);
        let health = match drain {
            Drain::Off => node.health.cleared(&actor.user, now()),
            Drain::Quietly | Drain::Now => node.health.clone(),
        };
        let after = NodeRecord { draining: drain != Drain::Off, closed, health, ..node.clone() };
        let effect =
            effects::of(&self.0.jobs, Change::Condition(name.clone(), condition(&after))).await?;
        Ok(match drain {
            Drain::Now => {
                Effect { moved: effect.displaced, displaced: Affected::default(), ..effect }
            }
            Drain::Off | Drain::Quietly => effect,
        })
    }

    async fn probe(&self, actor: &Actor, name: &NodeName) -> Result<()> {
        administrators_only(actor)?;
        let cluster = self.0.nodes.cluster();
        let node = cluster.node(name).ok_or_else(|| missing(name))?;
        if !node.settings.gpu_runtime.finds_gpus() {
            let message = format!("{name} has gpu_runtime none: its GPUs are written by hand");
            return Err(Error::new(ErrorCode::ConflictNodeError, message));
        }
        let probe = match self.0.nodes.observations().get(name) {
            Some(Observation::Answers { probe, .. }) => Arc::clone(probe),
            Some(Observation::Silent) | None => return Err(silent(name)),
        };
        self.note_trial(actor, name, "its GPUs are looked for".to_owned()).await?;
        probe.notify_one();
        tracing::info!(by = %actor.user, node = %name, "GPUs are looked for");
        Ok(())
    }

    async fn try_pull(&self, actor: &Actor, name: &NodeName, image: &str) -> Result<()> {
        administrators_only(actor)?;
        self.0.nodes.cluster().node(name).ok_or_else(|| missing(name))?;
        if SavedImage::read(image).is_some() {
            let message = format!("{image} is a saved image: it comes from no registry");
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        let engine = match self.0.nodes.observations().get(name) {
            Some(Observation::Answers { engine, .. }) => Arc::clone(engine),
            Some(Observation::Silent) | None => return Err(silent(name)),
        };
        self.note_trial(actor, name, format!("pulls {image}")).await?;
        let on_node = self.0.containers.images.on(name);
        let pulling = async {
            let _alone = on_node.pull_alone(image).await;
            let lines = engine.pull(image, None).await?;
            lines.try_for_each(|_line| std::future::ready(Ok::<_, EngineError>(()))).await
        };
        let Ok(Err(error)) = tokio::time::timeout(PULLED, pulling).await else { return Ok(()) };
        let code = match error.is_of_engine() {
            true => ErrorCode::UnavailableError,
            false => ErrorCode::InvalidParametersError,
        };
        Err(Error::new(code, format!("{name} cannot pull {image}: {error}")))
    }

    async fn try_with(&self, actor: &Actor, name: &NodeName, trial: &Trial) -> Result<()> {
        administrators_only(actor)?;
        self.0.nodes.cluster().node(name).ok_or_else(|| missing(name))?;
        let Trial { job, seconds } = trial;
        let key = JobKey { user: actor.user.clone(), name: job.clone() };
        let seconds = (*seconds).min(Trial::LONGEST);
        let until = now().plus_millis(i64::from(seconds) * 1_000);
        let entry = note(AuditAction::NodeTried, name, format!("by the job {job}")).by(actor);
        let begin = async |t: &Transaction| {
            // It would be deleted.
            if database::jobs::by_key(t, &key).await?.is_some() {
                return Ok(Err(name_taken(&key)));
            }
            database::trials::begin(t, &key, until).await?;
            database::audit::insert(t, &entry).await.map(Ok)
        };
        self.0.store.write(begin).await?
    }

    async fn remove(&self, actor: &Actor, name: &NodeName) -> Result<()> {
        administrators_only(actor)?;
        self.may_change(name)?;
        let entry = note(AuditAction::NodeRemoved, name, String::new()).by(actor);
        let remove = async |t: &Transaction| {
            if !database::nodes::close(t, name).await? {
                return Ok(Err(missing(name)));
            }
            if !database::tasks::of_node(t, name).await?.is_empty() {
                return Ok(Err(busy(name)));
            }
            database::nodes::remove(t, name).await?;
            database::audit::insert(t, &entry).await.map(Ok)
        };
        self.0.store.write(remove).await??;
        self.0.nodes.faults.forget(name);
        self.0.readings.measured_nodes.forget(name);
        self.0.readings.lately.of_nodes.forget(name);
        if let Err(error) = self.0.store.storage.forget_node_metrics(name).await {
            tracing::warn!(%error, node = %name, "what was measured of a node that is gone stays");
        }
        tracing::info!(by = %actor.user, node = %name, "node removed");
        self.changed(name).await
    }
}

/// How many nodes are so, and the first of them.
fn some(cluster: &Cluster, are: impl Fn(&NodeRecord) -> bool) -> (u64, Vec<NodeName>) {
    let those = || cluster.records().filter(|node| are(node));
    let names = those().take(Silent::NAMED).map(|node| node.settings.name.clone());
    (those().count() as u64, names.collect())
}

/// A node as it will be: what its settings do not say, its engine does.
async fn new(settings: NodeSettings, engine: &dyn Engine) -> Result<NodeRecord> {
    let silent = |error| {
        let message = format!("its engine does not answer, so it would take nothing yet: {error}");
        Error::new(ErrorCode::UnavailableError, message)
    };
    let info = engine.info().await.map_err(silent)?;
    let tasks_address = info.tasks_address;
    let (engine, capacity) = info.into_parts();
    let observed = NodeObserved {
        reachable: true,
        problem: None,
        last_seen: None,
        capacity: Some(capacity),
        engine: Some(engine),
        engine_id: None,
        tasks_address,
        gpus: None,
        taken: Taken::default(),
    };
    let observed = Some(Arc::new(observed));
    Ok(NodeRecord {
        settings,
        from_file: false,
        draining: false,
        emptied: false,
        closed: None,
        health: Health::default(),
        observed,
    })
}

fn note(action: AuditAction, name: &NodeName, detail: String) -> Note {
    Note { action, object: name.to_string(), detail, address: None }
}

fn silent(name: &NodeName) -> Error {
    Error::new(ErrorCode::UnavailableError, format!("the engine of {name} does not answer"))
}

fn busy(name: &NodeName) -> Error {
    let message = format!("{name} still has tasks: drain it and wait until they have ended");
    Error::new(ErrorCode::ConflictNodeError, message)
}

pub(super) fn missing(name: &NodeName) -> Error {
    Error::new(ErrorCode::NoNodeError, format!("there is no node {name}"))
}
