use std::collections::BTreeMap;
use std::mem;

use api::jobs::{
    AttemptView, ConfigForm, EventView, JobConfig, JobDetail, JobPage, JobQuery, JobSummary,
    Submitted,
};
use api::many::JobOutcome;
use api::metrics::IdleJob;
use leptos::prelude::*;
use protocol::ids::{JobKey, Tag};
use protocol::spec::TimeLimit;
use protocol::state::State;
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::{Answer, Unreadable, from_json};
use crate::server_fns::checked::Checked;
use crate::server_fns::reads::Reads;

/// One page of jobs, and how many are in each state.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(crate) struct JobList {
    pub(crate) page: JobPage,
    pub(crate) counts: BTreeMap<State, u64>,
}

/// Lists jobs.
#[server(prefix = "/fn", endpoint = "jobs/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_jobs(query: JobQuery) -> Result<JobList, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let page = backend.jobs.list(&actor, &query).await.map_err(failed)?;
    let counts = backend.jobs.counts(&actor, &query).await.map_err(failed)?;
    Ok(JobList { page, counts })
}

/// A job as each part of its page knows it. What else there is to know the parts read that show it: the
/// others come without the code for that.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct JobSeen {
    pub(crate) summary: JobSummary,
    pub(crate) attempts: Vec<AttemptView>,
    pub(crate) may_manage: bool,
    /// All but the attempts, as JSON.
    rest: String,
}

impl From<JobDetail> for JobSeen {
    fn from(mut detail: JobDetail) -> Self {
        let attempts = mem::take(&mut detail.attempts);
        let rest = serde_json::to_string(&detail).unwrap_or_default();
        Self { summary: detail.summary, attempts, may_manage: detail.may_manage, rest }
    }
}

impl JobSeen {
    /// All that there is to know.
    pub(crate) fn whole(self) -> Result<JobDetail, Unreadable> {
        let rest: JobDetail = from_json(&self.rest)?;
        Ok(JobDetail { attempts: self.attempts, ..rest })
    }
}

/// One job with its tasks and attempts.
#[server(prefix = "/fn", endpoint = "jobs/get", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_job(key: JobKey) -> Result<JobSeen, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.get(&actor, &key).await.map(JobSeen::from).map_err(failed)
}

/// A job's file in one of its forms.
#[server(prefix = "/fn", endpoint = "jobs/config", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_config(key: JobKey, form: ConfigForm) -> Result<JobConfig, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.config(&actor, &key, form).await.map_err(failed)
}

/// What happened to a job.
#[server(prefix = "/fn", endpoint = "jobs/events", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_events(key: JobKey) -> Result<Vec<EventView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.events(&actor, &key).await.map_err(failed)
}

/// Asks jobs to stop: all of `keys`, each written `user~job`.
#[server(prefix = "/fn", endpoint = "jobs/stop", output = Answer)]
pub(crate) async fn stop_jobs(#[server(default)] keys: Vec<JobKeyText>) -> Result<u64, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    for JobKeyText(key) in &keys {
        backend.jobs.stop(&actor, key).await.map_err(failed)?;
    }
    Ok(keys.len() as u64)
}

/// Keeps a job for some hours from being stopped since its GPUs do nothing.
#[server(prefix = "/fn", endpoint = "jobs/keep", output = Answer)]
pub(crate) async fn keep_job(key: JobKeyText, hours: u32) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.keep(&actor, &key.0, hours).await.map_err(failed)
}

/// Gives a job that runs another time limit.
#[server(prefix = "/fn", endpoint = "jobs/time-limit", output = Answer)]
pub(crate) async fn set_time_limit(key: JobKeyText, limit: TimeLimit) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.set_time_limit(&actor, &key.0, limit).await.map_err(failed)
}

/// Who holds GPUs that do nothing.
#[server(prefix = "/fn", endpoint = "jobs/idle", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_idle() -> Result<Vec<IdleJob>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.idle(&actor, None).await.map_err(failed)
}

/// Deletes a job that has ended; then the browser goes to the list.
#[server(prefix = "/fn", endpoint = "jobs/delete", output = Answer)]
pub(crate) async fn delete_job(key: JobKeyText) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.delete(&actor, &key.0).await.map_err(failed)?;
    leptos_axum::redirect("/jobs");
    Ok(())
}

/// Does the same with many jobs, each written `user~job`: `act`, with a priority or a tag as its `value`.
#[server(prefix = "/fn", endpoint = "jobs/many", output = Answer)]
pub(crate) async fn change_many(
    #[server(default)] keys: Vec<String>,
    act: String,
    #[server(default)] value: String,
) -> Result<Vec<JobOutcome>, Failed> {
    use api::many::{ManyAct, each};

    use crate::edge::{call, failed, now};
    let (backend, actor) = call()?;
    let act = ManyAct::read(&act, &value).map_err(failed)?;
    each(&backend, &actor, &keys, &act, now()).await.map_err(failed)
}

/// Gives a job a tag.
#[server(prefix = "/fn", endpoint = "jobs/tag", output = Answer)]
pub(crate) async fn add_tag(key: JobKeyText, tag: Tag) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.add_tag(&actor, &key.0, &tag).await.map_err(failed)
}

/// Takes a tag from a job.
#[server(prefix = "/fn", endpoint = "jobs/untag", output = Answer)]
pub(crate) async fn remove_tag(key: JobKeyText, tag: Tag) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.remove_tag(&actor, &key.0, &tag).await.map_err(failed)
}

/// A job's key as one text, as forms send it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub(crate) struct JobKeyText(pub(crate) JobKey);

impl TryFrom<String> for JobKeyText {
    type Error = protocol::ids::InvalidName;
    fn try_from(text: String) -> Result<Self, Self::Error> {
        text.parse().map(JobKeyText)
    }
}

impl From<JobKeyText> for String {
    fn from(JobKeyText(key): JobKeyText) -> String {
        key.to_string()
    }
}

/// What a submission of this text would meet.
#[server(prefix = "/fn", endpoint = "jobs/check", output = Answer)]
pub(crate) async fn check_job(text: String) -> Result<Checked, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.jobs.check(&actor, &text).await.map(Checked::from).map_err(failed)
}

/// Submits a job file; then the browser goes to the job's page.
#[server(prefix = "/fn", endpoint = "jobs/submit", output = Answer)]
pub(crate) async fn submit_job(
    text: String,
    #[server(default)] cloned_from: String,
) -> Result<Submitted, Failed> {
    use api::jobs::Submission;

    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let cloned_from = cloned_from.parse::<JobKey>().ok();
    let submission = Submission { text, cloned_from, expected_name: None };
    let submitted = backend.jobs.submit(&actor, submission).await.map_err(failed)?;
    leptos_axum::redirect(&crate::address::job(&submitted.key));
    Ok(submitted)
}
