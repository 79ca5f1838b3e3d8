//! Small jobs that come all the time, each with the end that it is to have whatever happens around it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Result, bail};
use serde_json::{Value, json};

use super::roll::Roll;
use crate::base_image::IMAGE;
use crate::bench::berth::Berth;
use crate::progress::note;

/// Jobs that are there at the same time.
const LIVE: usize = 16;
/// Between two looks at them.
const BETWEEN: Duration = Duration::from_millis(100);
/// What their names begin with.
const NAME: &str = "fault-";
/// What jobs find in their code: a file and what it says.
pub(super) const CODE: (&str, &str) = ("word", "whole");

/// What a job is to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Quick,
    Gang,
    Fails,
    IsTriedAgain,
    IsStopped,
    HasGpus,
    HasCode,
}

const KINDS: [Kind; 7] = [
    Kind::Quick,
    Kind::Gang,
    Kind::Fails,
    Kind::IsTriedAgain,
    Kind::IsStopped,
    Kind::HasGpus,
    Kind::HasCode,
];

impl Kind {
    fn of(number: u64) -> Self {
        let count = KINDS.len() as u64;
        KINDS[usize::try_from(number % count).unwrap_or(0)]
    }

    /// Tasks, GPUs of each, retries, and what a task runs once it has called.
    fn body(self) -> (u32, u32, u32, &'static str) {
        match self {
            Self::Quick => (1, 0, 0, "true"),
            Self::Gang => (2, 0, 0, "sleep 1"),
            Self::Fails => (1, 0, 0, "sleep 0.3; exit 7"),
            Self::IsTriedAgain => (1, 0, 1, "sleep 0.5; exit 1"),
            Self::IsStopped => (1, 0, 0, "sleep 100000"),
            Self::HasGpus => (1, 2, 0, "sleep 2"),
            Self::HasCode => (1, 0, 0, "grep -q whole code/word || exit 3"),
        }
    }

    fn file(self, name: &str, call: &str) -> Value {
        let (tasks, gpus, retries, command) = self.body();
        let mut file = json!({
            "jobName": name,
            "image": IMAGE,
            "retryCount": retries,
            "taskRoles": [{
                "name": "main", "taskNumber": tasks, "cpuNumber": 1, "memoryMB": 128,
                "gpuNumber": gpus, "command": format!("{call}{command}"),
            }],
        });
        if self == Self::HasCode {
            file["codeDir"] = json!("$PAI_DEFAULT_FS_URI/admin/code");
        }
        file
    }

    /// The end that it has to have: state, exit code where that follows, counted retries.
    fn end(self) -> (&'static str, Option<i64>, u64) {
        match self {
            Self::Quick | Self::Gang | Self::HasGpus | Self::HasCode => ("SUCCEEDED", Some(0), 0),
            Self::Fails => ("FAILED", Some(7), 0),
            Self::IsTriedAgain => ("FAILED", Some(1), 1),
            Self::IsStopped => ("STOPPED", None, 0),
        }
    }

    /// What is wrong with the end that it has; `None`: nothing.
    fn mistake(self, status: &Value) -> Option<String> {
        let (state, code, retries) = self.end();
        let right = status["state"] == state
            && code.is_none_or(|code| status["appExitCode"] == code)
            && status["retryDetails"]["user"] == retries;
        let told = || {
            format!(
                "a job that {self:?} ended {} with {} after {} counted retries: {}",
                status["state"],
                status["appExitCode"],
                status["retryDetails"]["user"],
                status["appExitDiagnostics"]
            )
        };
        (!right).then(told)
    }
}

/// What was wrong.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Wrong {
    /// It was acknowledged and is not there.
    Lost,
    /// It does not end.
    Stuck,
    /// It was there twice.
    Doubled,
    /// Something of it stayed.
    Leaked,
    /// It ended as it should not have.
    Blamed,
}

impl Wrong {
    /// All of them, each with its name in the table.
    pub(super) const ALL: [(Self, &'static str); 5] = [
        (Self::Lost, "lost"),
        (Self::Stuck, "stuck"),
        (Self::Doubled, "doubled"),
        (Self::Leaked, "leaked"),
        (Self::Blamed, "blamed_wrongly"),
    ];
}

/// The jobs, and what was wrong with them.
#[derive(Debug)]
pub(super) struct Jobs<'a> {
    berth: &'a Berth,
    roll: &'a Roll,
    comes: AtomicBool,
    is_over: AtomicBool,
    book: Mutex<Book>,
}

#[derive(Debug, Default)]
struct Book {
    /// How many were submitted.
    submitted: u64,
    /// Those that were acknowledged, for ever.
    acknowledged: BTreeSet<u64>,
    /// Those that have not been seen to end.
    open: BTreeSet<u64>,
    /// What was wrong, how often.
    wrong: BTreeMap<Wrong, u64>,
}

impl Book {
    /// Forgets one that is not there, and says whether it was acknowledged.
    fn forget(&mut self, number: u64) -> bool {
        self.open.remove(&number);
        self.acknowledged.remove(&number)
    }
}

