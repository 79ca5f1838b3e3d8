use api::logs::{LogText, TaskRef};
use leptos::prelude::*;
use server_fn::codec::GetUrl;

use crate::Failed;
use crate::server_fns::reads::Reads;

/// The end of a task's log, as much as is shown with the page; the rest comes by following and
/// downloading.
#[server(prefix = "/fn", endpoint = "logs/tail", input = GetUrl, client = Reads)]
pub(crate) async fn read_log(task: TaskRef) -> Result<LogText, Failed> {
    use crate::edge::{call, failed};

    const TAIL_BYTES: u64 = 128 * 1024;
    let (backend, actor) = call()?;
    backend.logs.tail(&actor, &task, TAIL_BYTES).await.map_err(failed)
}
