mod facts;
mod settings;
mod table;
mod wanted;

use api::compare::{Compared, Comparison, MOST, Run};
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::address;
use crate::i18n::{Told, said, text, told, tr};
use crate::live::Live;
use crate::pages::compare::facts::Facts;
use crate::pages::compare::settings::Settings;
use crate::pages::compare::wanted::Wanted;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::parts::page_header::PageHeader;
use crate::reading::reading;
use crate::server_fns::compare::compare_jobs;

/// Jobs beside each other. Which, and whether all of their files is shown, is in the address.
#[component]
pub(crate) fn ComparePage() -> impl IntoView {
    let query = use_query_map();
    let wanted = Memo::new(move |_| Wanted::read(&query.read()));
    let live = Live::get();
    let compared = reading(
        move || (wanted.get(), wanted.read().changes(live)),
        |(Wanted { jobs, all }, _)| async move {
            match jobs.is_empty() {
                true => Ok(Comparison::default()),
                false => compare_jobs(jobs, all).await,
            }
        },
    );
    view! {
        <PageHeader title=text(|t| t.compare.title)/>
        <div class="stack">
            <Loaded
                resource=compared
                lines=10
                content=move |comparison| {
                    view! { <Jobs comparison=comparison wanted=wanted/> }
                }
            />
            <Add wanted=wanted/>
        </div>
    }
    .into_any()
}

#[component]
fn Jobs(comparison: Comparison, wanted: Memo<Wanted>) -> impl IntoView {
    let Comparison { jobs, left_out, settings, alike } = comparison;
    if jobs.is_empty() {
        return view! {
            <EmptyState title=text(|t| t.compare.none) hint=text(|t| t.compare.none_hint)>
                <a class="button button--primary" href="/jobs">{tr(|t| t.jobs.title)}</a>
            </EmptyState>
        }
        .into_any();
    }
    let runs: Vec<Run> = jobs.iter().filter_map(|job| job.run.clone()).collect();
    let items = jobs.into_iter().map(|job| view! { <Named job=job wanted=wanted/> });
    let items = items.collect_view();
    let second = (runs.len() < 2).then(|| view! { <p class="hint">{tr(|t| t.compare.second)}</p> });
    let tables = (!runs.is_empty()).then(|| {
        let files = (runs.len() > 1).then(|| {
            let runs = runs.clone();
            view! { <Settings runs=runs settings=settings alike=alike wanted=wanted.get_untracked()/> }
        });
        view! { <Facts runs=runs/> {files} }
    });
    view! {
        <div class="stack">
            <ul class="compare__jobs" aria-label=tr(|t| t.compare.jobs)>{items}</ul>
            <LeftOut jobs=left_out wanted=wanted/>
            {second}
            {tables}
        </div>
    }
    .into_any()
}

/// A job of the comparison, and the way to take it out; of one that cannot be seen, why.
#[component]
fn Named(job: Compared, wanted: Memo<Wanted>) -> impl IntoView {
    let Compared { job, run, code: _, message } = job;
    let name = match run {
        Some(run) => view! { <a href=address::job(&run.key)>{job.clone()}</a> }.into_any(),
        None => view! { <b>{job.clone()}</b> }.into_any(),
    };
    let message = message.map(|message| {
        view! { <span class="compare__refused" role="note">{said(message)}</span> }
    });
    view! {
        <li class="compare__job">{name} {message} {take_out(job, wanted)}</li>
    }
    .into_any()
}

/// Without it are those that the address has by then: another one may be taken out before this is answered.
fn take_out(job: String, wanted: Memo<Wanted>) -> impl IntoView {
    let taken = job.clone();
    let words: Told = told(move |t| (t.compare.remove)(&job));
    let label = words.clone();
    view! {
        <a
            class="compare__remove"
            href=move || wanted.read().without(&taken)
            aria-label=move || label()
            title=move || words()
            data-noscroll="true"
        >
            "×"
        </a>
    }
}

/// What was too many. It is named, so that none is lost.
#[component]
fn LeftOut(jobs: Vec<String>, wanted: Memo<Wanted>) -> impl IntoView {
    if jobs.is_empty() {
        return ().into_any();
    }
    let items = jobs.into_iter().map(|job| {
        view! { <li class="compare__job"><b>{job.clone()}</b> {take_out(job, wanted)}</li> }
    });
    let items = items.collect_view();
    view! {
        <div class="notice notice--warn">
            <p>
                <b>{told(|t| (t.compare.most)(MOST as u64))}</b> " " {tr(|t| t.compare.left_out)}
            </p>
            <ul class="compare__jobs">{items}</ul>
        </div>
    }
    .into_any()
}

/// Adds a job by its name, with or without a script.
#[component]
fn Add(wanted: Memo<Wanted>) -> impl IntoView {
    let there = move || {
        let Wanted { jobs, all } = wanted.get();
        let jobs =
            jobs.into_iter().map(|job| view! { <input type="hidden" name="job" value=job/> });
        let all = all.then(|| view! { <input type="hidden" name="all" value="1"/> });
        view! { {jobs.collect_view()} {all} }
    };
    view! {
        <form method="get" action="/compare" class="compare__add" hidden=move || wanted.read().is_full()>
            {there}
            <input
                class="input"
                name="job"
                required
                autocomplete="off"
                spellcheck="false"
                placeholder=tr(|t| t.compare.add_hint)
                aria-label=tr(|t| t.compare.add)
            />
            <button type="submit" class="button">{tr(|t| t.compare.add)}</button>
        </form>
    }
    .into_any()
}
