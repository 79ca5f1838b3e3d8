use std::time::Duration;

use leptos::prelude::*;
use protocol::time::Timestamp;

use crate::edge;
use crate::time;

/// The page's clock. It begins with the moment of the server's rendering, so that the browser's
/// first rendering is the same, and goes on from there.
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
            let tick = set_interval_with_handle(
                move || clock.now.set(edge::now()),
                Duration::from_secs(1),
            );
            if let Ok(tick) = tick {
                on_cleanup(move || tick.clear());
            }
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
