use leptos::prelude::*;

use crate::i18n::Reader;
use crate::number;

/// How much of something is used: a bar, and the amounts in words.
#[component]
pub(crate) fn Meter(
    used: u64,
    total: u64,
    /// Writes an amount with its unit.
    #[prop(default = number::count)]
    amount: fn(u64) -> String,
    /// Of what, for those who cannot see the bar.
    #[prop(into)]
    label: Signal<String>,
) -> impl IntoView {
    let reader = Reader::get();
    let (used_text, total_text) = (amount(used), amount(total));
    let words = {
        let (used_text, total_text) = (used_text.clone(), total_text.clone());
        move || {
            let common = &reader.texts().common;
            let amounts = (common.used_of)(&used_text, &total_text);
            format!("{}{}{amounts}", label.get(), common.colon)
        }
    };
    let part = format!("--part:{}%", number::percent(used, total));
    let total_text = format!("/{total_text}");
    view! {
        <span class="meter" role="img" aria-label=words>
            <span class="meter__bar" style=part></span>
            <span class="meter__text">{used_text} <i>{total_text}</i></span>
        </span>
    }
}
