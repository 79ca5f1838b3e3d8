//! Small jobs that come all the time, each with the end that it is to have whatever happens around it.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::Duration;

use anyhow::{Context as _, Result, bail};
use serde_json::{Value, json};

use super::roll::Roll;
use crate::base_image::IMAGE;
use crate::bench::berth::Berth;
use crate::progress::note;

/// Between two looks at them.
const BETWEEN: Duration = Duration::from_millis(100);
/// What their names begin with.
const NAME: &str = "fault-";
/// What jobs find in their code: a file and what it says.
pub(in crate::bench) const CODE: (&str, &str) = ("word", "whole");

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
    RunsLong,
}

/// The last one is for who strikes what takes its time: it runs meanwhile.
const KINDS: &[Kind] = &[
    Kind::Quick,
    Kind::Gang,
    Kind::Fails,
    Kind::IsTriedAgain,
    Kind::IsStopped,
    Kind::HasGpus,
    Kind::HasCode,
    Kind::RunsLong,
];

/// How many jobs come, and beside what.
#[derive(Debug, Clone, Copy)]
pub(in crate::bench) struct Load {
    /// Jobs that are there at the same time.
    pub(in crate::bench) live: usize,
    kinds: &'static [Kind],
    /// Attempts may end with the engines that they ran on, which counts for the platform.
    engines_end: bool,
}

impl Load {
    /// Small jobs beside engines that are struck as well.
    pub(in crate::bench) const SMALL: Self =
        Self { live: 16, kinds: KINDS.split_at(7).0, engines_end: true };
    /// Many jobs beside engines that are well: fifty are in flight also when some have just ended.
    pub(in crate::bench) const MANY: Self = Self { live: 60, kinds: KINDS, engines_end: false };

    fn kind(self, number: u64) -> Kind {
        let count = self.kinds.len() as u64;
        self.kinds[usize::try_from(number % count).unwrap_or(0)]
    }

    /// What is wrong with the end that a job has; `None`: nothing.
    fn mistake(self, kind: Kind, status: &Value) -> Option<String> {
        let on_platform = &status["retryDetails"]["platform"];
        let begun_anew = !self.engines_end && *on_platform != 0;
        let said = || format!("it began anew {on_platform} times, and its engine was well");
        kind.mistake(status).or_else(|| begun_anew.then(said))
    }
}

impl Kind {
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
            Self::RunsLong => (1, 0, 0, "sleep 15"),
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
            Self::Quick | Self::Gang | Self::HasGpus | Self::HasCode | Self::RunsLong => {
                ("SUCCEEDED", Some(0), 0)
            }
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
pub(in crate::bench) enum Wrong {
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
    const ALL: [(Self, &'static str); 5] = [
        (Self::Lost, "lost"),
        (Self::Stuck, "stuck"),
        (Self::Doubled, "doubled"),
        (Self::Leaked, "leaked"),
        (Self::Blamed, "blamed_wrongly"),
    ];
}

/// The jobs, and what was wrong with them.
#[derive(Debug)]
pub(in crate::bench) struct Jobs<'a> {
    load: Load,
    /// Of which any may be asked.
    servers: &'a [Berth],
    /// Which one is asked: the next one, where one does not answer.
    asked: AtomicUsize,
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
    /// Takes note of one more, which is about to be submitted: nothing is at rest before it was answered.
    fn begin(&mut self) -> u64 {
        let number = self.submitted;
        self.submitted += 1;
        self.open.insert(number);
        number
    }

    /// Forgets one that is not there, and says whether it was acknowledged.
    fn forget(&mut self, number: u64) -> bool {
        self.open.remove(&number);
        self.acknowledged.remove(&number)
    }
}

impl<'a> Jobs<'a> {
    pub(in crate::bench) fn new(load: Load, servers: &'a [Berth], roll: &'a Roll) -> Self {
        let (comes, is_over) = (AtomicBool::new(true), AtomicBool::new(false));
        let (asked, book) = (AtomicUsize::new(0), Mutex::default());
        Self { load, servers, asked, roll, comes, is_over, book }
    }

