use leptos::prelude::*;
use protocol::ids::{JobKey, NodeName};
use protocol::state::State;
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// Jobs and nodes by what they are called.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct Names {
    pub(crate) jobs: Vec<(JobKey, State)>,
    pub(crate) nodes: Vec<NodeName>,
}

/// Some jobs, the latest ones, and some nodes that have a text in their names.
#[server(prefix = "/fn", endpoint = "names", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn find_names(text: String) -> Result<Names, Failed> {
    use api::jobs::JobQuery;
    use api::node_map::{Face, NodeQuery, Shown};

    use crate::edge::{call, failed};

    let (backend, actor) = call()?;
    let text = text.trim().to_ascii_lowercase();
    if text.is_empty() {
        return Ok(Names::default());
    }
    // A job may be written with its owner.
    let names = text.rsplit('~').take(1).map(str::to_owned).collect();
    let jobs = JobQuery { names, limit: 8, ..JobQuery::default() };
    let jobs = backend.jobs.list(&actor, &jobs).await.map_err(failed)?.jobs;
    // Words are looked for in what nodes hold as well, which is left out again.
    let nodes =
        NodeQuery { text: text.clone(), face: Face::Table, limit: 64, ..NodeQuery::default() };
    let nodes = backend.nodes.map(&actor, &nodes).await.map_err(failed)?;
    let nodes = match nodes.shown {
        Shown::Table(nodes) => nodes,
        Shown::Map(_) | Shown::Administration(_) => Vec::new(),
    };
    let nodes = nodes.into_iter().map(|node| node.name);
    let nodes = nodes.filter(|name| name.as_str().to_ascii_lowercase().contains(&text));
    let jobs = jobs.into_iter().map(|job| (job.key, job.state));
    Ok(Names { jobs: jobs.collect(), nodes: nodes.take(8).collect() })
}

/// Names that may stand behind a key of the jobs' filter and have a text in them; none behind what is no key.
#[server(prefix = "/fn", endpoint = "names/filter", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn filter_names(key: String, text: String) -> Result<Vec<String>, Failed> {
    use api::job_filter::Key;

    use crate::edge::{call, failed};
    use crate::offered::names;

    let (backend, actor) = call()?;
    match Key::from_word(&key) {
        Some(key) => names(&backend, &actor, key, text.trim()).await.map_err(failed),
        None => Ok(Vec::new()),
    }
}
