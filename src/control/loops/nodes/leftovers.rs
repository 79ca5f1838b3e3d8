//! Removes from a node what nobody needs any more: what servers before this one left there of their own, once, and
//! then, again and again, volumes that no job needs. That goes on beside its watcher: an engine that takes long to remove something, or does not
//! answer, keeps nobody from looking at it.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::Duration;

use database::jobs;
use engine::{Engine, EngineError, Volume};
use protocol::ids::{JobId, NodeName};
use protocol::state::State;

use crate::container::probe;
use crate::shared::Shared;

/// Volumes are looked for so often.
pub(super) const EVERY: Duration = Duration::from_secs(60);
/// After failures in a row that is doubled so many times at most.
const DOUBLED: u32 = 4;

/// What is left on one node.
pub(super) struct Leftovers {
    pub(super) shared: Arc<Shared>,
    pub(super) node: NodeName,
    pub(super) engine: Arc<dyn Engine>,
    /// The part of the time between two looks after which the second one is: thousands of nodes are
    /// not asked at once.
    pub(super) part: Duration,
}

impl Leftovers {
    /// Goes on until it is dropped.
    pub(super) async fn remove(&self) {
        let left = probe::remove_left(&self.shared.identity, self.engine.as_ref());
        if let Err(error) = Box::pin(left).await {
            tracing::warn!(node = %self.node, %error, "what a server left that has ended stays");
        }
        let mut failures = 0;
        let mut part = self.part;
        loop {
            match Box::pin(self.remove_volumes()).await {
                Ok(()) => failures = 0,
                Err(error) => {
                    tracing::warn!(node = %self.node, %error, failures, "volumes stay");
                    failures = (failures + 1).min(DOUBLED);
                }
            }
            tokio::time::sleep(EVERY * (1 << failures) - part).await;
            part = Duration::ZERO;
        }
    }

    /// Removes those that are not needed. An engine that does not answer is left alone at once.
    async fn remove_volumes(&self) -> engine::Result<()> {
        let volumes = self.engine.volumes(&self.shared.identity.installation).await?;
        let current = match self.current(&volumes).await {
            Ok(current) => current,
            Err(error) => {
                tracing::error!(node = %self.node, %error, "cannot tell which volumes are needed");
                return Ok(());
            }
        };
        // It is the same in all lives of the database.
        let guest = self.shared.containers.guest_on(&self.shared.nodes.cluster(), &self.node);
        let guest = guest.map(|guest| guest.volume.name.as_str());
        let mut failed = Ok(());
        for volume in volumes {
            let needed = match volume.attempt {
                Some(attempt) => current.contains(&attempt),
                None => guest == Some(volume.name.as_str()),
            };
            if needed {
                continue;
            }
            match self.engine.remove_volume(&volume.name).await {
                Ok(()) => {}
                Err(error @ EngineError::Unreachable(_)) => return Err(error),
                Err(error) => failed = Err(error),
            }
        }
        failed
    }

    /// The attempts that need theirs among those that have volumes: those under way, those in quarantine,
    /// and those of jobs that are left alone. They are read after the volumes, so that what is filled for a
    /// new attempt is known.
    async fn current(&self, volumes: &[Volume]) -> Result<HashSet<(JobId, u32)>, database::Error> {
        let attempts = volumes.iter().filter_map(|volume| volume.attempt);
        let ids: Vec<JobId> = attempts.clone().map(|(job, _)| job).collect();
        let rows = jobs::readable_rows(self.shared.store.database.read(), &ids).await?.into_iter();
        let placed = rows.filter(|row| !row.state.is_final() && row.state != State::Waiting);
        let mut current = self.shared.nodes.quarantine.attempts(&self.node);
        let damage = self.shared.jobs.active.damage();
        current.extend(attempts.filter(|(job, _)| damage.jobs().contains(job)));
        current.extend(placed.filter_map(|row| Some((row.id, row.attempt?))));
        Ok(current)
    }
}
