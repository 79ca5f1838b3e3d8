use api::logs::{LogMatches, SearchAsk};
use leptos::prelude::*;
use send_wrapper::SendWrapper;
use web_sys::AbortController;

use crate::i18n::{Reader, Texts, tr};
use crate::pages::job::log_fetch;
use crate::pages::job::log_state::LogState;

/// What was looked for, and what came of it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Search {
    state: LogState,
    text: RwSignal<String>,
    pattern: RwSignal<bool>,
    case: RwSignal<bool>,
    found: RwSignal<Option<Result<LogMatches, String>>>,
    busy: RwSignal<bool>,
    abort: StoredValue<Option<SendWrapper<AbortController>>>,
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

    fn end(self) {
        if let Some(Some(abort)) = self.abort.try_update_value(Option::take) {
            abort.abort();
        }
    }

    /// Looks for what is written, from what is seen on.
    fn begin(self) {
        let first = crate::pages::job::log_scroll::whole(self.state.top.get_untracked());
        let number = self.state.lines.with_untracked(|lines| lines.number_at(first));
        self.ask(number, Way::Next);
    }

    /// The next line, or the one before; from the last one on to the first again.
    pub(crate) fn step(self, way: Way) {
        let Some(Ok(found)) = self.found.get_untracked() else { return self.begin() };
        let now = self.state.hit.get_untracked().unwrap_or(0);
        if let Some(line) = beside(&found, now, way) {
            return self.choose(line);
        }
        let last = self.state.lines.with_untracked(|lines| lines.total);
        let more_before = found.before > 0;
        let more_after = found.before + (found.lines.len() as u64) < found.count;
        match way {
            Way::Next if more_after => self.ask(now + 1, way),
            Way::Next => self.ask(1, way),
            Way::Previous if more_before => self.ask(now, way),
            Way::Previous => self.ask(last + 1, way),
        }
    }

    fn choose(self, line: u64) {
        self.state.hit.set(Some(line));
        self.state.show(line);
    }

    fn ask(self, near: u64, way: Way) {
        self.end();
        let text = self.text.get_untracked();
        if text.is_empty() {
            self.take(None, near, way);
            return;
        }
        let Ok(abort) = AbortController::new() else { return };
        let signal = abort.signal();
        self.abort.set_value(Some(SendWrapper::new(abort)));
        self.busy.set(true);
        let (pattern, case) = (self.pattern.get_untracked(), self.case.get_untracked());
        let ask = SearchAsk { text, pattern, case, near };
        let task = self.state.task.get_value();
        leptos::task::spawn_local(async move {
            let found = log_fetch::search(&task, &ask, &signal).await;
            if !signal.aborted() {
                self.take(Some(found), near, way);
            }
        });
    }

    fn take(self, found: Option<Result<LogMatches, String>>, near: u64, way: Way) {
        self.busy.set(false);
        let lines = found.iter().flatten().flat_map(|found| found.lines.clone()).collect();
        self.state.hits.set(lines);
        let chosen = found.iter().flatten().find_map(|found| match way {
            Way::Next => beside(found, near - 1, way).or_else(|| found.lines.first().copied()),
            Way::Previous => beside(found, near, way).or_else(|| found.lines.last().copied()),
        });
        self.found.set(found);
        match chosen {
            Some(line) => self.choose(line),
            None => self.state.hit.set(None),
        }
    }
}

/// The line next to one among those that are named.
fn beside(found: &LogMatches, line: u64, way: Way) -> Option<u64> {
    match way {
        Way::Next => found.lines.iter().find(|found| **found > line).copied(),
        Way::Previous => found.lines.iter().rev().find(|found| **found < line).copied(),
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
                let same = search.found.with_untracked(|found| matches!(found, Some(Ok(_))));
                if same { search.step(Way::Next) } else { search.begin() }
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
                search.begin();
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
            on:click=move |_| search.step(way)
        >
            {sign}
        </button>
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_stepped_through_and_counted() {
        let found =
            LogMatches { count: 9, before: 2, lines: vec![10, 20, 30], searched: 99, all: true };
        assert_eq!(beside(&found, 10, Way::Next), Some(20));
        assert_eq!(beside(&found, 15, Way::Previous), Some(10));
        assert_eq!(beside(&found, 30, Way::Next), None);
        assert_eq!(place(&found, Some(20)), 4);
        assert_eq!(place(&found, None), 0);
    }
}
