use api::jobs::{JobDetail, TaskView};
use api::metrics::Idling;
use leptos::prelude::*;
use protocol::ids::JobKey;

use crate::i18n::{text, told, tr};
use crate::parts::form_errors::FormAnswer;
use crate::parts::relative_time::RelativeTime;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::jobs::KeepJob;

/// So many are named.
const NAMED: usize = 8;

/// So many hours a job can be kept by one click.
const HOURS: [u32; 3] = [4, 24, 168];

/// Says what becomes of the job since none of its GPUs does anything, and lets its owner keep it. Where no
/// rule says anything of that, it names single GPUs that do nothing.
#[component]
pub(super) fn Unused(detail: JobDetail) -> impl IntoView {
    match detail.idling {
        Some(idling) => {
            let (key, may_keep) = (detail.summary.key, detail.may_manage);
            view! { <IdleJob key=key idling=idling may_keep=may_keep/> }.into_any()
        }
        None => view! { <IdleGpus detail=detail/> }.into_any(),
    }
}

#[component]
fn IdleJob(key: JobKey, idling: Idling, may_keep: bool) -> impl IntoView {
    let Idling { since, stops_at, kept_until } = idling;
    let fate = match (kept_until, stops_at) {
        (Some(until), _) => {
            view! { <p>{tr(|t| t.metrics.kept_until)} " " <RelativeTime at=until/></p> }.into_any()
        }
        (None, Some(at)) => {
            view! { <p>{tr(|t| t.metrics.stops_at)} " " <RelativeTime at=at/></p> }.into_any()
        }
        (None, None) => view! { <p>{tr(|t| t.metrics.idle_advice)}</p> }.into_any(),
    };
    view! {
        <section class="notice notice--warn">
            <p class="notice__title">{tr(|t| t.metrics.all_idle)}</p>
            <p>{tr(|t| t.metrics.last_busy)} " " <RelativeTime at=since/></p>
            {fate}
            {may_keep.then(|| view! { <Keep key=key/> })}
        </section>
    }
    .into_any()
}

#[component]
fn Keep(key: JobKey) -> impl IntoView {
    let keep = Sending::to::<KeepJob>();
    let button = |hours: u32| {
        view! {
            <button class="button button--small" type="submit" name="hours" value=hours.to_string()>
                {told(move |t| (t.metrics.keep)(hours))}
            </button>
        }
    };
    let buttons = HOURS.into_iter().map(button).collect_view();
    view! {
        <SendForm to=keep>
            <input type="hidden" name="key" value=key.to_string()/>
            <FormAnswer answer=keep.value() done=text(|t| t.common.saved)/>
            <div class="buttons">{buttons}</div>
        </SendForm>
    }
    .into_any()
}

/// Warns of GPUs that the job holds and does not use.
#[component]
fn IdleGpus(detail: JobDetail) -> impl IntoView {
    let tasks = detail.attempts.into_iter().flat_map(|attempt| attempt.tasks);
    let of_task = |task: TaskView| {
        let name = format!("{}-{}", task.role, task.index);
        task.idle.into_iter().map(move |idle| (name.clone(), idle))
    };
    let idle: Vec<_> = tasks.flat_map(of_task).collect();
    if idle.is_empty() {
        return ().into_any();
    }
    let further = idle.len() > NAMED;
    let items = idle.into_iter().take(NAMED).map(|(task, idle)| {
        view! {
            <li>
                {task} " · GPU " {idle.gpu} " · " {tr(|t| t.metrics.last_busy)} " "
                <RelativeTime at=idle.since/>
            </li>
        }
    });
    let items = items.collect_view();
    view! {
        <section class="notice notice--warn">
            <p class="notice__title">{tr(|t| t.metrics.idle_title)}</p>
            <ul>{items} {further.then(|| view! { <li>"…"</li> })}</ul>
            <p>{tr(|t| t.metrics.idle_advice)}</p>
        </section>
    }
    .into_any()
}
