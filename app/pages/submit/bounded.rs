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

/// It is the same code for fields of every kind.
fn fields(keys: Memo<Vec<String>>, field: Arc<dyn Fn(String) -> AnyView + Send + Sync>) -> AnyView {
    let editing = Editing::get();
    let shown = move || keys.read().iter().take(MOST).cloned().collect::<Vec<_>>();
    let more = Memo::new(move |_| keys.read().len().saturating_sub(MOST) as u64);
    view! {
        <For each=shown key=String::clone children=move |key| field(key)/>
        <Show when=move || { more.get() > 0 }>
            <div class="notice notice--warn submit__notice">
                <p>{told(move |t| (t.submit.more_in_editor)(more.get()))}</p>
                <button
                    type="button"
                    class="button button--small"
                    on:click=move |_| editing.choose.run(Way::Editor)
                >
                    {tr(|t| t.submit.editor)}
                </button>
            </div>
        </Show>
    }
    .into_any()
}
