use leptos::prelude::*;

use crate::i18n::{Texts, tr};

/// Something of a log that is shown or not.
#[component]
pub(crate) fn Switch(
    on: RwSignal<bool>,
    word: fn(&'static Texts) -> &'static str,
) -> impl IntoView {
    view! {
        <label class="check">
            <input
                type="checkbox"
                checked=on.get_untracked()
                prop:checked=on
                on:change=move |event| on.set(event_target_checked(&event))
            />
            {tr(word)}
        </label>
    }
}
