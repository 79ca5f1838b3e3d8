use api::jobs::Syntax;
use leptos::ev;
use leptos::prelude::*;

use crate::i18n::tr;
use crate::parts::editor::{Edited, Progress};

/// How the text is written, the way to have all of the window for it, and that Monaco could not be had.
#[component]
pub(crate) fn Bar(edited: Edited) -> impl IntoView {
    let Edited { syntax, progress, large, .. } = edited;
    leave_by_key(large);
    let notation = move || match syntax.get() {
        Syntax::Json => "JSON",
        Syntax::Yaml => "YAML",
    };
    view! {
        <Show when=move || progress.get() == Progress::Failed>
            <p class="notice">{tr(|t| t.submit.editor_missing)}</p>
        </Show>
        <div class="editor__bar">
            <span class="hint">{move || notation()}</span>
            <button
                type="button"
                class="button button--small"
                aria-pressed=move || large.get().to_string()
                on:click=move |_| large.update(|large| *large = !*large)
            >
                {tr(|t| t.terminal.large)}
            </button>
        </div>
    }
}

/// Escape gives the window back, unless something open in the editor, such as its search, takes it.
fn leave_by_key(large: RwSignal<bool>) {
    Effect::new(move |_| {
        let listening = window_event_listener(ev::keydown, move |event| {
            if event.key() == "Escape" && !event.default_prevented() {
                large.set(false);
            }
        });
        on_cleanup(move || listening.remove());
    });
}
