//! What is looked for in a log.

use api::logs::LogMatches;
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use web_sys::AbortController;

use crate::pages::job::log_state::LogState;

/// What was looked for, and what came of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    pub(crate) state: LogState,
    pub(crate) text: RwSignal<String>,
    pub(crate) pattern: RwSignal<bool>,
    pub(crate) case: RwSignal<bool>,
    pub(crate) found: RwSignal<Option<Result<LogMatches, String>>>,
    pub(crate) busy: RwSignal<bool>,
    pub(crate) abort: StoredValue<Option<SendWrapper<AbortController>>>,
}

/// Which of the lines that were found is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Way {
    Next,
    Previous,
}

impl Search {
    pub(crate) fn new(state: LogState) -> Self {
        let search = Self {
            state,
            text: RwSignal::new(String::new()),
            pattern: RwSignal::new(false),
            case: RwSignal::new(false),
            found: RwSignal::new(None),
            busy: RwSignal::new(false),
            abort: StoredValue::new(None),
        };
        on_cleanup(move || search.end());
        search
    }

    /// Ends the search that is on its way.
    pub(crate) fn end(self) {
        if let Some(Some(abort)) = self.abort.try_update_value(Option::take) {
            abort.abort();
        }
    }
}
