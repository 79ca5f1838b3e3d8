//! The editor of job files: a plain field that works everywhere, over which Monaco is laid once it
//! is wanted and loaded. Both show the same text.

mod monaco;

use std::rc::Rc;

use api::jobs::Syntax;
use leptos::prelude::*;
use leptos::task::spawn_local;
use leptos::{ev, html};
use protocol::problem::Problem;
use send_wrapper::SendWrapper;

use crate::i18n::tr;
use crate::parts::editor::monaco::{Marker, Monaco, Options};
use crate::parts::script;
use crate::parts::text_area::TextArea;
use crate::server_fns::submit::get_schemas;
use crate::session::{Session, Theme};

/// A place to show: line and column from 1, and a count that tells one wish from the next.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub(crate) struct Jump {
    pub(crate) wish: u32,
    pub(crate) line: u32,
    pub(crate) column: u32,
}

/// How far Monaco has come.
#[derive(Clone, Default)]
enum Progress {
    /// Nobody has looked at the editor yet.
    #[default]
    Unasked,
    Loading,
    // The server renders on many threads, but only the browser ever opens one.
    Open(SendWrapper<Rc<Monaco>>),
    Failed,
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
    /// Whether it is in sight: Monaco is loaded when it first is.
    #[prop(into)]
    shown: Signal<bool>,
    on_submit: Callback<()>,
) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let progress = RwSignal::new(Progress::default());
    let session = Session::get();
    Effect::new(move |_| {
        let wanted = shown.get() && matches!(*progress.read_untracked(), Progress::Unasked);
        if let (true, Some(element)) = (wanted, place.get()) {
            progress.set(Progress::Loading);
            spawn_local(async move {
                let opened = open(element, text, syntax, session, on_submit).await;
                progress.try_set(opened.map_or(Progress::Failed, |monaco| {
                    Progress::Open(SendWrapper::new(Rc::new(monaco)))
                }));
            });
        }
    });
    follow(progress, text, syntax, problems, jump);
    let is_open = move || matches!(*progress.read(), Progress::Open(_));
    let has_failed = move || matches!(*progress.read(), Progress::Failed);
    let large = RwSignal::new(false);
    leave_by_key(large);
    view! {
        <div class="editor" class:editor--large=large>
            <Show when=has_failed>
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
                <div class="editor__monaco" class:editor__monaco--open=is_open node_ref=place></div>
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
            <span class="hint">{notation}</span>
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

async fn open(
    element: web_sys::HtmlDivElement,
    text: RwSignal<String>,
    syntax: Signal<Syntax>,
    session: Session,
    on_submit: Callback<()>,
) -> Option<Monaco> {
    let language = session.language.get_untracked();
    let schemas = get_schemas(language).await.ok()?;
    let options = Options {
        text: text.get_untracked(),
        language: word(syntax.get_untracked()),
        theme: theme_word(session.theme.get_untracked()),
        locale: language.as_str(),
        label: language.texts().submit.editor_label,
        json_schema: schemas.json,
        yaml_schema: schemas.yaml,
        editor_worker: script::asset("js/editor.worker.js")?,
        json_worker: script::asset("js/json.worker.js")?,
    };
    let changed = move |changed: String| {
        text.try_set(changed);
    };
    Monaco::open(&element, &options, changed, move || on_submit.run(())).await
}

/// Keeps Monaco at what the page says.
fn follow(
    progress: RwSignal<Progress>,
    text: RwSignal<String>,
    syntax: Signal<Syntax>,
    problems: Signal<Vec<Problem>>,
    jump: Signal<Jump>,
) {
    let session = Session::get();
    let with = move |act: &dyn Fn(&Monaco)| {
        if let Progress::Open(monaco) = &*progress.read() {
            act(monaco);
        }
    };
    Effect::new(move |_| with(&|monaco| monaco.set_text(&text.read())));
    Effect::new(move |_| with(&|monaco| monaco.set_language(word(syntax.get()))));
    Effect::new(move |_| with(&|monaco| monaco.set_theme(theme_word(session.theme.get()))));
    Effect::new(move |_| {
        let markers: Vec<Marker> = problems.read().iter().map(Marker::of).collect();
        with(&|monaco| monaco.set_markers(&markers));
    });
    Effect::new(move |_| {
        let Jump { wish, line, column } = jump.get();
        if wish > 0 {
            with(&|monaco| monaco.reveal(line, column));
        }
    });
}

fn word(syntax: Syntax) -> &'static str {
    match syntax {
        Syntax::Json => "json",
        Syntax::Yaml => "yaml",
    }
}

fn theme_word(theme: Theme) -> &'static str {
    match theme {
        Theme::Light => "light",
        Theme::Dark => "dark",
        Theme::System if monaco::prefers_dark() => "dark",
        Theme::System => "light",
    }
}
