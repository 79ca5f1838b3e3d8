use api::jobs::JobSummary;
use leptos::prelude::*;

use crate::i18n::Reader;
use crate::parts::clock::Clock;
use crate::parts::state_chip::{Place, StateChip};

/// A job's state in a list; of one that waits its place, in whose queue, and when it may start.
#[component]
pub(crate) fn StateCell(job: JobSummary) -> impl IntoView {
    let (reader, clock) = (Reader::get(), Clock::get());
    let start = job.expected.map(|expected| {
        let when = move || reader.texts().queue.starts_when(&expected, clock.now());
        view! { <span class="table__sub state-cell__start">{move || when()}</span> }
    });
    view! { <StateChip state=job.state place=Place::of(&job)/> {start} }.into_any()
}
