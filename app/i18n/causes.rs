//! Parts of an explained end.

/// Names of the signals that end programs; what is not here is shown by its number.
pub(super) fn signal_name(signal: i32) -> Option<&'static str> {
    Some(match signal {
        1 => "SIGHUP",
        2 => "SIGINT",
        3 => "SIGQUIT",
        4 => "SIGILL",
        6 => "SIGABRT",
        7 => "SIGBUS",
        8 => "SIGFPE",
        9 => "SIGKILL",
        11 => "SIGSEGV",
        13 => "SIGPIPE",
        15 => "SIGTERM",
        _unnamed => return None,
    })
}

/// A signal by number and, where it has one, by name.
pub(super) fn signal(signal: i32) -> String {
    signal_name(signal).map_or_else(|| signal.to_string(), |name| format!("{signal} ({name})"))
}
