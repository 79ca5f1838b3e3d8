//! Keeps in touch with one node's engine.

use std::collections::{HashMap, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use database::nodes::NodeObserved;
use engine::{EndpointOptions, Engine, EngineError, EngineInfo};
use futures::StreamExt;
use protocol::ids::NodeName;
use protocol::time::Timestamp;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use crate::known::cluster::Observation;
use crate::shared::Shared;
use crate::wake::{now, rest};

/// The engine is asked whether it is there so often.
const HEARTBEAT: Duration = Duration::from_secs(5);
/// Its containers are looked at so often even when nothing calls for it.
const LOOK: Duration = Duration::from_secs(30);
/// Volumes that no job needs any more are looked for so often.
const TIDY: Duration = Duration::from_secs(60);
/// So many changes are answered by one look.
const CHANGES_AT_ONCE: usize = 1_024;
/// Pauses between attempts to reach an engine that does not answer.
const PAUSES: [u64; 5] = [1, 2, 3, 5, 10];
/// `last_seen` is stored so often while nothing else changes.
const STORE_EVERY: i64 = 30_000;

/// One node's watcher.
#[derive(Debug)]
pub(super) struct Watcher {
    shared: Arc<Shared>,
    name: NodeName,
    options: EndpointOptions,
    stop: CancellationToken,
    look: Arc<Notify>,
    stored: Option<NodeObserved>,
    lost_at: Option<Timestamp>,
    absence: Option<(Timestamp, Timestamp)>,
}

impl Watcher {
    pub(super) fn new(
        shared: Arc<Shared>,
        name: NodeName,
        options: EndpointOptions,
        stop: CancellationToken,
    ) -> Self {
        let stored = shared.cluster().node(&name).and_then(|node| node.observed.clone());
        let look = Arc::new(Notify::new());
        Self { shared, name, options, stop, look, stored, lost_at: None, absence: None }
    }

    /// Runs until stopped: connects, watches, and when the engine is lost, connects again.
    pub(super) async fn run(mut self) {
        let mut failures = 0;
        while !self.stop.is_cancelled() {
            let stop = self.stop.clone();
            let watched = tokio::select! {
                biased;
                () = stop.cancelled() => return,
                watched = self.watch(&mut failures) => watched,
            };
            if let Err(error) = watched {
                self.lost(&error).await;
                let pause = PAUSES[failures.min(PAUSES.len() - 1)];
                failures += 1;
                tokio::select! {
                    biased;
                    () = self.stop.cancelled() => return,
                    () = tokio::time::sleep(Duration::from_secs(pause)) => {}
                }
            }
        }
    }

    /// Connects and watches until the engine is lost.
    async fn watch(&mut self, failures: &mut usize) -> engine::Result<()> {
        let engine = engine::connect(&self.options)?;
        let info = engine.info().await?;
        // Subscribing comes before the first look, so that nothing falls between the two.
        let changes = engine.changes(&self.shared.installation).await?;
        let mut changes = changes.ready_chunks(CHANGES_AT_ONCE);
        self.found(&info).await;
        self.look_at(&engine).await?;
        *failures = 0;
        let mut heartbeat = tokio::time::interval(HEARTBEAT);
        let mut look = tokio::time::interval(LOOK);
        let mut tidy = tokio::time::interval(TIDY);
        loop {
            tokio::select! {
                changes = changes.next() => match changes {
                    Some(changes) => {
                        changes.into_iter().collect::<engine::Result<()>>()?;
                        self.look_at(&engine).await?;
                    }
                    None => return Err(EngineError::Unreachable("its events ended".into())),
                },
                () = self.look.notified() => self.look_at(&engine).await?,
                _ = look.tick() => self.look_at(&engine).await?,
                _ = tidy.tick() => self.tidy_volumes(engine.as_ref()).await?,
                _ = heartbeat.tick() => { let info = engine.info().await?; self.found(&info).await; }
            }
        }
    }

    /// Looks at the containers and shows what is there.
    async fn look_at(&self, engine: &Arc<dyn Engine>) -> engine::Result<()> {
        let began = Instant::now();
        let looked = self.shared.moments.next();
        let containers = engine.list(&self.shared.installation).await?;
        let containers: HashMap<_, _> =
            containers.into_iter().map(|container| (container.key, container)).collect();
        let observation = Observation::Answers {
            engine: Arc::clone(engine),
            looked,
            containers: Arc::new(containers),
            look: Arc::clone(&self.look),
            absence: self.absence,
        };
        self.shared.observations().insert(self.name.clone(), observation);
        self.shared.bells.jobs.ring();
        rest(began).await;
        Ok(())
    }

    /// Removes the volumes of attempts that are over, and those that only an earlier version needs.
    async fn tidy_volumes(&self, engine: &dyn Engine) -> engine::Result<()> {
        // The records are read after it, so that what is filled for a new attempt is known.
        let volumes = engine.volumes(&self.shared.installation).await?;
        if volumes.is_empty() {
            return Ok(());
        }
        let jobs = match database::jobs::placed(self.shared.database.read()).await {
            Ok(jobs) => jobs,
            Err(error) => {
                tracing::error!(node = %self.name, %error, "cannot tell which volumes are needed");
                return Ok(());
            }
        };
        let current: HashSet<_> = jobs.iter().map(|job| Some((job.id, job.attempt?))).collect();
        for volume in volumes {
            let needed = match volume.attempt {
                Some(_) => current.contains(&volume.attempt),
                None => self.shared.guest.as_ref().is_some_and(|guest| guest.volume == volume),
            };
            if !needed && let Err(error) = engine.remove_volume(&volume.name).await {
                tracing::warn!(node = %self.name, volume = volume.name, %error, "a volume stays");
            }
        }
        Ok(())
    }

    /// The engine answers.
    async fn found(&mut self, info: &EngineInfo) {
        let at = now();
        if let Some(lost) = self.lost_at.take() {
            self.absence = Some((lost, at));
        }
        self.store(NodeObserved {
            reachable: true,
            problem: None,
            last_seen: Some(at),
            engine: Some(info.version.clone()),
            capacity: Some(info.capacity()),
            tasks_address: info.tasks_address,
        })
        .await;
    }

    /// The engine does not answer.
    async fn lost(&mut self, error: &EngineError) {
        if self.lost_at.is_none() {
            tracing::warn!(node = %self.name, %error, "node is out of contact");
        }
        self.lost_at.get_or_insert_with(now);
        self.shared.observations().insert(self.name.clone(), Observation::Silent);
        let last = self.stored.clone();
        self.store(NodeObserved {
            reachable: false,
            problem: Some(error.to_string()),
            last_seen: last.as_ref().and_then(|last| last.last_seen),
            engine: last.as_ref().and_then(|last| last.engine.clone()),
            tasks_address: last.as_ref().and_then(|last| last.tasks_address),
            capacity: last.and_then(|last| last.capacity),
        })
        .await;
        self.shared.bells.jobs.ring();
    }

    /// Stores what is news; a mere sign of life only now and then.
    async fn store(&mut self, observed: NodeObserved) {
        let news = news(self.stored.as_ref(), &observed);
        if news == News::Nothing {
            return;
        }
        let name = &self.name;
        let stored = self
            .shared
            .write(async |t| database::nodes::set_observed(t, name, &observed).await)
            .await;
        match stored {
            Ok(_) => {
                self.stored = Some(observed);
                if news == News::Changed {
                    self.shared.tell(Change::Node { name: self.name.clone() });
                }
                self.shared.bells.nodes.ring();
            }
            Err(error) => tracing::error!(node = %self.name, %error, "cannot store what is seen"),
        }
    }
}

/// What an observation adds to the last one that was stored.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum News {
    /// Nothing that need be stored.
    Nothing,
    /// That the node is still there. Who looks at nodes is not told: of a thousand nodes he would be
    /// told all the time.
    SignOfLife,
    /// Something else.
    Changed,
}

