use api::logs::{LogText, TaskRef};
use leptos::prelude::*;
use server_fn::codec::GetUrl;

use crate::Failed;

/// So much of a log's end is read with the page; the rest comes by following and downloading.
pub(crate) const TAIL_BYTES: u64 = 128 * 1024;

/// The end of a task's log.
#[server(prefix = "/fn", endpoint = "logs/tail", input = GetUrl)]
pub(crate) async fn read_log(task: TaskRef) -> Result<LogText, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.logs.tail(&actor, &task, TAIL_BYTES).await.map_err(failed)
}
