use leptos::prelude::*;
use protocol::cluster::{Closed, ClosedCause, StartFailure};

use crate::address;
use crate::i18n::{said, tr};
use crate::parts::relative_time::RelativeTime;

/// Why a node takes nothing new though nobody has said so, and what it failed to start.
#[component]
pub(super) fn ClosedNotice(closed: Closed) -> impl IntoView {
    let Closed { since, cause, message, failures, containers: _ } = closed;
    let (title, text) = match cause {
        ClosedCause::StartsNothing => (tr(|t| t.cluster.closed), tr(|t| t.cluster.closed_text)),
        ClosedCause::Unkilled => {
            (tr(|t| t.cluster.closed_unkilled), tr(|t| t.cluster.closed_unkilled_text))
        }
    };
    let failures = (!failures.is_empty()).then(|| {
        let points = failures.into_iter().rev().map(|failure| view! { <Point failure=failure/> });
        view! { <ul>{points.collect_view()}</ul> }
    });
    view! {
        <div class="notice" role="alert">
            <p class="notice__title">{title} " · " <RelativeTime at=since/></p>
            <p>{said(message)}</p>
            {failures}
            <p class="hint">{text}</p>
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