    /// Submits jobs and looks at them, until it is over. What fails meanwhile is no matter: it is what
    /// was acknowledged that counts.
    pub(in crate::bench) fn run(&self) {
        while !self.is_over.load(Ordering::Relaxed) {
            let more = || self.comes.load(Ordering::Relaxed) && self.open() < self.load.live;
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
    pub(in crate::bench) fn come(&self, comes: bool) {
        self.comes.store(comes, Ordering::Relaxed);
    }

    /// It is over.
    pub(in crate::bench) fn end(&self) {
        self.is_over.store(true, Ordering::Relaxed);
    }

    /// How many have not been seen to end.
    pub(in crate::bench) fn open(&self) -> usize {
        self.book().open.len()
    }

    /// How many were submitted, and how many of them acknowledged.
    pub(in crate::bench) fn counts(&self) -> (u64, u64) {
        let book = self.book();
        (book.submitted, book.acknowledged.len() as u64)
    }

    /// What was wrong, how often.
    pub(in crate::bench) fn wrong(&self) -> BTreeMap<Wrong, u64> {
        self.book().wrong.clone()
    }

    pub(in crate::bench) fn note(&self, wrong: Wrong, said: &str) {
        note(&format!("{wrong:?}: {said}"));
        *self.book().wrong.entry(wrong).or_default() += 1;
    }

    /// Looks also at those of the database that have not ended: one that was not acknowledged may have
    /// come to it later.
    pub(in crate::bench) fn find(&self, names: &[String]) {
        let numbers = names.iter().filter_map(|name| name.strip_prefix(NAME)?.parse::<u64>().ok());
        self.book().open.extend(numbers);
    }

    /// Those that have not ended, though they had all the time for it, are given up.
    pub(in crate::bench) fn give_up(&self) {
        let open = std::mem::take(&mut self.book().open);
        for number in open {
            self.note(Wrong::Stuck, &format!("{} does not end", name(number)));
        }
    }

    /// Compares what was acknowledged with the names of all jobs in the database.
    pub(in crate::bench) fn compare(&self, names: &[String]) {
        let there: BTreeSet<&str> = names.iter().map(String::as_str).collect();
        let is_gone = |number: &u64| !there.contains(name(*number).as_str());
        let acknowledged = self.book().acknowledged.clone();
        for number in acknowledged.into_iter().filter(is_gone) {
            self.book().forget(number);
            self.note(Wrong::Lost, &format!("{} is not in the database", name(number)));
        }
    }

    /// How often each was wrong, by its name in the table.
    pub(in crate::bench) fn counted(&self) -> [(&'static str, u64); 5] {
        let wrong = self.wrong();
        Wrong::ALL.map(|(kind, name)| (name, wrong.get(&kind).copied().unwrap_or(0)))
    }

    /// The counts of what was wrong, in a line.
    pub(in crate::bench) fn told(&self) -> String {
        let counts = self.counted().map(|(name, count)| format!("{name} {count}"));
        format!("{} acknowledged, {}", self.counts().1, counts.join(", "))
    }

    /// Prints the counts, each with this before its name.
    pub(in crate::bench) fn print(&self, of: &str) {
        let (submitted, acknowledged) = self.counts();
        println!("{of}_submitted {submitted} jobs");
        println!("{of}_acknowledged {acknowledged} jobs");
        for (name, times) in self.counted() {
            println!("{of}_{name} {times} times");
        }
    }

    /// Fails where something was wrong, and where nothing was tried.
    pub(in crate::bench) fn judge(&self) -> Result<()> {
        if self.counts().1 == 0 {
            bail!("no job was acknowledged");
        }
        if !self.wrong().is_empty() {
            bail!("not all counts are 0");
        }
        Ok(())
    }

    fn book(&self) -> MutexGuard<'_, Book> {
        self.book.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Asks one of the servers. Where it does not answer the next question goes to the next one.
    fn ask<T>(&self, question: impl FnOnce(&Berth) -> Result<T>) -> Result<T> {
        let number = self.asked.load(Ordering::Relaxed);
        let index = number.checked_rem(self.servers.len());
        let server = index.and_then(|index| self.servers.get(index));
        let answer = question(server.context("there is no server to ask")?);
        if answer.is_err() {
            self.asked.store(number + 1, Ordering::Relaxed);
        }
        answer
    }

    /// Submits the next one, and says whether it was acknowledged. If not, it may be there or not.
    fn submit(&self) -> bool {
        let number = self.book().begin();
        let file = self.load.kind(number).file(&name(number), &self.roll.call());
        let was_acknowledged = self.ask(|server| server.submit(&file)).is_ok();
        if was_acknowledged {
            self.book().acknowledged.insert(number);
        }
        was_acknowledged
    }

    /// Looks at one: whether it has ended, and how.
    fn look(&self, number: u64) -> Result<()> {
        let path = format!("/api/v2/jobs/admin~{}", name(number));
        let Some(job) = self.ask(|server| server.find(&path))? else {
            let was_acknowledged = self.book().forget(number);
            if was_acknowledged {
                self.note(Wrong::Lost, &format!("{} is not found", name(number)));
            }
            return Ok(());
        };
        let (kind, status) = (self.load.kind(number), &job["jobStatus"]);
        match status["state"].as_str() {
            Some("SUCCEEDED" | "FAILED" | "STOPPED") => {
                self.book().open.remove(&number);
                if let Some(mistake) = self.load.mistake(kind, status) {
                    self.note(Wrong::Blamed, &format!("{}: {mistake}", name(number)));
                }
            }
            Some("RUNNING") if kind == Kind::IsStopped => {
                let (path, stop) = (format!("{path}/executionType"), json!({ "value": "STOP" }));
                self.ask(|server| server.put(&path, &stop))?;
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
        for &kind in KINDS {
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
        let kinds = |load: Load| [0, 7, 8].map(|number| load.kind(number));
        assert_eq!(kinds(Load::SMALL), [Kind::Quick, Kind::Quick, Kind::Gang]);
        assert_eq!(kinds(Load::MANY), [Kind::Quick, Kind::RunsLong, Kind::Quick]);
    }

    #[test]
    fn what_is_being_submitted_is_open_already() {
        let mut book = Book::default();
        assert_eq!([book.begin(), book.begin()], [0, 1]);
        assert_eq!((book.open.len(), book.acknowledged.len()), (2, 0));
        assert!(!book.forget(0) && book.open.len() == 1, "it never was acknowledged");
    }

    #[test]
    fn who_begins_anew_is_blamed_on_his_engine_or_on_nobody() {
        let retries = |platform: u64| {
            json!({
                "state": "SUCCEEDED", "appExitCode": 0,
                "retryDetails": { "user": 0, "platform": platform },
            })
        };
        for (load, platform, is_wrong) in [
            (Load::SMALL, 0, false),
            (Load::SMALL, 1, false),
            (Load::MANY, 0, false),
            (Load::MANY, 1, true),
        ] {
            let mistake = load.mistake(Kind::Quick, &retries(platform));
            assert_eq!(mistake.is_some(), is_wrong, "{load:?}: {mistake:?}");
        }
    }
}
