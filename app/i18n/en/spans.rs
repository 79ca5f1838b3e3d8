use crate::time::Span;

pub(super) fn span(span: Span) -> String {
    match span {
        Span::Seconds(seconds) => format!("{seconds}s"),
        Span::Minutes(minutes, seconds) => format!("{minutes}m {seconds}s"),
        Span::Hours(hours, minutes) => format!("{hours}h {minutes}m"),
        Span::Days(days, hours) => format!("{days}d {hours}h"),
    }
}

/// A span to which seconds do not matter.
pub(super) fn rough(span: Span) -> String {
    match span {
        Span::Seconds(seconds) => format!("{seconds}s"),
        Span::Minutes(minutes, _) => format!("{minutes}m"),
        Span::Hours(hours, 0) => format!("{hours}h"),
        Span::Hours(hours, minutes) => format!("{hours}h {minutes}m"),
        Span::Days(days, 0) => format!("{days}d"),
        Span::Days(days, hours) => format!("{days}d {hours}h"),
    }
}

pub(super) fn ago(span: Span) -> String {
    match span {
        Span::Seconds(0..10) => "just now".to_owned(),
        Span::Seconds(seconds) => format!("{seconds}s ago"),
        Span::Minutes(minutes, _) => format!("{minutes}m ago"),
        Span::Hours(hours, _) => format!("{hours}h ago"),
        Span::Days(days, _) => format!("{days}d ago"),
    }
}

pub(super) fn ahead(span: Span) -> String {
    match span {
        Span::Seconds(_) => "in under a minute".to_owned(),
        Span::Minutes(..) | Span::Hours(..) | Span::Days(..) => {
            format!("in about {}", self::span(span))
        }
    }
}
