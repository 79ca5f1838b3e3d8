use api::logs::{LogPlace, LogWindow, TaskRef, WindowAsk};
use leptos::ev;
use leptos::prelude::*;

use crate::i18n::{Reader, Texts, tr};
use crate::pages::job::log_fetch;
use crate::pages::job::log_line::LogRow;
use crate::pages::job::log_lines::{Lines, Row};
use crate::pages::job::log_scroll::{LINE, rows, whole};
use crate::pages::job::log_search::LogSearch;
use crate::pages::job::log_sought::{Search, Way};
use crate::pages::job::log_state::LogState;
use crate::pages::job::log_switch::Switch;
use crate::pages::job::log_wanted::{FIRST, First, Log, Wanted, log_address};
use crate::parts::keys;
use crate::parts::loaded::Loaded;
use crate::server_fns::logs::read_lines;

#[lazy]
pub(super) fn job_logs_one() -> Log {
    |_, wanted, selected| view! { <LogView wanted=wanted selected=selected/> }.into_any()
}

/// A task's log: some lines with the page, and any other as it is scrolled to; what comes after as it
/// is written.
#[component]
pub(crate) fn LogView(wanted: Wanted, selected: Memo<Option<u64>>) -> impl IntoView {
    let line = selected.get_untracked();
    let place = line.map_or(LogPlace::End, LogPlace::Around);
    let ask = WindowAsk { place, count: FIRST, after: None };
    let first = wanted.read(move |task| read_lines(task, ask));
    let log = move |first: First<LogWindow>| {
        first.map(|(task, first)| view! { <Log task=task first=first selected=selected/> })
    };
    view! { <Loaded resource=first lines=12 content=log/> }
}

/// What of a log is shown beside its text.
#[derive(Debug, Clone, Copy)]
struct Shown {
    wrap: RwSignal<bool>,
    times: RwSignal<bool>,
}

#[component]
fn Log(task: TaskRef, first: LogWindow, selected: Memo<Option<u64>>) -> impl IntoView {
    let base = log_address(&task.job, task.attempt.unwrap_or(0), &task.role, task.index);
    let base = StoredValue::new(base);
    let state = LogState::new(task.clone(), first, selected.get_untracked().is_none());
    let search = Search::new(state);
    let shown = Shown { wrap: RwSignal::new(false), times: RwSignal::new(false) };
    state.come_alive();
    keep_in_view(state, selected);
    listen(state, search, shown);
    let left_out = move || state.lines.with(|lines| lines.left_out);
    let reader = Reader::get();
    view! {
        <div
            class="log"
            class:log--alive=move || state.is_alive()
            class:log--wrap=shown.wrap
            class:log--times=shown.times
        >
            <Bar task=task.clone() state=state shown=shown/>
            <LogSearch search=search/>
            {move || left_out().map(|left_out| {
                let last = left_out.first + left_out.count - 1;
                let words = move || (reader.texts().log.left_out)(left_out.first, last);
                view! { <p class="hint log__cut">{move || words()}</p> }
            })}
            <Window task=task state=state base=base selected=selected/>
            <Show when=move || !state.is_alive()>
                <Pages state=state base=base/>
            </Show>
        </div>
    }
}

/// The lines that are seen.
#[component]
fn Window(
    task: TaskRef,
    state: LogState,
    base: StoredValue<String>,
    selected: Memo<Option<u64>>,
) -> impl IntoView {
    let reader = Reader::get();
    let name = format!("{}-{}", task.role, task.index);
    let label = move || (reader.texts().log.label)(&name);
    let seen = Memo::new(move |_| {
        let (alive, top, seen) = (state.is_alive(), state.top.get(), state.port().seen());
        state.lines.with(|lines| match alive {
            true => lines.shown(whole(top), seen),
            false => lines.all(),
        })
    });
    let high = move |pixels: f64| state.is_alive().then(|| format!("{}px", whole(pixels)));
    // The part of the first row that is scrolled away, in tenths of pixels; at the end the last row is
    // whole.
    let shift = move || {
        let away = whole(state.top.get().fract() * LINE * 10.0);
        state.is_alive().then(|| format!("translateY(-{}.{}px)", away / 10, away % 10))
    };
    let at_end = move || state.top.get() + 0.5 >= state.port().last_top();
    view! {
        <div
            class="log__lines"
            node_ref=state.element
            tabindex="0"
            role="region"
            aria-label=move || label()
            on:scroll=move |_| state.scrolled_by_hand()
            on:wheel=move |event| roll(state, &event)
            on:keydown=move |event| press(state, &event)
        >
            <div class="log__space" style:height=move || high(state.port().laid_out())>
                <div
                    class="log__window"
                    class:log__window--end=at_end
                    style:height=move || high(state.height.get())
                >
                    <div class="log__rows" style:transform=move || shift()>
                        <For each=move || seen.get() key=|row| row.look let:row>
                            <LogRow row=row state=state base=base selected=selected/>
                        </For>
                    </div>
                </div>
            </div>
        </div>
    }
}

/// What can be done with a log, and how it is.
#[component]
fn Bar(task: TaskRef, state: LogState, shown: Shown) -> impl IntoView {
    let complete = move || state.lines.with(|lines| lines.complete);
    let toggle = move |_| {
        state.follow.update(|follow| *follow = !*follow);
        if state.follow.get_untracked() {
            state.go_to_end();
        }
    };
    let reader = Reader::get();
    let follow = move || {
        let texts = &reader.texts().log;
        if state.follow.get() { texts.pause } else { texts.follow }
    };
    let status = status(state);
    view! {
        <div class="log__bar">
            <Show when=move || !complete()>
                <button type="button" class="button button--small" on:click=toggle>
                    {move || follow()}
                </button>
            </Show>
            <Switch on=shown.wrap word=|t| t.log.wrap/>
            <Switch on=shown.times word=|t| t.log.times/>
            <span class="log__end">
                <span class="log__status" role="status">{move || status()}</span>
                <a class="button button--small" href=log_fetch::download(&task) rel="external">
                    {tr(|t| t.common.download)}
                </a>
            </span>
        </div>
    }
}

