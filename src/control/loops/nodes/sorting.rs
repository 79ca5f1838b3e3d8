//! Tells a node's containers that the database gave from those that only look as if it had.

use std::collections::{HashMap, HashSet};

use engine::{Container, Engine, EngineError};
use protocol::ids::TaskKey;

use crate::known::containers::Containers;
use crate::known::identity::Identity;
use crate::known::quarantine::Held;
use crate::known::quarantine::labels::{self, Labelled};
use crate::records::store::Store;

/// What is remembered of a node's containers between two looks, by the engine's ids.
#[derive(Debug, Default)]
pub(super) struct Sorter {
    /// Whether the database gave those that are not of its present life.
    given: HashMap<String, bool>,
    /// What those in quarantine say of themselves.
    say: HashMap<String, Labelled>,
}

/// A node's containers.
pub(super) struct Sorted {
    pub(super) ours: Containers,
    /// By name.
    pub(super) held: Vec<Held>,
}

/// Why they cannot be told apart.
#[derive(Debug, thiserror::Error)]
pub(super) enum Unsorted {
    #[error(transparent)]
    Records(#[from] database::Error),
    #[error(transparent)]
    Engine(#[from] EngineError),
}

impl Sorter {
    /// A container is ours if the database has the run that its name tells, given in the life that its
    /// label tells. Both were stored before it was made, so whatever else has our label was made by
    /// somebody whose records we do not have.
    pub(super) async fn sort(
        &mut self,
        identity: &Identity,
        store: &Store,
        engine: &dyn Engine,
        containers: Vec<Container>,
    ) -> Result<Sorted, Unsorted> {
        self.look_up(identity, store, &containers).await?;
        self.forget_all_but(&containers);
        let is_ours = |found: &Container| self.given.get(&found.id).copied().unwrap_or(true);
        let (ours, others): (Vec<_>, Vec<_>) = containers.into_iter().partition(is_ours);
        let mut held = Vec::new();
        for container in others {
            if let Some(says) = self.ask(engine, &container).await? {
                held.push(Held { container, says });
            }
        }
        held.sort_by(|one, other| one.container.name.cmp(&other.container.name));
        Ok(Sorted { ours: ours.into_iter().collect(), held })
    }

    /// Forgets what is gone. Where nothing is remembered, thousands of containers are not gone through.
    fn forget_all_but(&mut self, containers: &[Container]) {
        if self.given.is_empty() && self.say.is_empty() {
            return;
        }
        let ids: HashSet<&str> = containers.iter().map(|found| found.id.as_str()).collect();
        self.given.retain(|id, _| ids.contains(id.as_str()));
        self.say.retain(|id, _| ids.contains(id.as_str()));
    }

    /// Whether those were given that have not been seen before. Nobody else has the mark of the
    /// present life.
    async fn look_up(
        &mut self,
        identity: &Identity,
        store: &Store,
        containers: &[Container],
    ) -> Result<(), database::Error> {
        let unknown = containers.iter().filter(|found| found.epoch != identity.epoch);
        let unknown = unknown.filter(|found| !self.given.contains_key(&found.id));
        let unknown: Vec<&Container> = unknown.collect();
        if unknown.is_empty() {
            return Ok(());
        }
        let keys: Vec<TaskKey> = unknown.iter().map(|found| found.key).collect();
        let given = database::tasks::given(store.database.read(), &keys).await?;
        self.given.extend(
            unknown
                .into_iter()
                .map(|found| (found.id.clone(), given.get(&found.key) == Some(&found.epoch))),
        );
        Ok(())
    }

    /// What one says of itself; `None`: it is gone.
    async fn ask(
        &mut self,
        engine: &dyn Engine,
        container: &Container,
    ) -> Result<Option<Labelled>, EngineError> {
        if let Some(known) = self.say.get(&container.id) {
            return Ok(Some(known.clone()));
        }
        let says = match engine.labels(&container.name).await {
            Ok(found) => labels::read(&found),
            Err(EngineError::NoContainer(_)) => return Ok(None),
            Err(error) => return Err(error),
        };
        self.say.insert(container.id.clone(), says.clone());
        Ok(Some(says))
    }
}
