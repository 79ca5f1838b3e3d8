use std::sync::Arc;

use leptos::prelude::*;

use crate::i18n::{told, tr};
use crate::pages::submit::state::{Editing, Way};

/// More of a kind than this are not made fields of: nobody reads so many, and a browser is slow
/// with them. The text has them all.
const MOST: usize = 40;

/// Fields for each of a list, by its keys.
#[component]
pub(crate) fn Bounded<F, V>(
    keys: Memo<Vec<String>>,
    /// The fields of one.
    field: F,
) -> impl IntoView
where
    F: Fn(String) -> V + Send + Sync + 'static,
    V: IntoView + 'static,
{
    fields(keys, Arc::new(move |key| field(key).into_any()))
}

/// It is the same code for fields of every kind. They stand by their places: where one of the list is removed,
/// those after it move up in the fields that are there.
fn fields(keys: Memo<Vec<String>>, field: Arc<dyn Fn(String) -> AnyView + Send + Sync>) -> AnyView {
    let editing = Editing::get();
    let shown = move || {
        let keys = keys.get();
        let more = keys.len().saturating_sub(MOST) as u64;
        let mut shown = Vec::new();
        for key in keys.into_iter().take(MOST) {
            shown.push(field(key));
        }
        if more > 0 {
            shown.push(rest(editing, more));
        }
        shown
    };
    view! { {move || shown()} }.into_any()
}

/// What is left out.
fn rest(editing: Editing, count: u64) -> AnyView {
    view! {
        <div class="notice notice--warn submit__notice">
            <p>{told(move |t| (t.submit.more_in_editor)(count))}</p>
            <button
                type="button"
                class="button button--small"
                on:click=move |_| editing.choose.run(Way::Editor)
            >
                {tr(|t| t.submit.editor)}
            </button>
        </div>
    }
    .into_any()
}
