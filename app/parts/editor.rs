//! The editor of job files: a plain field that works everywhere, over which Monaco is laid once it
//! is wanted and loaded. Both show the same text.

mod monaco;
pub(crate) mod overlay;

use api::jobs::Syntax;
use leptos::ev;
use leptos::prelude::*;
use protocol::problem::Problem;

use crate::i18n::tr;
use crate::parts::text_area::TextArea;

/// A place to show: line and column from 1, and a count that tells one wish from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Jump {
    pub(crate) wish: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// How far Monaco has come.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum Progress {
    #[default]
    Begun,
    Open,
    Failed,
}

/// What is edited, and how far Monaco has come with it.
#[derive(Clone, Copy)]
pub(crate) struct Edited {
    text: RwSignal<String>,
    syntax: Signal<Syntax>,
    problems: Signal<Vec<Problem>>,
    jump: Signal<Jump>,
    on_submit: Callback<()>,
    progress: RwSignal<Progress>,
}

/// Makes what is laid over the plain field.
pub(crate) type Overlay = fn(Edited) -> AnyView;

/// A text as one can edit it. The plain field is called `text` in forms.
#[component]
pub(crate) fn Editor(
    text: RwSignal<String>,
    #[prop(into)] syntax: Signal<Syntax>,
    /// What is wrong, to be underlined.
    #[prop(into)]
    problems: Signal<Vec<Problem>>,
    #[prop(into)] jump: Signal<Jump>,
    /// There from when the editor is first in sight.
    overlay: Signal<Option<Overlay>>,
    on_submit: Callback<()>,
) -> impl IntoView {
    let progress = RwSignal::new(Progress::default());
    let edited = Edited { text, syntax, problems, jump, on_submit, progress };
    let is_open = move || progress.get() == Progress::Open;
    let large = RwSignal::new(false);
    leave_by_key(large);
    view! {
        <div class="editor" class:editor--large=large>
            <Show when=move || progress.get() == Progress::Failed>
                <p class="notice">{tr(|t| t.submit.editor_missing)}</p>
            </Show>
            <Bar syntax=syntax large=large/>
            <label class="visually-hidden" for="job-text">{tr(|t| t.submit.text_label)}</label>
            <div class="editor__room">
                <TextArea
                    id="job-text"
                    class="editor__plain"
                    text=text
                    on_input=Callback::new(move |typed| text.set(typed))
                    attr:name="text"
                    attr:rows="24"
                    class:editor__plain--covered=is_open
                    attr:tabindex=move || is_open().then_some("-1")
                    attr:aria-hidden=move || is_open().then_some("true")
                />
                {move || overlay.get().map(|overlay| overlay(edited))}
            </div>
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

/// How the text is written, and the way to have all of the window for it.
#[component]
fn Bar(syntax: Signal<Syntax>, large: RwSignal<bool>) -> impl IntoView {
    let notation = move || match syntax.get() {
        Syntax::Json => "JSON",
        Syntax::Yaml => "YAML",
    };
    view! {
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
