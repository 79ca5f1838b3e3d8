use std::cell::Cell;
use std::rc::Rc;

use api::logs::{TaskLine, TaskRef, Together, TogetherAsk, TogetherPlace};
use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use protocol::ids::JobKey;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use web_sys::{AbortController, AbortSignal, HtmlDivElement, HtmlElement};

use crate::i18n::{Reader, tr};
use crate::pages::job::log_all_search::LogAllSearch;
use crate::pages::job::log_all_state::{self, AllSearch};
use crate::pages::job::log_fetch;
use crate::pages::job::log_line::{LogTime, folded, pieces};
use crate::pages::job::log_switch::Switch;
use crate::pages::job::log_wanted::{First, Log, Wanted, log_address, task_from_word};
use crate::parts::keys;
use crate::parts::loaded::Loaded;
use crate::server_fns::logs::read_together;

#[lazy]
pub(super) fn job_logs_together() -> Log {
    |job, wanted, _| view! { <TogetherView job=job wanted=wanted/> }.into_any()
}

/// So many lines are read at a time.
const WINDOW: u32 = 200;
/// So many are in the page at most.
const MOST: usize = 1_000;
/// News are asked for so often at most, and after a failure, in milliseconds.
const PACE: i32 = 1_000;

/// The logs of all tasks of an attempt, line by line in the order of time.
#[component]
pub(crate) fn TogetherView(job: JobKey, wanted: Wanted) -> impl IntoView {
    let asked = job.clone();
    let ask = || TogetherAsk { place: TogetherPlace::End, count: WINDOW, after: None };
    let first = wanted.read(move |task| read_together(asked.clone(), attempt_of(&task), ask()));
    let log = move |first: First<Together>| {
        first.map(|(task, first)| {
            view! { <TogetherLog job=job.clone() attempt=attempt_of(&task) first=first/> }
        })
    };
    view! { <Loaded resource=first lines=12 content=log/> }
}

fn attempt_of(task: &TaskRef) -> u32 {
    task.attempt.unwrap_or(0)
}

/// What is at hand of all logs together: a piece without gaps.
#[derive(Debug, Clone, Default)]
struct Piece {
    lines: Vec<TaskLine>,
    tasks: Vec<String>,
    first: Vec<u64>,
    next: Vec<u64>,
    bytes: u64,
    complete: bool,
    /// Lines were let go at its end, so that it does not reach the logs' end.
    is_cut: bool,
}

impl Piece {
    fn begin(&mut self, read: Together) {
        let Together { tasks, lines, first, next, bytes, complete, reading: _ } = read;
        *self = Self { lines, tasks, first, next, bytes, complete, is_cut: false };
    }

    /// Takes what comes after it. Lines at its beginning are let go where it becomes too long.
    fn append(&mut self, read: Together) {
        self.lines.extend(read.lines);
        let surplus = self.lines.len().saturating_sub(MOST);
        for line in self.lines.drain(..surplus) {
            if let Some(first) = self.first.get_mut(line.task as usize) {
                *first = line.line.number;
            }
        }
        (self.tasks, self.next, self.bytes) = (read.tasks, read.next, read.bytes);
        self.first.resize(self.next.len(), 0);
        self.complete = read.complete;
    }

    /// Takes what comes before it; lines at its end are let go where it becomes too long.
    fn prepend(&mut self, read: Together) {
        self.lines.splice(0..0, read.lines);
        self.first = read.first;
        self.is_cut |= self.lines.len() > MOST;
        self.lines.truncate(MOST);
    }

    /// Whether there is something before it.
    fn has_earlier(&self) -> bool {
        self.first.iter().any(|first| *first > 0)
    }
}

#[derive(Debug, Clone, Copy)]
struct State {
    job: StoredValue<JobKey>,
    attempt: u32,
    piece: RwSignal<Piece>,
    follow: RwSignal<bool>,
    lost: RwSignal<bool>,
    element: NodeRef<Div>,
}

