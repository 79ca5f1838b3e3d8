//! What says what each key does, wherever one is.

mod dialog;

use leptos::prelude::*;

use crate::part::opened;
use crate::parts::confirm::Opener;
use dialog::KeyListDialog;

/// Whether it is asked for. There is one on the page.
#[derive(Debug, Clone, Copy)]
pub(crate) struct KeyList {
    /// Whether its code is needed.
    asked: RwSignal<bool>,
    opener: Opener,
}

impl KeyList {
    pub(crate) fn provide() -> Self {
        let list = Self { asked: RwSignal::new(false), opener: Opener::new() };
        provide_context(list);
        list
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

/// Makes it.
type MakeList = fn(Opener) -> AnyView;

/// Where it is, from when it is asked for the first time.
#[component]
pub(crate) fn KeyListPlace() -> impl IntoView {
    let list = KeyList::get();
    let asked = Signal::derive(move || list.asked.get().then_some(()));
    let made = opened(asked, |()| key_list());
    view! { {move || made.get().map(|made: MakeList| made(list.opener))} }
}

#[lazy]
fn key_list() -> MakeList {
    |opener| view! { <KeyListDialog opener=opener/> }.into_any()
}
