use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use api::files::FilePath;
use leptos::html::Input;
use leptos::prelude::*;
use leptos::task::spawn_local;
use send_wrapper::SendWrapper;

use crate::i18n::{Reader, told, tr};
use crate::number;
use crate::pages::files::collect::{self, Chosen};
use crate::pages::files::dialogs::Changes;
use crate::pages::files::send::{NotSent, Watcher, send, whole};

/// Files that are sent at the same time: while one is stored, another is on its way.
const AT_ONCE: usize = 3;
/// Failures that are named; more are only counted.
const NAMED: usize = 20;

/// How far the files are that were chosen.
#[derive(Clone, Copy)]
pub(crate) struct Progress {
    files: RwSignal<u64>,
    done: RwSignal<u64>,
    bytes: RwSignal<u64>,
    sent: RwSignal<u64>,
    failed: RwSignal<Vec<(String, NotSent)>>,
    under_way: RwSignal<bool>,
    /// The connection is lost.
    lost: RwSignal<bool>,
    /// Told to those who send.
    stop: RwSignal<bool>,
}

impl Progress {
    /// Provides it to everything below: what is sent goes on while other folders are looked at.
    pub(crate) fn provide() {
        provide_context(Self {
            files: RwSignal::new(0),
            done: RwSignal::new(0),
            bytes: RwSignal::new(0),
            sent: RwSignal::new(0),
            failed: RwSignal::new(Vec::new()),
            under_way: RwSignal::new(false),
            lost: RwSignal::new(false),
            stop: RwSignal::new(false),
        });
    }

    fn begin(self, chosen: &[Chosen]) {
        self.files.set(chosen.len() as u64);
        self.bytes.set(chosen.iter().map(|chosen| whole(chosen.file.size())).sum());
        self.done.set(0);
        self.sent.set(0);
        self.failed.set(Vec::new());
        self.under_way.set(true);
        self.lost.set(false);
        self.stop.set(false);
    }
}

/// Sends all that was chosen.
fn start(
    progress: Progress,
    changes: Changes,
    folder: FilePath,
    replace: bool,
    chosen: Vec<Chosen>,
) {
    if chosen.is_empty() || progress.under_way.get_untracked() {
        return;
    }
    progress.begin(&chosen);
    let waiting = Rc::new(RefCell::new(VecDeque::from(chosen)));
    let senders = Rc::new(Cell::new(AT_ONCE));
    for _ in 0..AT_ONCE {
        let (waiting, senders, folder) = (Rc::clone(&waiting), Rc::clone(&senders), folder.clone());
        spawn_local(async move {
            send_all(progress, &folder, replace, &waiting).await;
            senders.set(senders.get() - 1);
            if senders.get() == 0 {
                progress.under_way.set(false);
                changes.sent();
            }
        });
    }
}

/// Sends one after the other until none is left.
async fn send_all(
    progress: Progress,
    folder: &FilePath,
    replace: bool,
    waiting: &RefCell<VecDeque<Chosen>>,
) {
    loop {
        let Some(chosen) = waiting.borrow_mut().pop_front() else { return };
        let before = Rc::new(Cell::new(0));
        let watcher = watcher(progress, &before);
        let outcome = match (watcher.stopped)() {
            true => Err(NotSent::Broken),
            false => send(&chosen, folder, replace, &watcher).await,
        };
        let rest = whole(chosen.file.size()).saturating_sub(before.get());
        progress.sent.update(|sent| *sent += rest);
        progress.done.update(|done| *done += 1);
        if let Err(reason) = outcome {
            progress.failed.update(|failed| failed.push((chosen.path, reason)));
        }
    }
}

/// Adds what is sent of a file to what is sent of all; `before` is what was added already.
fn watcher(progress: Progress, before: &Rc<Cell<u64>>) -> Watcher {
    let told = Rc::clone(before);
    Watcher {
        stopped: Rc::new(move || progress.stop.try_get_untracked().unwrap_or(true)),
        moved: Rc::new(move |loaded| {
            let loaded = whole(loaded);
            progress.sent.update(|sent| *sent += loaded.saturating_sub(told.get()));
            told.set(loaded.max(told.get()));
        }),
        lost: Rc::new(move |lost| progress.lost.set(lost)),
    }
}

