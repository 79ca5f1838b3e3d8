use api::cluster::NodeView;
use leptos::prelude::*;
use protocol::amount::Amount;

use crate::address;
use crate::i18n::{text, tr};
use crate::live::Live;
use crate::number;
use crate::parts::condition_chip::ConditionChip;
use crate::parts::empty_state::EmptyState;
use crate::parts::gpu_cells::GpuCells;
use crate::parts::loaded::Loaded;
use crate::parts::meter::Meter;
use crate::parts::page_header::PageHeader;
use crate::parts::table::DataTable;
use crate::server_fns::nodes::list_nodes;

/// All nodes: who holds each GPU, what is used and free.
#[component]
pub(crate) fn NodesPage() -> impl IntoView {
    let live = Live::get();
    let (nodes, cluster) = (live.nodes(), live.cluster());
    let list = Resource::new(move || (nodes.get(), cluster.get()), |_| list_nodes());
    view! {
        <PageHeader title=text(|t| t.cluster.nodes_title)/>
        <Loaded
            resource=list
            lines=10
            content=|nodes| {
                if nodes.is_empty() {
                    view! {
                        <EmptyState
                            title=text(|t| t.cluster.nodes_none)
                            hint=text(|t| t.cluster.nodes_none_hint)
                        />
                    }
                    .into_any()
                } else {
                    view! { <Table nodes=nodes/> }.into_any()
                }
            }
        />
    }
    .into_any()
}

#[component]
fn Table(nodes: Vec<NodeView>) -> impl IntoView {
    let total: u64 = nodes.iter().map(|node| node.gpus.len() as u64).sum();
    let used: Amount = nodes.iter().flat_map(|node| &node.gpus).map(|gpu| gpu.used).sum();
    let rows = nodes.into_iter().map(|node| view! { <Row node=node/> }).collect_view();
    view! {
        <p class="hint card__head">
            {tr(move |t| (t.cluster.gpus_summary)(used, total))}
        </p>
        <DataTable
            label=|t| t.cluster.nodes_title
            heads=&[
                (|t| t.cluster.node, None),
                (|t| t.cluster.condition, None),
                (|t| t.cluster.gpus, None),
                (|t| t.common.cpu, None),
                (|t| t.common.memory, None),
                (|t| t.jobs.tasks, Some("num wide")),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(node: NodeView) -> impl IntoView {
    let kinds = kinds(&node);
    let simulated =
        node.simulated.then(|| view! { <span class="badge">{tr(|t| t.common.simulated)}</span> });
    let gpus = if node.gpus.is_empty() {
        view! { <span class="hint">{tr(|t| t.cluster.no_gpus)}</span> }.into_any()
    } else {
        view! { <GpuCells node=node.name.clone() gpus=node.gpus.clone() condition=node.condition/> }
            .into_any()
    };
    view! {
        <tr>
            <th scope="row">
                <a href=address::node(&node.name)>{node.name.to_string()}</a> " " {simulated}
                <span class="table__sub">{kinds}</span>
            </th>
            <td><ConditionChip condition=node.condition/></td>
            <td>{gpus}</td>
            <td><Meter used=node.used.cpus total=u64::from(node.capacity.cpus) label="CPU"/></td>
            <td>
                <Meter
                    used=node.used.memory_mb
                    total=node.capacity.memory_mb
                    amount=number::memory
                    label=text(|t| t.common.memory)
                />
            </td>
            <td class="num wide">{node.tasks.len()}</td>
        </tr>
    }
    .into_any()
}

/// The GPU types of a node with their counts: `8 × A100`.
fn kinds(node: &NodeView) -> String {
    let mut counts: Vec<(String, usize)> = Vec::new();
    for gpu in &node.gpus {
        let name = gpu.gpu.gpu_type.to_string();
        match counts.iter_mut().find(|(kind, _)| *kind == name) {
            Some((_, count)) => *count += 1,
            None => counts.push((name, 1)),
        }
    }
    let words = counts.into_iter().map(|(kind, count)| format!("{count} × {kind}"));
    words.collect::<Vec<_>>().join(", ")
}
