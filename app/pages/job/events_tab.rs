use api::jobs::EventView;
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{said, text};
use crate::live::Live;
use crate::number;
use crate::pages::job::detail::Part;
use crate::parts::empty_state::EmptyState;
use crate::parts::glyph::{Drawn, Glyph};
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::server_fns::jobs::list_events;

#[lazy]
pub(super) fn job_events() -> Part {
    |key, _| view! { <EventsTab key=key/> }.into_any()
}

/// What happened to the job, newest first.
#[component]
pub(crate) fn EventsTab(key: JobKey) -> impl IntoView {
    let topic = Live::get().job(&key);
    let events = reading(move || topic.get(), move |_| list_events(key.clone()));
    view! { <Loaded resource=events content=move |events| view! { <Events events=events/> }/> }
}

#[component]
fn Events(events: Vec<EventView>) -> impl IntoView {
    if events.is_empty() {
        return view! { <EmptyState title=text(|t| t.job.no_events) hint=text(|_| "")/> }
            .into_any();
    }
    let rows = events.into_iter().map(|event| view! { <Row event=event/> }).collect_view();
    view! {
        <DataTable
            label=|t| t.job.events
            heads=&[
                (|t| t.job.when, None),
                (|t| t.job.what, None),
                (|t| t.job.attempt_number, Some("num")),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(event: EventView) -> impl IntoView {
    let mark = event.warning.then(|| {
        view! { <span class="event-warning"><Drawn glyph=Glyph::Warning/></span> }
    });
    // People count from one.
    let attempt = event.attempt.map(|number| number::count(u64::from(number) + 1));
    view! {
        <tr>
            <td><RelativeTime at=event.at/></td>
            <td>{mark} {said(event.message)}</td>
            <td class="num">{attempt}</td>
        </tr>
    }
    .into_any()
}
