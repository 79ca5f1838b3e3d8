use leptos::prelude::*;

use crate::difference::Change;
use crate::i18n::{told, tr};

/// The first lines in which a text is another, and how many more there are.
#[component]
pub(crate) fn ChangedLines(changes: Vec<Change>, more: usize) -> impl IntoView {
    let changes = changes.into_iter().map(|change| view! { <Lines change=change/> });
    let changes = changes.collect_view();
    let more = (more > 0)
        .then(|| view! { <li class="hint">{told(move |t| (t.submit.lines_more)(more))}</li> });
    view! { {changes} {more} }
}

/// What was there, and what is there now. Not by colour alone: each line has its sign and its word.
#[component]
fn Lines(change: Change) -> impl IntoView {
    let Change { line, removed, added } = change;
    let removed = removed.into_iter().map(|text| {
        view! {
            <del class="difference__line difference__line--removed">
                <span class="visually-hidden">{tr(|t| t.submit.line_removed)} " "</span>
                <span translate="no">{text}</span>
            </del>
        }
    });
    let added = added.into_iter().map(|text| {
        view! {
            <ins class="difference__line difference__line--added">
                <span class="visually-hidden">{tr(|t| t.submit.line_added)} " "</span>
                <span translate="no">{text}</span>
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
