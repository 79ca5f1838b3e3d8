use std::iter;

use api::jobs::{JobOrder, JobSummary};
use leptos::prelude::*;

use crate::i18n::{Texts, text, tr};
use crate::pages::jobs::filter::Filter;
use crate::parts::empty_state::EmptyState;
use crate::parts::job_row::JobRow;
use crate::parts::selection::{Pickable, SelectAll, Selection};
use crate::parts::table::{Column, TableOf};
use crate::session::Session;

/// A column that the list can be ordered by.
struct Ordered {
    order: JobOrder,
    class: &'static str,
    word: fn(&'static Texts) -> &'static str,
}

const COLUMNS: [Ordered; 7] = [
    Ordered { order: JobOrder::Name, class: "", word: |t| t.jobs.name },
    Ordered { order: JobOrder::State, class: "", word: |t| t.jobs.state },
    Ordered { order: JobOrder::VirtualCluster, class: "wide", word: |t| t.jobs.cluster },
    Ordered { order: JobOrder::Gpus, class: "num", word: |t| t.jobs.gpus },
    Ordered { order: JobOrder::Tasks, class: "num wide", word: |t| t.jobs.tasks },
    Ordered { order: JobOrder::Retries, class: "num wide", word: |t| t.jobs.retries },
    Ordered { order: JobOrder::Submitted, class: "num", word: |t| t.jobs.submitted },
];

/// The jobs of a page.
#[component]
pub(crate) fn JobTable(
    jobs: Vec<JobSummary>,
    filter: Filter,
    selection: Selection,
) -> impl IntoView {
    if jobs.is_empty() {
        selection.show(Vec::new());
        return view! { <NoJobs filtered=!filter.text.is_empty()/> }.into_any();
    }
    let actor = Session::get().actor();
    let pickable = |job: &JobSummary| {
        let ended = job.state.is_final();
        may_manage(actor.as_ref(), job).then(|| Pickable { key: job.key.to_string(), ended })
    };
    let all: Vec<Pickable> = jobs.iter().filter_map(pickable).collect();
    let rows = jobs.into_iter().map(|job| {
        let pickable = pickable(&job);
        view! { <JobRow job=job selection=selection pickable=pickable/> }
    });
    let rows = rows.collect_view();
    selection.show(all.clone());
    let columns = columns(&filter, selection, all);
    view! {
        <TableOf label=|t| t.jobs.table kind="table--jobs" columns=columns>{rows}</TableOf>
    }
    .into_any()
}

fn columns(filter: &Filter, selection: Selection, jobs: Vec<Pickable>) -> Vec<Column> {
    let all = view! { <SelectAll selection=selection jobs=jobs label=|t| t.jobs.select_all/> };
    let pick = Column::new(|_| "", "pick").showing(all);
    let ordered = COLUMNS.into_iter().map(|Ordered { order, class, word }| {
        let now = (filter.order == order).then_some(filter.ascending);
        Column::new(word, class).ordered(filter.sorted_by(order).address(), now)
    });
    let further = [Column::new(|t| t.jobs.queued, "num wide"), Column::new(|t| t.jobs.ran, "num")];
    iter::once(pick).chain(ordered).chain(further).collect()
}

fn may_manage(actor: Option<&api::Actor>, job: &JobSummary) -> bool {
    actor.is_some_and(|actor| actor.admin || actor.user == job.key.user)
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
