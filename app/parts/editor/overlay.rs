use std::rc::Rc;

use api::jobs::Syntax;
use leptos::html;
use leptos::prelude::*;
use leptos::task::spawn_local;
use send_wrapper::SendWrapper;

use crate::opening::Theme;
use crate::parts::editor::monaco::{self, Marker, Monaco, Options};
use crate::parts::editor::{Edited, Jump, Progress};
use crate::parts::script;
use crate::server_fns::submit::get_schemas;
use crate::session::Session;

// The server renders on many threads, but only the browser ever opens one.
type Opened = RwSignal<Option<SendWrapper<Rc<Monaco>>>>;

/// Monaco, which is loaded when this is there, and in sight when it is open.
#[component]
pub(crate) fn MonacoOverlay(edited: Edited) -> impl IntoView {
    let place = NodeRef::<html::Div>::new();
    let opened = Opened::new(None);
    let session = Session::get();
    Effect::new(move |begun: Option<bool>| {
        let element = place.get().filter(|_| begun != Some(true));
        let Some(element) = element else { return begun == Some(true) };
        spawn_local(async move {
            let monaco = open(element, edited, session).await;
            let progress = if monaco.is_some() { Progress::Open } else { Progress::Failed };
            opened.try_set(monaco.map(|monaco| SendWrapper::new(Rc::new(monaco))));
            edited.progress.try_set(progress);
        });
        true
    });
    follow(opened, edited, session);
    view! {
        <div
            class="editor__monaco"
            class:editor__monaco--open=move || edited.progress.get() == Progress::Open
            node_ref=place
        ></div>
    }
}

async fn open(
    element: web_sys::HtmlDivElement,
    edited: Edited,
    session: Session,
) -> Option<Monaco> {
    let Edited { text, syntax, on_submit, .. } = edited;
    let language = session.language.get_untracked();
    let schemas = get_schemas(language).await.ok()?;
    let options = Options {
        text: text.try_get_untracked()?,
        language: word(syntax.try_get_untracked()?),
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
fn follow(opened: Opened, edited: Edited, session: Session) {
    let Edited { text, syntax, problems, jump, .. } = edited;
    let with = move |act: &dyn Fn(&Monaco)| {
        if let Some(monaco) = &*opened.read() {
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
        let Jump { request, line, column } = jump.get();
        if request > 0 {
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
