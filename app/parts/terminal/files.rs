//! A file in and out of the container that a terminal is in.

use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::address::encode;
use crate::i18n::{Reader, tr};
use crate::parts::terminal::{Shell, xterm};

/// Where files go that nobody says a folder for: where shells begin.
const FOLDER: &str = ".";

/// How far a file is.
#[derive(Debug, Clone, PartialEq)]
enum Sending {
    Nothing,
    /// Of a hundred.
    Percent(u32),
    Sent(String),
    Failed(String),
}

/// Downloading works by a plain form; what is chosen is sent at once.
#[component]
pub(super) fn Files(shell: Shell) -> impl IntoView {
    let folder = RwSignal::new(FOLDER.to_owned());
    let sending = RwSignal::new(Sending::Nothing);
    let address = shell.files();
    let Shell { role, index, number, .. } = &shell;
    let id = |of: &str| format!("{of}-{role}-{index}-{number}");
    let (path_id, folder_id, file_id) = (id("path"), id("folder"), id("file"));
    let (path_for, folder_for, file_for) = (path_id.clone(), folder_id.clone(), file_id.clone());
    let asked = shell.clone();
    let chosen =
        move |event: leptos::ev::Targeted<leptos::ev::Event, web_sys::HtmlInputElement>| {
            let input = event.target();
            if let Some(file) = input.files().and_then(|files| files.get(0)) {
                send(&asked, &folder.get_untracked(), file, sending);
                // The same file may be chosen again.
                input.set_value("");
            }
        };
    view! {
        <details class="shell__files">
            <summary>{tr(|t| t.terminal.files)}</summary>
            <form method="GET" action=address target="_blank" class="shell__form">
                <input type="hidden" name="role" value=shell.role.to_string()/>
                <input type="hidden" name="index" value=shell.index/>
                <label for=path_for>{tr(|t| t.terminal.path)}</label>
                <input class="input" id=path_id name="path" required autocomplete="off" spellcheck="false"/>
                <button type="submit" class="button button--small">{tr(|t| t.common.download)}</button>
            </form>
            <div class="shell__form">
                <label for=folder_for>{tr(|t| t.terminal.folder)}</label>
                <input
                    class="input"
                    id=folder_id
                    spellcheck="false"
                    prop:value=folder
                    on:input:target=move |event| folder.set(event.target().value())
                />
                <label for=file_for>{tr(|t| t.terminal.file)}</label>
                <input type="file" id=file_id on:change:target=chosen/>
                <span role="status">{words(sending)}</span>
            </div>
        </details>
    }
}

fn words(sending: RwSignal<Sending>) -> impl Fn() -> String {
    let reader = Reader::get();
    move || {
        let texts = reader.texts();
        let t = &texts.terminal;
        match &*sending.read() {
            Sending::Nothing => String::new(),
            Sending::Percent(share) => (t.sending)(&share.to_string()),
            Sending::Sent(path) => (t.sent)(path),
            Sending::Failed(reason) if reason == "?" => t.not_sent.to_owned(),
            Sending::Failed(reason) => (texts.said)(reason),
        }
    }
}

fn send(shell: &Shell, folder: &str, file: web_sys::File, sending: RwSignal<Sending>) {
    let path = target(folder, &file.name());
    let Shell { role, index, .. } = shell;
    let role = encode(role.as_str());
    let address = format!("{}?role={role}&index={index}&path={}", shell.files(), encode(&path));
    sending.set(Sending::Percent(0));
    spawn_local(async move {
        let told = move |share: f64, error: String| {
            let now = match (share < 0.0, error.is_empty()) {
                (false, _) => Sending::Percent((share * 100.0) as u32),
                (true, true) => Sending::Sent(path.clone()),
                (true, false) => Sending::Failed(error),
            };
            sending.try_set(now);
        };
        if xterm::upload(&address, &file, told).await.is_none() {
            sending.try_set(Sending::Failed("?".to_owned()));
        }
    });
}

/// The path of a file in a folder.
fn target(folder: &str, name: &str) -> String {
    match folder.trim().trim_end_matches('/') {
        "" if folder.trim().starts_with('/') => format!("/{name}"),
        "" => name.to_owned(),
        folder => format!("{folder}/{name}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_goes_into_its_folder() {
        let cases =
            [("/tmp", "/tmp/a"), ("/tmp/", "/tmp/a"), ("/", "/a"), ("", "a"), (" data ", "data/a")];
        for (folder, path) in cases {
            assert_eq!(target(folder, "a"), path, "{folder:?}");
        }
    }
}
