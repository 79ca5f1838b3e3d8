use api::jobs::JobSummary;
use leptos::prelude::*;
use protocol::ids::VirtualClusterName;
use protocol::state::State;

use crate::i18n::told;

/// A place in a queue, and in whose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Place {
    number: u32,
    cluster: VirtualClusterName,
}

impl Place {
    /// That of a job, while it has one.
    pub(crate) fn of(job: &JobSummary) -> Option<Self> {
        let number = job.waiting.as_ref()?.place()?;
        Some(Self { number, cluster: job.virtual_cluster.clone() })
    }
}

/// A state as colour, silhouette and word; with the place in the queue while it waits.
#[component]
pub(crate) fn StateChip(
    state: State,
    /// Place in the queue.
    #[prop(optional_no_strip)]
    place: Option<Place>,
) -> impl IntoView {
    let place = place.map(|Place { number, cluster }| {
        let words = told(move |t| (t.jobs.position)(number, cluster.as_str()));
        view! { <span class="chip__place">{words}</span> }
    });
    view! {
        <span class=format!("chip chip--{}", modifier(state)) data-state=state.as_str()>
            {glyph(state)}
            <span class="chip__word">{told(move |t| (t.state)(state))}</span>
            {place}
        </span>
    }
}

/// The silhouette of a state.
pub(crate) fn glyph(state: State) -> impl IntoView {
    view! {
        <svg class="chip__glyph" viewBox="0 0 16 16" aria-hidden="true" focusable="false">
            <path class="chip__ring" d=ring(state)></path>
            <path class="chip__sign" d=sign(state)></path>
        </svg>
    }
}

/// The modifier that gives the chip its colours.
pub(crate) fn modifier(state: State) -> &'static str {
    match state {
        State::Waiting => "waiting",
        State::Preparing => "preparing",
        State::Running => "running",
        State::Stopping => "stopping",
        State::Succeeded => "succeeded",
        State::Failed => "failed",
        State::Stopped => "stopped",
        State::Unknown => "unknown",
    }
}

const CIRCLE: &str = "M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8z";
const SQUARE: &str = "M2.5 2.5h11v11h-11z";
const OCTAGON: &str = "M5.4 1.8h5.2l3.6 3.6v5.2l-3.6 3.6H5.4l-3.6-3.6V5.4z";

fn ring(state: State) -> &'static str {
    match state {
        State::Waiting
        | State::Preparing
        | State::Running
        | State::Stopping
        | State::Succeeded
        | State::Unknown => CIRCLE,
        State::Failed => OCTAGON,
        State::Stopped => SQUARE,
    }
}

fn sign(state: State) -> &'static str {
    match state {
        State::Waiting => "M8 4.6V8l2.3 1.6",
        State::Preparing => "M8 8h.01",
        State::Running => "M6.4 5v6l4.6-3z",
        State::Stopping => "M5.8 5.8h4.4v4.4H5.8z",
        State::Succeeded => "m5 8.3 2.2 2.2L11.2 6",
        State::Failed => "m5.6 5.6 4.8 4.8m0-4.8-4.8 4.8",
        State::Stopped => "M8 8h.01",
        State::Unknown => {
            "M6.2 6.4c0-1 .8-1.7 1.8-1.7s1.8.7 1.8 1.7c0 1.2-1.8 1.3-1.8 2.5M8 11.2v.1"
        }
    }
}
