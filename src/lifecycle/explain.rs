//! Exit code, engine words and log lines → cause.
