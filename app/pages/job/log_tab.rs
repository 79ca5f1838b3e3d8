use api::jobs::JobDetail;
use api::logs::TaskRef;
use leptos::prelude::*;
use leptos_router::components::Form;
use leptos_router::hooks::use_query_map;
use protocol::ids::{JobKey, RoleName};

use crate::address;
use crate::i18n::{Reader, text, tr};
use crate::pages::job::Detail;
use crate::pages::job::log_view::LogView;
use crate::parts::empty_state::EmptyState;
use crate::parts::loaded::Loaded;

/// The address of a task's log.
pub(crate) fn log_address(key: &JobKey, attempt: u32, role: &RoleName, index: u32) -> String {
    let base = address::job_tab(key, "logs");
    format!("{base}?task={}&attempt={attempt}", address::encode(&format!("{role}-{index}")))
}

/// The log of a task that the address names; without one, that of the first task.
#[component]
pub(crate) fn LogTab(key: JobKey, detail: Detail) -> impl IntoView {
    let query = use_query_map();
    let asked = Memo::new(move |_| {
        let query = query.read();
        let attempt = query.get("attempt").and_then(|attempt| attempt.parse().ok());
        (query.get("task").as_deref().and_then(task_from_word), attempt)
    });
    // The choice follows the address and the job's first task, not every change of the job.
    let task = Memo::new(move |_| {
        let (task, attempt) = asked.get();
        // Whoever may not read it is told so once, and asks for nothing.
        let detail = detail.get()?.ok().filter(|detail| detail.may_manage)?;
        let (role, index) = task.or_else(|| first_task(&detail))?;
        Some(TaskRef { job: key.clone(), attempt, role, index })
    });
    view! {
        <Loaded
            resource=detail
            lines=1
            content=move |detail| view! { <Choice detail=detail asked=asked/> }
        />
        {move || task.get().map(|task| view! { <LogView task=task/> })}
    }
}

/// The task of `role-index`.
pub(crate) fn task_from_word(word: &str) -> Option<(RoleName, u32)> {
    let (role, index) = word.rsplit_once('-')?;
    Some((role.parse().ok()?, index.parse().ok()?))
}

fn first_task(detail: &JobDetail) -> Option<(RoleName, u32)> {
    let task = detail.attempts.last()?.tasks.first()?;
    Some((task.role.clone(), task.index))
}

type Asked = Memo<(Option<(RoleName, u32)>, Option<u32>)>;

/// Which task of which attempt: a plain GET form.
#[component]
fn Choice(detail: JobDetail, asked: Asked) -> impl IntoView {
    if detail.attempts.is_empty() {
        return view! { <EmptyState title=text(|t| t.job.no_attempt) hint=text(|_| "")/> }
            .into_any();
    }
    if !detail.may_manage {
        return view! { <p class="notice notice--warn">{tr(|t| t.log.not_yours)}</p> }.into_any();
    }
    let (task, attempt) = asked.get_untracked();
    let task = task.or_else(|| first_task(&detail)).map(|(role, index)| format!("{role}-{index}"));
    let current = detail.attempts.last().map_or(0, |attempt| attempt.number);
    let attempt = attempt.unwrap_or(current);
    let reader = Reader::get();
    let attempts = detail.attempts.iter().map(|each| {
        let number = each.number;
        let word = move || (reader.texts().job.attempt)(number);
        view! { <option value=number selected=number == attempt>{word}</option> }
    });
    let attempts = attempts.collect_view();
    let tasks = detail.attempts.last().map(|each| {
        let names = each.tasks.iter().map(|task| format!("{}-{}", task.role, task.index));
        let option = |name: String| {
            let chosen = Some(&name) == task.as_ref();
            let value = name.clone();
            view! { <option value=value selected=chosen>{name}</option> }
        };
        names.map(option).collect_view()
    });
    view! {
        <Form method="GET" action="" attr:class="log-choice">
            <label class="visually-hidden" for="log-task">{tr(|t| t.log.choose)}</label>
            <select class="select" id="log-task" name="task">{tasks}</select>
            <label class="visually-hidden" for="log-attempt">{tr(|t| t.job.attempts)}</label>
            <select class="select" id="log-attempt" name="attempt">{attempts}</select>
            <button class="button" type="submit">{tr(|t| t.log.show)}</button>
        </Form>
    }
    .into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_from_its_name() {
        let (role, index) = task_from_word("worker-12").unwrap();
        assert_eq!((role.as_str(), index), ("worker", 12));
        assert_eq!(task_from_word("worker"), None);
    }

    #[test]
    fn a_log_has_an_address() {
        let key = "ada~a".parse().unwrap();
        let address = log_address(&key, 0, &"worker".parse().unwrap(), 1);
        assert_eq!(address, "/jobs/ada/a/logs?task=worker-1&attempt=0");
    }
}
