use api::cluster::NodeView;
use api::jobs::JobQuery;
use leptos::prelude::*;
use protocol::cluster::NodeCondition;
use protocol::state::State;

use crate::Failed;
use crate::address;
use crate::i18n::tr;
use crate::live::Live;
use crate::parts::loaded::Loaded;
use crate::server_fns::jobs::{JobList, list_jobs};
use crate::server_fns::nodes::list_nodes;
use crate::session::Session;

/// Failed jobs of the reader, and nodes that do not answer.
#[component]
pub(crate) fn Attention() -> impl IntoView {
    let session = Session::get();
    let live = Live::get();
    let (jobs, nodes) = (live.jobs(), live.nodes());
    let state = Resource::new(
        move || (jobs.get(), nodes.get()),
        move |_| {
            let users = session.actor().map(|actor| actor.user).into_iter().collect();
            read(JobQuery { users, limit: 1, ..JobQuery::default() })
        },
    );
    view! {
        <section class="card" aria-labelledby="attention">
            <h2 id="attention" class="card__head">{tr(|t| t.home.attention)}</h2>
            <Loaded
                resource=state
                lines=2
                content=move |(jobs, nodes)| view! { <Points jobs=jobs nodes=nodes/> }
            />
        </section>
    }
}

async fn read(query: JobQuery) -> Result<(JobList, Vec<NodeView>), Failed> {
    Ok((list_jobs(query).await?, list_nodes().await?))
}

#[component]
fn Points(jobs: JobList, nodes: Vec<NodeView>) -> impl IntoView {
    let failed = jobs.counts.get(&State::Failed).copied().unwrap_or(0);
    let failed = (failed > 0).then(|| {
        view! {
            <li class="point point--failed">
                <a href="/jobs?q=state:failed">{tr(move |t| (t.home.failed_jobs)(failed))}</a>
            </li>
        }
    });
    let lost: Vec<NodeView> =
        nodes.into_iter().filter(|node| node.condition == NodeCondition::Unreachable).collect();
    let count = lost.len() as u64;
    let all_well = (failed.is_none() && lost.is_empty())
        .then(|| view! { <p class="hint">{tr(|t| t.home.all_well)}</p> });
    let names = lost.into_iter().take(5).map(|node| {
        view! { <a href=address::node(&node.name)>{node.name.to_string()}</a> " " }
    });
    let names = names.collect_view();
    let unreachable = (count > 0).then(|| {
        view! {
            <li class="point point--failed">
                {tr(move |t| (t.home.unreachable_nodes)(count))} ": " {names}
            </li>
        }
    });
    view! { {all_well} <ul class="points">{failed} {unreachable}</ul> }
}
