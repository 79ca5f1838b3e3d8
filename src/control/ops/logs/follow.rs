//! A log from some byte on until its task has ended, whatever happens to engine and container in
//! between.

use std::sync::Arc;
use std::time::Duration;

use api::changes::Change;
use api::{Error, ErrorCode, Result};
use bytes::Bytes;
use database::tasks::Task;
use engine::{ContainerStatus, EngineError};
use futures::StreamExt;
use futures::stream::{self, BoxStream};
use storage::LogPart;
use tokio::sync::broadcast::Receiver;

use super::{engine_of, read};
use crate::error::{database, internal};
use crate::shared::Shared;

/// Without news, what is followed is looked at again after so long.
const PATIENCE: Duration = Duration::from_secs(5);
/// Bytes of a kept log are sent in pieces of this size.
const PIECE: usize = 256 * 1024;

struct Follower {
    shared: Arc<Shared>,
    task: Task,
    changes: Receiver<Change>,
    /// Bytes that the reader has.
    sent: u64,
    step: Step,
}

enum Step {
    /// Find out where the log is.
    Look,
    /// Read it from the engine; `position` is where the stream stands.
    Read { chunks: BoxStream<'static, engine::Result<Bytes>>, position: u64 },
    /// Send what is left of a kept log.
    Rest(Bytes),
    /// There will be no more.
    End,
}

pub(super) fn follow(
    shared: Arc<Shared>,
    task: Task,
    offset: u64,
) -> BoxStream<'static, Result<Bytes>> {
    let changes = shared.listen();
    let follower = Follower { shared, task, changes, sent: offset, step: Step::Look };
    stream::try_unfold(follower, next).boxed()
}

async fn next(mut follower: Follower) -> Result<Option<(Bytes, Follower)>> {
    loop {
        match &mut follower.step {
            Step::End => return Ok(None),
            Step::Rest(rest) => {
                let piece = rest.split_to(rest.len().min(PIECE));
                if rest.is_empty() {
                    follower.step = Step::End;
                }
                if !piece.is_empty() {
                    return Ok(Some((piece, follower)));
                }
            }
            Step::Look => follower.look().await?,
            Step::Read { chunks, position } => match chunks.next().await {
                Some(Ok(chunk)) => {
                    let known = follower.sent.saturating_sub(*position);
                    *position += chunk.len() as u64;
                    let known = usize::try_from(known).unwrap_or(usize::MAX).min(chunk.len());
                    let news = chunk.slice(known..);
                    if !news.is_empty() {
                        follower.sent += news.len() as u64;
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
        let task = database::tasks::get(self.shared.database.read(), &self.task.key).await;
        let task = task.map_err(database)?;
        task.map(|task| task.state.is_final())
            .ok_or_else(|| Error::new(ErrorCode::NoTaskLogError, "the task is gone"))
    }

    /// Reads from the container, if there is one that was started.
    async fn found_container(&mut self) -> engine::Result<bool> {
        let name = self.task.key.container_name(&self.shared.installation);
        let node = &self.task.placement.node;
        let engine = engine_of(&self.shared, &self.task)
            .ok_or_else(|| EngineError::Unreachable(format!("{node} is out of contact")))?;
        let container = engine.inspect(&name).await?;
        if container.is_none_or(|container| container.status == ContainerStatus::Created) {
            return Ok(false);
        }
        match read(engine.as_ref(), &name, true).await {
            Ok(chunks) => self.step = Step::Read { chunks, position: 0 },
            Err(EngineError::NoContainer(_)) => return Ok(false),
            Err(error) => return Err(error),
        }
        Ok(true)
    }

    /// After the engine's stream has ended: finished if the container is, else look again.
    async fn after_reading(&mut self) {
        let name = self.task.key.container_name(&self.shared.installation);
        let container = match engine_of(&self.shared, &self.task) {
            Some(engine) => engine.inspect(&name).await.ok().flatten(),
            None => None,
        };
        self.step = Step::Look;
        match container.map(|container| container.status) {
            Some(ContainerStatus::Exited { .. }) => self.step = Step::End,
            Some(ContainerStatus::Created | ContainerStatus::Running { .. }) => self.news().await,
            None => {}
        }
    }

    async fn found_kept(&mut self) -> Result<bool> {
        let rest = LogPart::From { offset: self.sent, limit: u64::MAX };
        let kept = self.shared.storage.read_log(&self.task.key, rest).await.map_err(internal)?;
        let Some(kept) = kept else { return Ok(false) };
        self.step = Step::Rest(kept.bytes);
        Ok(true)
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
