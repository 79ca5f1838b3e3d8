use leptos::prelude::*;

use crate::i18n::tr;
use crate::pages::home::Home;
use crate::parts::free_list::FreeList;
use crate::parts::loaded::Loaded;
use crate::server_fns::home::HomeView;
use crate::server_fns::virtual_clusters::Room;

/// What is free at this moment in the virtual clusters the reader may use.
#[component]
pub(crate) fn WhereFree(home: Home) -> impl IntoView {
    view! {
        <section class="card" aria-labelledby="where-free">
            <h2 id="where-free">{tr(|t| t.home.where_free)}</h2>
            <p class="hint card__head">{tr(|t| t.home.where_free_hint)}</p>
            <Loaded
                resource=home
                content=|HomeView { rooms, .. }| {
                    rooms.into_iter().map(|room| view! { <Cluster room=room/> }).collect_view()
                }
            />
        </section>
    }
    .into_any()
}

#[component]
fn Cluster(room: Room) -> impl IntoView {
    let Room { name, free, .. } = room;
    view! {
        <div class="free">
            <h3>{name.to_string()}</h3>
            <FreeList free=free/>
        </div>
    }
    .into_any()
}
