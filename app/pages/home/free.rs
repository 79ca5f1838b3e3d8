use api::cluster::VirtualClusterView;
use leptos::prelude::*;

use crate::i18n::tr;
use crate::live::Live;
use crate::parts::free_list::FreeList;
use crate::parts::loaded::Loaded;
use crate::server_fns::virtual_clusters::list_clusters;

/// What is free at this moment in the virtual clusters the reader may use.
#[component]
pub(crate) fn WhereFree() -> impl IntoView {
    let changes = Live::get().cluster();
    let clusters = Resource::new(move || changes.get(), |_| list_clusters());
    view! {
        <section class="card" aria-labelledby="where-free">
            <h2 id="where-free">{tr(|t| t.home.where_free)}</h2>
            <p class="hint card__head">{tr(|t| t.home.where_free_hint)}</p>
            <Loaded
                resource=clusters
                content=|clusters| {
                    let usable = clusters.into_iter().filter(|cluster| cluster.usable);
                    usable.map(|cluster| view! { <Cluster cluster=cluster/> }).collect_view()
                }
            />
        </section>
    }
    .into_any()
}

#[component]
fn Cluster(cluster: VirtualClusterView) -> impl IntoView {
    let VirtualClusterView { settings, free, .. } = cluster;
    view! {
        <div class="free">
            <h3>{settings.name.to_string()}</h3>
            <FreeList free=free/>
        </div>
    }
    .into_any()
}
