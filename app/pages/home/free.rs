use api::cluster::VirtualClusterView;
use leptos::prelude::*;
use protocol::amount::Amount;
use protocol::ids::GpuType;

use crate::i18n::tr;
use crate::number;
use crate::pages::home::Home;
use crate::parts::gpu_meter::GpuMeter;
use crate::parts::loaded::Loaded;
use crate::parts::meter::Meter;
use crate::server_fns::home::HomeView;

/// What is free at this moment in the virtual clusters the reader may use.
#[component]
pub(crate) fn WhereFree(home: Home) -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="where-free">
            <h2 id="where-free">{tr(|t| t.home.where_free)}</h2>
            <p class="hint card__head">{tr(|t| t.home.where_free_hint)}</p>
            <Loaded
                resource=home
                content=|HomeView { clusters, .. }| {
                    let cards = clusters.into_iter();
                    cards.map(|cluster| view! { <Cluster cluster=cluster/> }).collect_view()
                }
            />
        </section>
    }
    .into_any()
}

#[component]
fn Cluster(cluster: VirtualClusterView) -> impl IntoView {
    let VirtualClusterView { settings, used, total, .. } = cluster;
    let gpus = total.gpus.iter().map(|(kind, total)| {
        let used = used.gpus.get(kind).copied().unwrap_or_default();
        view! { <Gpus kind=kind.clone() used=used total=*total/> }
    });
    let gpus = gpus.collect_view();
    view! {
        <div class="free">
            <h3>{settings.name.to_string()}</h3>
            <ul class="free__list">
                {gpus}
                <li class="free__row">
                    <span>{tr(|t| t.common.cpu)}</span>
                    <Meter used=used.cpus total=total.cpus label="CPU"/>
                </li>
                <li class="free__row">
                    <span>{tr(|t| t.common.memory)}</span>
                    <Meter
                        used=used.memory_mb
                        total=total.memory_mb
                        amount=number::memory
                        label=crate::i18n::text(|t| t.common.memory)
                    />
                </li>
            </ul>
        </div>
    }
    .into_any()
}

#[component]
fn Gpus(kind: GpuType, used: Amount, total: Amount) -> impl IntoView {
    let free = number::amount(total.without(used));
    view! {
        <li class="free__row">
            <span>{kind.to_string()} " " <b>{free}</b> " " {tr(|t| t.home.free)}</span>
            <GpuMeter kind=kind.clone() used=used total=total/>
        </li>
    }
    .into_any()
}
