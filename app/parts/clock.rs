use std::time::Duration;

use leptos::prelude::*;
use protocol::time::Timestamp;

use crate::edge;
use crate::looked::{is_hidden, when_looked_at};
use crate::time;

/// The page's clock. It begins with the moment of the server's rendering, so that the browser's
/// first rendering is the same, and goes on from there while somebody looks.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Clock {
    now: RwSignal<Timestamp>,
    hydrated: RwSignal<bool>,
}

impl Clock {
    pub(crate) fn provide(opened_at: Timestamp) {
        let clock = Clock { now: RwSignal::new(opened_at), hydrated: RwSignal::new(false) };
        provide_context(clock);
        Effect::new(move |_| {
            clock.hydrated.set(true);
            let tick = move || clock.now.set(edge::now());
            // What goes by it is read again now and then: not while nobody looks, and at once when somebody does.
            let seen = move || {
                if !is_hidden() {
                    tick();
                }
            };
            if let Ok(ticks) = set_interval_with_handle(seen, Duration::from_secs(1)) {
                on_cleanup(move || ticks.clear());
            }
            when_looked_at(tick);
        });
    }

    pub(crate) fn get() -> Self {
        expect_context()
    }

    /// Now, to the second.
    pub(crate) fn now(self) -> Timestamp {
        self.now.get()
    }

    /// A moment in full: on the reader's clocks, as soon as the browser has taken over and says how
    /// these go.
    pub(crate) fn moment(self, at: Timestamp) -> String {
        let ahead = if self.hydrated.get() { edge::zone(at) } else { None };
        ahead.map_or_else(|| time::utc(at), |ahead| time::local(at, ahead))
    }
}
