use api::logs::LogMatches;
use leptos::prelude::*;
use leptos::task::spawn_local;
use send_wrapper::SendWrapper;
use web_sys::AbortController;

use crate::i18n::{Reader, Texts, tr};
use crate::pages::job::log_state::LogState;
use crate::pages::job::part::job_logs_one_search;

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

    /// Goes to another line among those that were found, where there are any; else, and without a way, it
    /// looks anew.
    pub(crate) fn go(self, way: Option<Way>) {
        spawn_local(async move {
            let find = job_logs_one_search().await;
            // The log may be gone by now.
            if self.busy.try_get_untracked().is_some() {
                find(self, way);
            }
        });
    }
}

/// Which of how many lines is looked at.
fn place(found: &LogMatches, line: Option<u64>) -> u64 {
    let at = line.and_then(|line| found.lines.binary_search(&line).ok());
    at.map_or(0, |at| found.before + at as u64 + 1)
}

/// The field to look for something in a log, with what was found.
#[component]
pub(crate) fn LogSearch(search: Search) -> impl IntoView {
    let told = told(search);
    view! {
        <form
            class="log__search"
            role="search"
            on:submit=move |event| {
                event.prevent_default();
                search.go(Some(Way::Next));
            }
        >
            <input
                class="input log__find"
                type="search"
                data-filter=""
                maxlength="300"
                aria-label=tr(|t| t.log.search)
                placeholder=tr(|t| t.log.search)
                prop:value=search.text
                on:input=move |event| {
                    search.text.set(event_target_value(&event));
                    search.found.set(None);
                }
            />
            <Choice on=search.pattern search=search word=|t| t.log.pattern sign=".*"/>
            <Choice on=search.case search=search word=|t| t.log.case sign="Aa"/>
            <Step search=search way=Way::Previous word=|t| t.log.previous sign="↑"/>
            <Step search=search way=Way::Next word=|t| t.log.next sign="↓"/>
            <span class="log__found" role="status">{move || told()}</span>
        </form>
    }
}

/// What came of it, in words.
fn told(search: Search) -> impl Fn() -> String {
    let reader = Reader::get();
    move || {
        let said = reader.texts().said;
        let texts = &reader.texts().log;
        if search.busy.get() {
            return texts.searching.to_owned();
        }
        match search.found.get() {
            None => String::new(),
            Some(Err(message)) if message.is_empty() => texts.lost.to_owned(),
            Some(Err(message)) => said(&message),
            Some(Ok(found)) if found.count == 0 && found.all => texts.nothing.to_owned(),
            Some(Ok(found)) => {
                let at = place(&found, search.state.hit.get());
                let counted = (texts.found)(at, found.count);
                if found.all {
                    counted
                } else {
                    format!("{counted} · {}", (texts.searched)(found.searched))
                }
            }
        }
    }
}

#[component]
fn Choice(
    on: RwSignal<bool>,
    search: Search,
    word: fn(&'static Texts) -> &'static str,
    sign: &'static str,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="button button--small log__choice"
            aria-pressed=move || on.get().to_string()
            aria-label=tr(word)
            title=tr(word)
            on:click=move |_| {
                on.update(|on| *on = !*on);
                search.go(None);
            }
        >
            {sign}
        </button>
    }
}

#[component]
fn Step(
    search: Search,
    way: Way,
    word: fn(&'static Texts) -> &'static str,
    sign: &'static str,
) -> impl IntoView {
    view! {
        <button
            type="button"
            class="button button--small"
            aria-label=tr(word)
            title=tr(word)
            on:click=move |_| search.go(Some(way))
        >
            {sign}
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_counted() {
        let found =
            LogMatches { count: 9, before: 2, lines: vec![10, 20, 30], searched: 99, all: true };
        assert_eq!(place(&found, Some(20)), 4);
        assert_eq!(place(&found, None), 0);
    }
}
