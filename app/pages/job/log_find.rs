//! What looks for something in a log. It is fetched for the first search.

use api::logs::{LogMatches, SearchAsk};
use leptos::prelude::*;
use leptos::task::spawn_local;
use send_wrapper::SendWrapper;
use web_sys::AbortController;

use crate::pages::job::log_fetch;
use crate::pages::job::log_scroll::whole;
use crate::pages::job::log_sought::{Search, Way};

/// What looks for something in a log.
#[lazy]
pub(super) fn job_logs_one_search() -> fn(Search, Option<Way>) {
    find
}

/// Goes to another line among those that were found, where there are any; else, and without a way, it looks
/// anew, from what is seen on.
pub(crate) fn find(search: Search, way: Option<Way>) {
    match (way, search.found.get_untracked()) {
        (Some(way), Some(Ok(found))) => step(search, &found, way),
        (_, _) => begin(search),
    }
}

fn begin(search: Search) {
    let first = whole(search.state.top.get_untracked());
    let number = search.state.lines.with_untracked(|lines| lines.number_at(first));
    ask(search, number, Way::Next);
}

/// From the last line on to the first again.
fn step(search: Search, found: &LogMatches, way: Way) {
    let now = search.state.hit.get_untracked().unwrap_or(0);
    if let Some(line) = beside(found, now, way) {
        return choose(search, line);
    }
    let last = search.state.lines.with_untracked(|lines| lines.total);
    let more_before = found.before > 0;
    let more_after = found.before + (found.lines.len() as u64) < found.count;
    match way {
        Way::Next if more_after => ask(search, now + 1, way),
        Way::Next => ask(search, 1, way),
        Way::Previous if more_before => ask(search, now, way),
        Way::Previous => ask(search, last + 1, way),
    }
}

fn choose(search: Search, line: u64) {
    search.state.hit.set(Some(line));
    search.state.show(line);
}

fn ask(search: Search, near: u64, way: Way) {
    search.end();
    let text = search.text.get_untracked();
    if text.is_empty() {
        take(search, None, near, way);
        return;
    }
    let Ok(abort) = AbortController::new() else { return };
    let signal = abort.signal();
    search.abort.set_value(Some(SendWrapper::new(abort)));
    search.busy.set(true);
    let (pattern, case) = (search.pattern.get_untracked(), search.case.get_untracked());
    let ask = SearchAsk { text, pattern, case, near };
    let task = search.state.task.get_value();
    spawn_local(async move {
        let found = log_fetch::search(&task, &ask, &signal).await;
        if !signal.aborted() {
            take(search, Some(found), near, way);
        }
    });
}

fn take(search: Search, found: Option<Result<LogMatches, String>>, near: u64, way: Way) {
    search.busy.set(false);
    let lines = found.iter().flatten().flat_map(|found| found.lines.clone()).collect();
    search.state.hits.set(lines);
    let chosen = found.iter().flatten().find_map(|found| match way {
        Way::Next => beside(found, near - 1, way).or_else(|| found.lines.first().copied()),
        Way::Previous => beside(found, near, way).or_else(|| found.lines.last().copied()),
    });
    search.found.set(found);
    match chosen {
        Some(line) => choose(search, line),
        None => search.state.hit.set(None),
    }
}

/// The line next to one among those that are named.
fn beside(found: &LogMatches, line: u64, way: Way) -> Option<u64> {
    match way {
        Way::Next => found.lines.iter().find(|found| **found > line).copied(),
        Way::Previous => found.lines.iter().rev().find(|found| **found < line).copied(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_are_stepped_through() {
        let found =
            LogMatches { count: 9, before: 2, lines: vec![10, 20, 30], searched: 99, all: true };
        assert_eq!(beside(&found, 10, Way::Next), Some(20));
        assert_eq!(beside(&found, 15, Way::Previous), Some(10));
        assert_eq!(beside(&found, 30, Way::Next), None);
    }
}
