//! What simulated jobs have written.

use std::fmt::Write as _;

use protocol::exit::Exit;
use protocol::time::Timestamp;

/// The lines of so many steps of training, from `from` to `to`, each with when it was written.
pub(crate) fn training(
    command: &str,
    (from, to): (Timestamp, Timestamp),
    steps: u32,
) -> Vec<(Timestamp, String)> {
    let at = |step: u32| from.plus_millis(to.since(from) * i64::from(step) / i64::from(steps + 1));
    let mut lines = vec![
        (from, format!("\u{1b}[1m+ {command}\u{1b}[0m")),
        (from, "simulated: loading the data set".to_owned()),
        (from, "\u{1b}[33mwarning\u{1b}[0m: 3 of 118287 images cannot be read".to_owned()),
    ];
    lines.extend((1..=steps).map(|step| {
        let part = f64::from(step) / f64::from(steps);
        let (loss, accuracy) = (6.9 * (1.0 - part).powi(2) + 0.31, 78.4 * part.sqrt());
        let epoch = step / 20 + 1;
        let line = format!("epoch {epoch:3} step {step:5}  loss {loss:.4}  top-1 {accuracy:5.2} %");
        (at(step), line)
    }));
    lines
}

/// The whole log of a run that has ended, with the lines that show how.
pub(crate) fn whole(
    command: &str,
    span: (Timestamp, Timestamp),
    steps: u32,
    exit: &Exit,
) -> String {
    let mut text = String::new();
    for (_, line) in training(command, span, steps) {
        let _infallible = writeln!(text, "{line}");
    }
    for line in &exit.evidence {
        let _infallible = writeln!(text, "\u{1b}[31m{line}\u{1b}[0m");
    }
    text
}
