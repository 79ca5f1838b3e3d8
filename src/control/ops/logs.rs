//! `api::logs`: from the engine while the container is there, from the storage afterwards.

use std::sync::Arc;

use api::audit::AuditAction;
use api::logs::{
    JobMatches, LogMatches, LogText, LogWindow, Logs, SearchAsk, TaskRef, Together, TogetherAsk,
    WindowAsk,
};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use bytes::Bytes;
use database::tasks::Task;
use futures::stream::{BoxStream, StreamExt, TryStreamExt};
use protocol::ids::JobKey;
use storage::LogReader;

use super::tasks;
use crate::accounts::rights::owner_only;
use crate::error::internal;
use crate::logs::engines::engine_of;
use crate::records::audit;
use crate::shared::Shared;

mod end;
mod follow;
mod position;
mod readers;
mod search;
mod search_all;
mod source;
mod together;
mod whole_of_all;
mod window;

use position::Position;
use readers::Readers;
use source::Source;

/// The longest tail, in bytes.
const LONGEST_TAIL: u64 = 4 * 1024 * 1024;
/// Ends of logs that are read at the same time, by one user and by all: each takes some times the
/// longest tail.
const TAILS: (usize, usize) = (8, 24);
/// Logs that are followed at the same time, by one user and by all.
const FOLLOWED: (usize, usize) = (64, 1_024);
/// Logs that are looked through at the same time, by one user and by all: each keeps a core busy.
const SEARCHES: (usize, usize) = (2, 8);

#[derive(Debug)]
pub(crate) struct Ops {
    shared: Arc<Shared>,
    tails: Arc<Readers>,
    followed: Arc<Readers>,
    searches: Arc<Readers>,
}

#[async_trait]
impl Logs for Ops {
    async fn tail(&self, actor: &Actor, task: &TaskRef, tail_bytes: u64) -> Result<LogText> {
        let task = self.task(actor, task).await?;
        let _one_of_some = self.tails.begin(&actor.user)?;
        let bytes = tail_bytes.min(LONGEST_TAIL);
        if let Some(kept) = self.kept(&task, bytes).await? {
            return Ok(kept);
        }
        let present = self.present(&task, bytes).await;
        if let Ok(Some(_)) = &present {
            return present.map(Option::unwrap_or_default);
        }
        // The container may have gone since the first look: its log is kept before it goes.
        match self.kept(&task, bytes).await? {
            Some(kept) => Ok(kept),
            None => present.map(|_nothing| LogText {
                complete: task.state.is_final(),
                lost: source::is_lost(&task),
                ..LogText::default()
            }),
        }
    }

    async fn follow(
        &self,
        actor: &Actor,
        task: &TaskRef,
        offset: u64,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let task = self.task(actor, task).await?;
        let reader = self.followed.begin(&actor.user)?;
        Ok(follow::follow(Arc::clone(&self.shared), task, Position::read(offset), reader))
    }

    async fn whole(
        &self,
        actor: &Actor,
        task: &TaskRef,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        let task = self.task(actor, task).await?;
        let reader = self.followed.begin(&actor.user)?;
        let pieces = source::whole(&self.shared, &task).await?;
        let pieces = pieces.unwrap_or_else(|| futures::stream::empty().boxed());
        // The reader is one of those who follow as long as the pieces are.
        Ok(pieces.inspect_ok(move |_| _ = &reader).boxed())
    }

    async fn whole_of_all(
        &self,
        actor: &Actor,
        job: &JobKey,
        attempt: Option<u32>,
    ) -> Result<BoxStream<'static, Result<Bytes>>> {
        self.may_read(actor, job).await?;
        let reader = self.followed.begin(&actor.user)?;
        let tasks = tasks::last_runs(&self.shared.store, job, attempt).await?;
        let pieces = whole_of_all::read(Arc::clone(&self.shared), tasks);
        Ok(pieces.inspect_ok(move |_| _ = &reader).boxed())
    }

    async fn window(&self, actor: &Actor, task: &TaskRef, ask: &WindowAsk) -> Result<LogWindow> {
        let task = self.task(actor, task).await?;
        let _one_of_some = self.followed.begin(&actor.user)?;
        let source = match ask.after {
            Some(bytes) => window::after(self, &task, bytes).await?,
            None => self.source(&task).await?,
        };
        let _one_of_few = self.tails.begin(&actor.user)?;
        window::read(self, &task, source, ask).await
    }

    async fn together(
        &self,
        actor: &Actor,
        job: &JobKey,
        attempt: Option<u32>,
        ask: &TogetherAsk,
    ) -> Result<Together> {
        self.may_read(actor, job).await?;
        let _one_of_some = self.followed.begin(&actor.user)?;
        let tasks = tasks::last_runs(&self.shared.store, job, attempt).await?;
        together::read(self, tasks, ask).await
    }

    async fn search(&self, actor: &Actor, task: &TaskRef, ask: &SearchAsk) -> Result<LogMatches> {
        let pattern = search::pattern(ask)?;
        let task = self.task(actor, task).await?;
        let _one_of_few = self.searches.begin(&actor.user)?;
        match self.source(&task).await? {
            Some(source) => {
                source.caught_up().await;
                search::search(&source.reader(), pattern, ask.near).await
            }
            None => Ok(LogMatches { all: true, ..LogMatches::default() }),
        }
    }

    async fn search_all(
        &self,
        actor: &Actor,
        job: &JobKey,
        attempt: Option<u32>,
        task: u32,
        ask: &SearchAsk,
    ) -> Result<JobMatches> {
        let pattern = search::pattern(ask)?;
        self.may_read(actor, job).await?;
        let _one_of_few = self.searches.begin(&actor.user)?;
        let tasks = tasks::last_runs(&self.shared.store, job, attempt).await?;
        search_all::search(self, &tasks, &pattern, (task, ask.near)).await
    }
}

