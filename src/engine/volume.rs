use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::{self, BoxStream, StreamExt};
use protocol::epoch::Epoch;
use protocol::ids::JobId;

use crate::model::Result;

/// A volume of a node: files that its containers have read-only.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Volume {
    /// Its name in the engine.
    pub name: String,
    /// Installation it belongs to, label `berth.cluster`.
    pub cluster: String,
    /// The job and the number of its attempt whose files it holds, labels `berth.job` and
    /// `berth.attempt`; `None`: it serves all jobs.
    pub attempt: Option<(JobId, u32)>,
    /// In which life of the database it was made, or that attempt given; label `berth.epoch`.
    pub epoch: Epoch,
}

/// What a volume is filled with.
#[async_trait]
pub trait Content: Send + Sync {
    /// A tar, from its beginning.
    async fn tar(&self) -> Result<BoxStream<'static, Result<Bytes>>>;
}

#[async_trait]
impl Content for Bytes {
    async fn tar(&self) -> Result<BoxStream<'static, Result<Bytes>>> {
        Ok(stream::iter([Ok(self.clone())]).boxed())
    }
}
