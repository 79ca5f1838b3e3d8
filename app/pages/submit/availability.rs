use leptos::prelude::*;
use protocol::fields::JobField;

use crate::i18n::{told, tr};
use crate::pages::submit::state::Editing;
use crate::parts::free_list::FreeList;
use crate::server_fns::virtual_clusters::Room;

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
        let mut rooms = editing.rooms.get();
        if rooms.is_empty() {
            let none = view! { <p class="hint">{tr(|t| t.submit.rail.no_cluster)}</p> };
            return vec![none.into_any()];
        }
        rooms.retain(|room| room.usable || room.name.as_str() == chosen);
        if let Some(at) = rooms.iter().position(|room| room.name.as_str() == chosen) {
            rooms[..=at].rotate_right(1);
        }
        let card = |room: Room| {
            let is_chosen = room.name.as_str() == chosen;
            view! { <Card room=room is_chosen=is_chosen/> }.into_any()
        };
        rooms.into_iter().map(card).collect::<Vec<_>>()
    };
    view! {
        <section class="card stack">
            <h2>{tr(|t| t.submit.rail.available)}</h2>
            {move || cards()}
        </section>
    }
}

#[component]
fn Card(room: Room, is_chosen: bool) -> impl IntoView {
    let Room { name, usable, free, running_jobs, waiting_jobs, .. } = room;
    let amounts = usable.then(|| view! { <FreeList free=free/> });
    let forbidden =
        (!usable).then(|| view! { <span class="badge">{tr(|t| t.submit.rail.not_usable)}</span> });
    view! {
        <div class="availability" class:availability--chosen=is_chosen>
            <div class="availability__head">
                <h3>{name.to_string()}</h3>
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
