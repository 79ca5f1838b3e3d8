//! A log from some byte on until its task has ended, whatever happens to engine and container in
//! between.

use std::sync::Arc;
use std::time::Duration;

use api::changes::Change;
use api::{Error, ErrorCode, Result};
use bytes::Bytes;
use database::tasks::Task;
use engine::{ContainerStatus, EngineError, LogRequest};
use futures::stream::{self, BoxStream};
use futures::{StreamExt, TryStreamExt};
use tokio::sync::broadcast::Receiver;

use super::position::Position;
use super::readers::Reader;
use super::source::kept;
use crate::error::internal;
use crate::logs::end::LogEnd;
use crate::logs::engines::engine_of;
use crate::shared::Shared;

/// Without news, what is followed is looked at again after so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// By so many bytes it is found in a kept log what was sent last.
const LAST_SENT: usize = 1024;
/// They are looked for in so much of its end.
const LOOKED_THROUGH: u64 = 4 * 1024 * 1024;
/// So much of a kept log's end is sent where that cannot be told.
const KEPT_END: usize = 64 * 1024;
/// What is sent before it.
const BEFORE_KEPT_END: &[u8] = b"\n[the task has ended; this is the end of its log]\n";

struct Follower {
    shared: Arc<Shared>,
    task: Task,
    changes: Receiver<Change>,
    /// Up to where the reader has it.
    sent: Position,
    last_sent: LogEnd,
    step: Step,
    _reader: Reader,
}

enum Step {
    /// Find out where the log is.
    Look,
    /// Read it from the engine; `position` is where the stream stands.
    Read { chunks: BoxStream<'static, engine::Result<Bytes>>, position: u64 },
    /// Send what is left of a kept log.
    Rest(BoxStream<'static, storage::Result<Bytes>>),
    /// There will be no more.
    End,
}

pub(super) fn follow(
    shared: Arc<Shared>,
    task: Task,
    sent: Position,
    reader: Reader,
) -> BoxStream<'static, Result<Bytes>> {
    let changes = shared.live.listen();
    let last_sent = LogEnd::new(LAST_SENT);
    let follower =
        Follower { shared, task, changes, sent, last_sent, step: Step::Look, _reader: reader };
    stream::try_unfold(follower, next).boxed()
}

async fn next(mut follower: Follower) -> Result<Option<(Bytes, Follower)>> {
    loop {
        match &mut follower.step {
            Step::End => return Ok(None),
            Step::Rest(rest) => match rest.try_next().await.map_err(internal)? {
                Some(piece) if piece.is_empty() => {}
                Some(piece) => return Ok(Some((piece, follower))),
                None => follower.step = Step::End,
            },
            Step::Look => follower.look().await?,
            Step::Read { chunks, position } => match chunks.next().await {
                Some(Ok(chunk)) => {
                    let known = follower.sent.bytes.saturating_sub(*position);
                    *position += chunk.len() as u64;
                    let known = usize::try_from(known).unwrap_or(usize::MAX).min(chunk.len());
                    let news = chunk.slice(known..);
                    if !news.is_empty() {
                        follower.sent.bytes += news.len() as u64;
                        follower.last_sent.push(&news);
                        return Ok(Some((news, follower)));
                    }
                }
                // The end of the stream is not the end of the container.
                None => follower.after_reading().await,
                Some(Err(_)) => {
                    follower.step = Step::Look;
                    follower.news().await;
                }
            },
        }
    }
}

impl Follower {
    /// Finds out where the log is, or waits until it may be somewhere. Whether the task is over is
    /// asked first: if its container is gone after that, its log is kept or will never be.
    async fn look(&mut self) -> Result<()> {
        let over = self.is_over().await?;
        if self.found_kept().await? {
            return Ok(());
        }
        match self.found_container().await {
            Ok(true) => {}
            Ok(false) if over => {
                if !self.found_kept().await? {
                    self.step = Step::End;
                }
            }
            Err(error) if over => {
                return Err(Error::new(ErrorCode::UnavailableError, error.to_string()));
            }
            Ok(false) | Err(_) => self.news().await,
        }
        Ok(())
    }

    async fn is_over(&mut self) -> Result<bool> {
        let task = database::tasks::get(self.shared.store.database.read(), &self.task.key).await;
        let task = task?;
        task.map(|task| task.state.is_final())
            .ok_or_else(|| Error::new(ErrorCode::NoTaskLogError, "the task is gone"))
    }

    /// Reads from the container, if there is one that was started.
    async fn found_container(&mut self) -> engine::Result<bool> {
        let name = self.task.key.container_name(&self.shared.identity.installation);
        let engine = engine_of(&self.shared.nodes, &self.task.placement.node)?;
        let container = engine.inspect(&name).await?;
        if container.is_none_or(|container| container.status == ContainerStatus::Created) {
            return Ok(false);
        }
        let request =
            LogRequest { follow: true, since: self.sent.moment(), ..LogRequest::default() };
        match engine.logs(&name, request).await {
            Ok(chunks) => {
                let chunks = chunks.map_ok(|chunk| chunk.bytes).boxed();
                self.step = Step::Read { chunks, position: 0 };
            }
            Err(EngineError::NoContainer(_)) => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// After the engine's stream has ended: finished if the container is, else look again.
    async fn after_reading(&mut self) {
        let name = self.task.key.container_name(&self.shared.identity.installation);
        let container = match engine_of(&self.shared.nodes, &self.task.placement.node) {
            Ok(engine) => engine.inspect(&name).await.ok().flatten(),
            Err(_) => None,
        };
        self.step = Step::Look;
        match container.map(|container| container.status) {
            Some(ContainerStatus::Exited { .. }) => self.step = Step::End,
            Some(ContainerStatus::Created | ContainerStatus::Running { .. }) => self.news().await,
            None => {}
        }
    }

    async fn found_kept(&mut self) -> Result<bool> {
        let Some(kept) = kept(&self.shared, &self.task).await? else { return Ok(false) };
        let rest = match self.sent.since {
            None => kept.text(self.sent.bytes),
            Some(_) => {
                let end = kept.text(kept.bytes().saturating_sub(LOOKED_THROUGH));
                let end: Vec<Bytes> = end.try_collect().await.map_err(internal)?;
                let rest = self.after_last_sent(&end.concat().into());
                stream::iter([Ok(rest)]).boxed()
            }
        };
        self.step = Step::Rest(rest);
        Ok(true)
    }

    /// What comes in a kept log after what was sent last.
    fn after_last_sent(&self, kept: &Bytes) -> Bytes {
        let last = self.last_sent.to_bytes();
        let found = (!last.is_empty())
            .then(|| kept.windows(last.len()).rposition(|window| window == last))
            .flatten();
        match found {
            Some(at) => kept.slice(at + last.len()..),
            None => {
                let end = kept.slice(kept.len().saturating_sub(KEPT_END)..);
                Bytes::from([BEFORE_KEPT_END, &end].concat())
            }
        }
    }

    /// Waits for a change of this job, or for a while.
    async fn news(&mut self) {
        let job = self.task.key.job;
        let ours = async {
            loop {
                match self.changes.recv().await {
                    Ok(Change::Job { id, .. }) if id != job => {}
                    Ok(_) | Err(_) => return,
                }
            }
        };
        let _or_patience_is_over = tokio::time::timeout(PATIENCE, ours).await;
    }
}
