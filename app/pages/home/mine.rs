use std::collections::BTreeMap;

use api::jobs::JobSummary;
use leptos::prelude::*;
use protocol::state::State;

use crate::i18n::{text, tr};
use crate::number::{amount, count};
use crate::pages::home::Home;
use crate::pages::jobs::filter::Filter;
use crate::parts::duration::Duration;
use crate::parts::empty_state::EmptyState;
use crate::parts::job_row::NameCell;
use crate::parts::loaded::Loaded;
use crate::parts::relative_time::RelativeTime;
use crate::parts::state_cell::StateCell;
use crate::parts::state_chip::StateChip;
use crate::parts::table::DataTable;
use crate::server_fns::home::HomeView;
use crate::server_fns::jobs::JobList;

/// The reader's jobs: how many in each state, and the newest.
#[component]
pub(crate) fn MyJobs(home: Home) -> impl IntoView {
    view! {
        <Loaded
            resource=home
            lines=8
            content=move |HomeView { mine: JobList { page, counts }, .. }| {
                if page.jobs.is_empty() {
                    view! { <NoJobs/> }.into_any()
                } else {
                    view! {
                        <Counts counts=counts/>
                        <Recent jobs=page.jobs/>
                    }
                    .into_any()
                }
            }
        />
    }
    .into_any()
}

#[component]
fn NoJobs() -> impl IntoView {
    view! {
        <div class="card">
            <EmptyState title=text(|t| t.home.no_jobs) hint=text(|t| t.home.no_jobs_hint)>
                <a class="button button--primary" href="/submit">{tr(|t| t.home.first_job)}</a>
            </EmptyState>
        </div>
    }
    .into_any()
}

#[component]
fn Counts(counts: BTreeMap<State, u64>) -> impl IntoView {
    let shown = [
        State::Waiting,
        State::Preparing,
        State::Running,
        State::Succeeded,
        State::Failed,
        State::Stopped,
    ];
    // What passes by has its counters while there is any of it: four or six of them fill their rows.
    let passing = [State::Preparing, State::Stopped];
    let some_pass = passing.iter().any(|state| counts.get(state).is_some_and(|number| *number > 0));
    let shown = shown.into_iter().filter(|state| some_pass || !passing.contains(state));
    let tiles = shown.map(|state| {
        let number = counts.get(&state).copied().unwrap_or(0);
        let href = Filter { page: 1, ..Filter::default() }.toggled(state).address();
        view! {
            <li>
                <a class="tile" href=href>
                    <span class="tile__number">{count(number)}</span>
                    <StateChip state=state/>
                </a>
            </li>
        }
    });
    let tiles = tiles.collect_view();
    view! {
        <section aria-labelledby="my-jobs">
            <h2 id="my-jobs" class="card__head">{tr(|t| t.home.my_jobs)}</h2>
            <ul class="tiles">{tiles}</ul>
        </section>
    }
    .into_any()
}

#[component]
fn Recent(jobs: Vec<JobSummary>) -> impl IntoView {
    let rows = jobs.into_iter().map(|job| view! { <Row job=job/> }).collect_view();
    view! {
        <section>
            <div class="card__head">
                <h2>{tr(|t| t.home.recent)}</h2>
                <a href="/jobs">{tr(|t| t.home.all_mine)}</a>
            </div>
            <DataTable
                label=|t| t.home.recent
                kind="table--jobs"
                heads=&[
                    (|t| t.jobs.name, None),
                    (|t| t.jobs.state, None),
                    (|t| t.jobs.gpus, Some("num")),
                    (|t| t.jobs.submitted, Some("num")),
                    (|t| t.jobs.ran, Some("num wide")),
                ]
            >
                {rows}
            </DataTable>
        </section>
    }
    .into_any()
}

#[component]
fn Row(job: JobSummary) -> impl IntoView {
    let ended = job.completed_at;
    let ran = job.started_at.map(|from| view! { <Duration from=from to=ended/> });
    view! {
        <tr>
            <th scope="row"><NameCell job=job.clone()/></th>
            <td><StateCell job=job.clone()/></td>
            <td class="num">{amount(job.gpus)}</td>
            <td class="num when"><RelativeTime at=job.submitted_at/></td>
            <td class="num wide">{ran}</td>
        </tr>
    }
    .into_any()
}
