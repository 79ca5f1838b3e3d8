use api::jobs::EventView;
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{text, tr};
use crate::live::Live;
use crate::parts::empty_state::EmptyState;
use crate::parts::glyph::{Drawn, Glyph};
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::server_fns::jobs::list_events;

/// What happened to the job, newest first.
#[component]
pub(crate) fn EventsTab(key: JobKey) -> impl IntoView {
    let topic = Live::get().job(&key);
    let events = Resource::new(move || topic.get(), move |_| list_events(key.clone()));
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
        <div class="table-scroll" tabindex="0" role="region" aria-label=tr(|t| t.job.events)>
            <table class="table">
                <thead>
                    <tr>
                        <th scope="col">{tr(|t| t.job.when)}</th>
                        <th scope="col">{tr(|t| t.job.what)}</th>
                        <th scope="col" class="wide">{tr(|t| t.job.attempts)}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

#[component]
fn Row(event: EventView) -> impl IntoView {
    let mark = event.warning.then(|| {
        view! { <span class="event-warning"><Drawn glyph=Glyph::Warning/></span> }
    });
    let attempt = event.attempt.map(|number| tr(move |t| (t.job.attempt)(number)).into_any());
    view! {
        <tr>
            <td><RelativeTime at=event.at/></td>
            <td>{mark} {event.message} <span class="table__sub">{event.kind}</span></td>
            <td class="wide">{attempt}</td>
        </tr>
    }
    .into_any()
}
