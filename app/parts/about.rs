//! A question about one of several things, before something is done with it. It stands beside what is drawn
//! anew whenever something changes: inside of that it would be gone while somebody reads it.

use leptos::prelude::*;
use serde::de::DeserializeOwned;
use wasm_bindgen::JsCast;
use web_sys::HtmlFormElement;

use crate::i18n::{text, tr};
use crate::parts::confirm::Opener;
use crate::parts::form_errors::FormAnswer;
use crate::parts::send_form::SendForm;
use crate::sending::Sending;

/// What is asked about.
#[derive(Debug)]
pub(crate) struct About<T: Send + Sync + 'static> {
    what: RwSignal<Option<T>>,
    pub(crate) opener: Opener,
}

impl<T: Send + Sync + 'static> Clone for About<T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: Send + Sync + 'static> Copy for About<T> {}

impl<T: Clone + Send + Sync + 'static> About<T> {
    pub(crate) fn new() -> Self {
        Self { what: RwSignal::new(None), opener: Opener::new() }
    }

    /// Asks, as soon as there is something to ask with.
    pub(crate) fn ask(self, what: T) {
        self.what.set(Some(what));
        self.opener.open();
    }

    /// What is asked about; `None` before anything is.
    pub(crate) fn what(self) -> Option<T> {
        self.what.get()
    }

    /// Whether anything is.
    pub(crate) fn is_asked(self) -> Signal<Option<()>> {
        Signal::derive(move || self.what.with(Option::is_some).then_some(()))
    }
}

/// The question. It stays where what it asks about is refused, and says why.
#[component]
pub(crate) fn AskAbout<R>(
    opener: Opener,
    asked: Signal<Option<()>>,
    /// What does it.
    to: Sending<R>,
    #[prop(into)] title: Signal<String>,
    #[prop(into)] words: Signal<String>,
    /// What the button that does it says.
    #[prop(into)]
    act: Signal<String>,
    /// What it is about, as the form says it.
    children: Children,
) -> impl IntoView
where
    R: Clone + DeserializeOwned + Send + Sync + 'static,
{
    Effect::new(move |_| {
        // It was asked for before it was there.
        if opener.0.get().is_some() && asked.get_untracked().is_some() {
            opener.open();
        }
    });
    Effect::new(move |_| {
        if to.value().with(|answer| matches!(answer, Some(Ok(_)))) {
            opener.close();
        }
    });
    let refused = to.refused();
    // What was refused, or typed, says nothing of what is asked about next.
    let forget = move |_| {
        if refused.with_untracked(Option::is_some) {
            to.clear();
        }
        empty(opener);
    };
    view! {
        <dialog class="dialog" node_ref=opener.0 aria-label=move || title.get() on:close=forget>
            <h2 class="dialog__title">{move || title.get()}</h2>
            <p class="dialog__text">{move || words.get()}</p>
            <SendForm to=to>
                {children()}
                <FormAnswer answer=refused done=text(|_| "")/>
                <div class="dialog__actions">
                    <button type="button" class="button" on:click=move |_| opener.close()>
                        {tr(|t| t.common.cancel)}
                    </button>
                    <button type="submit" class="button button--danger">{move || act.get()}</button>
                </div>
            </SendForm>
        </dialog>
    }
    .into_any()
}

/// Takes what was typed out of the form.
fn empty(opener: Opener) {
    let dialog = opener.0.get_untracked();
    let form = dialog.and_then(|dialog| dialog.query_selector("form").ok().flatten());
    if let Some(form) = form.and_then(|form| form.dyn_into::<HtmlFormElement>().ok()) {
        form.reset();
    }
}
