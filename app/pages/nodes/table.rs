use std::collections::{BTreeMap, BTreeSet};

use api::node_map::{MapGpu, MapNode, NodeOrder};
use leptos::prelude::*;
use protocol::amount::Amount;

use crate::address;
use crate::i18n::{Reader, Texts, text, tr};
use crate::number;
use crate::pages::nodes::filter::Filter;
use crate::pages::nodes::map::group_name;
use crate::parts::condition_chip::ConditionChip;
use crate::parts::meter::Meter;
use crate::parts::table::{Column, TableOf};

/// How many jobs of a node are named.
const NAMED: usize = 3;

type Words = fn(&'static Texts) -> &'static str;

const COLUMNS: [(NodeOrder, Words, &str); 6] = [
    (NodeOrder::Name, |t| t.cluster.node, ""),
    (NodeOrder::Condition, |t| t.cluster.condition, ""),
    (NodeOrder::Free, |t| t.map.free_gpus, "num"),
    (NodeOrder::Cpus, |t| t.common.cpu, ""),
    (NodeOrder::Memory, |t| t.common.memory, ""),
    (NodeOrder::Tasks, |t| t.jobs.tasks, "num"),
];

/// The same data as on the map, in words and numbers.
#[component]
pub(super) fn Table(nodes: Vec<MapNode>, filter: Filter) -> impl IntoView {
    let query = &filter.query;
    let ordered = COLUMNS.into_iter().map(|(order, words, class)| {
        let now = (query.order == order).then_some(!query.descending);
        Column::new(words, class).ordered(filter.sorted_by(order).address(), now)
    });
    let grouped = query.group.is_some().then(|| Column::new(|t| t.map.group, ""));
    let held = Column::new(|t| t.map.held_by, "");
    let columns = ordered.chain(grouped).chain([held]).collect();
    let rows = nodes.into_iter().map(|node| view! { <Row node=node/> }).collect_view();
    view! { <TableOf label=|t| t.cluster.nodes_title columns=columns>{rows}</TableOf> }.into_any()
}

#[component]
fn Row(node: MapNode) -> impl IntoView {
    let reader = Reader::get();
    let simulated =
        node.simulated.then(|| view! { <span class="badge">{tr(|t| t.common.simulated)}</span> });
    let condition = node.condition;
    let group = node.group.clone().map(|group| {
        view! { <td>{move || group_name(reader.texts(), &group)}</td> }
    });
    let free = node.gpus.iter().filter(|gpu| gpu.healthy && gpu.holders.is_empty()).count() as u64;
    let (free, total) = (number::count(free), number::count(node.gpus.len() as u64));
    let (cpus, memory) = (node.cpus, node.memory_mb);
    view! {
        <tr>
            <th scope="row">
                <a class="one-line" href=address::node(&node.name)>{node.name.to_string()}</a>
                <span class="table__sub one-line">{kinds(&node.gpus)} " " {simulated}</span>
            </th>
            <td><ConditionChip condition=condition/></td>
            <td class="num">{tr(move |t| (t.map.free_of)(&free, &total))}</td>
            <td><Meter used=cpus.0 total=cpus.1 label="CPU"/></td>
            <td>
                <Meter
                    used=memory.0
                    total=memory.1
                    amount=number::memory
                    label=text(|t| t.common.memory)
                />
            </td>
            <td class="num">{number::count(node.tasks)}</td>
            {group}
            <td><Holders gpus=node.gpus/></td>
        </tr>
    }
    .into_any()
}

/// The jobs that hold GPUs of the node, those with most of them first.
#[component]
fn Holders(gpus: Vec<MapGpu>) -> impl IntoView {
    let mut held = BTreeMap::new();
    for (job, part) in gpus.into_iter().flat_map(|gpu| gpu.holders) {
        *held.entry(job).or_insert_with(Amount::default) += part;
    }
    let more = held.len().saturating_sub(NAMED) as u64;
    let mut held: Vec<_> = held.into_iter().collect();
    held.sort_by_key(|(_, amount)| std::cmp::Reverse(*amount));
    let names = held.into_iter().take(NAMED).map(|(job, amount)| {
        let amount = number::amount(amount);
        view! { <a class="one-line" href=address::job(&job)>{job.to_string()}</a> " × " {amount} " " }
    });
    let names = names.collect_view();
    let more = (more > 0)
        .then(|| view! { <span class="hint">{tr(move |t| (t.finding.and_more)(more))}</span> });
    view! { <span>{names} {more}</span> }.into_any()
}

/// The GPU types of a node with their counts: `8 × A100`.
fn kinds(gpus: &[MapGpu]) -> String {
    let names: BTreeSet<_> = gpus.iter().map(|gpu| &gpu.gpu_type).collect();
    let count = |kind| gpus.iter().filter(|gpu| &gpu.gpu_type == kind).count();
    names
        .into_iter()
        .map(|kind| format!("{}\u{202f}×\u{202f}{kind}", count(kind)))
        .collect::<Vec<_>>()
        .join(", ")
}
