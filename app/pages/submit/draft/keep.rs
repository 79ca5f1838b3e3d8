//! How the page's text and what is kept of it follow each other.

use leptos::ev;
use leptos::prelude::*;
use leptos_router::hooks::use_query_map;
use protocol::time::Timestamp;

use crate::edge;
use crate::live::Alive;
use crate::pages::submit::draft::Drafts;
use crate::pages::submit::draft::record::{Draft, Offer};
use crate::pages::submit::draft::store::Store;
use crate::pages::submit::state::{Editing, Notice};

impl Drafts {
    /// Restores this tab's draft, then keeps it up to date; it goes when the job is submitted.
    pub(crate) fn keep(self, editing: Editing) {
        let refused = !use_query_map().read_untracked().get("text").unwrap_or_default().is_empty();
        let alive = use_context::<Alive>();
        Effect::new(move |begun: Option<bool>| {
            if begun != Some(true) {
                // What was typed into the page before is in its fields again, and in the text, by then.
                if !alive.as_ref().is_none_or(|alive| alive.0.get()) || editing.waits() {
                    return false;
                }
                if self.left().is_some() && !editing.can_change() {
                    editing.fetch_engine();
                    return false;
                }
                self.begin(editing, refused);
            }
            self.save(editing, &editing.text.read());
            true
        });
        Effect::new(move |_| {
            if let Some(Ok(_)) = &*editing.submit.value().read() {
                self.forget();
            }
        });
        self.watch_others(editing);
    }

    fn begin(self, editing: Editing, refused: bool) {
        let store = Store::open(&self.page.get_value());
        let left = self.left().and_then(|left| editing.made(&left));
        self.all_made();
        let text = editing.text.get_untracked();
        let is_fresh = !refused && editing.opened.with_value(|opened| *opened == text);
        let own = left.or_else(|| store.own()).filter(|own| own.text != text);
        match own.filter(|own| editing.opened.with_value(|opened| *opened != own.text)) {
            Some(own) if is_fresh => {
                store.tidy(Some(&own));
                self.since.set_value(Some(own.at));
                self.own.set_value(Some(own.clone()));
                editing.text.set(own.text);
                editing.notice.set(Some(Notice::DraftRestored));
            }
            Some(own) => {
                // Another text is here already, such as what was typed before: both stay.
                store.tidy(Some(&own));
                store.part_with(&own);
            }
            None => store.tidy(None),
        }
        self.store.set_value(Some(store));
        self.look(editing);
    }

    fn save(self, editing: Editing, text: &str) {
        let is_draft = editing.opened.with_value(|opened| *opened != text);
        if !is_draft {
            self.forget();
        } else if !self.own.with_value(|own| own.as_ref().is_some_and(|own| own.text == text)) {
            self.own.set_value(Some(Draft { text: text.to_owned(), at: edge::now() }));
        }
        self.own.with_value(|own| {
            if let Some(own) = own {
                self.with(|store| store.save(own));
            }
        });
    }

    /// Looks for a text of another tab that is newer than what this one began with.
    fn look(self, editing: Editing) {
        let others = self.with(Store::others).unwrap_or_default();
        let text = editing.text.get_untracked();
        let opened = editing.opened.get_value();
        let since = self.since.get_value();
        let declined = self.declined.get_value();
        let newest = newest(others, since, &[&text, &opened], &declined);
        if self.offer.get_untracked() != newest {
            self.offer.set(newest);
        }
    }

    fn watch_others(self, editing: Editing) {
        Effect::new(move |_| {
            let heard = window_event_listener(ev::storage, move |_| self.look(editing));
            on_cleanup(move || heard.remove());
        });
    }

    /// Takes the other tab's text; the one before comes back by a click.
    pub(crate) fn take(self, editing: Editing) {
        let Some(offer) = self.offer.get_untracked() else { return };
        let before = editing.text.get_untracked();
        self.with(|store| store.remove(&offer.tab));
        self.offer.set(None);
        editing.text.set(offer.draft.text);
        editing.notice.set(Some(Notice::DraftTaken { before }));
    }
}

/// Takes the page's own text again.
pub(crate) fn discard(editing: Editing) {
    editing.text.set(editing.opened.get_value());
    editing.notice.set(None);
}

/// The newest draft of another tab that is later than a moment and says something else.
fn newest(
    others: Vec<Offer>,
    since: Option<Timestamp>,
    known: &[&String],
    declined: &[String],
) -> Option<Offer> {
    others
        .into_iter()
        .filter(|other| !declined.contains(&other.tab) && !known.contains(&&other.draft.text))
        .filter(|other| since.is_none_or(|since| other.draft.at > since))
        .max_by_key(|other| other.draft.at)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offer(tab: &str, text: &str, at: i64) -> Offer {
        Offer { tab: tab.to_owned(), draft: Draft { text: text.to_owned(), at: Timestamp(at) } }
    }

    #[test]
    fn the_newest_other_text_is_offered() {
        let others = vec![offer("a", "one", 10), offer("b", "two", 20), offer("c", "mine", 30)];
        let mine = "mine".to_owned();
        let found = |since, declined: &[String]| {
            newest(others.clone(), since, &[&mine], declined).map(|offer| offer.tab)
        };
        assert_eq!(found(None, &[]).as_deref(), Some("b"));
        assert_eq!(found(None, &["b".to_owned()]).as_deref(), Some("a"));
        assert_eq!(found(Some(Timestamp(15)), &[]).as_deref(), Some("b"));
        assert_eq!(found(Some(Timestamp(20)), &[]), None);
    }
}
