//! `api::changes`: one stream of changes a listener.

use std::sync::Arc;

use api::Actor;
use api::changes::{Change, Changes};
use futures::StreamExt;
use futures::stream::BoxStream;
use tokio_stream::wrappers::BroadcastStream;

use crate::shared::Shared;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

impl Changes for Ops {
    fn subscribe(&self, _everybody: &Actor) -> BoxStream<'static, Change> {
        let changes = BroadcastStream::new(self.0.live.listen());
        changes.map(|change| change.unwrap_or(Change::Missed)).boxed()
    }
}
