use leptos::prelude::*;
use serde_json::Value as Json;

use crate::document::Edit;
use crate::i18n::told;
use crate::pages::submit::field::{FieldProblems, Word, is_wrong};
use crate::pages::submit::state::{Editing, field_id};

/// A value and what it is called.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Choice {
    pub(crate) value: String,
    pub(crate) label: String,
}

/// A field whose value is one of a list, or none. A value that is not on the list can stay.
#[component]
pub(crate) fn SelectField(
    #[prop(into)] path: Signal<String>,
    label: Word,
    /// What no value is called.
    none: Word,
    #[prop(into)] choices: Signal<Vec<Choice>>,
) -> impl IntoView {
    let editing = Editing::get();
    let value = Memo::new(move |_| editing.read(|tree| tree.text(&path.read())));
    let id = Signal::derive(move || field_id(&path.read()));
    let choose = move |chosen: String| {
        let path = path.get_untracked();
        editing.edit(&[if chosen.is_empty() {
            Edit::Remove(path)
        } else {
            Edit::Set(path, Json::String(chosen))
        }]);
    };
    let option = move |Choice { value: this, label }: Choice| {
        let (of_page, of_browser) = (this.clone(), this.clone());
        view! {
            <option
                value=this
                selected=move || *value.read() == of_page
                prop:selected=move || *value.read() == of_browser
            >
                {label}
            </option>
        }
    };
    let options = move || {
        let mut choices = choices.get();
        let current = value.get();
        if !current.is_empty() && choices.iter().all(|choice| choice.value != current) {
            choices.push(Choice { label: current.clone(), value: current });
        }
        choices.into_iter().map(option).collect_view()
    };
    view! {
        <div class="field">
            <label class="field__label" for=move || id.get()>{told(move |t| label(&t.submit.fields))}</label>
            <select
                class="select"
                id=move || id.get()
                aria-invalid=move || is_wrong(editing, path)
                on:change:target=move |event| choose(event.target().value())
            >
                <option value="" selected=move || value.read().is_empty() prop:selected=move || value.read().is_empty()>
                    {told(move |t| none(&t.submit.fields))}
                </option>
                {move || options()}
            </select>
            <FieldProblems path=path label=label/>
        </div>
    }
}
