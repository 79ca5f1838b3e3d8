use api::cluster::FreeGpus;
use leptos::prelude::*;
use protocol::ids::GpuType;

use crate::i18n::tr;
use crate::parts::free_now::FreeNow;

/// What a job could start on now in a virtual cluster, by GPU type.
#[component]
pub(crate) fn FreeList(free: Vec<(GpuType, FreeGpus)>) -> impl IntoView {
    if free.is_empty() {
        return view! { <p class="hint">{tr(|t| t.submit.rail.no_gpus)}</p> }.into_any();
    }
    let row = |(kind, free): (GpuType, FreeGpus)| {
        let (kind, name) = (kind.to_string(), kind.to_string());
        view! {
            <div class="free-list__row" data-gpu-type=kind>
                <dt>{name}</dt>
                <dd><FreeNow free=free/></dd>
            </div>
        }
    };
    view! { <dl class="free-list">{free.into_iter().map(row).collect_view()}</dl> }.into_any()
}
