//! Single keys: `g` and a letter go to a page, `/` goes to the filter, or finds pages, jobs and nodes where a
//! page has none, `?` says what each key does. They are silent while somebody types, while an input method
//! composes and where they are turned off. Ctrl or ⌘ with K finds from there, too. Those of a list of jobs are
//! in `row_keys`, those that go to what is before and after in `step_keys`.

use std::cell::Cell;

use leptos::ev;
use leptos::prelude::*;
use leptos_router::NavigateOptions;
use leptos_router::hooks::use_navigate;
use wasm_bindgen::JsCast;

use crate::parts::finder::Finder;
use crate::parts::key_list::KeyList;
use crate::parts::{row_keys, single_keys, step_keys};

/// A second key counts for so long after the first, in milliseconds.
const CHORD_MILLIS: i64 = 1500;

/// What a key press means.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Meaning {
    /// Nothing of ours.
    Nothing,
    /// The first key of two.
    Prefix,
    /// Go to the page.
    Go(&'static str),
    /// Put the cursor into the page's filter.
    Filter,
    /// Say what each key does.
    Keys,
}

fn meaning(key: &str, after_prefix: bool) -> Meaning {
    match (after_prefix, key) {
        (false, "g") => Meaning::Prefix,
        (false, "/") => Meaning::Filter,
        (false, "?") => Meaning::Keys,
        (true, "h") => Meaning::Go("/"),
        (true, "j") => Meaning::Go("/jobs"),
        (true, "s") => Meaning::Go("/submit"),
        (true, "n") => Meaning::Go("/nodes"),
        (true, "v") => Meaning::Go("/clusters"),
        (true, "p") => Meaning::Go("/profile"),
        (true | false, _other) => Meaning::Nothing,
    }
}

/// Listens to the keys of the whole page.
pub(crate) fn listen(finder: Finder, list: KeyList) {
    let navigate = use_navigate();
    Effect::new(move |_| {
        let navigate = navigate.clone();
        let prefixed_at = Cell::new(0_i64);
        let handle = window_event_listener(ev::keydown, move |event| {
            if asks_to_find(&event) {
                event.prevent_default();
                finder.ask();
            }
            if are_silent(&event) {
                return;
            }
            let now = crate::edge::now().0;
            let after_prefix = now - prefixed_at.get() < CHORD_MILLIS;
            prefixed_at.set(0);
            match meaning(&event.key(), after_prefix) {
                Meaning::Nothing if after_prefix => {}
                Meaning::Nothing => {
                    step_keys::press(&event.key());
                    row_keys::press(&event.key(), |address| {
                        navigate(address, NavigateOptions::default());
                    });
                }
                Meaning::Prefix => prefixed_at.set(now),
                Meaning::Go(page) => navigate(page, NavigateOptions::default()),
                Meaning::Filter => {
                    event.prevent_default();
                    if !focus_filter() {
                        finder.ask();
                    }
                }
                Meaning::Keys => {
                    event.prevent_default();
                    list.ask();
                }
            }
        });
        on_cleanup(move || handle.remove());
    });
}

/// Whether Ctrl or ⌘ is held with K, but where a terminal or an editor has its own use for it.
fn asks_to_find(event: &web_sys::KeyboardEvent) -> bool {
    let held = event.ctrl_key() || event.meta_key();
    if !held || event.alt_key() || event.shift_key() || !event.key().eq_ignore_ascii_case("k") {
        return false;
    }
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::Element>().ok());
    let inside = target.and_then(|target| target.closest(".xterm, .monaco-editor").ok().flatten());
    inside.is_none()
}

/// Whether single keys do nothing: where they are turned off, and where they are meant for something else.
pub(crate) fn are_silent(event: &web_sys::KeyboardEvent) -> bool {
    is_typing(event) || !single_keys::are_on()
}

/// Whether a key is meant for a field, or for the browser. Some keyboards have `[` and `]` by AltGr alone, which
/// systems tell as Ctrl with Alt.
fn is_typing(event: &web_sys::KeyboardEvent) -> bool {
    let held = event.ctrl_key() || event.meta_key() || event.alt_key();
    if event.is_composing() || held && !event.get_modifier_state("AltGraph") {
        return true;
    }
    let target = event.target().and_then(|target| target.dyn_into::<web_sys::HtmlElement>().ok());
    target.is_some_and(|element| {
        element.is_content_editable()
            || matches!(element.tag_name().as_str(), "INPUT" | "TEXTAREA" | "SELECT")
            || element.closest("dialog").ok().flatten().is_some()
    })
}

/// `false` where the page has no filter.
fn focus_filter() -> bool {
    let filter = document().query_selector("[data-filter]").ok().flatten();
    let filter = filter.and_then(|found| found.dyn_into::<web_sys::HtmlElement>().ok());
    // An element that cannot take the focus leaves it where it is.
    filter.is_some_and(|filter| filter.focus().is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_keys_go_to_a_page() {
        assert_eq!(meaning("g", false), Meaning::Prefix);
        assert_eq!(meaning("j", true), Meaning::Go("/jobs"));
        assert_eq!(meaning("j", false), Meaning::Nothing);
        assert_eq!(meaning("/", false), Meaning::Filter);
        assert_eq!(meaning("?", false), Meaning::Keys);
        assert_eq!(meaning("x", true), Meaning::Nothing);
    }
}
