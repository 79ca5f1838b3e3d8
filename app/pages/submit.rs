mod availability;
mod basics;
mod bounded;
mod check;
mod cloned;
mod declared;
mod draft;
mod engine;
mod environment;
mod field;
mod file;
mod happened;
mod images;
mod job_form;
mod later;
mod menu;
mod notice;
mod overlay;
pub(crate) mod part;
mod ports;
mod problems;
mod rail;
mod role;
mod roles;
mod select;
mod state;
mod storages;
mod template;
mod templates;
mod verdict;
mod ways;

use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::{use_navigate, use_query_map};
use server_fn::ServerFn;

use crate::address;
use crate::i18n::{Reader, text};
use crate::pages::submit::file::{ACCEPTED, submit_file};
use crate::pages::submit::job_form::submit_form;
use crate::pages::submit::notice::{Notices, Refused};
use crate::pages::submit::overlay::submit_editor;
use crate::pages::submit::rail::Rail;
use crate::pages::submit::state::{Editing, Way};
use crate::pages::submit::templates::Templates;
use crate::pages::submit::ways::Ways;
use crate::part::opened;
use crate::parts::editor::Editor;
use crate::parts::loaded::Loaded;
use crate::parts::page_header::PageHeader;
use crate::reading::reading;
use crate::server_fns::submit::{Opened, SubmitForm, open_submit};

/// Submits a job: one text, written in any of three ways, checked while it is written.
#[component]
pub(crate) fn SubmitPage() -> impl IntoView {
    let query = use_query_map();
    let part = move |name: &str| query.read().get(name).unwrap_or_default();
    let begun = reading(
        move || (part("text"), part("clone"), part("template"), part("instead")),
        |(text, clone, template, instead)| open_submit(text, clone, template, instead),
    );
    let way = Memo::new(move |_| Way::from_word(&part("way")));
    let refused = Signal::derive(move || part("refused"));
    view! {
        <PageHeader title=text(|t| t.submit.title)/>
        <Loaded
            resource=begun
            lines=12
            content=move |begun| view! { <Submission begun=begun way=way refused=refused/> }
        />
    }
}

/// The page once it is known what it begins with. A way that was shown stays where it is, hidden.
#[component]
fn Submission(begun: Opened, way: Memo<Way>, refused: Signal<String>) -> impl IntoView {
    let editing = Editing::provide(&begun, way, chooser());
    editing.drafts.keep(editing);
    check::while_typing(editing);
    let is = move |this: Way| Signal::derive(move || (way.get() == this).then_some(()));
    let form = opened(is(Way::Form), |()| submit_form());
    let overlay = opened(is(Way::Editor), |()| submit_editor());
    let file = opened(is(Way::File), |()| submit_file());
    let source = begun.cloned_from.as_ref();
    let cloned_from = source.map(|source| source.key.to_string()).unwrap_or_default();
    let submit = Callback::new(move |()| editing.submit());
    view! {
        <noscript inner_html=WITHOUT_SCRIPT></noscript>
        <div class="submit">
            <form
                id="job"
                class="submit__main stack"
                method="post"
                action=SubmitForm::PATH
                enctype="multipart/form-data"
                on:submit=move |event| {
                    event.prevent_default();
                    editing.submit();
                }
                on:keydown=move |event| keys(&event, editing)
            >
                <Refused refused=refused/>
                <Notices/>
                <div class="submit__bar">
                    <Ways/>
                    <Templates templates=begun.templates/>
                </div>
                <input type="hidden" name="cloned_from" value=cloned_from/>
                <div class="submit__way submit__way--form" hidden=move || way.get() != Way::Form>
                    {move || form.get().map(|form| form())}
                </div>
                <div class="submit__way" hidden=move || way.get() != Way::Editor>
                    <Editor
                        text=editing.text
                        syntax=Signal::derive(move || editing.syntax())
                        problems=Signal::derive(move || editing.problems())
                        jump=editing.jump
                        overlay=overlay
                        on_submit=submit
                    />
                </div>
                <div class="submit__way submit__way--file" hidden=move || way.get() != Way::File>
                    {move || file.get().map(|file| file())}
                </div>
                <noscript inner_html=plain_file()></noscript>
            </form>
            <Rail/>
        </div>
    }
}

/// Without JavaScript the fields of the form can change nothing: the text and the file remain.
const WITHOUT_SCRIPT: &str = "<style>.submit__way { display: block !important } \
     .submit__way--form, .submit__way--file, .submit__bar, .editor__above { \
     display: none !important }</style>";

/// The file and what sends it, where no script takes the file.
fn plain_file() -> String {
    let texts = &Reader::get().texts_untracked().submit;
    let (title, hint, label, submit) =
        (texts.file_drop, texts.file_hint, texts.file_label, texts.submit);
    format!(
        "<label class=\"drop\"><span class=\"drop__title\">{title}</span>\
         <span class=\"hint\">{hint}</span>\
         <input type=\"file\" name=\"file\" accept=\"{ACCEPTED}\" aria-label=\"{label}\"></label>\
         <button type=\"submit\" class=\"button button--primary\">{submit}</button>"
    )
}

/// Puts the way into the address, in place of the one before.
fn chooser() -> Callback<Way> {
    let navigate = use_navigate();
    let query = use_query_map();
    Callback::new(move |way: Way| {
        let mut address = format!("/submit?way={}", way.as_str());
        for name in ["clone", "template", "text", "instead"] {
            if let Some(value) = query.read_untracked().get(name) {
                address.push_str(&format!("&{name}={}", address::encode(&value)));
            }
        }
        let options =
            NavigateOptions { replace: true, scroll: false, ..NavigateOptions::default() };
        navigate(&address, options);
    })
}

/// Ctrl/⌘ Enter submits from anywhere in the form; Enter in a field of one line does not.
fn keys(event: &web_sys::KeyboardEvent, editing: Editing) {
    use wasm_bindgen::JsCast;
    if event.key() != "Enter" || event.is_composing() {
        return;
    }
    let target = event.target();
    let in_line = target.is_some_and(|target| target.has_type::<web_sys::HtmlInputElement>());
    if event.ctrl_key() || event.meta_key() {
        event.prevent_default();
        editing.submit();
    } else if in_line {
        event.prevent_default();
    }
}
