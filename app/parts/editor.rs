//! The editor of job files: a plain field that works everywhere, over which Monaco is laid once it
//! is wanted and loaded. Both show the same text.

pub(crate) mod bar;
mod monaco;
pub(crate) mod overlay;

use api::jobs::Syntax;
use leptos::prelude::*;
use protocol::problem::Problem;

use crate::i18n::tr;
use crate::parts::text_area::TextArea;

/// A place to show: line and column from 1, and a count that tells one request from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Jump {
    pub(crate) request: u32,
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
    /// Whether it has all of the window.
    large: RwSignal<bool>,
}

/// What the plain field is without.
pub(crate) struct Overlay {
    /// Above it.
    pub(crate) above: fn(Edited) -> AnyView,
    /// Laid over it.
    pub(crate) over: fn(Edited) -> AnyView,
}

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
    overlay: Signal<Option<&'static Overlay>>,
    on_submit: Callback<()>,
) -> impl IntoView {
    let progress = RwSignal::new(Progress::default());
    let large = RwSignal::new(false);
    let edited = Edited { text, syntax, problems, jump, on_submit, progress, large };
    view! {
        <div class="editor" class:editor--large=large>
            <div class="editor__above">
                {move || overlay.get().map(|overlay| (overlay.above)(edited))}
            </div>
            <label class="visually-hidden" for="job-text">{tr(|t| t.submit.text_label)}</label>
            <div class="editor__room">
                <TextArea
                    id="job-text"
                    class="editor__plain"
                    text=text
                    on_input=Callback::new(move |typed| text.set(typed))
                    attr:name="text"
                    attr:rows="24"
                    class:editor__plain--covered=move || progress.get() == Progress::Open
                />
                {move || overlay.get().map(|overlay| (overlay.over)(edited))}
            </div>
        </div>
    }
}
