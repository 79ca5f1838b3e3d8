use leptos::prelude::*;
use protocol::time::Timestamp;

use crate::i18n::Reader;
use crate::parts::clock::Clock;
use crate::time::Span;

/// How long something took; while it has not ended, how long it takes already.
#[component]
pub(crate) fn Duration(from: Timestamp, to: Option<Timestamp>) -> impl IntoView {
    let clock = Clock::get();
    let reader = Reader::get();
    let text = Memo::new(move |_| {
        let end = to.unwrap_or_else(|| clock.now());
        (reader.texts().span)(Span::of_millis(end.since(from)))
    });
    view! { <span class="duration">{move || text.get()}</span> }
}
