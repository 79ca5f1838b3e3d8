use api::cluster::GpuView;
use leptos::prelude::*;

use crate::address;
use crate::i18n::{told, tr};
use crate::number;
use crate::parts::relative_time::RelativeTime;
use crate::parts::table::DataTable;

/// What the node's GPUs do at the moment, and who holds them; nothing where that is not measured.
#[component]
pub(super) fn Now(gpus: Vec<GpuView>) -> impl IntoView {
    if gpus.iter().all(|gpu| gpu.now.is_none()) {
        return ().into_any();
    }
    let rows = gpus.into_iter().map(|gpu| view! { <Row gpu=gpu/> }).collect_view();
    view! {
        <section class="card card--flush" aria-labelledby="gpus-now">
            <h2 id="gpus-now" class="card__title">{tr(|t| t.metrics.now)}</h2>
            <DataTable
                label=|t| t.metrics.now
                heads=&[
                    (|t| t.cluster.gpus, None),
                    (|t| t.map.held_by, None),
                    (|t| t.map.by_load, Some("num")),
                    (|t| t.map.by_memory, Some("num")),
                    (|t| t.map.by_temperature, Some("num")),
                    (|t| t.metrics.power, Some("num")),
                ]
            >
                {rows}
            </DataTable>
        </section>
    }
    .into_any()
}

#[component]
fn Row(gpu: GpuView) -> impl IntoView {
    let does = gpu.now.unwrap_or_default();
    let holders = gpu.holders.into_iter().map(|holder| {
        view! { <a href=address::job(&holder.job)>{holder.job.to_string()}</a> " " }
    });
    let holders = holders.collect_view();
    let idle = does.idle_since.map(|at| {
        view! {
            <p class="hint">
                {tr(|t| t.map.idle)} " · " {tr(|t| t.metrics.last_busy)} " " <RelativeTime at=at/>
            </p>
        }
    });
    let memory = does.memory_mb.map(|used| match does.all_memory_mb {
        Some(all) => format!("{} / {}", number::memory(used), number::memory(all)),
        None => number::memory(used),
    });
    let load = does.load.map(|load| told(move |t| (t.queue.percent)(load)));
    view! {
        <tr>
            <th scope="row" class="phrase">{format!("GPU {}", gpu.gpu.index)}</th>
            <td>{holders} {idle}</td>
            <td class="num">{load}</td>
            <td class="num">{memory}</td>
            <td class="num">{does.temperature.map(|degrees| format!("{degrees}\u{202f}°C"))}</td>
            <td class="num">{does.power.map(|watts| format!("{watts}\u{202f}W"))}</td>
        </tr>
    }
    .into_any()
}
