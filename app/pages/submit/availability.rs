use api::cluster::{Usage, VirtualClusterView};
use leptos::prelude::*;

use crate::i18n::{text, tr};
use crate::number;
use crate::pages::submit::document::JobField;
use crate::pages::submit::state::Editing;
use crate::parts::gpu_meter::GpuMeter;
use crate::parts::meter::Meter;

/// How full the virtual clusters are: the one of the text first, then the others one can use.
#[component]
pub(crate) fn Availability() -> impl IntoView {
    let editing = Editing::get();
    let chosen = Memo::new(move |_| {
        let name = editing.read(|tree| tree.text(&tree.job_path(JobField::VirtualCluster)));
        if name.is_empty() { "default".to_owned() } else { name }
    });
    let cards = move || {
        let chosen = chosen.get();
        let mut clusters = editing.clusters.get();
        clusters.retain(|cluster| cluster.usable || cluster.settings.name.as_str() == chosen);
        clusters.sort_by_key(|cluster| cluster.settings.name.as_str() != chosen);
        let card = |cluster: VirtualClusterView| {
            let is_chosen = cluster.settings.name.as_str() == chosen;
            view! { <ClusterCard cluster=cluster is_chosen=is_chosen/> }
        };
        clusters.into_iter().map(card).collect_view()
    };
    let is_empty = move || editing.clusters.read().is_empty();
    view! {
        <section class="card stack">
            <h2>{tr(|t| t.submit.rail.available)}</h2>
            <Show when=is_empty>
                <p class="hint">{tr(|t| t.submit.rail.no_cluster)}</p>
            </Show>
            {cards}
        </section>
    }
}

#[component]
fn ClusterCard(cluster: VirtualClusterView, is_chosen: bool) -> impl IntoView {
    let VirtualClusterView { settings, usable, used, total, running_jobs, waiting_jobs, .. } =
        cluster;
    let forbidden =
        (!usable).then(|| view! { <span class="badge">{tr(|t| t.submit.rail.not_usable)}</span> });
    view! {
        <div class="availability" class:availability--chosen=is_chosen>
            <div class="availability__head">
                <h3>{settings.name.to_string()}</h3>
                {forbidden}
                <span class="hint">
                    {tr(move |t| (t.submit.rail.running)(running_jobs))} ", "
                    {tr(move |t| (t.submit.rail.waiting)(waiting_jobs))}
                </span>
            </div>
            <Amounts used=used total=total/>
        </div>
    }
}

/// Used of total: GPUs by type, CPU, memory, disk.
#[component]
fn Amounts(used: Usage, total: Usage) -> impl IntoView {
    let gpus = total
        .gpus
        .iter()
        .map(|(gpu_type, count)| {
            let name = gpu_type.to_string();
            let held = used.gpus.get(gpu_type).copied().unwrap_or_default();
            view! {
                <dt>{name}</dt>
                <dd><GpuMeter kind=gpu_type.clone() used=held total=*count/></dd>
            }
        })
        .collect_view();
    let none = total.gpus.is_empty().then(|| {
        view! { <dt>"GPU"</dt><dd class="hint">{tr(|t| t.submit.rail.no_gpus)}</dd> }
    });
    view! {
        <dl class="availability__amounts">
            {gpus}
            {none}
            <dt>{tr(|t| t.common.cpu)}</dt>
            <dd><Meter used=used.cpus total=total.cpus label=text(|t| t.common.cpu)/></dd>
            <dt>{tr(|t| t.common.memory)}</dt>
            <dd><Meter used=used.memory_mb total=total.memory_mb amount=number::memory label=text(|t| t.common.memory)/></dd>
            <dt>{tr(|t| t.common.disk)}</dt>
            <dd><Meter used=used.disk_gb total=total.disk_gb amount=number::disk label=text(|t| t.common.disk)/></dd>
        </dl>
    }
}
