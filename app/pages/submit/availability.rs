use api::cluster::VirtualClusterView;
use leptos::prelude::*;
use protocol::fields::JobField;

use crate::i18n::{told, tr};
use crate::pages::submit::state::Editing;
use crate::parts::free_list::FreeList;

/// What is free in the virtual clusters: the one of the text first, then the others one can use.
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
        let is_first = |cluster: &VirtualClusterView| cluster.settings.name.as_str() == chosen;
        if let Some(at) = clusters.iter().position(is_first) {
            clusters[..=at].rotate_right(1);
        }
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
            {move || cards()}
        </section>
    }
}

#[component]
fn ClusterCard(cluster: VirtualClusterView, is_chosen: bool) -> impl IntoView {
    let VirtualClusterView { settings, usable, free, running_jobs, waiting_jobs, .. } = cluster;
    let amounts = usable.then(|| view! { <FreeList free=free/> });
    let forbidden =
        (!usable).then(|| view! { <span class="badge">{tr(|t| t.submit.rail.not_usable)}</span> });
    view! {
        <div class="availability" class:availability--chosen=is_chosen>
            <div class="availability__head">
                <h3>{settings.name.to_string()}</h3>
                {forbidden}
                <span class="hint">
                    {told(move |t| (t.submit.rail.running)(running_jobs))} {tr(|t| t.queue.effect.comma)}
                    {told(move |t| (t.submit.rail.waiting)(waiting_jobs))}
                </span>
            </div>
            {amounts}
        </div>
    }
}
