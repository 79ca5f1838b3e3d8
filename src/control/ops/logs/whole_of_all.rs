//! The whole logs of all tasks of an attempt, one after the other: one is read at a time, however many there are.

use std::sync::Arc;

use api::Result;
use bytes::Bytes;
use database::tasks::Task;
use futures::stream::{self, BoxStream, StreamExt};

use super::source::{still_kept, whole};
use crate::shared::Shared;

pub(super) fn read(shared: Arc<Shared>, tasks: Vec<Task>) -> BoxStream<'static, Result<Bytes>> {
    let logs = stream::iter(tasks).then(move |task| {
        let shared = Arc::clone(&shared);
        async move { under_its_name(&shared, &task).await }
    });
    logs.flatten().boxed()
}

/// The log of a task; why there is none where that is so.
async fn under_its_name(shared: &Shared, task: &Task) -> BoxStream<'static, Result<Bytes>> {
    let head = said(format!("==> {}-{} <==\n", task.role_name, task.key.index));
    let log = match of_task(shared, task).await {
        Ok(Some(log)) => log,
        Ok(None) => stream::empty().boxed(),
        Err(error) => said(format!("[{error}]")),
    };
    head.chain(log).chain(said("\n".to_owned())).boxed()
}

async fn of_task(
    shared: &Shared,
    task: &Task,
) -> Result<Option<BoxStream<'static, Result<Bytes>>>> {
    still_kept(shared, task).await?;
    whole(shared, task).await
}

fn said(text: String) -> BoxStream<'static, Result<Bytes>> {
    stream::iter([Ok(Bytes::from(text))]).boxed()
}
