use leptos::prelude::*;
use protocol::time::Timestamp;

use crate::i18n::Reader;
use crate::parts::clock::Clock;
use crate::time::Span;

/// For how long something may go on, with the exact moment on hover.
#[component]
pub(crate) fn TimeLeft(until: Timestamp) -> impl IntoView {
    let (clock, reader) = (Clock::get(), Reader::get());
    let text = Memo::new(move |_| {
        let texts = reader.texts();
        (texts.jobs.left)(&(texts.span)(Span::of_millis(until.since(clock.now()).max(0))))
    });
    view! {
        <span class="table__sub" title=move || clock.moment(until)>{move || text.get()}</span>
    }
}
