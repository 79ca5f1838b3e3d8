use std::collections::BTreeMap;

use api::node_map::{Holders, NodeOrder, NodeRow};
use leptos::prelude::*;
use protocol::ids::GpuType;

use crate::address;
use crate::i18n::{Reader, Texts, text, told, tr};
use crate::number;
use crate::pages::nodes::filter::Filter;
use crate::pages::nodes::map::group_name;
use crate::parts::condition_chip::ConditionChip;
use crate::parts::meter::Meter;
use crate::parts::spark::Spark;
use crate::parts::table::{Column, TableOf};

type Words = fn(&'static Texts) -> &'static str;

const COLUMNS: [(NodeOrder, Words, &str); 6] = [
    (NodeOrder::Name, |t| t.cluster.node, ""),
    (NodeOrder::Condition, |t| t.cluster.condition, ""),
    (NodeOrder::Free, |t| t.map.free_gpus, "num"),
    (NodeOrder::Cpus, |t| t.common.cpu, ""),
    (NodeOrder::Memory, |t| t.common.memory, ""),
    (NodeOrder::Tasks, |t| t.jobs.tasks, "num"),
];

/// Where the column of the load stands: by a curve nothing can be ordered.
const LOAD: usize = 2;

/// The same data as on the map, in words and numbers.
#[component]
pub(super) fn Table(nodes: Vec<NodeRow>, filter: Filter) -> impl IntoView {
    let query = &filter.query;
    let ordered = COLUMNS.into_iter().map(|(order, words, class)| {
        let now = (query.order == order).then_some(!query.descending);
        Column::new(words, class).ordered(filter.sorted_by(order).address(), now)
    });
    let grouped = query.group.is_some().then(|| Column::new(|t| t.map.group, ""));
    let held = Column::new(|t| t.map.held_by, "");
    let mut columns: Vec<Column> = ordered.chain(grouped).chain([held]).collect();
    columns.insert(LOAD, Column::new(|t| t.map.by_load, "rare"));
    let rows = nodes.into_iter().map(|node| view! { <Row node=node/> }).collect_view();
    view! {
        <TableOf label=|t| t.cluster.nodes_title kind="table--nodes" columns=columns>{rows}</TableOf>
    }
    .into_any()
}

#[component]
fn Row(node: NodeRow) -> impl IntoView {
    let reader = Reader::get();
    let simulated =
        node.simulated.then(|| view! { <span class="badge">{tr(|t| t.common.simulated)}</span> });
    let condition = node.condition;
    let group = node.group.clone().map(|group| {
        view! { <td>{move || group_name(reader.texts(), &group)}</td> }
    });
    let (free, total) = (number::count(node.free), number::count(node.gpus.values().sum()));
    let (cpus, memory) = (node.cpus, node.memory_mb);
    view! {
        <tr>
            <th scope="row">
                <a href=address::node(&node.name)>{node.name.to_string()}</a>
                <span class="table__sub">{kinds(&node.gpus)} " " {simulated}</span>
            </th>
            <td><ConditionChip condition=condition/></td>
            <td class="rare"><Spark lately=node.lately/></td>
            <td class="num">{told(move |t| (t.map.free_of)(&free, &total))}</td>
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
            <td><HeldBy holders=node.holders further=node.further/></td>
        </tr>
    }
    .into_any()
}

/// The jobs that hold GPUs of the node, those with most of them first.
#[component]
fn HeldBy(holders: Holders, further: u64) -> impl IntoView {
    if holders.0.is_empty() {
        return ().into_any();
    }
    let names = holders.0.into_iter().map(|(job, amount)| {
        let amount = format!("\u{202f}×\u{202f}{}", number::amount(amount));
        view! {
            <span class="holder"><a href=address::job(&job)>{job.to_string()}</a>{amount}</span>
            " "
        }
    });
    let names = names.collect_view();
    let further = (further > 0).then(
        || view! { <span class="hint">{told(move |t| (t.finding.and_more)(further))}</span> },
    );
    view! { <span>{names} {further}</span> }.into_any()
}

/// The GPU types of a node with their counts: `8 × A100`.
fn kinds(gpus: &BTreeMap<GpuType, u64>) -> String {
    let kinds = gpus.iter().map(|(kind, count)| format!("{count}\u{202f}×\u{202f}{kind}"));
    kinds.collect::<Vec<_>>().join(", ")
}
