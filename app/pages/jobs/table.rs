use api::jobs::{JobOrder, JobSummary};
use leptos::prelude::*;

use crate::i18n::{Texts, text, tr};
use crate::pages::jobs::filter::Filter;
use crate::pages::jobs::stop_many::{SelectAll, Selection};
use crate::parts::empty_state::EmptyState;
use crate::parts::glyph::{Drawn, Glyph};
use crate::parts::job_row::JobRow;
use crate::session::Session;

/// A column that the list can be ordered by.
struct Column {
    order: JobOrder,
    class: &'static str,
    word: fn(&'static Texts) -> &'static str,
}

const COLUMNS: [Column; 7] = [
    Column { order: JobOrder::Name, class: "", word: |t| t.jobs.name },
    Column { order: JobOrder::State, class: "", word: |t| t.jobs.state },
    Column { order: JobOrder::VirtualCluster, class: "wide", word: |t| t.jobs.cluster },
    Column { order: JobOrder::Gpus, class: "num", word: |t| t.jobs.gpus },
    Column { order: JobOrder::Tasks, class: "num wide", word: |t| t.jobs.tasks },
    Column { order: JobOrder::Retries, class: "num wide", word: |t| t.jobs.retries },
    Column { order: JobOrder::Submitted, class: "num", word: |t| t.jobs.submitted },
];

/// The jobs of a page.
#[component]
pub(crate) fn JobTable(
    jobs: Vec<JobSummary>,
    filter: Filter,
    selection: Selection,
) -> impl IntoView {
    if jobs.is_empty() {
        return view! { <NoJobs filtered=!filter.text.is_empty()/> }.into_any();
    }
    let actor = Session::get().actor();
    let stoppable: Vec<String> = jobs
        .iter()
        .filter(|job| !job.state.is_final() && may_stop(actor.as_ref(), job))
        .map(|job| job.key.to_string())
        .collect();
    let rows = jobs.into_iter().map(|job| {
        let offered = stoppable.contains(&job.key.to_string());
        view! { <JobRow job=job selection=selection offered=offered/> }
    });
    let rows = rows.collect_view();
    let heads = COLUMNS.map(|column| view! { <Head column=column filter=filter.clone()/> });
    view! {
        <div class="table-scroll" tabindex="0" role="group" aria-label=tr(|t| t.jobs.table)>
            <table class="table table--jobs">
                <thead>
                    <tr>
                        <th class="pick"><SelectAll selection=selection keys=stoppable.clone()/></th>
                        {heads}
                        <th class="num wide">{tr(|t| t.jobs.queued)}</th>
                        <th class="num">{tr(|t| t.jobs.ran)}</th>
                    </tr>
                </thead>
                <tbody>{rows}</tbody>
            </table>
        </div>
    }
    .into_any()
}

fn may_stop(actor: Option<&api::Actor>, job: &JobSummary) -> bool {
    actor.is_some_and(|actor| actor.admin || actor.user == job.key.user)
}

#[component]
fn Head(column: Column, filter: Filter) -> impl IntoView {
    let sorted = (filter.order == column.order).then_some(filter.ascending);
    let (word, glyph) = match sorted {
        None => (None, None),
        Some(true) => (Some("ascending"), Some(Glyph::Up)),
        Some(false) => (Some("descending"), Some(Glyph::Down)),
    };
    view! {
        <th class=column.class aria-sort=word scope="col">
            <a href=filter.sorted_by(column.order).address()>
                {tr(column.word)} {glyph.map(|glyph| view! { <Drawn glyph=glyph/> })}
            </a>
        </th>
    }
}

/// An empty list: nothing yet, or nothing that matches.
#[component]
fn NoJobs(filtered: bool) -> impl IntoView {
    if filtered {
        view! {
            <EmptyState
                title=text(|t| t.jobs.none_match)
                hint=text(|t| t.jobs.none_match_hint)
            >
                <a class="button" href="/jobs">{tr(|t| t.jobs.clear)}</a>
            </EmptyState>
        }
        .into_any()
    } else {
        view! {
            <EmptyState title=text(|t| t.jobs.none) hint=text(|t| t.jobs.none_hint)>
                <a class="button button--primary" href="/submit">{tr(|t| t.home.first_job)}</a>
            </EmptyState>
        }
        .into_any()
    }
}