#[component]
fn TogetherLog(job: JobKey, attempt: u32, first: Together) -> impl IntoView {
    let mut piece = Piece::default();
    piece.begin(first);
    let download = log_fetch::download_all(&job, attempt);
    let state = State {
        job: StoredValue::new(job),
        attempt,
        piece: RwSignal::new(piece),
        follow: RwSignal::new(true),
        lost: RwSignal::new(false),
        element: NodeRef::new(),
    };
    let (wrap, times) = (RwSignal::new(false), RwSignal::new(true));
    come_alive(state);
    let reader = Reader::get();
    let follow = move || {
        let texts = &reader.texts().log;
        if state.follow.get() { texts.pause } else { texts.follow }
    };
    let status = status(state);
    let search = AllSearch::new(state.job, attempt);
    listen(state, search, wrap);
    view! {
        <div class="log log--together" class:log--wrap=wrap class:log--times=times>
            <div class="log__bar">
                <button type="button" class="button button--small" on:click=move |_| turn(state)>
                    {move || follow()}
                </button>
                <Show when=move || state.piece.with(Piece::has_earlier)>
                    <button type="button" class="button button--small" on:click=move |_| earlier(state)>
                        {tr(|t| t.log.earlier)}
                    </button>
                </Show>
                <Switch on=wrap word=|t| t.log.wrap/>
                <Switch on=times word=|t| t.log.times/>
                <span class="log__end">
                    <span class="log__status" role="status">{move || status()}</span>
                    <a class="button button--small" href=download rel="external">
                        {tr(|t| t.common.download)}
                    </a>
                </span>
            </div>
            <LogAllSearch search=search/>
            <div
                class="log__lines"
                node_ref=state.element
                tabindex="0"
                role="region"
                aria-label=move || reader.texts().log.of_all
                on:scroll=move |_| scrolled(state)
            >
                <For
                    each=move || state.piece.with(|piece| piece.lines.clone())
                    key=|line| (line.task, line.line.number)
                    let:line
                >
                    <TaskRow line=line state=state/>
                </For>
            </div>
        </div>
    }
}

/// A line with the name of its task, in a colour of its own.
#[component]
fn TaskRow(line: TaskLine, state: State) -> impl IntoView {
    let TaskLine { task, line } = line;
    let name = state.piece.with_untracked(|piece| piece.tasks.get(task as usize).cloned());
    let name = name.unwrap_or_default();
    let number = line.number;
    let address = task_from_word(&name).map(|(role, index)| {
        let base = state.job.with_value(|job| log_address(job, state.attempt, &role, index));
        format!("{base}&line={number}")
    });
    let of = name.clone();
    let class = format!("log__task log__task--{}", task % 8 + 1);
    view! {
        <div class="log__line" data-line=number data-task=of>
            <a class=class href=address>{name}</a>
            {line.at.map(|at| view! { <LogTime at=at/> })}
            <span class="log__text">{pieces(&folded(&line.text))}"\n"</span>
        </div>
    }
}

fn status(state: State) -> impl Fn() -> String {
    let reader = Reader::get();
    move || {
        let texts = &reader.texts().log;
        let (complete, none) =
            state.piece.with(|piece| (piece.complete && !piece.is_cut, piece.lines.is_empty()));
        let text = match (state.lost.get(), complete, state.follow.get()) {
            (true, _, _) => texts.lost,
            (false, true, _) if none => texts.empty,
            (false, true, _) => texts.complete,
            (false, false, true) => texts.following,
            (false, false, false) => texts.paused,
        };
        text.to_owned()
    }
}

fn scrolled(state: State) {
    let Some(port) = state.element.get_untracked() else { return };
    let below = port.scroll_height() - port.client_height() - port.scroll_top();
    state.follow.set(below < 4 && !state.piece.with_untracked(|piece| piece.is_cut));
}

/// Follows from the end on, or stays here.
fn turn(state: State) {
    let follow = !state.follow.get_untracked();
    state.follow.set(follow);
    if follow && state.piece.with_untracked(|piece| piece.is_cut) {
        ask(state, TogetherPlace::End, |piece, read| {
            piece.begin(read);
            0
        });
    }
}

fn earlier(state: State) {
    state.follow.set(false);
    let first = state.piece.with_untracked(|piece| piece.first.clone());
    ask(state, TogetherPlace::Before(first), |piece, read| {
        let lines = read.lines.len();
        piece.prepend(read);
        lines
    });
}

/// Reads once, and keeps in view what is seen: so many lines came before it.
fn ask(state: State, place: TogetherPlace, take: fn(&mut Piece, Together) -> usize) {
    let Ok(abort) = AbortController::new() else { return };
    leptos::task::spawn_local(async move {
        let (job, attempt) = (state.job.get_value(), state.attempt);
        let ask = TogetherAsk { place, count: WINDOW, after: None };
        let read = log_fetch::together(&job, attempt, &ask, &abort.signal()).await;
        let (Ok(read), Some(_still_there)) = (read, state.follow.try_get_untracked()) else {
            return;
        };
        let before = state.piece.try_update(|piece| take(piece, read)).unwrap_or(0);
        request_animation_frame(move || {
            let port = state.element.try_get_untracked().flatten().filter(|_| before > 0);
            if let Some((port, height)) =
                port.and_then(|port| height_of(&port, before).map(|height| (port, height)))
            {
                port.set_scroll_top(port.scroll_top() + height);
            }
        });
    });
}

