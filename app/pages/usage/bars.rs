use api::usage::Day;
use leptos::prelude::*;

use super::hours;
use crate::i18n::told;
use crate::number;

/// Each day as a bar. The sums by day say the same to who cannot see it.
#[component]
pub(super) fn Bars(from: Day, days: Vec<u64>) -> impl IntoView {
    let most = days.iter().copied().max().unwrap_or_default();
    if most == 0 || days.len() < 2 {
        return ().into_any();
    }
    let day = move |at: usize| Day(from.0 + at as i64).to_string();
    let last = day(days.len() - 1);
    let bars = days.into_iter().enumerate().map(|(at, seconds)| {
        let part = format!("--part:{}%", number::percent(seconds, most));
        let title = format!("{} · {}", day(at), hours(seconds));
        view! { <span class="bars__day" style=part title=title></span> }
    });
    let bars = bars.collect_view();
    view! {
        <div class="bars" aria-hidden="true">
            <p class="bars__axis">{told(move |t| (t.usage.hours)(&hours(most)))}</p>
            <div class="bars__days">{bars}</div>
            <p class="bars__axis"><span>{day(0)}</span> <span>{last}</span></p>
        </div>
    }
    .into_any()
}
