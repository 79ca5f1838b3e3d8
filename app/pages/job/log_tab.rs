use api::logs::TaskRef;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use protocol::ids::{JobKey, RoleName};

use crate::address;
use crate::i18n::{Reader, text, tr};
use crate::pages::job::detail::{Detail, Part};
use crate::pages::job::log_together::job_logs_together;
use crate::pages::job::log_view::job_logs_one;
use crate::pages::job::log_wanted::{ALL, Choose, Log, Wanted, task_from_word};
use crate::part::opened;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;
use crate::server_fns::jobs::JobSeen;

#[lazy]
pub(super) fn job_logs() -> Part {
    |key, detail| view! { <LogTab key=key detail=detail/> }.into_any()
}

/// The code of the log of one task, or of all.
pub(super) async fn log(all: bool) -> Log {
    if all { job_logs_together().await } else { job_logs_one().await }
}

/// The log of a task that the address names, or of all; without one, that of the first task.
#[component]
pub(crate) fn LogTab(key: JobKey, detail: Detail) -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        let query = query.read();
        let attempt = query.get("attempt").and_then(|attempt| attempt.parse().ok());
        (query.get("task").as_deref().and_then(task_from_word), attempt)
    });
    let all = Memo::new(move |_| query.read().get("task").as_deref() == Some(ALL));
    let selected = Memo::new(move |_| {
        let line: Option<u64> = query.read().get("line").and_then(|line| line.parse().ok());
        line.filter(|line| *line > 0)
    });
    let (of_choice, of_all) = (key.clone(), key.clone());
    // The choice follows the address and the job's first task, not every change of the job: who reads
    // the log of an attempt stays there when another one begins.
    let choose = Choose::new(move |(known, before): (JobSeen, Option<TaskRef>)| {
        // Whoever may not read it is told so once, and asks for nothing.
        if !known.may_manage {
            return None;
        }
        let (asked, asked_attempt) = asked.get();
        let (role, index) = asked.or_else(|| first_task(&known))?;
        let same = before.filter(|task| task.role == role && task.index == index);
        let current = || known.attempts.last().map(|attempt| attempt.number);
        let attempt = asked_attempt.or_else(|| same.and_then(|task| task.attempt));
        Some(TaskRef { job: key.clone(), attempt: attempt.or_else(current), role, index })
    });
    let task = Memo::new(move |before: Option<&Option<TaskRef>>| {
        let before = before.and_then(Option::as_ref).cloned();
        // What is read stays while the server does not answer.
        let Some(known) = detail.get().and_then(Result::ok) else { return before };
        choose.run((known, before))
    });
    let shown = opened(Signal::derive(move || Some(all.get())), log);
    view! {
        <Loaded
            resource=detail
            lines=1
            content=move |detail| view! { <Choice key=of_choice.clone() detail=detail asked=asked all=all/> }
        />
        {move || {
            let wanted = Wanted { task: task.get(), choose, detail };
            shown.get().map(|shown: Log| shown(of_all.clone(), wanted, selected))
        }}
    }
}

fn first_task(detail: &JobSeen) -> Option<(RoleName, u32)> {
    let task = detail.attempts.last()?.tasks.first()?;
    Some((task.role.clone(), task.index))
}

type Asked = Memo<(Option<(RoleName, u32)>, Option<u32>)>;

/// Which task of which attempt: chosen at once, and by a plain GET form where no script runs.
#[component]
fn Choice(key: JobKey, detail: JobSeen, asked: Asked, all: Memo<bool>) -> impl IntoView {
    if detail.attempts.is_empty() {
        return view! { <EmptyState title=text(|t| t.job.no_attempt) hint=text(|_| "")/> }
            .into_any();
    }
    if !detail.may_manage {
        return view! { <p class="notice notice--warn">{tr(|t| t.log.not_yours)}</p> }.into_any();
    }
    let (task, attempt) = asked.get_untracked();
    let first = task.or_else(|| first_task(&detail));
    let current = detail.attempts.last().map_or(0, |attempt| attempt.number);
    let attempt = attempt.unwrap_or(current);
    let navigate = use_navigate();
    let logs = address::job_tab(&key, "logs");
    let base = logs.clone();
    let go = move |task: Option<String>, attempt: Option<u32>| {
        let before = asked.get_untracked();
        let all = all.get_untracked().then(|| ALL.to_owned());
        let known =
            before.0.or_else(|| first.clone()).map(|(role, index)| format!("{role}-{index}"));
        let task = task.or(all).or(known).unwrap_or_default();
        let attempt = attempt.or(before.1).unwrap_or(current);
        let address = format!("{base}?task={}&attempt={attempt}", address::encode(&task));
        navigate(&address, NavigateOptions { scroll: false, ..NavigateOptions::default() });
    };
    let go_to_attempt = go.clone();
    view! {
        <form method="get" action=logs class="log-choice">
            <label class="visually-hidden" for="log-task">{tr(|t| t.log.choose)}</label>
            <select
                class="select"
                id="log-task"
                name="task"
                data-tasks=""
                on:change=move |event| go(Some(event_target_value(&event)), None)
            >
                {tasks(&detail, asked, all)}
            </select>
            <label class="visually-hidden" for="log-attempt">{tr(|t| t.job.attempts)}</label>
            <select
                class="select"
                id="log-attempt"
                name="attempt"
                on:change=move |event| go_to_attempt(None, event_target_value(&event).parse().ok())
            >
                {attempts(&detail, attempt)}
            </select>
            <Submit/>
        </form>
    }
    .into_any()
}

/// Only where no script runs.
#[component]
fn Submit() -> impl IntoView {
    let alive = RwSignal::new(false);
    Effect::new(move |_| alive.set(true));
    view! {
        <Show when=move || !alive.get()>
            <button class="button" type="submit">{tr(|t| t.log.show)}</button>
        </Show>
    }
}

fn tasks(detail: &JobSeen, asked: Asked, all: Memo<bool>) -> impl IntoView + use<> {
    let chosen = asked.get_untracked().0.or_else(|| first_task(detail));
    let chosen = chosen.map(|(role, index)| format!("{role}-{index}"));
    let names = detail.attempts.last().map(|attempt| {
        let names = attempt.tasks.iter().map(|task| format!("{}-{}", task.role, task.index));
        names.collect::<Vec<_>>()
    });
    let names = names.unwrap_or_default();
    let all = all.get_untracked();
    let together = (names.len() > 1).then(|| {
        view! { <option value=ALL selected=all>{tr(|t| t.log.all)}</option> }
    });
    let options = names.into_iter().map(|name| {
        let selected = !all && Some(&name) == chosen.as_ref();
        let value = name.clone();
        view! { <option value=value selected=selected>{name}</option> }
    });
    (together, options.collect_view())
}

fn attempts(detail: &JobSeen, chosen: u32) -> impl IntoView + use<> {
    let reader = Reader::get();
    let options = detail.attempts.iter().map(|each| {
        let number = each.number;
        let word = move || (reader.texts().job.attempt)(number);
        view! { <option value=number selected=number == chosen>{move || word()}</option> }
    });
    options.collect_view()
}
