use leptos::prelude::*;

use crate::i18n::{Texts, tr};

/// A way to search that is on or off.
pub(crate) fn choice(
    on: RwSignal<bool>,
    word: fn(&'static Texts) -> &'static str,
    sign: &'static str,
    changed: impl Fn() + Send + 'static,
) -> AnyView {
    view! {
        <button
            type="button"
            class="button button--small log__choice"
            aria-pressed=move || on.get().to_string()
            aria-label=tr(word)
            title=tr(word)
            on:click=move |_| {
                on.update(|on| *on = !*on);
                changed();
            }
        >
            {sign}
        </button>
    }
    .into_any()
}
