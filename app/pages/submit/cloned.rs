use leptos::prelude::*;

use crate::difference::{Difference, SHOWN};
use crate::i18n::{Reader, told};
use crate::pages::submit::state::Editing;
use crate::part::MakeView;
use crate::parts::changed_lines::ChangedLines;
use crate::server_fns::submit::Source;

/// What a text was cloned from.
#[lazy]
pub(super) fn submit_cloned() -> MakeView {
    || view! { <ClonedFrom/> }.into_any()
}

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
        view! { <ChangedLines changes=changes more=more/> }
    }
}
