use leptos::html::Dialog;
use leptos::prelude::*;

use crate::i18n::tr;

/// Opens a dialog, such as a [`Confirm`], from a button elsewhere on the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Opener(pub(crate) NodeRef<Dialog>);

impl Opener {
    pub(crate) fn new() -> Self {
        Self(NodeRef::new())
    }

    /// Shows the question. Without JavaScript its button does what it says at once.
    pub(crate) fn open(self) {
        if let Some(dialog) = self.0.get_untracked() {
            // A dialog that is open already stays as it is.
            let _ = dialog.show_modal();
        }
    }

    pub(crate) fn close(self) {
        if let Some(dialog) = self.0.get_untracked() {
            dialog.close();
        }
    }
}

/// A question before a loss. Its children are the form whose button names what it will do.
#[component]
pub(crate) fn Confirm(
    opener: Opener,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] text: Signal<String>,
    children: Children,
) -> impl IntoView {
    view! {
        <dialog class="dialog" node_ref=opener.0 aria-label=move || title.get()>
            <h2 class="dialog__title">{move || title.get()}</h2>
            <p class="dialog__text">{move || text.get()}</p>
            <div class="dialog__actions">
                <button type="button" class="button" on:click=move |_| opener.close()>
                    {tr(|t| t.common.cancel)}
                </button>
                {children()}
            </div>
        </dialog>
    }
}
