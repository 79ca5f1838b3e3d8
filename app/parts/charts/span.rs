use leptos::prelude::*;
use protocol::time::Timestamp;

use crate::i18n::{Texts, tr};

/// How far back is looked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Span {
    /// Since the attempt was placed.
    Attempt,
    Hour,
    Day,
    Week,
}

impl Span {
    /// Reads the address's word among those that can be chosen; what is none of them is the first.
    pub(crate) fn read<const N: usize>(word: Option<&str>, among: [Span; N]) -> Self {
        let known = among.into_iter().find(|span| Some(span.as_str()) == word);
        known.unwrap_or(among[0])
    }

    fn as_str(self) -> &'static str {
        match self {
            Span::Attempt => "attempt",
            Span::Hour => "hour",
            Span::Day => "day",
            Span::Week => "week",
        }
    }

    fn word(self) -> fn(&'static Texts) -> &'static str {
        match self {
            Span::Attempt => |t| t.metrics.whole,
            Span::Hour => |t| t.metrics.hour,
            Span::Day => |t| t.metrics.day,
            Span::Week => |t| t.metrics.week,
        }
    }

    /// Since when, seen from now; `None`: since the attempt was placed.
    pub(crate) fn begin(self, now: Timestamp) -> Option<Timestamp> {
        let millis = match self {
            Span::Attempt => return None,
            Span::Hour => 3_600_000,
            Span::Day => 86_400_000,
            Span::Week => 604_800_000,
        };
        Some(now.plus_millis(-millis))
    }
}

/// The ways to them; which is shown is in the address.
#[component]
pub(crate) fn Spans(
    /// The address without it.
    base: String,
    among: Vec<Span>,
    span: Memo<Span>,
    class: &'static str,
) -> impl IntoView {
    let links = among.into_iter().map(|each| {
        let href = format!("{base}?span={}", each.as_str());
        view! {
            <a
                class="segment"
                href=href
                aria-current=move || (span.get() == each).then_some("true")
                data-noscroll="true"
            >
                {tr(each.word())}
            </a>
        }
    });
    let links = links.collect_view();
    view! { <nav class=class aria-label=tr(|t| t.metrics.span)>{links}</nav> }.into_any()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn spans_are_read_from_addresses() {
        let among = [Span::Hour, Span::Day, Span::Week];
        for span in among {
            assert_eq!(Span::read(Some(span.as_str()), among), span);
        }
        for unknown in [None, Some("year"), Some("attempt")] {
            assert_eq!(Span::read(unknown, among), Span::Hour);
        }
        assert_eq!(Span::Hour.begin(Timestamp(3_600_005)), Some(Timestamp(5)));
        assert_eq!(Span::Attempt.begin(Timestamp(5)), None);
    }
}
