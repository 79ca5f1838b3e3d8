//! What was found in the logs of all tasks. It is fetched for the first search.

use api::logs::{JobMatches, SearchAsk, TaskLine};
use leptos::prelude::*;
use leptos::task::spawn_local;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use web_sys::{AbortController, HtmlElement};

use crate::i18n::{Reader, Texts, tr};
use crate::number::count;
use crate::pages::job::log_all_state::{AllSearch, Wanted};
use crate::pages::job::log_fetch;
use crate::pages::job::log_line::{folded, pieces};
use crate::pages::job::log_wanted::{log_address, task_from_word};

/// What came of it: the lines that are named, and which of them is looked at.
#[derive(Debug, Clone)]
struct Found {
    matches: JobMatches,
    at: usize,
}

/// A line of a task, as it is asked for.
type Place = (u32, u64);

/// What is seen of a search.
#[derive(Debug, Clone, Copy)]
struct Shown {
    search: AllSearch,
    found: RwSignal<Option<Result<Found, String>>>,
    busy: RwSignal<bool>,
    abort: StoredValue<Option<SendWrapper<AbortController>>>,
}

/// Looks for it as it is wanted, and shows what was found: how much in each task, and the lines.
#[component]
pub(crate) fn LogAllFound(search: AllSearch) -> impl IntoView {
    let shown = Shown {
        search,
        found: RwSignal::new(None),
        busy: RwSignal::new(false),
        abort: StoredValue::new(None),
    };
    on_cleanup(move || end(shown));
    Effect::new(move |_| {
        if let Some(wanted) = search.wanted.get() {
            go(shown, wanted);
        }
    });
    Effect::new(move |_| {
        shown.found.track();
        request_animation_frame(keep_in_view);
    });
    let reader = Reader::get();
    view! {
        <div class="log__all-found">
            <div class="log__bar">
                <span role="status">{move || told(shown, reader.texts())}</span>
                {step(search, Wanted::Previous, |t| t.log.previous, "↑")}
                {step(search, Wanted::Next, |t| t.log.next, "↓")}
            </div>
            {move || list(shown, reader.texts())}
        </div>
    }
    .into_any()
}

/// Scrolls the line that is looked at into the middle of the list.
fn keep_in_view() {
    let hit = document().query_selector(".log__hit[aria-current]").ok().flatten();
    let hit = hit.and_then(|hit| hit.dyn_into::<HtmlElement>().ok());
    if let Some((hit, list)) = hit.and_then(|hit| hit.parent_element().map(|list| (hit, list))) {
        list.set_scroll_top(hit.offset_top() - list.client_height() / 2);
    }
}

