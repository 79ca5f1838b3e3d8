use leptos::prelude::*;

use crate::i18n::{Reader, told};
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
    // What is used of nothing is all of it borrowed.
    let total_text = (total > 0).then(|| format!("/{total_text}"));
    view! {
        <span class="meter" role="img" aria-label=words>
            <span class="meter__bar" style=part></span>
            <span class="meter__text">{used_text} <wbr/> <i>{total_text}</i></span>
        </span>
    }
}

/// Which part of a whole something is: a bar, and the percentage.
#[component]
pub(crate) fn Portion(part: u64, whole: u64) -> impl IntoView {
    let percent = number::percent(part, whole);
    let bar = format!("--part:{percent}%");
    let percent = u32::try_from(percent).unwrap_or(100);
    view! {
        <span class="meter">
            <span class="meter__bar" style=bar></span>
            <span class="meter__text">{told(move |t| (t.queue.percent)(percent))}</span>
        </span>
    }
}
