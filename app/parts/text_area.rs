use leptos::prelude::*;

use crate::edge;
use crate::markup;

/// The one field of many lines. The framework writes the content of a `<textarea>` without escaping
/// it, so that a text could end the field and go on as markup of our own pages: here it is escaped.
#[component]
pub(crate) fn TextArea(
    #[prop(into)] id: Signal<String>,
    class: &'static str,
    /// What the field shows.
    #[prop(into)]
    text: Signal<String>,
    on_input: Callback<String>,
) -> impl IntoView {
    let markup = format!("{}{}", edge::BEFORE_TEXT, markup::escaped(&text.get_untracked()));
    view! {
        <textarea
            class=class
            id=move || id.get()
            spellcheck="false"
            autocomplete="off"
            prop:value=move || text.get()
            on:input:target=move |event| on_input.run(event.target().value())
            inner_html=markup
        ></textarea>
    }
}
