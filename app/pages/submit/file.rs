use leptos::prelude::*;
use leptos::task::spawn_local;
use wasm_bindgen_futures::JsFuture;

use crate::i18n::tr;
use crate::pages::submit::state::{Editing, Notice, Way};
use crate::part::MakeView;

/// A file as the text.
#[lazy]
pub(super) fn submit_file() -> MakeView {
    || view! { <FileWay/> }.into_any()
}

/// What a job file may be.
pub(crate) const ACCEPTED: &str =
    ".json,.yaml,.yml,.txt,application/json,application/yaml,text/plain";
/// A job file has no more bytes than this.
const LARGEST: f64 = 1_048_576.0;

/// A file from the reader's machine, dropped or chosen: it becomes the text.
#[component]
pub(crate) fn FileWay() -> impl IntoView {
    let editing = Editing::get();
    let over = RwSignal::new(false);
    let drop = move |event: web_sys::DragEvent| {
        event.prevent_default();
        over.set(false);
        let files = event.data_transfer().and_then(|transfer| transfer.files());
        take(editing, files.and_then(|files| files.get(0)));
    };
    view! {
        <label
            class="drop"
            class:drop--over=over
            on:dragover=move |event| {
                event.prevent_default();
                over.set(true);
            }
            on:dragleave=move |_| over.set(false)
            on:drop=drop
        >
            <span class="drop__title">{tr(|t| t.submit.file_drop)}</span>
            <span class="hint">{tr(|t| t.submit.file_hint)}</span>
            <span class="button button--file">
                {tr(|t| t.submit.file_label)}
                <input
                    type="file"
                    accept=ACCEPTED
                    aria-label=tr(|t| t.submit.file_label)
                    on:change:target=move |event| {
                        let input = event.target();
                        take(editing, input.files().and_then(|files| files.get(0)));
                        // The same file can be chosen again.
                        input.set_value("");
                    }
                />
            </span>
        </label>
    }
}

fn take(editing: Editing, file: Option<web_sys::File>) {
    let Some(file) = file else { return };
    spawn_local(async move {
        let text = if file.size() > LARGEST { None } else { read(&file).await };
        if let Some(text) = text {
            editing.text.set(text);
            editing.notice.set(Some(Notice::FileRead(file.name())));
            editing.choose.run(Way::Editor);
        } else {
            editing.notice.set(Some(Notice::FileUnreadable));
        }
    });
}

/// The file as text; `None` when it is none.
async fn read(file: &web_sys::File) -> Option<String> {
    let text = JsFuture::from(file.text()).await.ok()?.as_string()?;
    (!text.contains(['\u{fffd}', '\0'])).then_some(text)
}
