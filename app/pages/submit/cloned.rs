use leptos::prelude::*;

use crate::i18n::{Reader, told, tr};
use crate::pages::submit::difference::{Change, Difference};
use crate::pages::submit::state::Editing;
use crate::part::MakeView;
use crate::server_fns::submit::Source;

/// What a text was cloned from.
#[lazy]
pub(super) fn submit_cloned() -> MakeView {
    || view! { <ClonedFrom/> }.into_any()
}

/// Lines that are shown.
const SHOWN: usize = 200;

/// The job that the text was cloned from, and what is different in the text by now.
#[component]
pub(crate) fn ClonedFrom() -> impl IntoView {
    let source = Editing::get().cloned_from;
    move || {
        source.get().map(|Source { key, text }| {
            let key = key.to_string();
            let of_difference = key.clone();
            let difference = text.map(|text| view! { <Differs key=of_difference text=text/> });
            view! {
                <p class="hint">{told(move |t| (t.submit.cloned_from)(&key))}</p>
                {difference}
            }
        })
    }
}

/// How many lines differ, and folded below it which.
#[component]
fn Differs(key: String, text: String) -> impl IntoView {
    let (editing, reader) = (Editing::get(), Reader::get());
    let difference = Memo::new(move |_| Difference::between(&text, &editing.text.read()));
    let count = Memo::new(move |_| difference.read().count());
    let said = Signal::derive(move || (reader.texts().submit.differs)(count.get(), &key));
    let has_lines = move || count.get().is_some_and(|count| count > 0);
    view! {
        <p class="hint" hidden=move || has_lines()>
            {move || said.get()}
        </p>
        <details class="fold difference" hidden=move || !has_lines()>
            <summary>{move || said.get()}</summary>
            <ol class="difference__changes">
                <Changes difference=difference/>
            </ol>
        </details>
    }
}

#[component]
fn Changes(difference: Memo<Difference>) -> impl IntoView {
    move || {
        let (changes, more) = difference.read().first(SHOWN);
        let changes = changes.into_iter().map(|change| view! { <Lines change=change/> });
        let changes = changes.collect_view();
        let more = (more > 0)
            .then(|| view! { <li class="hint">{told(move |t| (t.submit.lines_more)(more))}</li> });
        view! { {changes} {more} }
    }
}

/// What was there, and what is there now. Not by colour alone: each line has its sign and its word.
#[component]
fn Lines(change: Change) -> impl IntoView {
    let Change { line, removed, added } = change;
    let removed = removed.into_iter().map(|text| {
        view! {
            <del class="difference__line difference__line--removed">
                <span class="visually-hidden">{tr(|t| t.submit.line_removed)} " "</span>
                {text}
            </del>
        }
    });
    let added = added.into_iter().map(|text| {
        view! {
            <ins class="difference__line difference__line--added">
                <span class="visually-hidden">{tr(|t| t.submit.line_added)} " "</span>
                {text}
            </ins>
        }
    });
    view! {
        <li class="difference__change">
            <span class="difference__place">{told(move |t| (t.submit.line)(line))}</span>
            {removed.collect_view()}
            {added.collect_view()}
        </li>
    }
}
