//! What is counted, over several runs: a run that was cut off is gone on with, and what it had counted counts.

use std::collections::BTreeMap;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use anyhow::{Context as _, Result, ensure};
use serde::{Deserialize, Serialize};

use super::jobs::Jobs;

/// Sums over runs, of points after which all was looked at.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct Tally {
    /// Runs.
    pub(super) runs: u64,
    /// Seconds that they took, counts included.
    pub(super) seconds: f64,
    /// How often something was struck.
    pub(super) points: u64,
    /// Tasks that were there when something was struck, in all, and how often there was none.
    pub(super) tasks: u64,
    pub(super) idle: u64,
    /// How often the server had ended by itself.
    pub(super) restarts: u64,
    /// How often each strike came.
    pub(super) struck: BTreeMap<String, u64>,
    pub(super) submitted: u64,
    pub(super) acknowledged: u64,
    /// What was wrong, how often.
    pub(super) wrong: BTreeMap<String, u64>,
}

impl Tally {
    /// What earlier runs have counted; nothing where there is no such file yet.
    pub(super) fn read(file: &Path) -> Result<Self> {
        match fs::read(file) {
            Ok(text) => serde_json::from_slice(&text)
                .with_context(|| format!("{} is no tally", file.display())),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(Self::default()),
            Err(error) => Err(error).with_context(|| format!("{}", file.display())),
        }
    }

    /// Writes it, whole or not at all.
    pub(super) fn write(&self, file: &Path) -> Result<()> {
        let new = file.with_extension("new");
        fs::write(&new, serde_json::to_vec_pretty(self)?)?;
        fs::rename(&new, file).with_context(|| format!("{} cannot be written", file.display()))
    }

    /// Takes over how many jobs there were.
    pub(super) fn take(&mut self, jobs: &Jobs<'_>) {
        (self.submitted, self.acknowledged) = jobs.counts();
    }

    /// Takes over what was found wrong.
    pub(super) fn find(&mut self, jobs: &Jobs<'_>) {
        self.wrong = jobs.counted().map(|(name, times)| (name.to_owned(), times)).into();
    }

    /// Both together.
    pub(super) fn plus(&self, more: &Self) -> Self {
        Self {
            runs: self.runs + more.runs,
            seconds: self.seconds + more.seconds,
            points: self.points + more.points,
            tasks: self.tasks + more.tasks,
            idle: self.idle + more.idle,
            restarts: self.restarts + more.restarts,
            struck: sum(&self.struck, &more.struck),
            submitted: self.submitted + more.submitted,
            acknowledged: self.acknowledged + more.acknowledged,
            wrong: sum(&self.wrong, &more.wrong),
        }
    }

    /// Fails where anything was wrong, in whichever run.
    pub(super) fn judge(&self) -> Result<()> {
        ensure!(self.wrong.values().all(|times| *times == 0), "not all counts of all runs are 0");
        Ok(())
    }

    /// All of it in a line.
    pub(super) fn told(&self) -> String {
        let Self { points, seconds, idle, acknowledged, .. } = self;
        let wrong: Vec<_> =
            self.wrong.iter().map(|(name, count)| format!("{name} {count}")).collect();
        format!(
            "{points} points in {:.2} h ({:.0} an hour), {:.1} tasks at a point ({idle} times none), \
             {acknowledged} acknowledged, {}",
            seconds / 3_600.0,
            each(*points, seconds / 3_600.0),
            self.tasks_at_a_point(),
            wrong.join(", ")
        )
    }

    /// Prints all of it, a line each.
    pub(super) fn print(&self) {
        println!("faults_runs {} runs", self.runs);
        println!("faults_points {} points", self.points);
        println!("faults_time {:.2} hours", self.seconds / 3_600.0);
        println!("faults_tasks_at_a_point {:.1} tasks", self.tasks_at_a_point());
        println!("faults_points_without_tasks {} points", self.idle);
        for (name, times) in &self.struck {
            println!("faults_{name} {times} times");
        }
        println!("faults_server_ended_by_itself {} times", self.restarts);
        println!("faults_submitted {} jobs", self.submitted);
        println!("faults_acknowledged {} jobs", self.acknowledged);
        for (name, times) in &self.wrong {
            println!("faults_{name} {times} times");
        }
    }

    fn tasks_at_a_point(&self) -> f64 {
        each(self.tasks, each(self.points, 1.0))
    }
}

/// So many for each of so much.
#[expect(clippy::cast_precision_loss, reason = "what a run counts is far below 2^52")]
fn each(count: u64, of: f64) -> f64 {
    if of > 0.0 { count as f64 / of } else { 0.0 }
}

fn sum(one: &BTreeMap<String, u64>, other: &BTreeMap<String, u64>) -> BTreeMap<String, u64> {
    let mut all = one.clone();
    for (name, times) in other {
        *all.entry(name.clone()).or_default() += times;
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tally(points: u64, lost: u64) -> Tally {
        Tally {
            runs: 1,
            seconds: 10.0,
            points,
            tasks: 2 * points,
            idle: 1,
            struck: [("server_killed".to_owned(), points)].into(),
            acknowledged: 7,
            wrong: [("lost".to_owned(), lost)].into(),
            ..Tally::default()
        }
    }

    #[test]
    fn runs_are_summed_and_what_was_wrong_in_one_stays_wrong() {
        let folder = tempfile::tempdir().unwrap();
        let file = folder.path().join("tally.json");
        assert_eq!(Tally::read(&file).unwrap(), Tally::default(), "there is none yet");
        tally(20, 1).write(&file).unwrap();
        let both = Tally::read(&file).unwrap().plus(&tally(30, 0));
        assert_eq!((both.runs, both.points, both.wrong["lost"]), (2, 50, 1));
        assert!(both.judge().is_err() && tally(30, 0).judge().is_ok());
        assert_eq!((both.struck["server_killed"], both.acknowledged), (50, 14));
        let told = both.told();
        assert!(told.starts_with("50 points in 0.01 h (9000 an hour), 2.0 tasks at a"), "{told}");
        assert!(told.ends_with("(2 times none), 14 acknowledged, lost 1"), "{told}");
        fs::write(&file, "no tally").unwrap();
        assert!(Tally::read(&file).is_err(), "nothing is begun anew in its place");
    }
}
