use api::usage::{Day, UsageBy, UsageReport};
use leptos::prelude::*;
use protocol::ids::UserName;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// What was used on some days, summed up.
#[server(prefix = "/fn", endpoint = "usage", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_usage(
    from: Option<Day>,
    until: Option<Day>,
    username: Option<UserName>,
    by: UsageBy,
) -> Result<UsageReport, Failed> {
    use crate::edge::{call, failed, now};
    use api::usage::UsageQuery;

    let (backend, actor) = call()?;
    let days = UsageQuery { from, until, username: None }.days(now()).map_err(failed)?;
    let query = UsageQuery { from: Some(*days.start()), until: Some(*days.end()), username };
    let used = backend.jobs.usage(&actor, &query).await.map_err(failed)?;
    Ok(UsageReport::of(&days, &used, by))
}
