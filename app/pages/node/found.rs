use std::collections::BTreeMap;

use api::cluster::NodeView;
use leptos::prelude::*;
use protocol::gpus::{FoundGpu, GpuFault, GpuProblem, GpuReport, counts};
use protocol::ids::{GpuType, NodeName};

use crate::i18n::{said, text, told, tr};
use crate::number;
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::parts::table::DataTable;
use crate::sending::Sending;
use crate::server_fns::nodes::ProbeNode;
use crate::session::Session;

/// What was found when the node's GPUs were looked for last, and what keeps more from being found.
#[component]
pub(super) fn Found(node: NodeView, report: GpuReport) -> impl IntoView {
    let again = Session::get().is_admin().then(|| view! { <Again name=node.name.clone()/> });
    let problem = report.problem.as_ref().map(|problem| {
        // Most nodes of which that is true have no GPUs.
        let class = if *problem == GpuProblem::NoRuntime { "hint" } else { "notice notice--warn" };
        view! { <p class=class>{said(problem.to_string())}</p> }
    });
    let by_hand = counts(node.capacity.gpus.iter());
    let found = counts(report.gpus.iter().map(|found| &found.gpu));
    let differ = (by_hand != found && report.problem.is_none()).then(|| {
        let (by_hand, found) = (shown(&by_hand), shown(&found));
        view! {
            <p class="notice notice--warn">
                {told(move |t| (t.cluster.gpus_differ)(&by_hand, &found))}
            </p>
        }
    });
    let driver = report.driver.map(|version| {
        view! { <p class="hint">{told(move |t| (t.cluster.gpu_driver)(&version))}</p> }
    });
    let table = (!report.gpus.is_empty()).then(|| view! { <Gpus gpus=report.gpus/> });
    view! {
        <section class="card stack" aria-labelledby="gpus-found">
            <h2 id="gpus-found" class="card__head">{tr(|t| t.cluster.gpus_found)}</h2>
            {problem}
            {differ}
            {table}
            {driver}
            {again}
        </section>
    }
    .into_any()
}

/// How many of each type.
fn shown(counts: &BTreeMap<GpuType, u64>) -> String {
    let text = number::gpus_text(counts.iter().map(|(kind, count)| (kind, *count)));
    if text.is_empty() { "0".to_owned() } else { text }
}

/// Has them looked for now.
#[component]
fn Again(name: NodeName) -> impl IntoView {
    let probe = Sending::to::<ProbeNode>();
    view! {
        <SendForm to=probe>
            <input type="hidden" name="name" value=name.to_string()/>
            <button class="button button--small" type="submit">{tr(|t| t.cluster.probe)}</button>
        </SendForm>
        <FormAnswer answer=probe.value() done=text(|t| t.cluster.probe_asked)/>
    }
}

#[component]
fn Gpus(gpus: Vec<FoundGpu>) -> impl IntoView {
    let rows = gpus.into_iter().map(|found| {
        let FoundGpu { gpu, model, memory_mb, fault, part_of: _ } = found;
        let memory = (memory_mb > 0).then(|| number::memory(memory_mb));
        let state = tr(match fault {
            None => |t| t.cluster.gpu_well,
            Some(GpuFault::Gone) => |t| t.cluster.gpu_gone,
            Some(GpuFault::Silent) => |t| t.cluster.gpu_silent,
            Some(GpuFault::Memory) => |t| t.cluster.gpu_memory_errors,
            Some(GpuFault::Failed) => |t| t.cluster.gpu_failed,
        });
        view! {
            <tr>
                <th scope="row">{gpu.index}</th>
                <td>{gpu.gpu_type.to_string()}</td>
                <td>{state}</td>
                <td>{model}</td>
                <td>{memory}</td>
                <td><code>{gpu.uuid}</code></td>
            </tr>
        }
    });
    let rows = rows.collect_view();
    view! {
        <DataTable
            label=|t| t.cluster.gpus_found
            heads=&[
                (|t| t.cluster.gpu_index, None),
                (|t| t.cluster.gpu_type, None),
                (|t| t.cluster.condition, None),
                (|t| t.cluster.gpu_model, None),
                (|t| t.common.memory, None),
                (|_| "UUID", None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}
