use std::time::Duration;

use leptos::prelude::*;

use crate::i18n::told;

/// Copies a longer text.
#[component]
pub(crate) fn CopyButton(#[prop(into)] text: String) -> impl IntoView {
    let copied = RwSignal::new(false);
    let copy = move |_| {
        // Whether the browser allows it is its own affair; the text can be selected all the same.
        let _ = window().navigator().clipboard().write_text(&text);
        copied.set(true);
        set_timeout(move || copied.set(false), Duration::from_millis(1500));
    };
    view! {
        <button type="button" class="button" on:click=copy>
            {told(move |t| if copied.get() { t.common.copied } else { t.common.copy })}
        </button>
    }
}
