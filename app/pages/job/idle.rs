use api::jobs::{JobDetail, TaskView};
use leptos::prelude::*;

use crate::i18n::tr;
use crate::parts::relative_time::RelativeTime;

/// So many are named.
const NAMED: usize = 8;

/// Warns of GPUs that the job holds and does not use.
#[component]
pub(super) fn IdleGpus(detail: JobDetail) -> impl IntoView {
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
