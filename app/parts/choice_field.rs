use leptos::prelude::*;

use crate::i18n::{Texts, tr};

/// What can be chosen: what the form sends, and what people read.
pub(crate) type Choices = &'static [(&'static str, fn(&'static Texts) -> &'static str)];

/// A labelled choice among few, with its hint. `name` is the argument of the form's server function.
#[component]
pub(crate) fn ChoiceField(
    name: &'static str,
    #[prop(into)] label: Signal<String>,
    #[prop(optional, into)] hint: Option<Signal<String>>,
    choices: Choices,
    /// What the form shows first; what is none of them is the first.
    #[prop(into)]
    value: String,
) -> impl IntoView {
    let id = format!("field--{name}").replace([' ', '[', ']'], "-");
    let hint_id = format!("{id}-hint");
    let described = hint.is_some().then(|| hint_id.clone());
    let options = choices.iter().map(|(choice, words)| {
        let selected = *choice == value;
        view! { <option value=*choice selected=selected>{tr(*words)}</option> }
    });
    let options = options.collect_view();
    view! {
        <div class="field">
            <label class="field__label" for=id.clone()>{move || label.get()}</label>
            <select class="select" id=id name=name aria-describedby=described>
                {options}
            </select>
            {hint.map(|hint| view! { <p class="hint" id=hint_id>{move || hint.get()}</p> })}
        </div>
    }
    .into_any()
}
