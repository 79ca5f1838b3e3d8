use leptos::ev::MouseEvent;
use leptos::prelude::*;

use crate::i18n::told;
use crate::parts::clipboard;
use crate::parts::glyph::{Drawn, Glyph};

/// A text to be copied by a click: an id, an address, a token.
#[component]
pub(crate) fn Copy(#[prop(into)] text: String) -> impl IntoView {
    let copied = RwSignal::new(false);
    let value = text.clone();
    let copy = move |event: MouseEvent| clipboard::copy(&event, value.clone(), copied);
    let word = told(move |t| if copied.get() { t.common.copied } else { t.common.copy });
    view! {
        <span class="copy">
            <code class="copy__text">{text}</code>
            <button type="button" class="copy__button" on:click=copy title=word.clone() aria-label=word>
                {move || {
                    let glyph = if copied.get() { Glyph::Check } else { Glyph::Copy };
                    view! { <Drawn glyph=glyph/> }
                }}
            </button>
        </span>
    }
}