impl<'a> Jobs<'a> {
    pub(super) fn new(berth: &'a Berth, roll: &'a Roll) -> Self {
        let (comes, is_over) = (AtomicBool::new(true), AtomicBool::new(false));
        Self { berth, roll, comes, is_over, book: Mutex::default() }
    }

    /// Submits jobs and looks at them, until it is over. What fails meanwhile is no matter: it is what
    /// was acknowledged that counts.
    pub(super) fn run(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let more = || self.comes.load(Ordering::Relaxed) && self.open() < LIVE;
            while more() {
                if !self.submit() {
                    break;
                }
            }
            let open: Vec<u64> = self.book().open.iter().copied().collect();
            for number in open {
                // Who does not answer is asked again.
                let _later = self.look(number);
            }
            for said in self.roll.doubled() {
                self.note(Wrong::Doubled, &said);
            }
            thread::sleep(BETWEEN);
        }
    }

    /// Whether new ones come.
    pub(super) fn come(&self, comes: bool) {
        self.comes.store(comes, Ordering::Relaxed);
    }

    /// It is over.
    pub(super) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// How many have not been seen to end.
    pub(super) fn open(&self) -> usize {
        self.book().open.len()
    }

    /// How many were submitted, and how many of them acknowledged.
    pub(super) fn counts(&self) -> (u64, u64) {
        let book = self.book();
        (book.submitted, book.acknowledged.len() as u64)
    }

    /// What was wrong, how often.
    pub(super) fn wrong(&self) -> BTreeMap<Wrong, u64> {
        self.book().wrong.clone()
    }

    pub(super) fn note(&self, wrong: Wrong, said: &str) {
        note(&format!("{wrong:?}: {said}"));
        *self.book().wrong.entry(wrong).or_default() += 1;
    }

    /// Looks also at those of the database that have not ended: one that was not acknowledged may have
    /// come to it later.
    pub(super) fn find(&self, names: &[String]) {
        let numbers = names.iter().filter_map(|name| name.strip_prefix(NAME)?.parse::<u64>().ok());
        self.book().open.extend(numbers);
    }

    /// Those that have not ended, though they had all the time for it, are given up.
    pub(super) fn give_up(&self) {
        let open = std::mem::take(&mut self.book().open);
        for number in open {
            self.note(Wrong::Stuck, &format!("{} does not end", name(number)));
        }
    }

    /// Compares what was acknowledged with the names of all jobs in the database.
    pub(super) fn compare(&self, names: &[String]) {
        let there: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let is_gone = |number: &u64| !there.contains(name(*number).as_str());
        let acknowledged = self.book().acknowledged.clone();
        for number in acknowledged.into_iter().filter(is_gone) {
            self.book().forget(number);
            self.note(Wrong::Lost, &format!("{} is not in the database", name(number)));
        }
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Submits the next one, and says whether it was acknowledged. If not, it may be there or not.
    fn submit(&self) -> bool {
        let number = self.book().submitted;
        let file = Kind::of(number).file(&name(number), &self.roll.call());
        let was_acknowledged = self.berth.submit(&file).is_ok();
        let mut book = self.book();
        book.submitted += 1;
        book.open.insert(number);
        if was_acknowledged {
            book.acknowledged.insert(number);
        }
        was_acknowledged
    }

    /// Looks at one: whether it has ended, and how.
    fn look(&self, number: u64) -> Result<()> {
        let path = format!("/api/v2/jobs/admin~{}", name(number));
        let Some(job) = self.berth.find(&path)? else {
            let was_acknowledged = self.book().forget(number);
            if was_acknowledged {
                self.note(Wrong::Lost, &format!("{} is not found", name(number)));
            }
            return Ok(());
        };
        let (kind, status) = (Kind::of(number), &job["jobStatus"]);
        match status["state"].as_str() {
            Some("SUCCEEDED" | "FAILED" | "STOPPED") => {
                self.book().open.remove(&number);
                if let Some(mistake) = kind.mistake(status) {
                    self.note(Wrong::Blamed, &format!("{}: {mistake}", name(number)));
                }
            }
            Some("RUNNING") if kind == Kind::IsStopped => {
                self.berth.put(&format!("{path}/executionType"), &json!({ "value": "STOP" }))?;
            }
            Some(_) => {}
            None => bail!("{path} has no state"),
        }
        Ok(())
    }
}

fn name(number: u64) -> String {
    format!("{NAME}{number}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_kind_has_one_right_end() {
        for kind in KINDS {
            let (state, code, retries) = kind.end();
            let mut status = json!({
                "state": state, "appExitCode": code, "retryDetails": { "user": retries },
            });
            assert_eq!(kind.mistake(&status), None, "{kind:?}");
            status["retryDetails"]["user"] = json!(retries + 1);
            assert!(kind.mistake(&status).is_some(), "{kind:?}");
            status["retryDetails"]["user"] = json!(retries);
            status["state"] = json!("UNKNOWN");
            assert!(kind.mistake(&status).is_some(), "{kind:?}");
        }
        assert_eq!(Kind::of(7), Kind::Quick);
    }
}
