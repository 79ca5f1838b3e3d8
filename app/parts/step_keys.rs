//! `[` and `]` go to the task before and after the chosen one where a page has tasks to choose from, and
//! else to the page before and after of a list.

use leptos::prelude::document;
use wasm_bindgen::JsCast;
use web_sys::{Event, EventInit, HtmlElement, HtmlSelectElement};

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Way {
    Back,
    On,
}

fn way(key: &str) -> Option<Way> {
    match key {
        "[" => Some(Way::Back),
        "]" => Some(Way::On),
        _other => None,
    }
}

/// Does what a key means.
pub(crate) fn press(key: &str) {
    let Some(way) = way(key) else { return };
    match found::<HtmlSelectElement>("select[data-tasks]") {
        Some(tasks) => choose(&tasks, way),
        None => follow(way),
    }
}

fn found<T: JsCast>(selector: &str) -> Option<T> {
    document().query_selector(selector).ok()??.dyn_into().ok()
}

/// Chooses, and tells whoever listens, as the browser does for a hand.
fn choose(tasks: &HtmlSelectElement, way: Way) {
    let Some(next) = beside(tasks.selected_index(), tasks.length(), way) else { return };
    tasks.set_selected_index(next);
    let options = EventInit::new();
    options.set_bubbles(true);
    if let Ok(event) = Event::new_with_event_init_dict("change", &options) {
        // Whether somebody prevented what would follow is no matter: nothing does.
        let _ = tasks.dispatch_event(&event);
    }
}

/// The place before or after, where there is one.
fn beside(at: i32, count: u32, way: Way) -> Option<i32> {
    let next = match way {
        Way::Back => at - 1,
        Way::On => at + 1,
    };
    u32::try_from(next).is_ok_and(|next| next < count).then_some(next)
}

fn follow(way: Way) {
    let link = match way {
        Way::Back => ".pagination a[rel=prev]",
        Way::On => ".pagination a[rel=next]",
    };
    if let Some(link) = found::<HtmlElement>(link) {
        link.click();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_first_has_none_before_and_the_last_none_after() {
        assert_eq!((beside(0, 3, Way::Back), beside(2, 3, Way::On)), (None, None));
        assert_eq!((beside(1, 3, Way::Back), beside(1, 3, Way::On)), (Some(0), Some(2)));
        assert_eq!(beside(-1, 0, Way::On), None, "there is nothing to choose");
    }

    #[test]
    fn brackets_alone_step() {
        assert_eq!((way("["), way("]"), way("j")), (Some(Way::Back), Some(Way::On), None));
    }
}
