//! Names that may stand behind a key of the jobs' filter, as far as who asks is told of them.

use std::collections::BTreeSet;

use api::job_filter::Key;
use api::jobs::JobQuery;
use api::node_map::{Face, NodeQuery, Shown};
use api::{Actor, Backend, Error};
use protocol::ids::UserName;

/// So many names are offered.
const MOST: usize = 8;
/// In so many of the latest jobs it is looked for tags and for owners.
const LATEST: u64 = 200;

/// The names behind a key that have a text in them, in any case.
pub(crate) async fn names(
    backend: &Backend,
    actor: &Actor,
    key: Key,
    text: &str,
) -> Result<Vec<String>, Error> {
    let names = match key {
        Key::VirtualCluster => {
            let clusters = backend.virtual_clusters.list(actor).await?;
            clusters.into_iter().map(|cluster| cluster.settings.name.to_string()).collect()
        }
        Key::Type => {
            let clusters = backend.virtual_clusters.list(actor).await?;
            let types = clusters.into_iter().flat_map(|cluster| cluster.total.gpus.into_keys());
            types.map(|gpu_type| gpu_type.to_string()).collect()
        }
        Key::Node => nodes(backend, actor, text).await?,
        Key::User => owners(backend, actor).await?,
        Key::Tag => tags(backend, actor, actor.user.clone()).await?,
        Key::Name => jobs(backend, actor, text).await?,
        Key::State | Key::Gpu | Key::Priority | Key::Since | Key::Until | Key::Ended => Vec::new(),
    };
    Ok(fitting(names, text))
}

/// Words are looked for in what nodes hold as well, which is left out again.
async fn nodes(backend: &Backend, actor: &Actor, text: &str) -> Result<Vec<String>, Error> {
    let text = text.to_owned();
    let query = NodeQuery { text, face: Face::Table, limit: LATEST, ..NodeQuery::default() };
    let nodes = match backend.nodes.map(actor, &query).await?.shown {
        Shown::Table(nodes) => nodes,
        Shown::Map(_) | Shown::Administration(_) => Vec::new(),
    };
    Ok(nodes.into_iter().map(|node| node.name.to_string()).collect())
}

async fn owners(backend: &Backend, actor: &Actor) -> Result<Vec<String>, Error> {
    let query = JobQuery { limit: LATEST, ..JobQuery::default() };
    let jobs = backend.jobs.list(actor, &query).await?.jobs;
    Ok(jobs.into_iter().map(|job| job.key.user.to_string()).collect())
}

/// Those of a user's own jobs. One with a quote in it no filter can say.
async fn tags(backend: &Backend, actor: &Actor, user: UserName) -> Result<Vec<String>, Error> {
    let query = JobQuery { users: vec![user], limit: LATEST, ..JobQuery::default() };
    let jobs = backend.jobs.list(actor, &query).await?.jobs;
    let tags = jobs.into_iter().flat_map(|job| job.tags).map(|tag| tag.to_string());
    Ok(tags.filter(|tag| !tag.contains('"')).collect())
}

async fn jobs(backend: &Backend, actor: &Actor, text: &str) -> Result<Vec<String>, Error> {
    let names = if text.is_empty() { Vec::new() } else { vec![text.to_owned()] };
    let query = JobQuery { names, limit: LATEST, ..JobQuery::default() };
    let jobs = backend.jobs.list(actor, &query).await?.jobs;
    Ok(jobs.into_iter().map(|job| job.key.name.to_string()).collect())
}

/// Those that have a text in them, once each: first those that begin with it, then by the alphabet.
fn fitting(names: Vec<String>, text: &str) -> Vec<String> {
    let text = text.to_lowercase();
    let ranked = names.into_iter().filter_map(|name| {
        let at = name.to_lowercase().find(&text)?;
        Some((at > 0, name))
    });
    let ranked: BTreeSet<(bool, String)> = ranked.collect();
    ranked.into_iter().map(|(_, name)| name).take(MOST).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_that_begin_so_come_first_and_each_once() {
        let names = ["pier-1", "old-pier", "Pier-2", "pier-1", "quay"].map(str::to_owned);
        assert_eq!(fitting(names.to_vec(), "pier"), ["Pier-2", "pier-1", "old-pier"]);
        assert_eq!(fitting(names.to_vec(), "").len(), 4);
        let many = (0..99).map(|number| format!("n-{number}")).collect();
        assert_eq!(fitting(many, "N").len(), MOST);
    }
}
