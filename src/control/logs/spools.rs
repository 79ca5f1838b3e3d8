//! Logs of containers on this machine, as far as they were read from the engines: any place of them
//! is found at once, while their tasks run and until they are kept. They begin with the first who
//! asks for one; the next server reads them anew.

use std::sync::Arc;

use api::{Error, ErrorCode, Result};
use engine::{Engine, LogRequest};
use protocol::ids::{NodeName, TaskKey};
use storage::LogReader;

use crate::known::identity::Identity;
use crate::lock::lock;
use crate::shared::Shared;

mod follow;
pub(crate) mod held;
mod take;

use held::{End, Spool, Spools, make_room};
use take::Place;

impl Spools {
    /// A task's log, which is followed from now on.
    pub(crate) fn open(
        &self,
        shared: &Arc<Shared>,
        key: TaskKey,
        node: &NodeName,
    ) -> Result<Arc<Spool>> {
        if let Some(spool) = self.held(&key) {
            return Ok(spool);
        }
        let mut held = lock(&self.held);
        if !make_room(&mut held) {
            let message = "too many logs are being read: ask again in a moment";
            return Err(Error::new(ErrorCode::UnavailableError, message));
        }
        let spool = self.begin(&mut held, &shared.identity.installation, key);
        let follower = follow::run(Arc::clone(shared), Arc::clone(&spool), (key, node.clone()));
        self.tasks.spawn(follower);
        Ok(spool)
    }

    /// The whole log of a container that has ended: as it was followed, or read anew.
    pub(crate) async fn whole(
        &self,
        identity: &Identity,
        engine: &dyn Engine,
        key: &TaskKey,
    ) -> engine::Result<LogReader> {
        let held = lock(&self.held).get(key).cloned();
        if let Some(spool) = held.filter(|spool| spool.reached().end == Some(End::Whole)) {
            return Ok(spool.reader());
        }
        let spool = self.begin(&mut lock(&self.held), &identity.installation, *key);
        let name = key.container_name(&identity.installation);
        let request = LogRequest { stamped: true, ..LogRequest::default() };
        let read = async {
            let chunks = engine.logs(&name, request).await?;
            take::take(&spool, chunks, &mut Place::default()).await
        };
        match read.await {
            Ok(()) => spool.reach(|reached| reached.end = Some(End::Whole)),
            Err(error) => {
                spool.reach(|reached| reached.end = Some(End::Gone));
                return Err(error);
            }
        }
        Ok(spool.reader())
    }
}
