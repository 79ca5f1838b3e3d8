mod advice;
mod ansi;
mod config_tab;
mod connect_tab;
mod delete;
mod detail;
mod due;
mod events_tab;
mod head;
mod idle;
mod log_all_found;
mod log_all_part;
mod log_all_search;
mod log_all_state;
mod log_choice;
mod log_fetch;
mod log_find;
mod log_line;
mod log_lines;
mod log_piece;
mod log_scroll;
mod log_search;
mod log_sought;
mod log_state;
mod log_switch;
mod log_tab;
mod log_together;
mod log_view;
mod log_wanted;
mod longer;
mod metrics_tab;
mod overview;
mod overview_tab;
pub(crate) mod part;
mod parts;
mod save_image;
mod stop;
mod tab;
mod tags;
mod tasks_tab;
mod terminal_tab;
mod timeline;
mod turn;
mod used;
mod why;

use leptos::prelude::*;
use leptos_router::hooks::use_params_map;
use protocol::ids::JobKey;

use crate::i18n::{text, text_of, tr};
use crate::live::Live;
use crate::pages::job::delete::job_delete;
use crate::pages::job::detail::Detail;
use crate::pages::job::head::JobHead;
use crate::pages::job::parts::part;
use crate::pages::job::stop::{End, job_stop};
use crate::pages::job::tab::{Tab, Tabs};
use crate::pages::not_found::{Existing, NotFoundPage, NothingHere};
use crate::part::opened;
use crate::parts::about::About;
use crate::parts::loaded::Loaded;
use crate::reading::reading_first;
use crate::server_fns::jobs::get_job;

/// One job: why it is as it is, its tasks, logs, events and file.
#[component]
pub(crate) fn JobPage() -> impl IntoView {
    let params = use_params_map();
    let key = Memo::new(move |_| {
        let params = params.read();
        format!("{}~{}", params.get("user")?, params.get("name")?).parse::<JobKey>().ok()
    });
    move || match key.get() {
        Some(key) => view! { <Job key=key/> }.into_any(),
        None => view! { <NotFoundPage/> }.into_any(),
    }
}

#[component]
fn Job(key: JobKey) -> impl IntoView {
    let topic = Live::get().job(&key);
    let asked = key.clone();
    let detail: Detail = reading_first(move || topic.get(), move |_| get_job(asked.clone()));
    let of_nothing = key.clone();
    view! {
        <Existing found=detail nothing=move || view! { <NoSuchJob key=of_nothing.clone()/> }>
            <Parts key=key detail=detail/>
        </Existing>
    }
    .into_any()
}

#[component]
fn NoSuchJob(key: JobKey) -> impl IntoView {
    let JobKey { user, name } = key;
    let title = text_of(move |t| (t.job.missing)(user.as_str(), name.as_str()));
    view! {
        <NothingHere title=title hint=text(|t| t.job.missing_hint)>
            <a class="button button--primary" href="/jobs">{tr(|t| t.jobs.title)}</a>
        </NothingHere>
    }
}

#[component]
fn Parts(key: JobKey, detail: Detail) -> impl IntoView {
    let params = use_params_map();
    let tab = Memo::new(move |_| Tab::read(params.read().get("tab").as_deref()));
    let of_tabs = key.clone();
    let part = opened(Signal::derive(move || Some(tab.get())), part);
    // What asks before the job is stopped or deleted stays while the job is read anew.
    let (stopping, deleting) = (About::new(), About::new());
    let stop = opened(stopping.is_asked(), |()| job_stop());
    let delete = opened(deleting.is_asked(), |()| job_delete());
    view! {
        <Loaded
            resource=detail
            lines=3
            content=move |detail| {
                view! { <JobHead detail=detail stopping=stopping deleting=deleting/> }
            }
        />
        <Tabs key=of_tabs tab=tab/>
        {move || part.get().map(|part| part(key.clone(), detail))}
        {move || stop.get().map(|stop: End| stop(stopping))}
        {move || delete.get().map(|delete: End| delete(deleting))}
    }
}
