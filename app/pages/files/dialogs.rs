use api::files::{FileKind, FilePath};
use leptos::prelude::*;

use crate::i18n::{Reader, text, tr};
use crate::parts::confirm::{Confirm, Opener};
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;
use crate::server_fns::files::{MakeFolder, RemoveFile, RenameFile};

/// What somebody wants to change.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Ask {
    pub(crate) path: FilePath,
    pub(crate) kind: FileKind,
}

/// What changes files on this page, and how often it has.
#[derive(Clone, Copy)]
pub(crate) struct Changes {
    pub(crate) make: Sending,
    rename: Sending,
    remove: Sending,
    /// Files that were sent.
    sent: RwSignal<usize>,
    asked: RwSignal<Option<Ask>>,
    rename_opener: Opener,
    remove_opener: Opener,
}

impl Changes {
    /// Provides them to everything below.
    pub(crate) fn provide() -> Self {
        let changes = Self {
            make: Sending::to::<MakeFolder>(),
            rename: Sending::to::<RenameFile>(),
            remove: Sending::to::<RemoveFile>(),
            sent: RwSignal::new(0),
            asked: RwSignal::new(None),
            rename_opener: Opener::new(),
            remove_opener: Opener::new(),
        };
        provide_context(changes);
        changes
    }

    /// Those of this page.
    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// What is shown is read anew when this changes.
    pub(crate) fn count(self) -> (usize, usize, usize, usize) {
        let (make, rename, remove) = (self.make, self.rename, self.remove);
        let (make, rename) = (make.version().get(), rename.version().get());
        (make, rename, remove.version().get(), self.sent.get())
    }

    /// Files have been sent.
    pub(crate) fn sent(self) {
        self.sent.update(|sent| *sent += 1);
    }

    pub(crate) fn ask_rename(self, ask: Ask) {
        self.asked.set(Some(ask));
        self.rename_opener.open();
    }

    pub(crate) fn ask_remove(self, ask: Ask) {
        self.asked.set(Some(ask));
        self.remove_opener.open();
    }

    fn path(self) -> String {
        self.asked.with(|asked| asked.as_ref().map(|ask| ask.path.to_string()).unwrap_or_default())
    }

    fn name(self) -> String {
        self.asked
            .with(|asked| asked.as_ref().map(|ask| ask.path.name().to_owned()).unwrap_or_default())
    }

    fn is_folder(self) -> bool {
        self.asked.with(|asked| {
            asked.as_ref().is_some_and(|ask| match ask.kind {
                FileKind::Folder => true,
                FileKind::File | FileKind::Link => false,
            })
        })
    }
}

/// The questions before a change, one of each for all files of the page.
#[component]
pub(crate) fn Dialogs(changes: Changes) -> impl IntoView {
    view! {
        <FormAnswer answer=changes.rename.value() done=text(|t| t.files.renamed)/>
        <FormAnswer answer=changes.remove.value() done=text(|t| t.files.removed)/>
        <Rename changes=changes/>
        <Remove changes=changes/>
    }
}

#[component]
fn Rename(changes: Changes) -> impl IntoView {
    let reader = Reader::get();
    let title = Signal::derive(move || (reader.texts().files.rename_title)(&changes.name()));
    view! {
        <Confirm opener=changes.rename_opener title=title text=text(|t| t.files.rename_text)>
            <SendForm
                to=changes.rename
                attr:class="files__rename"
                on:submit=move |_| changes.rename_opener.close()
            >
                <input type="hidden" name="path" prop:value=move || changes.path()/>
                <div class="field">
                    <label class="field__label" for="new-name">{tr(|t| t.files.new_name)}</label>
                    <input
                        class="input"
                        id="new-name"
                        name="name"
                        required=true
                        maxlength="255"
                        autocomplete="off"
                        prop:value=move || changes.name()
                    />
                </div>
                <button class="button button--primary" type="submit">{tr(|t| t.files.rename)}</button>
            </SendForm>
        </Confirm>
    }
}

#[component]
fn Remove(changes: Changes) -> impl IntoView {
    let reader = Reader::get();
    let title = Signal::derive(move || (reader.texts().files.remove_title)(&changes.name()));
    let loss = Signal::derive(move || {
        let files = &reader.texts().files;
        let loss = if changes.is_folder() { files.remove_folder } else { files.remove_file };
        loss.to_owned()
    });
    view! {
        <Confirm opener=changes.remove_opener title=title text=loss>
            <SendForm to=changes.remove on:submit=move |_| changes.remove_opener.close()>
                <input type="hidden" name="path" prop:value=move || changes.path()/>
                <button class="button button--danger" type="submit">{tr(|t| t.common.remove)}</button>
            </SendForm>
        </Confirm>
    }
}
