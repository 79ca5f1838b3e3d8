//! The same done with many jobs, one after the other: what each operation refuses, notes and tells is as
//! with one job.

use std::collections::BTreeSet;

use protocol::again::renamed;
use protocol::ids::{JobKey, Tag};
use protocol::spec::Priority;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::backend::Backend;
use crate::error::{Error, ErrorCode, Result};
use crate::jobs::{ConfigForm, Submission};
use crate::queue::QueueChange;

/// So many jobs at a time.
pub const MOST: usize = 1_000;

/// What is done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ManyAct {
    /// Each is asked to stop.
    Stop,
    /// Each is deleted, if it has ended.
    Delete,
    /// Each is submitted once more as it was written, under a new name, as a job of the actor.
    Again,
    /// Each has this priority, if it waits.
    Priority(Priority),
    /// Each gets this tag.
    AddTag(Tag),
    /// This tag is taken from each.
    RemoveTag(Tag),
}

impl ManyAct {
    /// Reads what a form says: what to do, and with which priority or tag.
    ///
    /// # Errors
    /// There is no such act, or it needs another value.
    pub fn read(word: &str, value: &str) -> Result<Self> {
        let refused = || {
            let message =
                format!("{} is nothing to do with many jobs", format!("{word} {value}").trim_end());
            Error::new(ErrorCode::InvalidParametersError, message)
        };
        Ok(match word {
            "stop" => Self::Stop,
            "delete" => Self::Delete,
            "again" => Self::Again,
            "priority" => Self::Priority(Priority(value.parse().map_err(|_| refused())?)),
            "tag" => Self::AddTag(value.parse()?),
            "untag" => Self::RemoveTag(value.parse()?),
            _ => return Err(refused()),
        })
    }
}

/// What became of one of the jobs.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct JobOutcome {
    /// Which, as it was named: `user~job`.
    pub job: String,
    /// Whether it was done.
    pub done: bool,
    /// The job that was made of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub made: Option<String>,
    /// Why it was refused: a word for programs.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub code: Option<ErrorCode>,
    /// Why it was refused, for people.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub message: Option<String>,
}

impl JobOutcome {
    fn of(job: &str, answer: Result<Option<JobKey>>) -> Self {
        let job = job.to_owned();
        match answer {
            Ok(made) => {
                let made = made.map(|key| key.to_string());
                Self { job, done: true, made, code: None, message: None }
            }
            Err(Error { code, message, .. }) => {
                Self { job, done: false, made: None, code: Some(code), message: Some(message) }
            }
        }
    }
}

/// Does it with each of some jobs, written `user~job`, in their order; with one that is named twice, once.
/// Where the server itself fails, the rest is left as it is and answered the same.
///
/// # Errors
/// They are none, or too many.
pub async fn each(
    backend: &Backend,
    actor: &Actor,
    jobs: &[String],
    act: &ManyAct,
    now: Timestamp,
) -> Result<Vec<JobOutcome>> {
    let mut seen = BTreeSet::new();
    let jobs: Vec<&String> = jobs.iter().filter(|job| seen.insert(job.as_str())).collect();
    if jobs.is_empty() || jobs.len() > MOST {
        let message = format!("these are {} jobs: 1 to {MOST} are taken at a time", jobs.len());
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    let mut outcomes = Vec::with_capacity(jobs.len());
    let mut failed: Option<Error> = None;
    for (at, job) in (0..).zip(jobs) {
        // Names that are made of it differ from second to second.
        let moment = Timestamp(now.0 + 1000 * at);
        let answer = match &failed {
            Some(error) => Err(error.clone()),
            None => one(backend, actor, job, act, moment).await,
        };
        failed = answer.as_ref().err().filter(|error| error.is_ours()).cloned();
        outcomes.push(JobOutcome::of(job, answer));
    }
    Ok(outcomes)
}

/// Does it with one; says which job was made.
async fn one(
    backend: &Backend,
    actor: &Actor,
    job: &str,
    act: &ManyAct,
    now: Timestamp,
) -> Result<Option<JobKey>> {
    let missing = |_| Error::new(ErrorCode::NoJobError, format!("Job {job} is not found."));
    let key: JobKey = job.parse().map_err(missing)?;
    match act {
        ManyAct::Stop => backend.jobs.stop(actor, &key).await?,
        ManyAct::Delete => backend.jobs.delete(actor, &key).await?,
        ManyAct::Again => return again(backend, actor, key, now).await.map(Some),
        ManyAct::Priority(priority) => {
            let change = QueueChange::Priority { priority: *priority };
            backend.queue.change(actor, &key, change).await?;
        }
        ManyAct::AddTag(tag) => backend.jobs.add_tag(actor, &key, tag).await?,
        ManyAct::RemoveTag(tag) => backend.jobs.remove_tag(actor, &key, tag).await?,
    }
    Ok(None)
}

/// Submits what was written of a job once more.
async fn again(backend: &Backend, actor: &Actor, key: JobKey, now: Timestamp) -> Result<JobKey> {
    let written = backend.jobs.config(actor, &key, ConfigForm::Written).await?;
    let text = renamed(&written.text, now);
    let submission = Submission { text, cloned_from: Some(key), expected_name: None };
    Ok(backend.jobs.submit(actor, submission).await?.key)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_do_is_read() {
        assert_eq!(ManyAct::read("stop", ""), Ok(ManyAct::Stop));
        assert_eq!(ManyAct::read("priority", "-1"), Ok(ManyAct::Priority(Priority(-1))));
        let tag = ManyAct::AddTag("best run".parse().unwrap());
        assert_eq!(ManyAct::read("tag", "best run"), Ok(tag));
        for (word, value) in [("", ""), ("start", ""), ("priority", "high"), ("tag", "a,b")] {
            let refused = ManyAct::read(word, value).unwrap_err();
            assert_eq!(refused.code, ErrorCode::InvalidParametersError, "{word} {value}");
        }
    }

    #[test]
    fn an_outcome_says_what_was_made_or_why_not() {
        let made = JobOutcome::of("ada~a", Ok(Some("ada~b".parse().unwrap())));
        assert_eq!((made.done, made.made.as_deref(), made.code), (true, Some("ada~b"), None));
        let refused = JobOutcome::of("ada~a", Err(Error::new(ErrorCode::NoJobError, "no")));
        assert!(!refused.done && refused.message.as_deref() == Some("no"));
        let written = serde_json::to_value(JobOutcome::of("ada~a", Ok(None))).unwrap();
        assert_eq!(written, serde_json::json!({ "job": "ada~a", "done": true }));
    }
}
