use api::metrics::{IdleJob, Idling};
use leptos::prelude::*;

use crate::address;
use crate::i18n::{text, tr};
use crate::live::Live;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::table::DataTable;
use crate::reading::reading;
use crate::server_fns::jobs::list_idle;

/// Who holds GPUs now that do nothing, the longest first.
#[component]
pub(super) fn IdleJobs() -> impl IntoView {
    let changes = Live::get().cluster();
    let idle = reading(move || changes.get(), |_| list_idle());
    view! {
        <section class="stack" aria-labelledby="idle-jobs">
            <h2 id="idle-jobs">{tr(|t| t.metrics.idle_jobs)}</h2>
            <Loaded resource=idle content=move |jobs| view! { <Table jobs=jobs/> }/>
        </section>
    }
    .into_any()
}

#[component]
fn Table(jobs: Vec<IdleJob>) -> impl IntoView {
    if jobs.is_empty() {
        return view! { <EmptyState title=text(|t| t.metrics.no_idle_jobs) hint=text(|_| "")/> }
            .into_any();
    }
    let rows = jobs.into_iter().map(|job| view! { <Row job=job/> }).collect_view();
    view! {
        <DataTable
            label=|t| t.metrics.idle_jobs
            heads=&[
                (|t| t.admin.name, None),
                (|t| t.cluster.gpus, Some("num")),
                (|t| t.metrics.last_busy_head, None),
                (|t| t.metrics.stops, None),
                (|t| t.metrics.kept, None),
            ]
        >
            {rows}
        </DataTable>
    }
    .into_any()
}

#[component]
fn Row(job: IdleJob) -> impl IntoView {
    let IdleJob { key, virtual_cluster, gpus, idling } = job;
    let Idling { since, stops_at, kept_until } = idling;
    let moment = |at| view! { <RelativeTime at=at/> };
    let (address, name) = (address::job(&key), key.to_string());
    let place = virtual_cluster.to_string();
    view! {
        <tr>
            <th scope="row"><a href=address>{name}</a> " · " {place}</th>
            <td class="num">{gpus}</td>
            <td><RelativeTime at=since/></td>
            <td>{stops_at.map(moment)}</td>
            <td>{kept_until.map(moment)}</td>
        </tr>
    }
    .into_any()
}
