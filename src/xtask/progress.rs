//! What the user sees of the work: one line a step, with how long it took.

use std::time::Instant;

use anyhow::{Context, Result};

/// Says that a step begins, does it, and says how long it took.
pub(crate) fn step<T>(name: &str, work: impl FnOnce() -> Result<T>) -> Result<T> {
    eprintln!("==> {name}");
    let begun = Instant::now();
    let done = work().with_context(|| format!("{name}: failed"))?;
    let seconds = begun.elapsed().as_secs_f64();
    if seconds >= 1.0 {
        eprintln!("    done in {seconds:.1} s");
    }
    Ok(done)
}

/// A remark within a step.
pub(crate) fn note(text: &str) {
    eprintln!("    {text}");
}
