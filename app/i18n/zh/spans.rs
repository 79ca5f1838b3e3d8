use protocol::spec::TimeLimit;

use crate::i18n::spacing;
use crate::time::Span;

/// How long an attempt may run, to the second.
pub(super) fn limit(limit: TimeLimit) -> String {
    let seconds = limit.millis() / 1000;
    let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
    let parts = [(days, "天"), (hours, "小时"), (seconds / 60 % 60, "分钟"), (seconds % 60, "秒")];
    let parts = parts.into_iter().filter(|(number, _)| *number > 0);
    let parts = parts.map(|(number, unit)| format!("{number}\u{202f}{unit}"));
    parts.collect::<Vec<_>>().join("\u{202f}")
}

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

/// When a job may start: a stretch ends in Chinese, nothing stands between it and what follows.
pub(super) fn between(from: Span, to: Span) -> String {
    format!("{}至 {}后", rough(from), rough(to))
}

pub(super) fn about(at: Span) -> String {
    format!("约 {}后", rough(at))
}

pub(super) fn not_before(from: Span) -> String {
    format!("最早 {}后", rough(from))
}

/// That a job may start then.
pub(super) fn starts_then(when: &str) -> String {
    spacing::apart(&format!("预计{when}启动"))
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_limit_is_told_to_the_second() {
        for (written, told) in [
            ("2h 30m", "2\u{202f}小时\u{202f}30\u{202f}分钟"),
            ("1d 1s", "1\u{202f}天\u{202f}1\u{202f}秒"),
            ("90", "1\u{202f}分钟\u{202f}30\u{202f}秒"),
        ] {
            assert_eq!(limit(written.parse().unwrap()), told);
        }
    }
}
