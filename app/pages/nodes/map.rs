use api::node_map::{Colour, GroupName, MapNode};
use leptos::prelude::*;
use protocol::amount::Amount;
use protocol::cluster::NodeCondition;

use crate::address;
use crate::i18n::{Reader, Texts, told, tr};
use crate::number;
use crate::parts::condition_chip::ConditionChip;
use crate::parts::gpu_cells::{GpuCells, Palette};

/// Every GPU of the page as a cell, node beside node, with what the colours tell.
#[component]
pub(super) fn Map(
    nodes: Vec<MapNode>,
    colour: Colour,
    holders: Vec<(String, Amount)>,
) -> impl IntoView {
    let palette = Palette::new(colour, &holders);
    let groups = nodes.chunk_by(|one, other| one.group == other.group).map(|nodes| {
        let nodes = nodes.to_vec();
        view! { <Together nodes=nodes palette=palette.clone()/> }
    });
    let groups = groups.collect_view();
    view! {
        <Legend colour=colour holders=holders/>
        {groups}
    }
    .into_any()
}

/// The nodes of one group, under its name where there are groups.
#[component]
fn Together(nodes: Vec<MapNode>, palette: Palette) -> impl IntoView {
    let reader = Reader::get();
    let heading = nodes.first().and_then(|node| node.group.clone()).map(|group| {
        let words = move || group_name(reader.texts(), &group);
        view! { <h2 class="map__group">{move || words()}</h2> }
    });
    let nodes = nodes.into_iter().map(|node| view! { <Tile node=node palette=palette.clone()/> });
    let nodes = nodes.collect_view();
    view! {
        {heading}
        <ul class="map">{nodes}</ul>
    }
    .into_any()
}

/// What a group is called; one without a name is said to have none.
pub(super) fn group_name(texts: &'static Texts, group: &GroupName) -> String {
    match group {
        GroupName::Condition(NodeCondition::Ready) => texts.cluster.ready.to_owned(),
        GroupName::Condition(NodeCondition::Draining) => texts.cluster.draining.to_owned(),
        GroupName::Condition(NodeCondition::Unreachable) => texts.cluster.unreachable.to_owned(),
        GroupName::Named(name) => name.clone(),
        GroupName::Nameless => texts.map.no_group.to_owned(),
    }
}

#[component]
fn Tile(node: MapNode, palette: Palette) -> impl IntoView {
    let condition = node.condition;
    let mark = match (condition, node.faulty) {
        (NodeCondition::Ready, false) => None,
        (NodeCondition::Ready, true) => {
            let words = tr(|t| t.map.only_faulty);
            Some(view! { <span class="badge">{words}</span> }.into_any())
        }
        (NodeCondition::Draining | NodeCondition::Unreachable, _) => {
            Some(view! { <ConditionChip condition=condition/> }.into_any())
        }
    };
    let wide = mark.is_some() || node.gpus.len() > 4;
    let class = if wide { "map__node map__node--wide" } else { "map__node" };
    let gpus = if node.gpus.is_empty() {
        view! { <span class="hint">{tr(|t| t.cluster.no_gpus)}</span> }.into_any()
    } else {
        let (name, gpus) = (node.name.clone(), node.gpus);
        view! { <GpuCells node=name gpus=gpus condition=condition palette=palette/> }.into_any()
    };
    view! {
        <li class=class>
            <a class="map__name" href=address::node(&node.name)>{node.name.to_string()}</a>
            {mark}
            {gpus}
        </li>
    }
    .into_any()
}

/// What the colours and marks mean.
#[component]
fn Legend(colour: Colour, holders: Vec<(String, Amount)>) -> impl IntoView {
    let entry = |class: &str, words: AnyView| {
        let class = format!("gpu {class}");
        view! { <li><span class=class aria-hidden="true"></span> {words}</li> }.into_any()
    };
    let word = |pick: fn(&'static Texts) -> &'static str| tr(pick).into_any();
    let mut entries = vec![entry("gpu--free", word(|t| t.cluster.gpu_free))];
    match colour {
        Colour::Held => {
            entries.push(entry("gpu--ramp-2", word(|t| t.map.held_part)));
            entries.push(entry("gpu--ramp-4", word(|t| t.map.held_whole)));
        }
        Colour::Job | Colour::User => {
            for (at, (name, amount)) in holders.into_iter().enumerate() {
                let words = format!("{name} · {}", number::amount(amount));
                entries.push(entry(&format!("gpu--hue-{}", at + 1), words.into_any()));
            }
            entries.push(entry("gpu--others", word(|t| t.map.others)));
        }
        Colour::Load | Colour::Memory => {
            for (step, most) in [0, 20, 40, 60, 80, 100].into_iter().enumerate() {
                let sign = if most == 0 { "" } else { "≤ " };
                let words = told(move |t| format!("{sign}{}", (t.queue.percent)(most)));
                entries.push(entry(&format!("gpu--ramp-{step}"), view! { {words} }.into_any()));
            }
            entries.push(entry("gpu--others", word(|t| t.map.not_measured)));
        }
        Colour::Temperature => {
            let low = told(|t| format!("< {}", (t.map.degrees_of)(50)));
            let high = told(|t| format!("≥ {}", (t.map.degrees_of)(80)));
            entries.push(entry("gpu--ramp-1", view! { {low} }.into_any()));
            entries.push(entry("gpu--ramp-4", view! { {high} }.into_any()));
            entries.push(entry("gpu--others", word(|t| t.map.not_measured)));
        }
    }
    entries.push(entry("gpu--free gpu--idle", word(|t| t.map.idle)));
    entries.push(entry("gpu--unhealthy gpu--free", word(|t| t.cluster.gpu_unhealthy)));
    view! {
        <ul class="legend" aria-label=tr(|t| t.map.legend)>
            {entries}
            <li class="gpus--draining"><span class="gpu gpu--free" aria-hidden="true"></span> {tr(|t| t.cluster.draining)}</li>
            <li class="gpus--offline"><span class="gpu" aria-hidden="true"></span> {tr(|t| t.cluster.unreachable)}</li>
            <li>{tr(|t| t.map.trouble_first)}</li>
        </ul>
    }
    .into_any()
}
