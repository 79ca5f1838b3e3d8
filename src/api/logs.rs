//! Logs of tasks: followed while they run, kept when the container is gone.

use async_trait::async_trait;
use bytes::Bytes;
use futures::stream::BoxStream;
use protocol::ids::{JobKey, RoleName};
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// Reading logs. Only the owner and administrators may.
#[async_trait]
pub trait Logs: Send + Sync {
    /// The end of a task's log: at most `tail_bytes` bytes, cut at a line's beginning.
    async fn tail(&self, actor: &Actor, task: &TaskRef, tail_bytes: u64) -> Result<LogText>;
    /// The log from `offset` on, and all that comes after it until the task has ended. A
    /// log that was lost with its container ends there.
    async fn follow(
        &self,
        actor: &Actor,
        task: &TaskRef,
        offset: u64,
    ) -> Result<BoxStream<'static, Result<Bytes>>>;
    /// The whole log as it is now.
    async fn whole(
        &self,
        actor: &Actor,
        task: &TaskRef,
    ) -> Result<BoxStream<'static, Result<Bytes>>>;
    /// The whole logs of all tasks of an attempt as they are now, one after the other, each under its task's
    /// name; of the latest, if none is named.
    async fn whole_of_all(
        &self,
        actor: &Actor,
        job: &JobKey,
        attempt: Option<u32>,
    ) -> Result<BoxStream<'static, Result<Bytes>>>;
    /// Some lines of any place.
    async fn window(&self, actor: &Actor, task: &TaskRef, ask: &WindowAsk) -> Result<LogWindow>;
    /// The lines of the first tasks of an attempt, in the order of time; of the latest, if none is named.
    async fn together(
        &self,
        actor: &Actor,
        job: &JobKey,
        attempt: Option<u32>,
        ask: &TogetherAsk,
    ) -> Result<Together>;
    /// The lines in which something is.
    async fn search(&self, actor: &Actor, task: &TaskRef, ask: &SearchAsk) -> Result<LogMatches>;
    /// The lines of all tasks of an attempt in which something is, task by task; of the latest, if none
    /// is named. The line of `ask` is one of `task`, counted from 0 in the order of the answer.
    async fn search_all(
        &self,
        actor: &Actor,
        job: &JobKey,
        attempt: Option<u32>,
        task: u32,
        ask: &SearchAsk,
    ) -> Result<JobMatches>;
}

/// One task of one attempt.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskRef {
    /// The job.
    pub job: JobKey,
    /// The attempt; `None`: the latest.
    pub attempt: Option<u32>,
    /// The role.
    pub role: RoleName,
    /// The index in the role.
    pub index: u32,
}

/// A piece of a log.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct LogText {
    /// The text; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Where in the log it begins; 0: at its beginning.
    pub offset: u64,
    /// Where it ends: `follow` goes on from here, and so many bytes later from so much more. Of a
    /// short log these are bytes from its beginning; of a long one only the end is read, and they
    /// count from some moment.
    pub end: u64,
    /// Whether nothing will be added any more.
    pub complete: bool,
    /// Whether it is lost: its task ran, and its container went away before its log was kept.
    pub lost: bool,
}

/// Which lines of a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WindowAsk {
    /// Where.
    pub place: LogPlace,
    /// How many at most.
    pub count: u32,
    /// What the asker has seen, as [`LogWindow::bytes`] said: the answer waits for a while until there
    /// is more.
    pub after: Option<u64>,
}

/// A place in a log.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum LogPlace {
    /// The last lines.
    End,
    /// From this line on, counted from 1.
    From(u64),
    /// With this line in the middle.
    Around(u64),
    /// From the first line on that was written then or later.
    Time(Timestamp),
}

/// Some lines of a log that follow each other.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogWindow {
    /// The lines.
    pub lines: Vec<LogLine>,
    /// How many lines the log has, as far as is known.
    pub total: u64,
    /// How many bytes.
    pub bytes: u64,
    /// Whether nothing will be added any more.
    pub complete: bool,
    /// Whether it is lost: its task ran, and its container went away before its log was kept.
    pub lost: bool,
    /// Whether what was written until now is still being read: numbers of its last lines are not known
    /// yet, and are 0.
    pub reading: bool,
    /// Lines in its middle that are not there, since the log was too long.
    pub left_out: Option<LeftOut>,
    /// How many bytes of its end are lost: it was kept with them, and what is kept is damaged.
    pub torn: u64,
}

