use api::jobs::JobSummary;
use leptos::prelude::*;
use protocol::exit::Cause;

use crate::address;
use crate::i18n::tr;
use crate::number;
use crate::parts::duration::Duration;
use crate::parts::exit_line::ExitLine;
use crate::parts::relative_time::RelativeTime;
use crate::parts::selection::{Pick, Pickable, Selection};
use crate::parts::spark::Spark;
use crate::parts::state_cell::StateCell;
use crate::parts::tag_list::TagList;
use crate::parts::time_left::TimeLeft;
use crate::parts::wait_line::WaitLine;

/// A job in the list.
#[component]
pub(crate) fn JobRow(
    job: JobSummary,
    selection: Selection,
    /// Itself, where the reader may stop and delete it.
    pickable: Option<Pickable>,
) -> impl IntoView {
    let key = job.key.to_string();
    let chosen = move || selection.contains(&key).to_string();
    let pick = pickable.map(|job| view! { <Pick selection=selection job=job/> });
    let ended = job.completed_at;
    let queued_until = job.started_at.or(ended);
    let ran = job.started_at.map(|from| view! { <Duration from=from to=ended/> });
    let left = job.ends_by.map(|until| view! { <TimeLeft until=until/> });
    let lately = job.lately.clone();
    let retries = job.retries.user + job.retries.platform;
    view! {
        <tr aria-selected=chosen>
            <td class="pick">{pick}</td>
            <th scope="row"><NameCell job=job.clone()/></th>
            <td><StateCell job=job.clone()/></td>
            <td class="wide">{job.virtual_cluster.to_string()}</td>
            <td class="num"><Spark lately=lately/> " " {number::amount(job.gpus)}</td>
            <td class="num wide">{number::count(u64::from(job.tasks))}</td>
            <td class="num wide">{number::count(u64::from(retries))}</td>
            <td class="num when"><RelativeTime at=job.submitted_at/></td>
            <td class="num wide"><Duration from=job.submitted_at to=queued_until/></td>
            <td class="num">{ran} {left}</td>
        </tr>
    }
    .into_any()
}

/// The name, and under it why the job waits or failed, and its tags.
#[component]
pub(crate) fn NameCell(job: JobSummary) -> impl IntoView {
    let asked = job.stop_requested && !job.state.is_final();
    let ended = job.ended().filter(|exit| exit.cause != Cause::Succeeded).cloned();
    let reason = match (asked, job.waiting, ended) {
        (true, _, _) => Some(tr(|t| t.job.stop_requested).into_any()),
        (false, Some(waiting), _) => Some(view! { <WaitLine reason=waiting.reason/> }.into_any()),
        (false, None, Some(exit)) => Some(view! { <ExitLine exit=exit/> }.into_any()),
        (false, None, None) => None,
    };
    let reason = reason.map(|reason| view! { " · " {reason} });
    let owner = job.key.user.clone();
    let tags = (!job.tags.is_empty()).then(|| view! { <TagList tags=job.tags owner=owner/> });
    view! {
        <a class="job-name" href=address::job(&job.key)>{job.key.name.to_string()}</a>
        <span class="table__sub">{job.key.user.to_string()} {reason}</span>
        {tags}
    }
    .into_any()
}