/// Other places of a log, where no script scrolls to them.
#[component]
fn Pages(state: LogState, base: StoredValue<String>) -> impl IntoView {
    let (first, last, total) = state.lines.with_untracked(|lines| {
        let all = lines.all();
        let number = |row: &Row| row.number;
        (all.first().map(number), all.last().map_or(0, number), lines.total)
    });
    let half = first.map_or(0, |first| (last + 1).saturating_sub(first)) / 2;
    let link = move |line: u64, word: fn(&'static Texts) -> &'static str| {
        let address = base.with_value(|base| format!("{base}&line={line}"));
        view! { <a class="button button--small" href=address>{tr(word)}</a> }
    };
    // Lines have no numbers while the log before them is still read.
    let start = first.filter(|first| *first != 1).map(|_| link(1, |t| t.log.start));
    let earlier = first
        .filter(|first| *first > 1)
        .map(|first| link(first.saturating_sub(half).max(1), |t| t.log.earlier));
    let later = (0 < last && last < total)
        .then(|| (link((last + half).min(total), |t| t.log.later), link(total, |t| t.log.end)));
    view! { <nav class="log__pages" aria-label=tr(|t| t.log.places)>{start} {earlier} {later}</nav> }
}

/// How the log is, in words. What is not known to be whole is not called so.
fn status(state: LogState) -> impl Fn() -> String {
    let reader = Reader::get();
    move || {
        let texts = &reader.texts().log;
        let known =
            |lines: &Lines| (lines.total, lines.complete, lines.reading, (lines.lost, lines.torn));
        let (total, complete, reading, (lost, torn)) = state.lines.with(known);
        if state.lost.get() {
            return texts.lost.to_owned();
        }
        let how = match (complete, reading, state.follow.get()) {
            (true, _, _) if total == 0 && lost => return texts.gone.to_owned(),
            (true, _, _) if total == 0 && torn => return texts.torn.to_owned(),
            (true, _, _) if total == 0 => return texts.empty.to_owned(),
            (true, _, _) if lost => texts.gone,
            (true, _, _) if torn => texts.torn,
            (true, _, _) => texts.complete,
            (false, true, _) => return (texts.reading)(total),
            (false, false, true) => texts.following,
            (false, false, false) => texts.paused,
        };
        format!("{} · {how}", (texts.lines)(total))
    }
}

/// Keeps what is wanted in view: the end, or the line of the address.
fn keep_in_view(state: LogState, selected: Memo<Option<u64>>) {
    state.keep_measured();
    Effect::new(move |_| {
        let _lines = state.lines.with(Lines::rows);
        if state.is_alive() && state.follow.get() {
            request_animation_frame(move || {
                if state.follow.try_get_untracked() == Some(true) {
                    state.go_to_end();
                }
            });
        }
    });
    Effect::new(move |_| {
        if let Some(line) = selected.get().filter(|_| state.is_alive()) {
            request_animation_frame(move || {
                if state.top.try_get_untracked().is_some() {
                    state.show(line);
                }
            });
        }
    });
}

/// The keys of a log: `f` follows, `w` wraps, `n` and `N` go through what was found, `g g` and `G` to
/// the ends.
fn listen(state: LogState, search: Search, shown: Shown) {
    Effect::new(move |_| {
        let after_g = StoredValue::new(false);
        let handle = window_event_listener(ev::keydown, move |event| {
            if keys::are_silent(&event) {
                return;
            }
            let key = event.key();
            let second = after_g.get_value();
            after_g.set_value(key == "g" && !second);
            match key.as_str() {
                "f" => {
                    state.follow.update(|follow| *follow = !*follow);
                }
                "w" => shown.wrap.update(|wrap| *wrap = !*wrap),
                "n" if !second => search.go(Some(Way::Next)),
                "N" => search.go(Some(Way::Previous)),
                "G" => state.go_to_end(),
                "g" if second => {
                    state.follow.set(false);
                    state.go(0.0);
                }
                _other => {}
            }
        });
        on_cleanup(move || handle.remove());
    });
}

/// Scrolls by lines with the keys that scroll: pixels are too coarse in a very long log.
fn press(state: LogState, event: &web_sys::KeyboardEvent) {
    let page = rows(state.port_now().seen()) - 2.0;
    match event.key().as_str() {
        "ArrowUp" => state.go_by(-1.0),
        "ArrowDown" => state.go_by(1.0),
        "PageUp" => state.go_by(-page),
        "PageDown" | " " => state.go_by(page),
        "Home" => state.go_by(f64::NEG_INFINITY),
        "End" => state.go_by(f64::INFINITY),
        _other => return,
    }
    event.prevent_default();
}

/// Scrolls a very long log by as many pixels of lines as the wheel says.
fn roll(state: LogState, event: &web_sys::WheelEvent) {
    let port = state.port_now();
    if event.ctrl_key() || port.rows * LINE <= port.laid_out() {
        return;
    }
    let unit = match event.delta_mode() {
        web_sys::WheelEvent::DOM_DELTA_LINE => 1.0,
        web_sys::WheelEvent::DOM_DELTA_PAGE => rows(port.seen()),
        _pixels => 1.0 / LINE,
    };
    event.prevent_default();
    state.go_by(event.delta_y() * unit);
}
