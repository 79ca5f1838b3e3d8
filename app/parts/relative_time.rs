use leptos::prelude::*;
use protocol::time::Timestamp;

use crate::i18n::Reader;
use crate::parts::clock::Clock;
use crate::time::{self, Span};

/// How long ago (or in how long), with the exact moment on hover.
#[component]
pub(crate) fn RelativeTime(at: Timestamp) -> impl IntoView {
    let clock = Clock::get();
    let reader = Reader::get();
    let text = Memo::new(move |_| {
        let now = clock.now();
        if at > now && at.since(now) > 1500 {
            (reader.texts().ahead)(Span::of_millis(at.since(now)))
        } else {
            (reader.texts().ago)(Span::of_millis(now.since(at)))
        }
    });
    view! {
        <time class="time" datetime=time::iso(at) title=move || clock.moment(at)>
            {move || text.get()}
        </time>
    }
}
