//! What a log's view knows: the lines at hand, where it is scrolled to, what is marked.

use std::cell::Cell;
use std::rc::Rc;

use api::logs::{LogPlace, LogWindow, TaskRef, WindowAsk};
use leptos::html::Div;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use wasm_bindgen::closure::Closure;
use web_sys::{AbortController, AbortSignal, ResizeObserver};

use crate::edge;
use crate::looked::looked_at;
use crate::pages::job::log_fetch;
use crate::pages::job::log_lines::Lines;
use crate::pages::job::log_scroll::{LINE, Port, rows, whole};

/// So many lines are read at a time.
pub(crate) const WINDOW: u32 = 200;
/// News are asked for so often at most, in milliseconds: less than once a second, which leaves room for what
/// else the page asks.
const PACE: i32 = 1_200;
/// After a failure it is asked again, in milliseconds.
const AGAIN: i32 = 2_000;

/// A view of a log.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LogState {
    pub(crate) task: StoredValue<TaskRef>,
    pub(crate) lines: RwSignal<Lines>,
    /// The first row that is seen; a part of it may be scrolled away.
    pub(crate) top: RwSignal<f64>,
    /// The height of the window, in pixels; 0: there is none yet.
    pub(crate) height: RwSignal<f64>,
    pub(crate) follow: RwSignal<bool>,
    /// Whether the connection is broken.
    pub(crate) lost: RwSignal<bool>,
    /// Lines in which something was found, in their order.
    pub(crate) hits: RwSignal<Vec<u64>>,
    /// The one that is looked at.
    pub(crate) hit: RwSignal<Option<u64>>,
    pub(crate) element: NodeRef<Div>,
    /// How far it was scrolled by us: the event of it says nothing new.
    scrolled: StoredValue<i32>,
    loading: StoredValue<bool>,
}

impl LogState {
    /// A view that begins with some lines.
    pub(crate) fn new(task: TaskRef, first: LogWindow, follow: bool) -> Self {
        let mut lines = Lines::default();
        lines.take(first);
        Self {
            task: StoredValue::new(task),
            lines: RwSignal::new(lines),
            top: RwSignal::new(0.0),
            height: RwSignal::new(0.0),
            follow: RwSignal::new(follow),
            lost: RwSignal::new(false),
            hits: RwSignal::new(Vec::new()),
            hit: RwSignal::new(None),
            element: NodeRef::new(),
            scrolled: StoredValue::new(0),
            loading: StoredValue::new(false),
        }
    }

    /// Whether a script runs, so that only what is seen needs to be in the page.
    pub(crate) fn is_alive(self) -> bool {
        self.height.get() > 0.0
    }

    pub(crate) fn port(self) -> Port {
        Port { rows: rows(self.lines.with(Lines::rows)), height: self.height.get() }
    }

    /// The same at this moment, for what happens in answer to an event.
    pub(crate) fn port_now(self) -> Port {
        untrack(|| self.port())
    }

    /// Scrolls to a row.
    pub(crate) fn go(self, top: f64) {
        self.measure();
        let port = self.port_now();
        let top = port.clamp(top);
        self.top.set(top);
        let Some(element) = self.element.get_untracked() else { return };
        #[expect(clippy::cast_possible_truncation, reason = "it is below the tallest window")]
        let scrolled = port.scrolled(top).round() as i32;
        self.scrolled.set_value(scrolled);
        element.set_scroll_top(scrolled);
    }

    /// Scrolls by some rows.
    pub(crate) fn go_by(self, rows: f64) {
        self.go(self.top.get_untracked() + rows);
        self.follow.set(self.is_at_end());
    }

    pub(crate) fn go_to_end(self) {
        self.go(self.port_now().last_top());
    }

    /// Shows a line, in the middle unless it is seen already.
    pub(crate) fn show(self, number: u64) {
        let port = self.port_now();
        let row = rows(self.lines.with_untracked(|lines| lines.row_of(number)));
        let seen = port.height / LINE;
        let top = self.top.get_untracked();
        if row < top || row + 1.0 > top + seen {
            self.follow.set(false);
            self.go(row - (seen / 2.0).floor());
        }
    }

    /// What the window says of itself: it was scrolled, or has another size.
    pub(crate) fn scrolled_by_hand(self) {
        let Some(element) = self.element.get_untracked() else { return };
        self.measure();
        let scrolled = element.scroll_top();
        if (scrolled - self.scrolled.get_value()).abs() <= 1 {
            return;
        }
        self.scrolled.set_value(scrolled);
        self.top.set(self.port_now().top(f64::from(scrolled)));
        self.follow.set(self.is_at_end());
    }

