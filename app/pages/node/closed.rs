use leptos::prelude::*;
use protocol::cluster::{Closed, StartFailure};

use crate::address;
use crate::i18n::{said, tr};
use crate::parts::relative_time::RelativeTime;

/// Why a node takes nothing new though nobody has said so, and what it failed to start.
#[component]
pub(super) fn ClosedNotice(closed: Closed) -> impl IntoView {
    let Closed { since, message, failures } = closed;
    let failures = (!failures.is_empty()).then(|| {
        let points = failures.into_iter().rev().map(|failure| view! { <Point failure=failure/> });
        view! { <ul>{points.collect_view()}</ul> }
    });
    view! {
        <div class="notice" role="alert">
            <p class="notice__title">{tr(|t| t.cluster.closed)} " · " <RelativeTime at=since/></p>
            <p>{said(message)}</p>
            {failures}
            <p class="hint">{tr(|t| t.cluster.closed_text)}</p>
        </div>
    }
    .into_any()
}

#[component]
fn Point(failure: StartFailure) -> impl IntoView {
    let StartFailure { at, job, image, message } = failure;
    view! {
        <li>
            <a href=address::job(&job)>{job.to_string()}</a> " " <RelativeTime at=at/> " "
            <code>{image}</code> {tr(|t| t.common.colon)} {said(message)}
        </li>
    }
}
