use api::queue::{Alternative, Instead};
use leptos::prelude::*;

use crate::i18n::{told, tr};

/// With which changes a job would start at once. `link` makes what leads to a change out of its words.
#[component]
pub(crate) fn Alternatives(
    alternatives: Vec<Alternative>,
    link: impl Fn(Instead, AnyView) -> AnyView,
) -> impl IntoView {
    if alternatives.is_empty() {
        return ().into_any();
    }
    let items = alternatives.into_iter().map(|alternative| {
        let of_link = alternative.instead.clone();
        let words = view! { {told(move |t| (t.queue.instead)(&alternative))} }.into_any();
        view! { <li>{link(of_link, words)}</li> }
    });
    let items = items.collect_view();
    view! {
        <div class="alternatives">
            <p>{tr(|t| t.queue.starts_now)}</p>
            <ul class="buttons">{items}</ul>
        </div>
    }
    .into_any()
}