    /// Measures the window as soon as it is there, which may be later than all else of the page, and
    /// whenever its size changes.
    pub(crate) fn keep_measured(self) {
        Effect::new(move |_| {
            let Some(element) = self.element.get() else { return };
            let changed = Closure::<dyn FnMut()>::new(move || {
                if self.height.try_get_untracked().is_some() {
                    self.measure();
                }
            });
            let Ok(observer) = ResizeObserver::new(changed.as_ref().unchecked_ref()) else {
                return;
            };
            observer.observe(&element);
            let kept = SendWrapper::new((observer, changed));
            on_cleanup(move || kept.0.disconnect());
        });
    }

    pub(crate) fn measure(self) {
        let Some(element) = self.element.get_untracked() else { return };
        let height = f64::from(element.client_height());
        if (height - self.height.get_untracked()).abs() > 0.5 {
            self.height.set(height);
        }
    }

    fn is_at_end(self) -> bool {
        self.top.get_untracked() + 1.0 >= self.port_now().last_top()
    }

    /// Begins to ask for news and for what is seen, until the page is left.
    pub(crate) fn come_alive(self) {
        Effect::new(move |_| {
            let Ok(abort) = AbortController::new() else { return };
            let open = Open { alive: Rc::new(Cell::new(true)), signal: abort.signal() };
            let ended = SendWrapper::new((abort, Rc::clone(&open.alive)));
            on_cleanup(move || {
                ended.1.set(false);
                ended.0.abort();
            });
            leptos::task::spawn_local(news(self, open.clone()));
            let open = SendWrapper::new(open);
            Effect::new(move |_| {
                let (top, port) = (whole(self.top.get()), self.port());
                self.lines.track();
                if port.height > 0.0 {
                    load(self, (top, port.seen()), &open);
                }
            });
        });
    }
}

/// Whether the page is still there, and what ends its requests when it is not.
#[derive(Debug, Clone)]
struct Open {
    alive: Rc<Cell<bool>>,
    signal: AbortSignal,
}

/// Asks for news until there can be none, while somebody looks.
async fn news(state: LogState, open: Open) {
    let task = state.task.get_value();
    loop {
        looked_at().await;
        if !open.alive.get() || state.lines.with_untracked(|lines| lines.complete) {
            return;
        }
        let begun = edge::now();
        let (reading, total, bytes) =
            state.lines.with_untracked(|lines| (lines.reading, lines.total, lines.bytes));
        let at_end = reading || total == 0 || state.follow.get_untracked();
        let place = if at_end { LogPlace::End } else { LogPlace::From(total) };
        let count = if at_end { WINDOW / 2 } else { 1 };
        let ask = WindowAsk { place, count, after: Some(bytes) };
        let window = log_fetch::lines(&task, ask, &open.signal).await;
        if !open.alive.get() {
            return;
        }
        let pace = if window.is_ok() { PACE } else { AGAIN };
        state.lost.set(window.is_err());
        if let Ok(window) = window {
            state.lines.update(|lines| lines.take(window));
        }
        log_fetch::pause_from(begun, pace).await;
    }
}

/// Reads what is missing of what is seen, one request at a time.
fn load(state: LogState, (top, seen): (u64, u64), open: &Open) {
    let missing = state.lines.with_untracked(|lines| lines.missing(top, seen));
    let Some(number) = missing.filter(|_| !state.loading.get_value()) else { return };
    state.loading.set_value(true);
    let (open, task) = (open.clone(), state.task.get_value());
    leptos::task::spawn_local(async move {
        let place = LogPlace::From(number);
        let ask = WindowAsk { place, count: WINDOW, after: None };
        let window = log_fetch::lines(&task, ask, &open.signal).await;
        if !open.alive.get() {
            return;
        }
        match window {
            Ok(window) if !window.lines.is_empty() => {
                state.loading.set_value(false);
                state.lines.update(|lines| {
                    lines.take(window);
                    lines.forget_far(whole(state.top.get_untracked()));
                });
            }
            // Nothing is there, or nobody answers: the next scrolling asks again.
            Ok(_) | Err(_) => {
                log_fetch::pause(AGAIN).await;
                if open.alive.get() {
                    state.loading.set_value(false);
                }
            }
        }
    });
}
