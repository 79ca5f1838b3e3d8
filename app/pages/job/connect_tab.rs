mod editors;
mod key_file;
mod ports;
mod pycharm;
mod shell;
mod storages;

use api::jobs::TaskView;
use api::storages::MountView;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::ids::JobKey;
use protocol::state::State;

use crate::address;
use crate::connect::Ways;
use crate::i18n::{text, tr};
use crate::pages::job::connect_tab::editors::Editors;
use crate::pages::job::connect_tab::key_file::KeyFile;
use crate::pages::job::connect_tab::ports::Ports;
use crate::pages::job::connect_tab::pycharm::PyCharm;
use crate::pages::job::connect_tab::shell::Shell;
use crate::pages::job::connect_tab::storages::Storages;
use crate::pages::job::detail::{Detail, Part, of_whole};
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::reading::reading;
use crate::server_fns::jobs::JobSeen;
use crate::server_fns::ssh::get_ways;

#[lazy]
pub(super) fn job_connect() -> Part {
    |key, detail| view! { <ConnectTab key=key detail=detail/> }.into_any()
}

/// The ways into the job's tasks, with everything ready to be copied. Which task is in the address.
#[component]
pub(crate) fn ConnectTab(key: JobKey, detail: Detail) -> impl IntoView {
    let placed = move |seen: JobSeen| {
        if seen.attempts.is_empty() {
            return view! {
                <EmptyState
                    title=text(|t| t.connect.not_placed)
                    hint=text(|t| t.connect.not_placed_hint)
                />
            }
            .into_any();
        }
        let tasks = seen.attempts.last().map(|attempt| attempt.tasks.clone()).unwrap_or_default();
        let key = key.clone();
        of_whole(seen, |detail| {
            view! { <Placed key=key tasks=tasks mounts=detail.storages/> }.into_any()
        })
    };
    view! { <Loaded resource=detail content=placed/> }
}

#[component]
fn Placed(key: JobKey, tasks: Vec<TaskView>, mounts: Vec<MountView>) -> impl IntoView {
    let query = use_query_map();
    let chosen = Memo::new(move |_| query.read().get("task"));
    let ways = reading(move || (), move |()| get_ways(key.clone()));
    view! {
        <Loaded
            resource=ways
            lines=8
            content=move |ways| {
                let (tasks, mounts) = (tasks.clone(), mounts.clone());
                move || {
                    view! {
                        <Panel
                            ways=ways.clone()
                            tasks=tasks.clone()
                            mounts=mounts.clone()
                            chosen=chosen.get()
                        />
                    }
                }
            }
        />
    }
}

#[component]
fn Panel(
    ways: Ways,
    tasks: Vec<TaskView>,
    mounts: Vec<MountView>,
    chosen: Option<String>,
) -> impl IntoView {
    let named = ways.tasks.iter().find(|task| Some(task.alias()) == chosen);
    let Some(task) = named.or_else(|| ways.tasks.first()).cloned() else {
        return view! {
            <EmptyState title=text(|t| t.connect.not_placed) hint=text(|t| t.connect.not_placed_hint)/>
        }
        .into_any();
    };
    let choice =
        (ways.tasks.len() > 1).then(|| view! { <Tasks ways=ways.clone() current=task.alias()/> });
    let ended = (task.state != State::Running).then(|| {
        view! { <p class="notice" role="status">{tr(|t| t.connect.not_running)}</p> }
    });
    let shown =
        tasks.into_iter().find(|shown| (&shown.role, shown.index) == (&task.role, task.index));
    let pages = shown.map(|shown| view! { <Ports job=ways.job.clone() task=shown/> });
    view! {
        <div class="stack connect">
            {choice}
            {ended}
            {pages}
            <Storages mounts=mounts/>
            <KeyFile ways=ways.clone()/>
            <Shell ways=ways.clone() task=task.clone()/>
            <Editors ways=ways.clone() task=task.clone()/>
            <PyCharm ways=ways task=task/>
        </div>
    }
    .into_any()
}

/// Which task: each has an address of its own.
#[component]
fn Tasks(ways: Ways, current: String) -> impl IntoView {
    let base = address::job_tab(&ways.job, "connect");
    let links = ways.tasks.into_iter().map(|task| {
        let alias = task.alias();
        let here = (alias == current).then_some("true");
        let href = format!("{base}?task={alias}");
        view! { <a class="segment" href=href aria-current=here data-noscroll="true">{alias}</a> }
    });
    view! {
        <nav class="segments segments--wrap" aria-label=tr(|t| t.connect.task)>
            {links.collect_view()}
        </nav>
    }
}
