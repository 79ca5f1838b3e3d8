use leptos::prelude::*;
use protocol::problem::Problem;

use crate::i18n::{said, told, tr};
use crate::pages::submit::state::Editing;
use crate::part::MakeView;
use crate::parts::request_id::RequestId;
use crate::parts::sign_in_again::SignInAgain;

/// What is wrong.
#[lazy]
pub(super) fn submit_problems() -> MakeView {
    || view! { <Problems/> }.into_any()
}

/// Everything that is wrong, each a way to its place; then what is only worth knowing.
#[component]
pub(crate) fn Problems() -> impl IntoView {
    let editing = Editing::get();
    let count = Memo::new(move |_| editing.problems().len() as u64);
    let lines = move || {
        let problems = editing.problems().into_iter();
        problems.map(|problem| view! { <Line problem=problem/> }).collect_view()
    };
    view! {
        <Refusal/>
        <Show when=move || { count.get() > 0 }>
            <div class="problems" aria-live="polite">
                <h3>{told(move |t| (t.submit.rail.problems)(count.get()))}</h3>
                <ul class="problems__list">{move || lines()}</ul>
            </div>
        </Show>
        <Warnings/>
    }
}

#[component]
fn Line(problem: Problem) -> impl IntoView {
    let editing = Editing::get();
    let Problem { path, line, column, message, allowed } = problem.clone();
    let allowed = (!allowed.is_empty()).then(|| {
        view! { <span class="hint">{told(move |t| (t.submit.rail.allowed)(&allowed))}</span> }
    });
    view! {
        <li>
            <button type="button" class="problem" on:click=move |_| editing.go_to(&problem)>
                <span class="problem__place">
                    {told(move |t| (t.submit.rail.place)(line, column))}
                    " " <code>{path}</code>
                </span>
                <span>{message}</span>
                {allowed}
            </button>
        </li>
    }
}

/// Why the last submission was refused, where the problems do not say it.
#[component]
fn Refusal() -> impl IntoView {
    let editing = Editing::get();
    let answer = editing.submit.value();
    let refusal = move || {
        let answer = answer.read();
        let failed = answer.as_ref()?.as_ref().err()?;
        if failed.is_signed_out() {
            return Some(view! { <SignedOut/> }.into_any());
        }
        let message = failed.error.message.clone();
        let request = failed.request_id.clone();
        Some(
            view! {
                <div class="notice" role="alert">
                    <p class="notice__title">{tr(|t| t.submit.rail.refused)}</p>
                    <p>{said(message)}</p>
                    <RequestId id=request/>
                </div>
            }
            .into_any(),
        )
    };
    view! { {move || refusal()} }
}

/// The session has ended and its reader has not signed in again.
#[component]
fn SignedOut() -> impl IntoView {
    let (editing, again) = (Editing::get(), SignInAgain::get());
    view! {
        <div class="notice" role="alert">
            <p class="notice__title">{tr(|t| t.submit.rail.refused)}</p>
            <p>{tr(|t| t.sign_in.ended)}</p>
            <button
                type="button"
                class="button button--small"
                on:click=move |_| again.then(move || editing.submit())
            >
                {tr(|t| t.sign_in.title)}
            </button>
        </div>
    }
}

#[component]
fn Warnings() -> impl IntoView {
    let editing = Editing::get();
    let warnings = move || {
        let report = editing.report.read();
        let warnings = &report.as_ref().ok()?.warnings;
        let lines =
            warnings.iter().map(|line| view! { <li>{said(line.clone())}</li> }).collect_view();
        (!warnings.is_empty()).then(|| {
            view! {
                <div class="notice notice--warn">
                    <p class="notice__title">{tr(|t| t.submit.rail.warnings)}</p>
                    <ul>{lines}</ul>
                </div>
            }
        })
    };
    view! { {move || warnings()} }
}
