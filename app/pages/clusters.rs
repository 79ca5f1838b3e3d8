use api::cluster::VirtualClusterView;
use leptos::prelude::*;

use crate::address::encode;
use crate::i18n::{text, tr};
use crate::live::Live;
use crate::number;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::meter::Meter;
use crate::parts::page_header::PageHeader;
use crate::server_fns::virtual_clusters::list_clusters;

/// The virtual clusters: their shares, what is used, who runs and who waits.
#[component]
pub(crate) fn ClustersPage() -> impl IntoView {
    let changes = Live::get().cluster();
    let clusters = Resource::new(move || changes.get(), |_| list_clusters());
    view! {
        <PageHeader title=text(|t| t.cluster.clusters_title)/>
        <Loaded
            resource=clusters
            lines=8
            content=|clusters| {
                if clusters.is_empty() {
                    view! { <EmptyState title=text(|t| t.cluster.clusters_none) hint=text(|_| "")/> }
                        .into_any()
                } else {
                    let cards = clusters.into_iter().map(|c| view! { <Cluster cluster=c/> });
                    view! { <div class="cards">{cards.collect_view()}</div> }.into_any()
                }
            }
        />
    }
    .into_any()
}

#[component]
fn Cluster(cluster: VirtualClusterView) -> impl IntoView {
    let name = cluster.settings.name.to_string();
    let usable = cluster.usable;
    let share = &cluster.settings.share;
    let guaranteed = share.cpus.is_some() || share.memory_mb.is_some() || !share.gpus.is_empty();
    let jobs =
        |state: &str| format!("/jobs?q={}&all=1", encode(&format!("vc:{name} state:{state}")));
    let (running, waiting) = (cluster.running_jobs, cluster.waiting_jobs);
    view! {
        <section class="card">
            <div class="card__head">
                <h2>{name.clone()}</h2>
                <span class="badge">
                    {tr(move |t| if usable { t.cluster.usable } else { t.cluster.not_usable })}
                </span>
            </div>
            <p class="hint card__head">
                {tr(move |t| if guaranteed { t.cluster.guaranteed } else { t.cluster.unguaranteed })}
            </p>
            <Amounts cluster=cluster.clone()/>
            <p class="buttons cluster__jobs">
                <a href=jobs("running")>{tr(move |t| (t.cluster.running)(running))}</a>
                <a href=jobs("waiting")>{tr(move |t| (t.cluster.waiting)(waiting))}</a>
            </p>
        </section>
    }
    .into_any()
}

/// Used and total of each resource.
#[component]
fn Amounts(cluster: VirtualClusterView) -> impl IntoView {
    let VirtualClusterView { used, total, .. } = cluster;
    let gpus = total.gpus.iter().map(|(kind, total)| {
        let used = used.gpus.get(kind).copied().unwrap_or(0);
        view! {
            <tr>
                <th scope="row">{kind.to_string()}</th>
                <td><Meter used=used total=*total label=kind.to_string()/></td>
                <td class="num">{total.saturating_sub(used)}</td>
            </tr>
        }
    });
    let gpus = gpus.collect_view();
    let free_memory = number::memory(total.memory_mb.saturating_sub(used.memory_mb));
    view! {
        <table class="table table--plain">
            <thead>
                <tr>
                    <th scope="col">{tr(|t| t.cluster.resource)}</th>
                    <th scope="col">{tr(|t| t.cluster.used)}</th>
                    <th scope="col" class="num">{tr(|t| t.cluster.free)}</th>
                </tr>
            </thead>
            <tbody>
                {gpus}
                <tr>
                    <th scope="row">{tr(|t| t.common.cpu)}</th>
                    <td><Meter used=used.cpus total=total.cpus label="CPU"/></td>
                    <td class="num">{number::count(total.cpus.saturating_sub(used.cpus))}</td>
                </tr>
                <tr>
                    <th scope="row">{tr(|t| t.common.memory)}</th>
                    <td>
                        <Meter
                            used=used.memory_mb
                            total=total.memory_mb
                            amount=number::memory
                            label=text(|t| t.common.memory)
                        />
                    </td>
                    <td class="num">{free_memory}</td>
                </tr>
            </tbody>
        </table>
    }
    .into_any()
}