/// Takes files and folders and sends them into the folder that is shown.
#[component]
pub(crate) fn Upload(folder: FilePath) -> impl IntoView {
    let changes = Changes::get();
    let progress: Progress = expect_context();
    let over = RwSignal::new(false);
    let replace = NodeRef::<Input>::new();
    let begin = Callback::new(move |chosen: SendWrapper<Vec<Chosen>>| {
        let replace = replace.get_untracked().is_some_and(|input| input.checked());
        start(progress, changes, folder.clone(), replace, chosen.take());
    });
    let drop = move |event: web_sys::DragEvent| {
        event.prevent_default();
        over.set(false);
        let Some(transfer) = event.data_transfer() else { return };
        let dropped = collect::of_drop(&transfer);
        spawn_local(async move { begin.run(SendWrapper::new(dropped.files().await)) });
    };
    view! {
        <section
            class="drop files__drop"
            class:drop--over=over
            aria-label=tr(|t| t.files.progress)
            on:dragover=move |event| {
                event.prevent_default();
                over.set(true);
            }
            on:dragleave=move |_| over.set(false)
            on:drop=drop
        >
            <p class="drop__title">{tr(|t| t.files.drop)}</p>
            <p class="hint">{tr(|t| t.files.drop_hint)}</p>
            <div class="buttons">
                <Choose folder=false begin=begin/>
                <Choose folder=true begin=begin/>
            </div>
            <label class="check">
                <input type="checkbox" node_ref=replace/>
                {tr(|t| t.files.replace)}
            </label>
            <Shown progress=progress/>
        </section>
    }
    .into_any()
}

/// A field for files, or for a folder.
#[component]
fn Choose(folder: bool, begin: Callback<SendWrapper<Vec<Chosen>>>) -> impl IntoView {
    let label = told(move |t| if folder { t.files.choose_folder } else { t.files.choose_files });
    view! {
        <label class="button button--file">
            {label}
            <input
                type="file"
                multiple=true
                prop:webkitdirectory=folder
                on:change:target=move |event| {
                    let input = event.target();
                    let chosen = collect::of_list(input.files());
                    // The same files can be chosen again.
                    input.set_value("");
                    begin.run(SendWrapper::new(chosen));
                }
            />
        </label>
    }
}

/// How far it is, and what was not sent.
#[component]
fn Shown(progress: Progress) -> impl IntoView {
    let reader = Reader::get();
    let words = move || {
        let (files, done) = (progress.files.get(), progress.done.get());
        let texts = &reader.texts().files;
        let failed = progress.failed.with(|failed| failed.len() as u64);
        match progress.under_way.get() {
            true if progress.lost.get() => Some(texts.lost.to_owned()),
            true => Some((texts.sending)(done.min(files.saturating_sub(1)), files)),
            false if files > 0 => Some((texts.sent)(done - failed)),
            false => None,
        }
    };
    let bar = move || {
        progress.under_way.get().then(|| {
            let percent = move || number::percent_done(progress.sent.get(), progress.bytes.get());
            view! {
                <progress class="files__progress" max="100" value=move || percent() aria-label=tr(|t| t.files.progress)></progress>
                <button
                    type="button"
                    class="button button--small"
                    on:click=move |_| progress.stop.set(true)
                >
                    {tr(|t| t.common.cancel)}
                </button>
            }
        })
    };
    view! {
        <p role="status">{move || words()}</p>
        {move || bar()}
        <Failures progress=progress/>
    }
}

#[component]
fn Failures(progress: Progress) -> impl IntoView {
    let reader = Reader::get();
    let list = move || {
        let all = reader.texts();
        let texts = &all.files;
        let failed = progress.failed.get();
        (!failed.is_empty()).then(|| {
            let title = (texts.not_sent)(failed.len() as u64);
            let lines = failed.into_iter().take(NAMED).map(|(path, reason)| {
                let reason = match reason {
                    NotSent::Exists => texts.exists.to_owned(),
                    NotSent::Broken => texts.broken.to_owned(),
                    NotSent::Refused(words) => (all.said)(&words),
                };
                view! { <li><b>{path}</b> " " {reason}</li> }
            });
            view! {
                <div class="notice notice--bad" role="alert">
                    <p class="notice__title">{title}</p>
                    <ul>{lines.collect_view()}</ul>
                </div>
            }
        })
    };
    view! { {move || list()} }
}
