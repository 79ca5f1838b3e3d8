//! What was checked, how it went and how long it took.

use std::time::{Duration, Instant};

use anyhow::Result;

/// One check that has been made.
#[derive(Debug)]
pub(super) struct Check {
    name: &'static str,
    took: Duration,
    passed: bool,
}

impl Check {
    /// Runs one check; its error is shown at once.
    pub(super) fn run(name: &'static str, work: impl FnOnce() -> Result<()>) -> Self {
        eprintln!("\n==> {name}");
        let begun = Instant::now();
        let done = work();
        if let Err(error) = &done {
            eprintln!("    FAILED: {name}: {error:#}");
        }
        Self { name, took: begun.elapsed(), passed: done.is_ok() }
    }
}

/// The checks of one run.
#[derive(Debug, Default)]
pub(crate) struct Report {
    checks: Vec<Check>,
}

impl Report {
    /// Counts one check.
    pub(super) fn add(&mut self, check: Check) {
        self.checks.push(check);
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

    use super::{Check, Report};

    #[test]
    fn a_failed_check_is_counted_and_the_next_one_still_runs() {
        let mut report = Report::default();
        report.add(Check::run("first", || Err(anyhow!("broken"))));
        report.add(Check::run("second", || Ok(())));
        assert_eq!((report.checks.len(), report.failed()), (2, 1));
    }
}
