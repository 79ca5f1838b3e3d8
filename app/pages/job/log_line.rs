use leptos::prelude::*;
use protocol::time::Timestamp;

use crate::i18n::Reader;
use crate::pages::job::ansi::{self, Ink, Meaning, Span, Style};
use crate::pages::job::log_lines::Row;
use crate::pages::job::log_state::LogState;
use crate::parts::clock::Clock;
use crate::time;

/// A line of a log, or the place of one that is still being read.
#[component]
pub(crate) fn LogRow(
    row: Row,
    state: LogState,
    /// The address of the page without a line.
    base: StoredValue<String>,
    selected: Memo<Option<u64>>,
) -> impl IntoView {
    let number = row.number;
    let is = move |marked: Option<u64>| number > 0 && marked == Some(number);
    let reader = Reader::get();
    let (at, text, cut) = match row.line {
        Some(line) => (line.at, folded(&line.text), line.cut),
        None => (None, Vec::new(), false),
    };
    let address = base.with_value(|base| format!("{base}&line={number}"));
    let link = (number > 0).then(|| {
        view! {
            <a
                class="log__number"
                href=address
                data-noscroll=""
                aria-label=move || (reader.texts().log.line)(number)
                tabindex="-1"
            >
                {number}
            </a>
        }
    });
    view! {
        <div
            class="log__line"
            class:log__line--selected=move || is(selected.get())
            class:log__line--hit=move || state.hits.with(|hits| hits.binary_search(&number).is_ok())
            class:log__line--current=move || is(state.hit.get())
            data-line=number
            title=move || cut.then(|| reader.texts().log.long)
        >
            {link}
            {at.map(|at| view! { <LogTime at=at/> })}
            <span class="log__text">{pieces(&text)}"\n"</span>
        </div>
    }
}

/// When a line was written: the time of day, all of it on hover.
#[component]
pub(crate) fn LogTime(at: Timestamp) -> impl IntoView {
    let clock = Clock::get();
    let of_day = move || clock.moment(at).split(' ').nth(1).unwrap_or_default().to_owned();
    view! {
        <time class="log__time" datetime=time::iso(at) title=move || clock.moment(at)>
            {move || of_day()}
        </time>
    }
}

pub(crate) fn pieces(spans: &[Span]) -> impl IntoView + use<> {
    let spans = spans.iter().map(|span| {
        let Span { style, text } = span.clone();
        if style == Style::default() {
            text.into_any()
        } else {
            view! { <span class=classes(style) style=exact(style)>{text}</span> }.into_any()
        }
    });
    spans.collect_view()
}

/// A line as a terminal shows it: what follows a carriage return overwrites what stands there, as
/// progress bars want it.
pub(crate) fn folded(text: &str) -> Vec<Span> {
    let mut reader = ansi::Reader::default();
    let mut cells: Vec<(char, Style)> = Vec::new();
    let mut column = 0;
    for next in text.chars() {
        match reader.read(next) {
            Meaning::Shown(shown, style) => {
                match cells.get_mut(column) {
                    Some(cell) => *cell = (shown, style),
                    None => cells.push((shown, style)),
                }
                column += 1;
            }
            Meaning::LineStart => column = 0,
            Meaning::LineEnd | Meaning::Nothing => {}
        }
    }
    spans(&cells)
}

/// Neighbours of one style together.
fn spans(characters: &[(char, Style)]) -> Vec<Span> {
    let mut spans: Vec<Span> = Vec::new();
    for (shown, style) in characters {
        match spans.last_mut() {
            Some(last) if last.style == *style => last.text.push(*shown),
            Some(_) | None => spans.push(Span { style: *style, text: shown.to_string() }),
        }
    }
    spans
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

#[cfg(test)]
mod tests {
    use super::*;

    fn seen(text: &str) -> String {
        folded(text).into_iter().map(|span| span.text).collect()
    }

    #[test]
    fn a_progress_bar_stays_one_line() {
        assert_eq!(seen("10%\r50%\r100%"), "100%");
        assert_eq!(seen("12345\rab"), "ab345");
    }

    #[test]
    fn colours_split_a_line() {
        let spans = folded("a\u{1b}[31mb\u{1b}[0m");
        assert_eq!(spans.len(), 2);
        assert_eq!(classes(spans[1].style), "ansi-red");
        assert_eq!(seen("\u{1b}[1m船坞\u{1b}[0m"), "船坞");
    }
}
