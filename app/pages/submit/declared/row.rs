use leptos::prelude::*;

use crate::document::Edit;
use crate::i18n::words_submit::Fields;
use crate::i18n::{text_of, told};
use crate::pages::submit::field::{FieldProblems, Word, is_wrong};
use crate::pages::submit::state::{Editing, field_id};

/// A sentence with a name in it, from the catalogue.
pub(super) type NamedWord = fn(&'static Fields) -> fn(&str) -> String;

/// The name of something, which changes once it is written whole. One that cannot be is taken back.
#[component]
pub(crate) fn NameField(
    name: Signal<String>,
    label: Word,
    /// The changes by which it is called so; none where it cannot be.
    rename: Callback<String, Vec<Edit>>,
    /// Where the name itself stands, if it is no key.
    #[prop(optional)]
    at: String,
) -> impl IntoView {
    let editing = Editing::get();
    let change = move |input: web_sys::HtmlInputElement| {
        let edits = rename.run(input.value());
        if edits.is_empty() {
            input.set_value(&name.get_untracked());
        } else {
            editing.edit(&edits);
        }
    };
    let id = (!at.is_empty()).then(|| field_id(&at));
    view! {
        <label class="field">
            <span class="field__label">{told(move |t| label(&t.submit.fields))}</span>
            <input
                class="input"
                id=id
                autocomplete="off"
                spellcheck="false"
                value=name.get_untracked()
                prop:value=move || name.get()
                on:change:target=move |event| change(event.target())
            />
            <FieldProblems path=at label=label/>
        </label>
    }
}

/// A value of one line that stands under a name.
#[component]
pub(crate) fn ValueField(
    path: String,
    label: Word,
    /// Nobody is to read it over a shoulder.
    is_secret: bool,
    value: Signal<String>,
    type_in: Callback<String>,
    /// What is said of it; empty: nothing.
    hint: Signal<String>,
) -> impl IntoView {
    let editing = Editing::get();
    let id = field_id(&path);
    let (of_label, about) = (id.clone(), format!("{id}-about"));
    let of_input = about.clone();
    let path = Signal::stored(path);
    let (kind, autocomplete) =
        if is_secret { ("password", "new-password") } else { ("text", "off") };
    let has_hint = move || !hint.read().is_empty();
    view! {
        <div class="field">
            <label class="field__label" for=of_label>{told(move |t| label(&t.submit.fields))}</label>
            <input
                class="input"
                id=id
                type=kind
                autocomplete=autocomplete
                spellcheck="false"
                aria-invalid=move || is_wrong(editing, path)
                aria-describedby=of_input
                value=value.get_untracked()
                prop:value=move || value.get()
                on:input:target=move |event| type_in.run(event.target().value())
            />
            <div id=about>
                <p class="field__hint" hidden=move || !has_hint()>{move || hint.get()}</p>
                <FieldProblems path=path label=label/>
            </div>
        </div>
    }
}

/// Takes a row out of the text.
#[component]
pub(crate) fn RemoveRow(path: String, name: Signal<String>, words: NamedWord) -> impl IntoView {
    let editing = Editing::get();
    let label = text_of(move |t| words(&t.submit.fields)(&name.read()));
    let edit = Edit::Remove(path);
    view! {
        <button
            type="button"
            class="button button--quiet row__remove"
            aria-label=label
            on:click=move |_| editing.edit(std::slice::from_ref(&edit))
        >
            "×"
        </button>
    }
}
