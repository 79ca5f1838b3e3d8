//! What is written to standard error, and how.

use std::fmt;
use std::io::IsTerminal;

use anyhow::Context;
use tracing::{Event, Level, Subscriber};
use tracing_subscriber::fmt::format::{Format, Full, Writer};
use tracing_subscriber::fmt::{FmtContext, FormatEvent, FormatFields};
use tracing_subscriber::registry::LookupSpan;

use crate::config::{LogConfig, LogFormat};

/// From now on.
pub(super) fn start(config: &LogConfig) -> anyhow::Result<()> {
    let filter = &config.filter;
    let filter = tracing_subscriber::EnvFilter::try_new(filter)
        .with_context(|| format!("log.filter = {filter:?}: allowed is as info,server=debug"))?;
    let log = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_ansi(std::io::stderr().is_terminal())
        .with_writer(std::io::stderr);
    match config.format {
        LogFormat::Text => log.init(),
        LogFormat::Json => log.json().init(),
        LogFormat::Journal => log.event_format(Journal::new()).init(),
    }
    Ok(())
}

/// Lines for the journal of systemd, which knows the time by itself and reads how urgent a line is
/// from a number before it (`sd-daemon(3)`).
struct Journal(Format<Full, ()>);

impl Journal {
    fn new() -> Self {
        Self(tracing_subscriber::fmt::format().without_time().with_level(false))
    }
}

impl<S, N> FormatEvent<S, N> for Journal
where
    S: Subscriber + for<'a> LookupSpan<'a>,
    N: for<'a> FormatFields<'a> + 'static,
{
    fn format_event(
        &self,
        context: &FmtContext<'_, S, N>,
        mut writer: Writer<'_>,
        event: &Event<'_>,
    ) -> fmt::Result {
        let mut text = String::new();
        self.0.format_event(context, Writer::new(&mut text), event)?;
        let urgency = urgency(*event.metadata().level());
        // Each line is an entry of its own there.
        text.lines().try_for_each(|line| writeln!(writer, "<{urgency}>{line}"))
    }
}

/// As `syslog(3)` counts.
fn urgency(level: Level) -> u8 {
    match level {
        Level::ERROR => 3,
        Level::WARN => 4,
        Level::INFO => 6,
        Level::DEBUG | Level::TRACE => 7,
    }
}

#[cfg(test)]
mod tests {
    use std::fs::File;
    use std::sync::Arc;

    use super::*;

    #[test]
    fn every_line_in_the_journal_says_how_urgent_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("log");
        let file = Arc::new(File::create(&path).unwrap());
        let log = tracing_subscriber::fmt()
            .with_max_level(Level::TRACE)
            .with_ansi(false)
            .with_writer(file)
            .event_format(Journal::new())
            .finish();
        tracing::subscriber::with_default(log, || {
            tracing::warn!(target: "t", node = 7, "one\ntwo");
            tracing::error!(target: "t", "three");
            tracing::trace!(target: "t", "four");
        });
        let text = std::fs::read_to_string(path).unwrap();
        assert_eq!(text, "<4>t: one\n<4>two node=7\n<3>t: three\n<7>t: four\n");
    }
}
