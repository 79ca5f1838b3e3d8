use std::cell::Cell;
use std::rc::Rc;

use api::logs::{TaskLine, TaskRef, Together, TogetherAsk, TogetherPlace};
use leptos::ev;
use leptos::html::Div;
use leptos::prelude::*;
use protocol::ids::JobKey;
use protocol::time::Timestamp;
use send_wrapper::SendWrapper;
use wasm_bindgen::JsCast;
use web_sys::{AbortController, AbortSignal, HtmlDivElement, HtmlElement};

use crate::edge;
use crate::i18n::{Reader, told, tr};
use crate::looked::looked_at;
use crate::pages::job::log_all_search::LogAllSearch;
use crate::pages::job::log_all_state::{self, AllSearch};
use crate::pages::job::log_fetch;
use crate::pages::job::log_line::{LogTime, folded, pieces};
use crate::pages::job::log_piece::Piece;
use crate::pages::job::log_switch::Switch;
use crate::pages::job::log_wanted::{FIRST, First, Log, Wanted, log_address, task_from_word};
use crate::parts::keys;
use crate::parts::loaded::Loaded;
use crate::server_fns::logs::read_together;

#[lazy]
pub(super) fn job_logs_together() -> Log {
    |job, wanted, _| view! { <TogetherView job=job wanted=wanted/> }.into_any()
}

/// So many lines are read at a time of any place.
const WINDOW: u32 = 200;
/// News are asked for so often at most where they fit into a window, and after a failure, in milliseconds: less
/// than once a second, which leaves room for what else the page asks.
const PACE: i32 = 1_200;

