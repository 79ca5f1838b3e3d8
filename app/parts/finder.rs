//! What finds pages, jobs and nodes by what they are called, wherever one is.

mod dialog;

use leptos::prelude::*;

use crate::i18n::tr;
use crate::part::{MakeView, opened};
use crate::parts::confirm::Opener;
use dialog::FinderDialog;

/// Whether it is asked for. There is one on the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Finder {
    /// Whether its code is needed.
    asked: RwSignal<bool>,
    opener: Opener,
}

impl Finder {
    pub(crate) fn provide() -> Self {
        let finder = Self { asked: RwSignal::new(false), opener: Opener::new() };
        provide_context(finder);
        finder
    }

    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Opens it, as soon as it is there.
    pub(crate) fn ask(self) {
        self.asked.set(true);
        self.opener.open();
    }
}

/// The way to it for who does not know its keys.
#[component]
pub(crate) fn FinderButton() -> impl IntoView {
    let finder = Finder::get();
    view! {
        <button
            type="button"
            class="button button--quiet top__find"
            aria-keyshortcuts="Control+K Meta+K"
            on:click=move |_| finder.ask()
        >
            {tr(|t| t.nav.find)} " "
            <kbd class="keys">"Ctrl K"</kbd>
        </button>
    }
}

/// Where it is, from when it is asked for the first time.
#[component]
pub(crate) fn FinderPlace() -> impl IntoView {
    let finder = Finder::get();
    let asked = Signal::derive(move || finder.asked.get().then_some(()));
    let made = opened(asked, |()| finder_dialog());
    view! { {move || made.get().map(|made: MakeView| made())} }
}

#[lazy]
fn finder_dialog() -> MakeView {
    || view! { <FinderDialog/> }.into_any()
}
