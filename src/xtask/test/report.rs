//! What was checked, how it went and how long it took.

use std::time::{Duration, Instant};

use anyhow::Result;

#[derive(Debug)]
struct Check {
    name: &'static str,
    took: Duration,
    passed: bool,
}

/// The checks of one run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    checks: Vec<Check>,
}

impl Report {
    /// Runs one check; its error is shown at once and counted.
    pub(super) fn check(&mut self, name: &'static str, work: impl FnOnce() -> Result<()>) {
        eprintln!("\n==> {name}");
        let begun = Instant::now();
        let done = work();
        if let Err(error) = &done {
            eprintln!("    FAILED: {error:#}");
        }
        self.checks.push(Check { name, took: begun.elapsed(), passed: done.is_ok() });
    }

    /// How many checks failed.
    pub(super) fn failed(&self) -> usize {
        self.checks.iter().filter(|check| !check.passed).count()
    }

    /// One line a check, and the counts as the last line.
    pub(super) fn print(&self) {
        println!();
        for check in &self.checks {
            let verdict = if check.passed { "passed" } else { "FAILED" };
            println!("{verdict}  {:7.1} s  {}", check.took.as_secs_f64(), check.name);
        }
        println!("{} passed, {} failed", self.checks.len() - self.failed(), self.failed());
    }
}

#[cfg(test)]
mod tests {
    use anyhow::anyhow;

    use super::Report;

    #[test]
    fn a_failed_check_is_counted_and_the_next_one_still_runs() {
        let mut report = Report::default();
        report.check("first", || Err(anyhow!("broken")));
        report.check("second", || Ok(()));
        assert_eq!((report.checks.len(), report.failed()), (2, 1));
    }
}
