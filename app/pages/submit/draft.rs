//! The text that was written and not submitted. Each tab keeps its own over a reload; what is kept
//! of other tabs, open or closed, is offered and never taken without a word.

pub(super) mod keep;
pub(super) mod record;
mod store;

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::time::Timestamp;

use crate::document::Edit;
use crate::edge;
use crate::pages::submit::draft::record::{Draft, Offer, Unmade};
use crate::pages::submit::draft::store::Store;
use crate::session::Session;

/// What is kept of this page, and what of it has been said no to.
#[derive(Clone, Copy)]
pub(crate) struct Drafts {
    page: StoredValue<String>,
    /// The browser alone has one.
    store: StoredValue<Option<Store>>,
    own: StoredValue<Option<Draft>>,
    /// What this tab was left with before all changes were made in it, once that is known.
    left: StoredValue<Option<Option<String>>>,
    /// From when the draft was that this tab began with.
    since: StoredValue<Option<Timestamp>>,
    declined: StoredValue<Vec<String>>,
    pub(crate) offer: RwSignal<Option<Offer>>,
}

impl Drafts {
    /// Each clone and each template has drafts of its own.
    pub(crate) fn of_page() -> Self {
        let query = use_query_map();
        let part = move |name: &str| query.read_untracked().get(name).unwrap_or_default();
        let user = Session::get().user_name();
        let page = format!("{user}:{}:{}", part("clone"), part("template"));
        Self {
            page: StoredValue::new(page),
            store: StoredValue::new(None),
            own: StoredValue::new(None),
            left: StoredValue::new(None),
            since: StoredValue::new(None),
            declined: StoredValue::new(Vec::new()),
            offer: RwSignal::new(None),
        }
    }

    /// What this tab was left with, as it was kept. What is kept now does not change it.
    fn left(self) -> Option<String> {
        if let Some(left) = self.left.get_value() {
            return left;
        }
        let left = self.page.with_value(|page| store::left(page));
        self.left.set_value(Some(left.clone()));
        left
    }

    /// Keeps changes that cannot be made yet.
    pub(crate) fn leave(self, text: &str, edits: Vec<Vec<Edit>>) {
        self.left();
        let draft = Draft { text: text.to_owned(), at: edge::now() };
        self.page.with_value(|page| store::leave(page, &Unmade { draft, edits }));
    }

    /// No changes wait any more.
    pub(crate) fn all_made(self) {
        self.page.with_value(|page| store::forget_left(page));
    }

    fn with<T>(self, act: impl FnOnce(&Store) -> T) -> Option<T> {
        self.store.try_with_value(|store| store.as_ref().map(act)).flatten()
    }

    fn forget(self) {
        self.own.set_value(None);
        self.with(Store::forget);
    }

    /// Leaves the other tab's text where it is.
    pub(crate) fn decline(self) {
        if let Some(offer) = self.offer.get_untracked() {
            self.declined.update_value(|declined| declined.push(offer.tab));
            self.offer.set(None);
        }
    }
}
