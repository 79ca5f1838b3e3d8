use api::cluster::FreeGpus;
use leptos::prelude::*;

use crate::i18n::{Reader, told};

/// What a job could start on now of a GPU type: how much, the most on one node, how much of it is
/// borrowed. All pages say it in these words.
#[component]
pub(crate) fn FreeNow(free: FreeGpus) -> impl IntoView {
    let modifier = if free.gpus == 0 { " free-now--none" } else { "" };
    let reader = Reader::get();
    let parts = move || {
        let more = (reader.texts().cluster.free_more)(&free);
        let parts = more.split(" · ").map(|part| {
            view! {
                <span class="free-now__part">
                    <span class="free-now__dot">" · "</span>
                    {part.to_owned()}
                </span>
            }
        });
        parts.collect_view()
    };
    let more = (free.gpus > 0).then(|| {
        view! { <span class="free-now__more">{parts}</span> }
    });
    view! {
        <span class=format!("free-now{modifier}")>
            <b>{told(move |t| (t.cluster.free_now)(free.gpus))}</b>
            {more}
        </span>
    }
}
