use api::queue::Explanation;
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::address;
use crate::i18n::{Reader, tr};
use crate::parts::clock::Clock;
use crate::time::Span;

/// What is short, who holds it, and when a waiting job may start.
#[component]
pub(crate) fn WaitFacts(explanation: Explanation) -> impl IntoView {
    let Explanation { waiting, scarce, holders, expected } = explanation;
    let (reader, clock) = (Reader::get(), Clock::get());
    let when = move || {
        let texts = reader.texts();
        match (expected, waiting.expected_start) {
            (Some(expected), _) => texts.queue.expected(&expected, clock.now()),
            (None, Some(at)) => {
                let span = (texts.ahead)(Span::of_millis(at.since(clock.now())));
                (texts.job.expected)(&span)
            }
            (None, None) => texts.job.expected_unknown.to_owned(),
        }
    };
    let short = scarce.map(|scarce| view! { <li>{tr(move |t| (t.queue.scarce)(&scarce))}</li> });
    let held = (!holders.is_empty()).then(|| view! { <Holders holders=holders/> });
    view! {
        <ul class="why__facts">
            {short}
            {held}
            <li>{when}</li>
        </ul>
    }
}

#[component]
fn Holders(holders: Vec<JobKey>) -> impl IntoView {
    let links = holders.into_iter().map(|key| {
        view! { " " <a href=address::job(&key)>{key.to_string()}</a> }
    });
    let links = links.collect_view();
    view! { <li>{tr(|t| t.queue.holders)} {links}</li> }
}
