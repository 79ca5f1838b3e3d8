use api::logs::{LogText, TaskRef};
use leptos::html::Div;
use leptos::prelude::*;

use crate::i18n::{Reader, tr};
use crate::pages::job::ansi::{Ink, Span, Style};
use crate::pages::job::log_buffer::{Line, LogBuffer};
use crate::parts::loaded::Loaded;
use crate::parts::log_stream::{self, Progress};
use crate::server_fns::logs::read_log;

/// A task's log: its end with the page, what comes after as it is written.
#[component]
pub(crate) fn LogView(task: TaskRef) -> impl IntoView {
    let asked = task.clone();
    let tail = Resource::new(|| (), move |()| read_log(asked.clone()));
    view! {
        <Loaded
            resource=tail
            lines=12
            content=move |tail| view! { <Log task=task.clone() tail=tail/> }
        />
    }
}

#[component]
fn Log(task: TaskRef, tail: LogText) -> impl IntoView {
    let buffer = RwSignal::new(LogBuffer::default());
    buffer.update(|buffer| buffer.push(&tail.text));
    let begins_late = tail.offset > 0;
    let progress =
        RwSignal::new(if tail.complete { Progress::Complete } else { Progress::Following });
    let (follow, wrap, numbers) = (RwSignal::new(true), RwSignal::new(true), RwSignal::new(true));
    let view_port = NodeRef::<Div>::new();
    if !tail.complete {
        log_stream::follow(&task, tail.end, progress, move |text| {
            buffer.update(|buffer| buffer.push(text));
        });
    }
    Effect::new(move |_| {
        buffer.track();
        if follow.get()
            && let Some(port) = view_port.get()
        {
            request_animation_frame(move || port.set_scroll_top(port.scroll_height()));
        }
    });
    let reader = Reader::get();
    let name = format!("{}-{}", task.role, task.index);
    let label = move || (reader.texts().log.label)(&name);
    let cut = move || begins_late || buffer.with(LogBuffer::is_cut);
    view! {
        <div class="log" class:log--wrap=wrap class:log--numbers=move || numbers.get() && !begins_late>
            <div class="log__bar">
                <Switch on=follow word=|t| t.log.follow/>
                <Switch on=wrap word=|t| t.log.wrap/>
                <Switch on=numbers word=|t| t.log.numbers/>
                <span class="log__status" role="status">{status(buffer, progress)}</span>
                <a class="button button--small" href=log_stream::download(&task) rel="external">
                    {tr(|t| t.common.download)}
                </a>
            </div>
            <Show when=cut>
                <p class="hint log__cut">{tr(|t| t.log.cut)}</p>
            </Show>
            <div class="log__lines" node_ref=view_port tabindex="0" role="region" aria-label=label>
                <For each=move || buffer.with(LogBuffer::lines) key=|line| (line.number, line.revision) let:line>
                    <LogLine line=line/>
                </For>
            </div>
        </div>
    }
}

/// What goes on with the log, in words.
fn status(buffer: RwSignal<LogBuffer>, progress: RwSignal<Progress>) -> impl Fn() -> String {
    let reader = Reader::get();
    move || {
        let texts = &reader.texts().log;
        let count = buffer.with(LogBuffer::count);
        match progress.get() {
            Progress::Complete if count == 0 => texts.empty.to_owned(),
            Progress::Complete => format!("{} · {}", (texts.lines)(count), texts.complete),
            Progress::Following => format!("{} · {}", (texts.lines)(count), texts.following),
            Progress::Lost => texts.lost.to_owned(),
        }
    }
}

#[component]
fn Switch(
    on: RwSignal<bool>,
    word: fn(&'static crate::i18n::Texts) -> &'static str,
) -> impl IntoView {
    view! {
        <label class="check">
            <input
                type="checkbox"
                checked=on.get_untracked()
                prop:checked=on
                on:change=move |event| on.set(event_target_checked(&event))
            />
            {tr(word)}
        </label>
    }
}

#[component]
fn LogLine(line: Line) -> impl IntoView {
    let spans = line.spans.iter().map(|span| {
        let Span { style, text } = span.clone();
        if style == Style::default() {
            text.into_any()
        } else {
            view! { <span class=classes(style) style=exact(style)>{text}</span> }.into_any()
        }
    });
    let spans = spans.collect_view();
    view! { <div class="log__line" data-line=line.number>{spans} "\n"</div> }
}

fn classes(style: Style) -> String {
    const NAMES: [&str; 8] =
        ["black", "red", "green", "yellow", "blue", "magenta", "cyan", "white"];
    let ink = match style.ink {
        Some(Ink::Named(index)) => NAMES.get(usize::from(index)).map(|name| format!("ansi-{name}")),
        Some(Ink::Exact(..)) | None => None,
    };
    let flags = [
        (style.bold, "ansi-bold"),
        (style.dim, "ansi-dim"),
        (style.italic, "ansi-italic"),
        (style.underline, "ansi-underline"),
    ];
    let flags = flags.into_iter().filter(|(set, _)| *set).map(|(_, name)| name.to_owned());
    ink.into_iter().chain(flags).collect::<Vec<_>>().join(" ")
}

fn exact(style: Style) -> Option<String> {
    match style.ink {
        Some(Ink::Exact(red, green, blue)) => Some(format!("color:rgb({red},{green},{blue})")),
        Some(Ink::Named(_)) | None => None,
    }
}
