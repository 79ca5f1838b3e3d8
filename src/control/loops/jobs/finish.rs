//! Tasks that have to go and whose job asked for a grace: they are sent its signal and may go on for a while.

use std::sync::Arc;
use std::time::{Duration, Instant};

use engine::{ContainerStatus, Engine};
use protocol::ids::{NodeName, TaskKey};
use protocol::spec::GraceSignal;
use tokio_util::sync::CancellationToken;

use super::outcome::Outcome;
use crate::known::cluster::Observation;
use crate::shared::Shared;

/// A container may take so long to end by itself when it is asked to.
pub(super) const GRACE: Duration = Duration::from_secs(30);
/// It is looked so often whether such a task has ended.
const LOOK: Duration = Duration::from_millis(200);

/// A task that may finish.
pub(super) struct Finishing {
    pub(super) shared: Arc<Shared>,
    pub(super) engine: Arc<dyn Engine>,
    pub(super) task: TaskKey,
    pub(super) node: NodeName,
    pub(super) signal: GraceSignal,
    /// Then its grace is over.
    pub(super) until: Instant,
    /// Nobody waits for it any more: it is stopped now.
    pub(super) hurry: CancellationToken,
    /// This server ends; the next one goes on.
    pub(super) leave: CancellationToken,
}

impl Finishing {
    /// Sends the signal, waits, and stops what still runs. A task that is told again after a restart of this
    /// server has its whole grace again: that is rare, and cuts nobody short.
    pub(super) async fn run(self) -> Outcome {
        // What was decided may be older than what is seen: one signal each is enough.
        if !self.runs() {
            return Outcome::Done;
        }
        let name = self.task.container_name(&self.shared.identity.installation);
        // An engine that passes no signal on is asked again, but holds nobody up for longer.
        if Instant::now() < self.until
            && let Err(error) = self.engine.signal(&name, self.signal).await
        {
            return Outcome::Failed(error.to_string());
        }
        while self.runs() && Instant::now() < self.until && !self.hurry.is_cancelled() {
            tokio::select! {
                biased;
                () = self.hurry.cancelled() => {}
                () = tokio::time::sleep(LOOK) => {}
            }
        }
        if self.leave.is_cancelled() || !self.runs() {
            return Outcome::Done;
        }
        self.engine.stop(&name, GRACE).await.into()
    }

    /// As it was seen last; of what is on a silent node nothing is to be done here.
    fn runs(&self) -> bool {
        let observations = self.shared.nodes.observations();
        let Some(Observation::Answers { containers, .. }) = observations.get(&self.node) else {
            return false;
        };
        let status = containers.get(&self.task).map(|container| &container.status);
        matches!(status, Some(ContainerStatus::Running { .. }))
    }
}
