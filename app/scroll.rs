//! Back and forward find a page where it was left. The browser tries so itself, but at a moment
//! when what the page shows is not there again yet.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use leptos::ev;
use leptos::prelude::*;

use crate::edge;

/// How many addresses are remembered: those that were scrolled last.
const REMEMBERED: usize = 200;

/// So long it is waited for what the page shows, in milliseconds.
const PATIENCE: i64 = 5_000;

/// So long after a click nothing is remembered: the page that is left may already be shorter.
const LEAVING: i64 = 1_000;

/// Where pages were left, and where the present one is to be.
#[derive(Debug, Default)]
struct Places {
    /// The one that was scrolled last is the last one.
    left: RefCell<VecDeque<(String, f64)>>,
    wanted: Cell<Option<Wanted>>,
    clicked_at: Cell<i64>,
}

/// A place to go to, and until when that is tried.
#[derive(Debug, Clone, Copy)]
struct Wanted {
    top: f64,
    until: i64,
}

impl Places {
    fn remember(&self, address: String, top: f64) {
        let mut left = self.left.borrow_mut();
        left.retain(|(known, _)| *known != address);
        left.push_back((address, top));
        if left.len() > REMEMBERED {
            left.pop_front();
        }
    }

    fn find(&self, address: &str) -> Option<f64> {
        let left = self.left.borrow();
        let found = left.iter().find(|(known, _)| known == address);
        found.map(|(_, top)| *top).filter(|top| *top > 0.0)
    }
}

/// Remembers and restores, as long as the application lives.
pub(crate) fn keep() {
    Effect::new(move |_| {
        let places = Rc::new(Places::default());
        let of_click = Rc::clone(&places);
        let clicked = window_event_listener(ev::click, move |_| {
            of_click.clicked_at.set(edge::now().0);
        });
        let of_scroll = Rc::clone(&places);
        let scrolled = window_event_listener(ev::scroll, move |_| {
            let leaving = edge::now().0 - of_scroll.clicked_at.get() < LEAVING;
            if let (None, false, Some((address, top))) = (of_scroll.wanted.get(), leaving, here()) {
                of_scroll.remember(address, top);
            }
        });
        let of_back = Rc::clone(&places);
        let back = window_event_listener(ev::popstate, move |_| {
            let top = here().and_then(|(address, _)| of_back.find(&address));
            let until = edge::now().0 + PATIENCE;
            of_back.wanted.set(top.map(|top| Wanted { top, until }));
            restore(Rc::clone(&of_back));
        });
        // Whoever scrolls or types knows better.
        let (of_wheel, of_key) = (Rc::clone(&places), places);
        let wheel = window_event_listener(ev::wheel, move |_| of_wheel.wanted.set(None));
        let key = window_event_listener(ev::keydown, move |_| of_key.wanted.set(None));
        on_cleanup(move || {
            for handle in [clicked, scrolled, back, wheel, key] {
                handle.remove();
            }
        });
    });
}

/// Goes to the wanted place once the page is long enough for it.
fn restore(places: Rc<Places>) {
    let Some(Wanted { top, until }) = places.wanted.get() else { return };
    let height = window().inner_height().ok().and_then(|height| height.as_f64());
    let length = document().document_element().map(|root| f64::from(root.scroll_height()));
    let long_enough = length.zip(height).is_some_and(|(length, height)| length >= top + height);
    if long_enough {
        window().scroll_to_with_x_and_y(0.0, top);
    }
    if long_enough || edge::now().0 > until {
        places.wanted.set(None);
    } else {
        request_animation_frame(move || restore(places));
    }
}

/// The page's address and how far it is scrolled.
fn here() -> Option<(String, f64)> {
    Some((window().location().href().ok()?, window().scroll_y().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_pages_that_were_scrolled_last_are_remembered() {
        let places = Places::default();
        let page = |number: usize| format!("/{:04}", 9_999 - number);
        for number in 0..REMEMBERED {
            places.remember(page(number), 7.0);
        }
        places.remember(page(0), 8.0);
        assert_eq!(places.left.borrow().len(), REMEMBERED);
        for number in REMEMBERED..REMEMBERED + 9 {
            places.remember(page(number), 7.0);
        }
        assert_eq!(places.left.borrow().len(), REMEMBERED);
        assert_eq!(places.find(&page(0)), Some(8.0), "it was scrolled again");
        assert_eq!((places.find(&page(9)), places.find(&page(10))), (None, Some(7.0)));
        assert_eq!(places.find(&page(REMEMBERED + 8)), Some(7.0));
        places.remember(page(REMEMBERED + 8), 0.0);
        assert_eq!(places.find(&page(REMEMBERED + 8)), None);
    }
}
