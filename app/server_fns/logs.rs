use api::logs::{LogWindow, TaskRef, Together, TogetherAsk, WindowAsk};
use leptos::prelude::*;
use protocol::ids::JobKey;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// Some lines of a task's log: those that come with the page.
#[server(prefix = "/fn", endpoint = "logs/lines", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn read_lines(task: TaskRef, ask: WindowAsk) -> Result<LogWindow, Failed> {
    use crate::edge::{call, failed};

    let (backend, actor) = call()?;
    let mut window = backend.logs.window(&actor, &task, &ask).await.map_err(failed)?;
    crate::first_lines::nearest(ask.place, &mut window);
    Ok(window)
}

/// Some lines of all tasks: those that come with the page.
#[server(prefix = "/fn", endpoint = "logs/together", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn read_together(
    job: JobKey,
    attempt: u32,
    ask: TogetherAsk,
) -> Result<Together, Failed> {
    use crate::edge::{call, failed};

    let (backend, actor) = call()?;
    backend.logs.together(&actor, &job, Some(attempt), &ask).await.map_err(failed)
}
