use api::cluster::Silent;
use api::metrics::IdleJob;
use leptos::prelude::*;
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::failed_lately::FailedLately;
use crate::json::Answer;
use crate::server_fns::jobs::JobList;
use crate::server_fns::reads::Reads;
use crate::server_fns::virtual_clusters::Room;

/// All that the home page shows, in one answer whose size depends neither on the nodes nor on the
/// jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct HomeView {
    /// The newest of the reader's jobs, and how many are in each state.
    pub(crate) mine: JobList,
    /// Those of them that have failed and that he has not dismissed.
    pub(crate) failed: FailedLately,
    /// Those of them that hold GPUs and do not use them, as their virtual clusters have it.
    pub(crate) idle: Vec<IdleJob>,
    /// Nodes that do not answer.
    pub(crate) silent: Silent,
    /// The virtual clusters that the reader may use.
    pub(crate) rooms: Vec<Room>,
}

/// Reads it.
#[server(prefix = "/fn", endpoint = "home", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn read_home() -> Result<HomeView, Failed> {
    use api::jobs::JobQuery;

    use crate::edge::{call, failed};
    use crate::seen::failed_lately;

    /// How many recent jobs are shown.
    const RECENT: u64 = 8;
    /// How many of those that are idle.
    const IDLE: usize = 8;
    let (backend, actor) = call()?;
    let lately = failed_lately(&backend, &actor).await.map_err(failed)?;
    let query = JobQuery { users: vec![actor.user.clone()], limit: RECENT, ..JobQuery::default() };
    let page = backend.jobs.list(&actor, &query).await.map_err(failed)?;
    let counts = backend.jobs.counts(&actor, &query).await.map_err(failed)?;
    let mut idle = backend.jobs.idle(&actor, Some(&actor.user)).await.map_err(failed)?;
    idle.truncate(IDLE);
    let silent = backend.nodes.silent(&actor).await.map_err(failed)?;
    let clusters = backend.virtual_clusters.list(&actor).await.map_err(failed)?;
    let usable = clusters.into_iter().filter(|cluster| cluster.usable);
    let rooms = usable.map(Room::from).collect();
    Ok(HomeView { mine: JobList { page, counts }, failed: lately, idle, silent, rooms })
}

/// Dismisses the reader's failed jobs, up to the one that ended then.
#[server(prefix = "/fn", endpoint = "home/dismiss", output = Answer)]
pub(crate) async fn dismiss_failed(last: i64) -> Result<(), Failed> {
    use protocol::time::Timestamp;

    use crate::edge::call;
    use crate::seen::dismiss;
    let (_, actor) = call()?;
    dismiss(&actor.user, Timestamp(last));
    Ok(())
}
