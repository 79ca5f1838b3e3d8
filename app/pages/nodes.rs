mod controls;
mod filter;
mod map;
mod table;

use api::node_map::{NodeMap, Shown};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::i18n::{text, told, tr};
use crate::live::Live;
use crate::pages::nodes::controls::{Controls, FindBar};
use crate::pages::nodes::filter::{Filter, PAGE};
use crate::pages::nodes::map::Map;
use crate::pages::nodes::table::Table;
use crate::parts::clock::Clock;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::page_header::PageHeader;
use crate::parts::pagination::{Pagination, Window};
use crate::reading::reading;
use crate::server_fns::nodes::map_nodes;

/// What is measured is read again so often, in milliseconds.
const AGAIN: i64 = 10_000;

/// The nodes as a map of all GPUs or as a table. What is looked for, the colours, groups, order and
/// page are in the address, changes come by themselves.
#[component]
pub(crate) fn NodesPage() -> impl IntoView {
    let query = use_query_map();
    let filter = Memo::new(move |_| Filter::read(|key| query.read().get(key)));
    let live = Live::get();
    let (nodes, cluster) = (live.nodes(), live.cluster());
    let clock = Clock::get();
    let turn = Memo::new(move |_| {
        let alive = filter.read().query.colour.is_measured();
        if alive { clock.now().0 / AGAIN } else { 0 }
    });
    let map = reading(
        move || (filter.get(), nodes.get(), cluster.get(), turn.get()),
        |(filter, _, _, _)| map_nodes(filter.query),
    );
    let refusal = move || {
        let wrong = filter.read().misread.clone();
        (!wrong.is_empty()).then(|| view! { <Refusal wrong=wrong/> }.into_any())
    };
    let content = move |map: NodeMap| {
        let filter = filter.get_untracked();
        match filter.misread.is_empty() {
            true => view! { <Nodes map=map filter=filter/> }.into_any(),
            false => ().into_any(),
        }
    };
    view! {
        <PageHeader title=text(|t| t.cluster.nodes_title)/>
        <FindBar filter=filter/>
        {move || refusal()}
        <Loaded resource=map lines=10 content=content/>
    }
    .into_any()
}

/// What of the address cannot be read, and the way to all nodes.
#[component]
fn Refusal(wrong: Vec<(String, String)>) -> impl IntoView {
    let lines = wrong.into_iter().map(|(word, allowed)| {
        view! { <li>{told(move |t| (t.finding.bad_value)(&word, &allowed))}</li> }
    });
    view! {
        <div class="notice" role="alert">
            <p class="notice__title">{tr(|t| t.finding.not_filtered)}</p>
            <ul>{lines.collect_view()}</ul>
            <a class="button" href="/nodes">{tr(|t| t.jobs.clear)}</a>
        </div>
    }
    .into_any()
}

#[component]
fn Nodes(map: NodeMap, filter: Filter) -> impl IntoView {
    if map.all == 0 {
        return view! {
            <EmptyState
                title=text(|t| t.cluster.nodes_none)
                hint=text(|t| t.cluster.nodes_none_hint)
            />
        }
        .into_any();
    }
    let controls = view! { <Controls map=map.clone() filter=filter.clone()/> };
    if map.total == 0 {
        return view! {
            {controls}
            <EmptyState title=text(|t| t.map.none_match) hint=text(|_| "")>
                <a class="button" href="/nodes">{tr(|t| t.jobs.clear)}</a>
            </EmptyState>
        }
        .into_any();
    }
    let window = Window { page: filter.page, size: PAGE, total: map.total };
    let here = filter.clone();
    let colour = filter.query.colour;
    let face = match map.shown {
        Shown::Map(nodes) => {
            view! { <Map nodes=nodes colour=colour holders=map.holders/> }.into_any()
        }
        Shown::Table(nodes) => view! { <Table nodes=nodes filter=filter/> }.into_any(),
        // It is asked for by another page.
        Shown::Administration(_) => ().into_any(),
    };
    view! {
        {controls}
        {face}
        <Pagination window=window address=move |page| here.on_page(page).address()/>
    }
    .into_any()
}
