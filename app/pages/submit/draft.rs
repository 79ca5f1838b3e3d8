//! The text that was written and not submitted, kept in the browser over a reload.

use leptos::prelude::*;
use leptos_router::hooks::use_query_map;

use crate::pages::submit::state::{Editing, Notice};
use crate::session::Session;

/// Restores the draft of this page, then keeps it up to date. Each clone and each template has a
/// draft of its own; it goes when the job is submitted.
pub(crate) fn keep(editing: Editing) {
    let query = use_query_map();
    let part = move |name: &str| query.read_untracked().get(name).unwrap_or_default();
    let key = format!(
        "berth:draft:{}:{}:{}",
        Session::get().user_name(),
        part("clone"),
        part("template")
    );
    let refused = !part("text").is_empty();
    let key = StoredValue::new(key);
    Effect::new(move |first: Option<()>| {
        if first.is_none() && !refused {
            restore(editing, &key.get_value());
        }
        let text = editing.text.get();
        let is_draft = editing.opened.with_value(|opened| *opened != text);
        store(&key.get_value(), is_draft.then_some(text));
    });
    Effect::new(move |_| {
        if let Some(Ok(_)) = &*editing.submit.value().read() {
            store(&key.get_value(), None);
        }
    });
}

/// Takes the page's own text again.
pub(crate) fn discard(editing: Editing) {
    editing.text.set(editing.opened.get_value());
    editing.notice.set(None);
}

fn restore(editing: Editing, key: &str) {
    let draft = storage().and_then(|storage| storage.get_item(key).ok().flatten());
    if let Some(draft) = draft
        && editing.opened.with_value(|opened| *opened != draft)
    {
        editing.text.set(draft);
        editing.notice.set(Some(Notice::DraftRestored));
    }
}

fn store(key: &str, draft: Option<String>) {
    let Some(storage) = storage() else { return };
    // A storage that is full or forbidden keeps no drafts; the page works without.
    let _ = match draft {
        Some(draft) => storage.set_item(key, &draft),
        None => storage.remove_item(key),
    };
}

fn storage() -> Option<web_sys::Storage> {
    window().local_storage().ok().flatten()
}
