//! Where drafts are kept: this tab's in what the browser keeps for the tab, which outlives a reload;
//! a copy of it where other tabs, and later ones, find it.

use leptos::prelude::window;
use web_sys::Storage;

use crate::json::from_json;
use crate::pages::submit::draft::record::{Draft, Offer, Unmade};

/// All drafts are found under names that begin so, whosever they are.
const ALL: &str = "berth:draft:";
/// What a tab is left with before all changes were made in it.
const LEFT: &str = "berth:left:";
/// So many copies are kept in a browser, the newest.
const MOST: usize = 20;

/// The drafts of one page, as one tab has them.
#[derive(Debug, Clone)]
pub(super) struct Store {
    /// The tab's own draft.
    own: String,
    /// Copies of all tabs begin so.
    copies: String,
    /// What this tab is known by while the page lives.
    tab: String,
}

impl Store {
    pub(super) fn open(page: &str) -> Self {
        let own = format!("{ALL}{page}");
        Self { copies: format!("{own}:"), own, tab: number() }
    }

    /// This tab's draft of before the reload.
    pub(super) fn own(&self) -> Option<Draft> {
        read(&of_tab()?, &self.own)
    }

    pub(super) fn save(&self, draft: &Draft) {
        let Ok(text) = serde_json::to_string(draft) else { return };
        for (storage, name) in [(of_tab(), self.own.clone()), (of_browser(), self.copy())] {
            // A storage that is full or forbidden keeps no drafts; the page works without.
            let _ = storage.map(|storage| storage.set_item(&name, &text));
        }
    }

    pub(super) fn forget(&self) {
        for (storage, name) in [(of_tab(), self.own.clone()), (of_browser(), self.copy())] {
            // What cannot be removed is the oldest some day, and removed then.
            let _ = storage.map(|storage| storage.remove_item(&name));
        }
    }

    /// Leaves a draft as if a tab of its own had it.
    pub(super) fn part_with(&self, draft: &Draft) {
        Self { tab: number(), ..self.clone() }.keep_copy(draft);
    }

    fn keep_copy(&self, draft: &Draft) {
        if let (Some(storage), Ok(text)) = (of_browser(), serde_json::to_string(draft)) {
            // A storage that is full keeps no more drafts.
            let _ = storage.set_item(&self.copy(), &text);
        }
    }

    fn copy(&self) -> String {
        format!("{}{}", self.copies, self.tab)
    }

    /// What other tabs have written here.
    pub(super) fn others(&self) -> Vec<Offer> {
        let Some(storage) = of_browser() else { return Vec::new() };
        let of_page = names(&storage).into_iter();
        let others = of_page.filter_map(|name| {
            let tab = name.strip_prefix(&self.copies).filter(|tab| *tab != self.tab)?;
            Some(Offer { tab: tab.to_owned(), draft: read(&storage, &name)? })
        });
        others.collect()
    }

    /// Removes the copy of another tab.
    pub(super) fn remove(&self, tab: &str) {
        if let Some(storage) = of_browser() {
            // It is offered again, at worst.
            let _ = storage.remove_item(&format!("{}{tab}", self.copies));
        }
    }

    /// Removes copies that say what this tab's draft says, which are this tab's of before, and the
    /// oldest where there are too many.
    pub(super) fn tidy(&self, own: Option<&Draft>) {
        let same = |other: &Offer| own.is_some_and(|own| own.text == other.draft.text);
        for other in self.others().iter().filter(|other| same(other)) {
            self.remove(&other.tab);
        }
        let Some(storage) = of_browser() else { return };
        let dated = |name: String| (read(&storage, &name).map(|draft| draft.at), name);
        let mut all: Vec<_> = names(&storage).into_iter().map(dated).collect();
        while all.len() > MOST
            && let Some(oldest) = (0..all.len()).min_by_key(|at| &all[*at])
        {
            // It is the oldest the next time.
            let _ = storage.remove_item(&all.swap_remove(oldest).1);
        }
    }
}

/// What this tab was left with before all changes were made in it, as it was kept.
pub(super) fn left(page: &str) -> Option<String> {
    of_tab()?.get_item(&format!("{LEFT}{page}")).ok().flatten()
}

/// Keeps a text with changes that cannot be made yet: whoever leaves the page finds them made.
pub(super) fn leave(page: &str, unmade: &Unmade) {
    if let (Some(storage), Ok(text)) = (of_tab(), serde_json::to_string(unmade)) {
        // A storage that is full or forbidden keeps nothing; the page works without.
        let _ = storage.set_item(&format!("{LEFT}{page}"), &text);
    }
}

/// All changes have been made.
pub(super) fn forget_left(page: &str) {
    if let Some(storage) = of_tab() {
        // They would be made once more, at worst.
        let _ = storage.remove_item(&format!("{LEFT}{page}"));
    }
}

fn read(storage: &Storage, name: &str) -> Option<Draft> {
    from_json(&storage.get_item(name).ok().flatten()?).ok()
}

/// The names of all drafts in a storage.
fn names(storage: &Storage) -> Vec<String> {
    let count = storage.length().unwrap_or_default();
    let names = (0..count).filter_map(|index| storage.key(index).ok().flatten());
    names.filter(|name| name.starts_with(ALL)).collect()
}

fn of_tab() -> Option<Storage> {
    window().session_storage().ok().flatten()
}

fn of_browser() -> Option<Storage> {
    window().local_storage().ok().flatten()
}

/// A number that no other tab has.
fn number() -> String {
    js_sys::Math::random().to_bits().to_string()
}
