use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::i18n::told;
use crate::parts::clipboard;

/// Copies a longer text.
#[component]
pub(crate) fn CopyButton(#[prop(into)] text: String) -> impl IntoView {
    let copied = RwSignal::new(false);
    let copy = move |event: MouseEvent| clipboard::copy(&event, text.clone(), copied);
    view! {
        <button type="button" class="button" on:click=copy>
            {told(move |t| if copied.get() { t.common.copied } else { t.common.copy })}
        </button>
    }
}