/// A line of a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogLine {
    /// Its number, from 1.
    pub number: u64,
    /// When its beginning was written, where that is known.
    pub at: Option<Timestamp>,
    /// What it says, without its end of line; bytes that are not UTF-8 are replaced.
    pub text: String,
    /// Whether the middle of it was left out, since it is too long.
    pub cut: bool,
}

/// Lines that are not there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOut {
    /// The first of them, counted from 1.
    pub first: u64,
    /// How many.
    pub count: u64,
}

/// What is looked for in a log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct SearchAsk {
    /// The text, or the pattern.
    pub text: String,
    /// Whether it is a regular expression.
    pub pattern: bool,
    /// Whether large and small letters are told apart.
    pub case: bool,
    /// The line near which results are wanted, counted from 1.
    pub near: u64,
}

/// In which lines it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LogMatches {
    /// In how many.
    pub count: u64,
    /// How many of them are before the first of `lines`.
    pub before: u64,
    /// The numbers of those nearest to the line asked for: some before it, some from it on.
    pub lines: Vec<u64>,
    /// How many lines were looked through.
    pub searched: u64,
    /// Whether these are all that there are: there is a limit to the time.
    pub all: bool,
}

/// In which lines of all tasks it is.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct JobMatches {
    /// The tasks, by role and index.
    pub tasks: Vec<TaskMatches>,
    /// In how many lines it is.
    pub count: u64,
    /// How many of them are before the first of `hits`.
    pub before: u64,
    /// Those nearest to the line asked for, by task and number: some before it, some from it on. Long ones
    /// are cut.
    pub hits: Vec<TaskLine>,
    /// Whether these are all that there are: of each task all was looked through.
    pub all: bool,
}

/// What was found in the log of a task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskMatches {
    /// The task, as `worker-0`.
    pub name: String,
    /// In how many lines it is.
    pub count: u64,
    /// How many lines were looked through.
    pub searched: u64,
    /// Whether these are all of the log.
    pub all: bool,
    /// Why it could not be read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unread: Option<String>,
}

/// Which lines of all tasks together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TogetherAsk {
    /// Where.
    pub place: TogetherPlace,
    /// How many at most.
    pub count: u32,
    /// What the asker has seen, as [`Together::bytes`] said: the answer waits for a while until there
    /// is more.
    pub after: Option<u64>,
}

/// A place in the logs of all tasks: how many lines of each task are before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum TogetherPlace {
    /// The last lines.
    End,
    /// The lines before it.
    Before(Vec<u64>),
    /// The lines after it.
    From(Vec<u64>),
    /// The lines that were written then or later.
    Time(Timestamp),
}

/// Some lines of all tasks, or of the first ones of very many.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Together {
    /// The names of those tasks whose logs are put together.
    pub tasks: Vec<String>,
    /// How many tasks there are.
    pub of_tasks: u32,
    /// The lines, in the order in which they were written. One without an end is not among them before
    /// its task has ended.
    pub lines: Vec<TaskLine>,
    /// The place before the first of them.
    pub first: Vec<u64>,
    /// The place after the last of them.
    pub next: Vec<u64>,
    /// How many lines come after the last of them, as far as is known: whoever follows asks for these
    /// before he waits for more.
    pub behind: u64,
    /// How many bytes all logs have.
    pub bytes: u64,
    /// Whether nothing comes after the last of them, now or later.
    pub complete: bool,
    /// Of how many of these tasks the log is lost: they ran, and their containers went away before their logs
    /// were kept.
    pub lost: u32,
    /// Of how many of them the end of the log is lost: it was kept, and what is kept is damaged.
    pub torn: u32,
    /// Whether what was written until now is still being read.
    pub reading: bool,
}

/// A line of one of the tasks.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskLine {
    /// Which of the tasks.
    pub task: u32,
    /// The line.
    pub line: LogLine,
}
