use api::logs::LogMatches;
use leptos::prelude::*;
use leptos::task::spawn_local;

use crate::i18n::{Reader, Texts, tr};
use crate::pages::job::log_choice::choice;
use crate::pages::job::log_find::job_logs_one_search;
use crate::pages::job::log_sought::{Search, Way};

impl Search {
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
    let look_anew = move || search.go(None);
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
            {choice(search.pattern, |t| t.log.pattern, ".*", look_anew)}
            {choice(search.case, |t| t.log.case, "Aa", look_anew)}
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
