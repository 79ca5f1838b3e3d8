use leptos::prelude::*;

use crate::i18n::tr;

/// A labelled input with its hint. `name` is the argument of the form's server function.
#[component]
pub(crate) fn Field(
    name: &'static str,
    #[prop(into)] label: Signal<String>,
    #[prop(optional, into)] hint: Option<Signal<String>>,
    /// `text`, `password`, `number`.
    #[prop(default = "text")]
    kind: &'static str,
    #[prop(optional, into)] value: String,
    #[prop(optional)] required: bool,
    /// It is shown and sent, but not changed.
    #[prop(optional)]
    fixed: bool,
    #[prop(optional)] min_length: Option<u32>,
    #[prop(optional)] pattern: Option<&'static str>,
    #[prop(default = "off")] autocomplete: &'static str,
    /// Tells fields of the same name on one page apart.
    #[prop(optional, into)]
    scope: String,
) -> impl IntoView {
    let id = format!("field-{scope}-{name}").replace([' ', '[', ']'], "-");
    let hint_id = format!("{id}-hint");
    let described = hint.is_some().then(|| hint_id.clone());
    let optional = (!required)
        .then(|| view! { <span class="field__optional">{tr(|t| t.common.optional)}</span> });
    view! {
        <div class="field">
            <label class="field__label" for=id.clone()>{move || label.get()} " " {optional}</label>
            <input
                class="input"
                id=id
                name=name
                type=kind
                value=value
                required=required
                readonly=fixed
                minlength=min_length
                pattern=pattern
                autocomplete=autocomplete
                aria-describedby=described
            />
            {hint.map(|hint| view! { <p class="field__hint" id=hint_id>{move || hint.get()}</p> })}
        </div>
    }
}