fn step(
    search: AllSearch,
    way: Wanted,
    word: fn(&'static Texts) -> &'static str,
    sign: &'static str,
) -> AnyView {
    view! {
        <button
            type="button"
            class="button button--small"
            aria-label=tr(word)
            title=tr(word)
            on:click=move |_| search.wanted.set(Some(way))
        >
            {sign}
        </button>
    }
    .into_any()
}

/// Ends the search that is on its way.
fn end(shown: Shown) {
    if let Some(Some(abort)) = shown.abort.try_update_value(Option::take) {
        abort.abort();
    }
}

/// Goes to another line among those that were found, where there are any; else it looks anew.
fn go(shown: Shown, wanted: Wanted) {
    let next = shown.found.with_untracked(|found| match found {
        Some(Ok(found)) => next(found, wanted),
        Some(Err(_)) | None => Next::Ask((0, 1)),
    });
    match next {
        Next::At(at) => shown.found.update(|found| {
            if let Some(Ok(found)) = found {
                found.at = at;
            }
        }),
        Next::Ask(near) => ask(shown, near, wanted),
    }
}

/// What has to be done to be where somebody wants to be.
#[derive(Debug, PartialEq, Eq)]
enum Next {
    At(usize),
    Ask(Place),
}

/// From the last line on to the first again.
fn next(found: &Found, wanted: Wanted) -> Next {
    let Found { matches, at } = found;
    let last = matches.hits.len().saturating_sub(1);
    let more_after = matches.before + (matches.hits.len() as u64) < matches.count;
    match wanted {
        Wanted::First => Next::Ask((0, 1)),
        Wanted::Next if *at < last => Next::At(at + 1),
        Wanted::Next if more_after => {
            Next::Ask(matches.hits.last().map_or((0, 1), |hit| (hit.task, hit.line.number + 1)))
        }
        Wanted::Next if matches.before == 0 => Next::At(0),
        Wanted::Next => Next::Ask((0, 1)),
        Wanted::Previous if *at > 0 => Next::At(at - 1),
        Wanted::Previous if matches.before > 0 => {
            Next::Ask(matches.hits.first().map_or((0, 1), place))
        }
        Wanted::Previous if !more_after => Next::At(last),
        Wanted::Previous => Next::Ask((u32::MAX, 1)),
    }
}

fn place(hit: &TaskLine) -> Place {
    (hit.task, hit.line.number)
}

/// Which of the lines that were found near a place is looked at first.
fn chosen(matches: &JobMatches, near: Place, wanted: Wanted) -> usize {
    let after = matches.hits.partition_point(|hit| place(hit) < near);
    let last = matches.hits.len().saturating_sub(1);
    match wanted {
        Wanted::First | Wanted::Next if after > last => 0,
        Wanted::First | Wanted::Next => after,
        Wanted::Previous => after.checked_sub(1).unwrap_or(last),
    }
}

fn ask(shown: Shown, near: Place, wanted: Wanted) {
    end(shown);
    let AllSearch { job, attempt, text, pattern, case, .. } = shown.search;
    let text = text.get_untracked();
    let Ok(abort) = AbortController::new() else { return };
    if text.is_empty() {
        shown.busy.set(false);
        shown.found.set(None);
        return;
    }
    let signal = abort.signal();
    shown.abort.set_value(Some(SendWrapper::new(abort)));
    shown.busy.set(true);
    let (pattern, case) = (pattern.get_untracked(), case.get_untracked());
    let ask = SearchAsk { text, pattern, case, near: near.1 };
    let job = job.get_value();
    spawn_local(async move {
        let found = log_fetch::search_all(&job, attempt, near.0, &ask, &signal).await;
        if !signal.aborted() {
            shown.busy.set(false);
            let taken = |matches| Found { at: chosen(&matches, near, wanted), matches };
            shown.found.set(Some(found.map(taken)));
        }
    });
}

/// What came of it, in words.
fn told(shown: Shown, texts: &'static Texts) -> String {
    if shown.busy.get() {
        return texts.log.searching.to_owned();
    }
    shown.found.with(|found| match found {
        None => String::new(),
        Some(Err(message)) if message.is_empty() => texts.log.lost.to_owned(),
        Some(Err(message)) => (texts.said)(message),
        Some(Ok(Found { matches, at })) => {
            let counted = match matches.count {
                0 => texts.log.nothing.to_owned(),
                all => (texts.log.found)(matches.before + *at as u64 + 1, all),
            };
            match matches.all {
                true => counted,
                false => format!("{counted} · {}", texts.log.not_all),
            }
        }
    })
}

/// How much was found in each task, and the lines.
fn list(shown: Shown, texts: &'static Texts) -> Option<impl IntoView + use<>> {
    let found = shown.found.get()?.ok()?;
    let Found { matches, at } = found;
    let JobMatches { tasks, hits, .. } = matches;
    let told = tasks.iter().filter(|task| task.count > 0 || !task.all).map(|task| {
        let name = task.name.clone();
        let why = match (&task.unread, task.all) {
            (Some(message), _) => format!(" · {}", (texts.said)(message)),
            (None, false) => format!(" · {}", (texts.log.searched)(task.searched)),
            (None, true) => String::new(),
        };
        view! { <li><b>{name}</b>" "{count(task.count)}<span class="hint">{why}</span></li> }
    });
    let told = told.collect_view();
    let (job, attempt) = (shown.search.job.get_value(), shown.search.attempt);
    let lines = hits.into_iter().enumerate().map(|(number, hit)| {
        let TaskLine { task, line } = hit;
        let name = tasks.get(task as usize).map(|task| task.name.clone()).unwrap_or_default();
        let address = task_from_word(&name).map(|(role, index)| {
            format!("{}&line={}", log_address(&job, attempt, &role, index), line.number)
        });
        let current = (number == at).then_some("true");
        let class = format!("log__task log__task--{}", task % 8 + 1);
        view! {
            <li class="log__hit" aria-current=current>
                <a class=class href=address>{name}":"{line.number}</a>
                <span class="log__text">{pieces(&folded(&line.text))}</span>
            </li>
        }
    });
    let lines = lines.collect_view();
    Some(view! {
        <ul class="log__counts" aria-label=texts.log.by_task>{told}</ul>
        <ol class="log__hits" tabindex="0" aria-label=texts.log.matches>{lines}</ol>
    })
}

#[cfg(test)]
mod tests {
    use api::logs::LogLine;

    use super::*;

    fn found(places: &[Place], before: u64, count: u64, at: usize) -> Found {
        let hit = |(task, number): &Place| {
            let line = LogLine { number: *number, at: None, text: String::new(), cut: false };
            TaskLine { task: *task, line }
        };
        let hits = places.iter().map(hit).collect();
        Found { matches: JobMatches { hits, before, count, all: true, ..Default::default() }, at }
    }

    #[test]
    fn lines_are_stepped_through_over_tasks_and_around_the_end() {
        let all = [(0, 3), (0, 9), (2, 1)];
        for (before, count, at, wanted, expected) in [
            (0, 3, 0, Wanted::Next, Next::At(1)),
            (0, 3, 2, Wanted::Next, Next::At(0)),
            (0, 3, 0, Wanted::Previous, Next::At(2)),
            (0, 9, 2, Wanted::Next, Next::Ask((2, 2))),
            (0, 9, 0, Wanted::Previous, Next::Ask((u32::MAX, 1))),
            (6, 9, 0, Wanted::Previous, Next::Ask((0, 3))),
            (6, 9, 2, Wanted::Next, Next::Ask((0, 1))),
            (6, 9, 1, Wanted::Previous, Next::At(0)),
            (6, 9, 1, Wanted::First, Next::Ask((0, 1))),
        ] {
            assert_eq!(next(&found(&all, before, count, at), wanted), expected);
        }
        assert_eq!(next(&found(&[], 0, 0, 0), Wanted::Next), Next::At(0));
    }

    #[test]
    fn what_is_nearest_in_the_way_that_was_asked_for_is_looked_at() {
        let matches = found(&[(0, 3), (0, 9), (2, 1)], 0, 3, 0).matches;
        for (near, wanted, at) in [
            ((0, 1), Wanted::First, 0),
            ((0, 4), Wanted::Next, 1),
            ((2, 2), Wanted::Next, 0),
            ((0, 9), Wanted::Previous, 0),
            ((u32::MAX, 1), Wanted::Previous, 2),
            ((0, 3), Wanted::Previous, 2),
        ] {
            assert_eq!(chosen(&matches, near, wanted), at, "{near:?}");
        }
        assert_eq!(chosen(&JobMatches::default(), (0, 1), Wanted::Next), 0);
    }
}