fn news(stored: Option<&NodeObserved>, observed: &NodeObserved) -> News {
    let Some(stored) = stored else { return News::Changed };
    let same = NodeObserved { last_seen: observed.last_seen, ..stored.clone() };
    let old = stored.last_seen.unwrap_or_default();
    if same != *observed {
        News::Changed
    } else if observed.last_seen.unwrap_or_default().since(old) > STORE_EVERY {
        News::SignOfLife
    } else {
        News::Nothing
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sign_of_life_is_stored_now_and_then_and_told_to_nobody() {
        let seen = |at| NodeObserved {
            reachable: true,
            problem: None,
            last_seen: Some(Timestamp(at)),
            engine: Some("Docker 29".to_owned()),
            capacity: None,
            tasks_address: None,
        };
        let lost = NodeObserved { reachable: false, ..seen(1000) };
        for (stored, observed, expected) in [
            (None, seen(1000), News::Changed),
            (Some(seen(1000)), seen(6000), News::Nothing),
            (Some(seen(1000)), seen(32_000), News::SignOfLife),
            (Some(seen(1000)), lost.clone(), News::Changed),
            (Some(lost), seen(6000), News::Changed),
        ] {
            assert_eq!(news(stored.as_ref(), &observed), expected, "{observed:?}");
        }
    }
}