/// The logs of all tasks of an attempt, line by line in the order of time.
#[component]
pub(crate) fn TogetherView(job: JobKey, wanted: Wanted) -> impl IntoView {
    let asked = job.clone();
    let ask = || TogetherAsk { place: TogetherPlace::End, count: FIRST, after: None };
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
    let download = log_fetch::download_all(&job, attempt);
    let (shown, all) = (first.tasks.len() as u64, u64::from(first.of_tasks));
    let only_first = (shown < all).then(|| {
        view! { <p class="hint log__cut">{told(move |t| (t.log.only_first)(shown, all))}</p> }
    });
    let state = State {
        job: StoredValue::new(job),
        attempt,
        piece: RwSignal::new(Piece::at_end(first)),
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
                <Show when=move || state.piece.with(Piece::is_away)>
                    <button type="button" class="button button--small" on:click=move |_| later(state)>
                        {tr(|t| t.log.later)}
                    </button>
                </Show>
                <Switch on=wrap word=|t| t.log.wrap/>
                <Switch on=times word=|t| t.log.times/>
                <Moment state=state/>
                <span class="log__end">
                    <span class="log__status" role="status">{move || status()}</span>
                    <a class="button button--small" href=download rel="external">
                        {tr(|t| t.common.download)}
                    </a>
                </span>
            </div>
            <LogAllSearch search=search/>
            {only_first}
            <Skipped state=state/>
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

/// A moment to go to, as the reader's clock says it.
#[component]
fn Moment(state: State) -> impl IntoView {
    let chosen = move |event: web_sys::Event| {
        let millis = js_sys::Date::parse(&event_target_value(&event));
        if millis.is_finite() {
            #[expect(clippy::cast_possible_truncation, reason = "no field has such a moment")]
            go_to(state, Timestamp(millis as i64));
        }
    };
    view! {
        <input
            class="input log__moment"
            type="datetime-local"
            step="1"
            aria-label=tr(|t| t.log.moment)
            title=tr(|t| t.log.moment)
            on:change=chosen
        />
    }
}

/// That lines were passed over, where that is so.
#[component]
fn Skipped(state: State) -> impl IntoView {
    let skipped = Memo::new(move |_| state.piece.with(Piece::skipped));
    let any = move || skipped.get() > 0;
    let reader = Reader::get();
    view! {
        <Show when=any>
            <p class="hint log__cut">{move || (reader.texts().log.skipped)(skipped.get())}</p>
        </Show>
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
        let known = |piece: &Piece| {
            (piece.is_complete(), piece.lines.is_empty(), (piece.lost(), piece.torn()))
        };
        let (complete, none, (lost, torn)) = state.piece.with(known);
        let text = match (state.lost.get(), complete, state.follow.get()) {
            (true, _, _) => texts.lost,
            (false, true, _) if lost > 0 => return (texts.some_gone)(lost),
            (false, true, _) if torn > 0 => return (texts.some_torn)(torn),
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
    state.follow.set(below < 4 && !state.piece.with_untracked(Piece::is_away));
}

/// Follows from the end on, or stays here.
fn turn(state: State) {
    let follow = !state.follow.get_untracked();
    state.follow.set(follow);
    if follow && state.piece.with_untracked(Piece::is_away) {
        ask(state, TogetherPlace::End);
    }
}

fn earlier(state: State) {
    state.follow.set(false);
    ask(state, state.piece.with_untracked(Piece::before));
}

fn later(state: State) {
    state.follow.set(false);
    ask(state, state.piece.with_untracked(Piece::after));
}

/// Shows what was written from a moment on; the end, where that was before it.
fn go_to(state: State, moment: Timestamp) {
    state.follow.set(false);
    leptos::task::spawn_local(async move {
        let place = TogetherPlace::Time(moment);
        let Some(read) = read(state, place.clone()).await else { return };
        if read.lines.is_empty() {
            turn(state);
            return;
        }
        state.piece.update(|piece| piece.take(&place, read));
        request_animation_frame(move || {
            if let Some(port) = state.element.try_get_untracked().flatten() {
                port.set_scroll_top(0);
            }
        });
    });
}

/// Reads once, and keeps in view what is seen.
fn ask(state: State, place: TogetherPlace) {
    leptos::task::spawn_local(async move {
        let Some(read) = read(state, place.clone()).await else { return };
        let seen = state.element.get_untracked().and_then(|port| Seen::of(&port));
        state.piece.update(|piece| piece.take(&place, read));
        request_animation_frame(move || {
            let port = state.element.try_get_untracked().flatten();
            if let (Some(port), Some(seen)) = (port, seen) {
                seen.keep(&port);
            }
        });
    });
}

/// Some lines; `None`: nobody answers, or the page was left meanwhile.
async fn read(state: State, place: TogetherPlace) -> Option<Together> {
    let abort = AbortController::new().ok()?;
    let (job, attempt) = (state.job.get_value(), state.attempt);
    let ask = TogetherAsk { place, count: WINDOW, after: None };
    let read = log_fetch::together(&job, attempt, &ask, &abort.signal()).await.ok()?;
    state.follow.try_get_untracked().map(|_still_there| read)
}

/// The first line that is seen, and where it is.
struct Seen {
    row: HtmlElement,
    top: i32,
    scrolled: i32,
}

impl Seen {
    fn of(port: &HtmlDivElement) -> Option<Self> {
        let rows = port.query_selector_all(".log__line").ok()?;
        let row = |at: u32| rows.item(at)?.dyn_into::<HtmlElement>().ok();
        let (first, scrolled) = (row(0)?.offset_top(), port.scroll_top());
        let is_seen = |row: &HtmlElement| row.offset_top() - first >= scrolled;
        let row = (0..rows.length()).filter_map(row).find(is_seen)?;
        Some(Self { top: row.offset_top(), row, scrolled })
    }

    /// Scrolls so that it is where it was, if it is still there.
    fn keep(&self, port: &HtmlDivElement) {
        if self.row.is_connected() {
            port.set_scroll_top(self.scrolled + self.row.offset_top() - self.top);
        }
    }
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

/// Asks for news until the page is left, while somebody looks; keeps the end in view.
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
    loop {
        looked_at().await;
        if !alive.get() {
            return;
        }
        let begun = edge::now();
        let ask = match state.follow.get_untracked() {
            true => state.piece.with_untracked(Piece::news),
            false => None,
        };
        let more = match ask {
            Some(ask) => {
                let read = log_fetch::together(&job, attempt, &ask, &signal).await;
                alive.get() && take(state, &ask.place, read)
            }
            None => false,
        };
        if !more {
            log_fetch::pause_from(begun, PACE).await;
        }
    }
}

/// Takes news, unless their reader stays where he is; whether there are more of them already.
fn take(state: State, asked: &TogetherPlace, read: Result<Together, String>) -> bool {
    state.lost.set(read.is_err());
    let Some(read) = read.ok().filter(|_| state.follow.get_untracked()) else { return false };
    state.piece.try_update(|piece| piece.follow(asked, read)).unwrap_or(false)
}
