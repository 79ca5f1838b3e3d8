use leptos::prelude::*;

use crate::Failed;
use crate::i18n::{said, tr};

/// What a form's action answered: its mistakes as one list, or that it is done.
#[component]
pub(crate) fn FormAnswer<T>(
    /// The answer; nothing while there was none.
    #[prop(into)]
    answer: Signal<Option<Result<T, Failed>>>,
    /// What to say when it is done.
    #[prop(into)]
    done: Signal<String>,
) -> impl IntoView
where
    T: Clone + Send + Sync + 'static,
{
    let inside = move || {
        Some(match answer.get()? {
            Ok(_) => view! { <p class="notice notice--good">{move || done.get()}</p> }.into_any(),
            Err(failed) => view! { <Mistakes failed=failed/> }.into_any(),
        })
    };
    view! { <div class="form-answer" aria-live="polite">{inside}</div> }
}

#[component]
fn Mistakes(failed: Failed) -> impl IntoView {
    let lines: Vec<String> = if failed.error.problems.is_empty() {
        vec![failed.error.message.clone()]
    } else {
        failed.error.problems.iter().map(ToString::to_string).collect()
    };
    let lines = lines.into_iter().map(|line| view! { <li>{said(line)}</li> }).collect_view();
    let request = failed.request_id.map(|id| {
        view! { <p class="failure__id">{tr(|t| t.common.request_id)} ": " <code>{id}</code></p> }
    });
    view! {
        <div class="notice notice--bad" role="alert">
            <p class="notice__title">{tr(|t| t.common.problems)}</p>
            <ul>{lines}</ul>
            {request}
        </div>
    }
}
