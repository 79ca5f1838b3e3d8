//! A log from some byte on until its task has ended, whatever happens to engine and container in
//! between.

use std::sync::Arc;
use std::time::Duration;

use api::changes::Change;
use api::{ErrorCode, Result};
use bytes::Bytes;
use database::tasks::Task;
use engine::ContainerStatus;
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
                // The end of the stream is not the end of the container: look.
                Some(Err(_)) | None => follower.after_reading().await?,
            },
        }
    }
}

impl Follower {
    async fn look(&mut self) -> Result<()> {
        if self.found_kept().await? {
            return Ok(());
        }
        if let Some(engine) = engine_of(&self.shared, &self.task) {
            let name = self.task.key.container_name(&self.shared.installation);
            let container = engine.inspect(&name).await.ok().flatten();
            if container.is_some_and(|container| container.status != ContainerStatus::Created) {
                match read(engine.as_ref(), &name, true).await {
                    Ok(chunks) => {
                        self.step = Step::Read { chunks, position: 0 };
                        return Ok(());
                    }
                    Err(error) => tracing::debug!(%name, %error, "the log cannot be read now"),
                }
            }
        }
        self.wait_or_end().await
    }

    /// After the engine's stream has ended: finished if the container is, else look again.
    async fn after_reading(&mut self) -> Result<()> {
        let name = self.task.key.container_name(&self.shared.installation);
        let container = match engine_of(&self.shared, &self.task) {
            Some(engine) => engine.inspect(&name).await.ok().flatten(),
            None => None,
        };
        match container.map(|container| container.status) {
            Some(ContainerStatus::Exited { .. }) => self.step = Step::End,
            Some(ContainerStatus::Created | ContainerStatus::Running { .. }) => {
                self.step = Step::Look;
                self.news().await;
            }
            None => {
                self.step = Step::Look;
                if !self.found_kept().await? {
                    self.wait_or_end().await?;
                }
            }
        }
        Ok(())
    }

    async fn found_kept(&mut self) -> Result<bool> {
        let rest = LogPart::From { offset: self.sent, limit: u64::MAX };
        let kept = self.shared.storage.read_log(&self.task.key, rest).await.map_err(internal)?;
        let Some(kept) = kept else { return Ok(false) };
        self.step = Step::Rest(kept.bytes);
        Ok(true)
    }

    /// Nothing is there: ended without a log, or not there yet.
    async fn wait_or_end(&mut self) -> Result<()> {
        let found = database::tasks::get(self.shared.database.read(), &self.task.key).await;
        let Some(task) = found.map_err(database)? else {
            return Err(api::Error::new(ErrorCode::NoTaskLogError, "the task is gone"));
        };
        if task.state.is_final() && task.started_at.is_none() {
            self.step = Step::End;
            return Ok(());
        }
        self.news().await;
        Ok(())
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
