//! The parts of the page as pieces of code.

use futures::FutureExt;
use futures::future::join3;
use leptos::prelude::*;
use leptos_router::hooks::{use_params_map, use_query_map};
use protocol::ids::JobKey;

use crate::edge;
use crate::pages::job::config_tab::ConfigTab;
use crate::pages::job::connect_tab::ConnectTab;
use crate::pages::job::delete::Delete;
use crate::pages::job::events_tab::EventsTab;
use crate::pages::job::log_find::find;
use crate::pages::job::log_search::{Search, Way};
use crate::pages::job::log_tab::{ALL, LogTab, Wanted};
use crate::pages::job::log_together::TogetherView;
use crate::pages::job::log_view::LogView;
use crate::pages::job::metrics_tab::MetricsTab;
use crate::pages::job::overview::Overview;
use crate::pages::job::save_image::{SavedImages, Saving};
use crate::pages::job::stop::{StopDialog, Stopping};
use crate::pages::job::tab::Tab;
use crate::pages::job::tags::Tags;
use crate::pages::job::tasks_tab::TasksTab;
use crate::pages::job::terminal_tab::TerminalTab;
use crate::pages::job::{Detail, JobPage};
use crate::part::{MakeView, Page};
use crate::parts::loaded::Loaded;

/// Makes the view of a part.
pub(crate) type Part = fn(JobKey, Detail) -> AnyView;

/// Makes the view of a log, at a line of it.
pub(super) type Log = fn(JobKey, Wanted, Memo<Option<u64>>) -> AnyView;

/// Makes the question before the job is stopped, or what deletes it.
pub(super) type End = fn(JobKey, Stopping) -> AnyView;

/// The page of a job.
pub(crate) fn page() -> Page {
    Page::of_parts(|| job().boxed_local(), || first().boxed_local())
}

/// What the page that the server sent shows where the job can be deleted.
const DELETE: &str = ".page-header__actions dialog";

/// Fetches the part that the address names.
async fn first() {
    let tab = Tab::read(use_params_map().read_untracked().get("tab").as_deref());
    let all = use_query_map().read_untracked().get("task").as_deref() == Some(ALL);
    let log = async {
        if tab == Tab::Logs {
            log(all).await;
        }
    };
    let delete = async {
        if edge::shows(DELETE) {
            job_delete().await;
        }
    };
    // What comes with all before it is asked for first.
    join3(log, part(tab), delete).await;
}

/// The code of a part.
pub(super) async fn part(tab: Tab) -> Part {
    match tab {
        Tab::Overview => job_overview().await,
        Tab::Tasks => job_tasks().await,
        Tab::Logs => job_logs().await,
        Tab::Metrics => job_metrics().await,
        Tab::Connect => job_connect().await,
        Tab::Terminal => job_terminal().await,
        Tab::Events => job_events().await,
        Tab::Config => job_config().await,
    }
}

/// The code of the log of one task, or of all.
pub(super) async fn log(all: bool) -> Log {
    if all { job_logs_together().await } else { job_logs_one().await }
}

// By the names the build knows that the parts come after the page, and packs nothing into them that the
// page has.

#[lazy]
fn job() -> MakeView {
    || view! { <JobPage/> }.into_any()
}

#[lazy]
pub(super) fn job_stop() -> End {
    |key, stopping| view! { <StopDialog key=key stopping=stopping/> }.into_any()
}

/// Only jobs that have ended can be deleted.
#[lazy]
pub(super) fn job_delete() -> End {
    |key, _| view! { <Delete key=key/> }.into_any()
}

#[lazy]
fn job_overview() -> Part {
    |key, detail| view! { <OverviewTab key=key detail=detail/> }.into_any()
}

#[lazy]
fn job_tasks() -> Part {
    |key, detail| view! { <Tasks key=key detail=detail/> }.into_any()
}

#[lazy]
fn job_logs() -> Part {
    |key, detail| view! { <LogTab key=key detail=detail/> }.into_any()
}

#[lazy]
fn job_logs_one() -> Log {
    |_, wanted, selected| view! { <LogView wanted=wanted selected=selected/> }.into_any()
}

/// What looks for something in it.
#[lazy]
pub(super) fn job_logs_one_search() -> fn(Search, Option<Way>) {
    find
}

#[lazy]
fn job_logs_together() -> Log {
    |job, wanted, _| view! { <TogetherView job=job wanted=wanted/> }.into_any()
}

#[lazy]
fn job_metrics() -> Part {
    |key, _| view! { <MetricsTab key=key/> }.into_any()
}

#[lazy]
fn job_connect() -> Part {
    |key, detail| view! { <ConnectTab key=key detail=detail/> }.into_any()
}

#[lazy]
fn job_terminal() -> Part {
    |_, detail| view! { <TerminalTab detail=detail/> }.into_any()
}

#[lazy]
fn job_events() -> Part {
    |key, _| view! { <EventsTab key=key/> }.into_any()
}

#[lazy]
fn job_config() -> Part {
    |key, _| view! { <ConfigTab key=key/> }.into_any()
}

#[component]
fn OverviewTab(key: JobKey, detail: Detail) -> impl IntoView {
    view! {
        <div class="stack">
            <Tags key=key detail=detail/>
            <Loaded resource=detail content=move |detail| view! { <Overview detail=detail/> }/>
        </div>
    }
}

#[component]
fn Tasks(key: JobKey, detail: Detail) -> impl IntoView {
    let saving = Saving::provide();
    view! {
        <div class="stack">
            <Loaded resource=detail content=move |detail| view! { <TasksTab detail=detail/> }/>
            <SavedImages key=key saving=saving/>
        </div>
    }
}
