//! What measurements are made of: a moment, the seconds of a core, a share of a hundred, and a line printed.

use std::time::Instant;

use crate::gates;

/// Prints a figure, and what it is to be.
pub(crate) fn figure(name: &str, value: f64, unit: &str) {
    println!("{name} {value:.2} {unit}{}", gates::beside(name, value));
}

/// The moment.
#[expect(
    clippy::disallowed_methods,
    reason = "only the middle is without a clock; this measures it"
)]
pub(crate) fn clock() -> Instant {
    Instant::now()
}

/// Seconds that this thread has had a core: others on the machine do not count. Where the system
/// does not say, the time on the wall.
pub(crate) fn core_seconds(began: Instant) -> f64 {
    let told = std::fs::read_to_string("/proc/thread-self/schedstat").ok();
    let nanoseconds = told.and_then(|text| text.split(' ').next()?.parse::<u64>().ok());
    nanoseconds.map_or_else(|| began.elapsed().as_secs_f64(), |nanos| nanos as f64 / 1e9)
}

/// What so many of a hundred are below, in seconds.
pub(crate) fn percentile(millis: impl Iterator<Item = i64>, percent: usize) -> f64 {
    let mut all: Vec<_> = millis.collect();
    all.sort_unstable();
    let at = (all.len() * percent / 100).min(all.len().saturating_sub(1));
    all.get(at).map_or(0.0, |millis| *millis as f64 / 1000.0)
}
