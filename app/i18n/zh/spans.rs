use crate::time::Span;

pub(super) fn span(span: Span) -> String {
    match span {
        Span::Seconds(seconds) => format!("{seconds}\u{202f}秒"),
        Span::Minutes(minutes, seconds) => {
            format!("{minutes}\u{202f}分\u{202f}{seconds}\u{202f}秒")
        }
        Span::Hours(hours, minutes) => format!("{hours}\u{202f}小时\u{202f}{minutes}\u{202f}分"),
        Span::Days(days, hours) => format!("{days}\u{202f}天\u{202f}{hours}\u{202f}小时"),
    }
}

/// A span to which seconds do not matter.
pub(super) fn rough(span: Span) -> String {
    match span {
        Span::Seconds(seconds) => format!("{seconds}\u{202f}秒"),
        Span::Minutes(minutes, _) => format!("{minutes}\u{202f}分钟"),
        Span::Hours(hours, 0) => format!("{hours}\u{202f}小时"),
        Span::Hours(hours, minutes) => {
            format!("{hours}\u{202f}小时\u{202f}{minutes}\u{202f}分")
        }
        Span::Days(days, 0) => format!("{days}\u{202f}天"),
        Span::Days(days, hours) => format!("{days}\u{202f}天\u{202f}{hours}\u{202f}小时"),
    }
}

pub(super) fn ago(span: Span) -> String {
    match span {
        Span::Seconds(0..10) => "刚刚".to_owned(),
        Span::Seconds(seconds) => format!("{seconds}\u{202f}秒前"),
        Span::Minutes(minutes, _) => format!("{minutes}\u{202f}分钟前"),
        Span::Hours(hours, _) => format!("{hours}\u{202f}小时前"),
        Span::Days(days, _) => format!("{days}\u{202f}天前"),
    }
}

pub(super) fn ahead(span: Span) -> String {
    match span {
        Span::Seconds(_) => "一分钟内".to_owned(),
        Span::Minutes(..) | Span::Hours(..) | Span::Days(..) => {
            format!("约\u{202f}{}后", self::span(span))
        }
    }
}