impl Ops {
    pub(crate) fn new(shared: Arc<Shared>) -> Self {
        let limits = [TAILS, FOLLOWED, SEARCHES];
        let [tails, followed, searches] = limits.map(|(user, all)| Readers::new(user, all));
        Self { shared, tails, followed, searches }
    }

    /// Who reads others' logs is written down.
    async fn may_read(&self, actor: &Actor, job: &JobKey) -> Result<()> {
        owner_only(actor, &job.user, "read the logs of this job")?;
        let about = (AuditAction::LogRead, job.to_string(), String::new());
        audit::looked(&self.shared.store, actor, &job.user, about).await?;
        Ok(())
    }

    async fn task(&self, actor: &Actor, wanted: &TaskRef) -> Result<Task> {
        self.may_read(actor, &wanted.job).await?;
        let TaskRef { job, attempt, role, index } = wanted;
        let task = tasks::last_run(&self.shared.store, job, *attempt, role, *index).await?;
        let task = task.ok_or_else(|| {
            let message = format!("{job} has no task {role}-{index} yet");
            Error::new(ErrorCode::NoTaskLogError, message)
        })?;
        source::still_kept(&self.shared, &task).await?;
        Ok(task)
    }

    /// Where any place of a log can be read; `None`: there is nothing of it yet, or any more.
    async fn source(&self, task: &Task) -> Result<Option<Source>> {
        source::find(&self.shared, task).await
    }

    /// The end of the kept log.
    async fn kept(&self, task: &Task, bytes: u64) -> Result<Option<LogText>> {
        let Some(kept) = source::kept(&self.shared, task).await? else { return Ok(None) };
        Ok(Some(end_of(&kept, bytes).await.map_err(internal)?))
    }

    /// The end of what the container has written so far; `None` while there is none.
    async fn present(&self, task: &Task, bytes: u64) -> Result<Option<LogText>> {
        let Ok(engine) = engine_of(&self.shared.nodes, &task.placement.node) else {
            return Ok(None);
        };
        let name = task.key.container_name(&self.shared.identity.installation);
        let ask = |request| engine.logs(&name, request);
        there(end::read(ask, bytes, task.state.is_final()).await)
    }

    /// Its last lines, at most so many bytes of them; `None` while there is none.
    async fn last_lines(&self, task: &Task, lines: u32, bytes: u64) -> Result<Option<String>> {
        let Ok(engine) = engine_of(&self.shared.nodes, &task.placement.node) else {
            return Ok(None);
        };
        let name = task.key.container_name(&self.shared.identity.installation);
        let ask = |request| engine.logs(&name, request);
        there(end::read_lines(ask, lines, bytes).await)
    }
}

/// What an engine answered; `None`: there is no container.
fn there<T>(answer: engine::Result<T>) -> Result<Option<T>> {
    match answer {
        Ok(answer) => Ok(Some(answer)),
        Err(engine::EngineError::NoContainer(_)) => Ok(None),
        Err(error) => Err(Error::new(ErrorCode::UnavailableError, error.to_string())),
    }
}

/// The end of a kept log, from the beginning of a line.
async fn end_of(kept: &LogReader, bytes: u64) -> storage::Result<LogText> {
    let end = kept.bytes();
    let from = end.saturating_sub(bytes);
    // The byte before tells whether a line begins there.
    let pieces: Vec<Bytes> = kept.text(from.saturating_sub(1)).try_collect().await?;
    let whole = pieces.concat();
    let start = match from {
        0 => 0,
        _ => {
            let newline = whole.iter().position(|byte| *byte == b'\n');
            newline.map(|newline| newline + 1).filter(|start| *start < whole.len()).unwrap_or(1)
        }
    };
    let text = whole.get(start..).unwrap_or_default();
    let offset = end.saturating_sub(text.len() as u64);
    let text = String::from_utf8_lossy(text).into_owned();
    Ok(LogText { text, offset, end, complete: true, lost: false })
}