/// How high the first so many lines are, however they are wrapped.
fn height_of(port: &HtmlDivElement, lines: usize) -> Option<i32> {
    let rows = port.query_selector_all(".log__line").ok()?;
    let top = |at: usize| {
        let row = rows.item(u32::try_from(at).ok()?)?;
        Some(row.dyn_into::<HtmlElement>().ok()?.offset_top())
    };
    Some(top(lines)? - top(0)?)
}

/// The keys of a log: `f` follows, `w` wraps, `n` and `N` go through what was found, `G` to the end.
fn listen(state: State, search: AllSearch, wrap: RwSignal<bool>) {
    let step = move |wanted| {
        if search.text.with_untracked(|text| !text.is_empty()) {
            search.wanted.set(Some(wanted));
        }
    };
    Effect::new(move |_| {
        // With `g` before it, a key leads to another page.
        let after_g = StoredValue::new(false);
        let handle = window_event_listener(ev::keydown, move |event| {
            if keys::are_silent(&event) {
                return;
            }
            let key = event.key();
            let second = after_g.get_value();
            after_g.set_value(key == "g" && !second);
            match key.as_str() {
                "f" => turn(state),
                "w" => wrap.update(|wrap| *wrap = !*wrap),
                "n" if !second => step(log_all_state::Wanted::Next),
                "N" => step(log_all_state::Wanted::Previous),
                "G" if !state.follow.get_untracked() => turn(state),
                _other => {}
            }
        });
        on_cleanup(move || handle.remove());
    });
}

/// Asks for news until there can be none or the page is left; keeps the end in view.
fn come_alive(state: State) {
    Effect::new(move |_| {
        let Ok(abort) = AbortController::new() else { return };
        let alive = Rc::new(Cell::new(true));
        leptos::task::spawn_local(news(state, Rc::clone(&alive), abort.signal()));
        let ended = SendWrapper::new((abort, alive));
        on_cleanup(move || {
            ended.1.set(false);
            ended.0.abort();
        });
    });
    Effect::new(move |_| {
        state.piece.track();
        if state.follow.get()
            && let Some(port) = state.element.get()
        {
            request_animation_frame(move || port.set_scroll_top(port.scroll_height()));
        }
    });
}

async fn news(state: State, alive: Rc<Cell<bool>>, signal: AbortSignal) {
    let (job, attempt) = (state.job.get_value(), state.attempt);
    while alive.get() && !state.piece.with_untracked(|piece| piece.complete) {
        let (next, bytes, is_cut) =
            state.piece.with_untracked(|piece| (piece.next.clone(), piece.bytes, piece.is_cut));
        if is_cut || !state.follow.get_untracked() {
            log_fetch::pause(PACE).await;
            continue;
        }
        let ask = TogetherAsk {
            place: TogetherPlace::From(next.clone()),
            count: WINDOW,
            after: Some(bytes),
        };
        let read = log_fetch::together(&job, attempt, &ask, &signal).await;
        if !alive.get() {
            return;
        }
        state.lost.set(read.is_err());
        if let Ok(read) = read {
            state.piece.update(|piece| {
                // Who has asked for other lines meanwhile has them.
                if piece.next == next && !piece.is_cut {
                    piece.append(read);
                }
            });
        }
        log_fetch::pause(PACE).await;
    }
}

#[cfg(test)]
mod tests {
    use api::logs::LogLine;

    use super::*;

    fn read(numbers: std::ops::Range<u64>) -> Together {
        let line = |number| LogLine { number, at: None, text: String::new(), cut: false };
        Together {
            tasks: vec!["main-0".to_owned()],
            first: vec![numbers.start - 1],
            next: vec![numbers.end - 1],
            lines: numbers.map(|number| TaskLine { task: 0, line: line(number) }).collect(),
            bytes: 0,
            complete: false,
            reading: false,
        }
    }

    #[test]
    fn a_piece_has_no_gaps_and_an_end() {
        let mut piece = Piece::default();
        piece.begin(read(5_000..5_200));
        for from in (5_200..7_000).step_by(200) {
            piece.append(read(from..from + 200));
        }
        assert_eq!((piece.lines.len(), piece.lines[0].line.number), (MOST, 6_000));
        assert_eq!(piece.first, [5_999]);
        for from in [5_800, 5_600, 5_400, 5_200, 5_000] {
            piece.prepend(read(from..from + 200));
        }
        assert_eq!((piece.lines.len(), piece.lines[0].line.number), (MOST, 5_000));
        assert!(piece.is_cut && piece.has_earlier());
    }
}
