use leptos::prelude::*;
use protocol::cluster::IdleRule;

use crate::i18n::{text, tr};
use crate::parts::field::Field;

/// What becomes of a virtual cluster's jobs whose GPUs do nothing.
#[component]
pub(super) fn IdleFields(rule: Option<IdleRule>) -> impl IntoView {
    let number = move |value: fn(IdleRule) -> Option<u32>| {
        rule.and_then(value).map(|value| value.to_string()).unwrap_or_default()
    };
    view! {
        <fieldset class="form__group stack">
            <legend class="field__label">{tr(|t| t.admin.idle_title)}</legend>
            <p class="hint">{tr(|t| t.admin.idle_hint)}</p>
            <div class="form__row">
                <Field
                    name="cluster[idle_minutes]"
                    kind="number"
                    label=text(|t| t.admin.idle_minutes)
                    value=number(|rule| Some(rule.minutes))
                />
                <Field
                    name="cluster[idle_load]"
                    kind="number"
                    label=text(|t| t.admin.idle_load)
                    value=number(|rule| Some(rule.load))
                />
            </div>
            <div class="form__row">
                <Field
                    name="cluster[idle_grace]"
                    kind="number"
                    label=text(|t| t.admin.idle_grace)
                    value=number(|rule| Some(rule.grace))
                />
                <Field
                    name="cluster[idle_stop]"
                    kind="number"
                    label=text(|t| t.admin.idle_stop)
                    value=number(|rule| rule.stop_after)
                />
            </div>
        </fieldset>
    }
    .into_any()
}
