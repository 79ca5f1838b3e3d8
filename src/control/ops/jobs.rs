//! `api::jobs`.

use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

use api::audit::AuditAction;
use api::jobs::{
    CheckReport, ConfigForm, DryRun, EventView, JobConfig, JobDetail, JobPage, JobQuery,
    JobSummary, Jobs, Submission, Submitted, Syntax, TaskPlace, TaskView,
};
use api::metrics::IdleJob;
use api::queue::Explanation;
use api::usage::{UsageOfDay, UsageQuery};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::jobs::{Job, NewJob};
use protocol::ids::{JobId, JobKey, Tag, UserName};
use protocol::notifications;
use protocol::parse::{Parsed, parse};
use protocol::secrets::{MASK, Secrets};
use protocol::sensitive;
use protocol::spec::{JobSpec, TimeLimit};
use protocol::state::State;

use super::answers::{self, Asked};
use super::submit::Submissions;
use super::{queue, views};
use crate::accounts::rights::{administrators_only, owner_only};
use crate::container::{forgotten, storages};
use crate::known::queue::wanted;
use crate::records::audit::Note;
use crate::records::happened;
use crate::secrets::sealing;
use crate::shared::Shared;
use crate::wake::now;

mod admission;
mod delete;
mod idle;
mod limit;
mod tags;
mod usage;

/// Rows of a page when the query names no number.
const PAGE: u64 = 50;
/// The longest page.
const LONGEST_PAGE: u64 = 50_000;

#[derive(Debug)]
pub(crate) struct Ops {
    pub(crate) shared: Arc<Shared>,
    pub(crate) submissions: Submissions,
}

#[async_trait]
impl Jobs for Ops {
    async fn submit(&self, actor: &Actor, submission: Submission) -> Result<Submitted> {
        let mut parsed = parse(&submission.text).map_err(Error::invalid_job)?;
        let key = JobKey { user: actor.user.clone(), name: parsed.spec.name.clone() };
        if let Some(expected) = submission.expected_name.as_ref().filter(|name| **name != key.name)
        {
            let message = format!("the address names {expected}, the job file {}", key.name);
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        if sensitive::is_masked(&parsed.spec) {
            let message = "a value is masked (******) whose name says that it is secret: give it";
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        }
        let (store, outputs) = (&self.shared.store, &self.shared.containers.outputs);
        let admitted = self.admitted(actor, &parsed, &submission).await;
        let new = match admitted.is_ok() {
            true => admission::create_new_output(store, outputs, actor, &parsed.spec).await,
            false => None,
        };
        // Whoever has a job of that name has its folder, nearly always: where that is new the name need not be
        // looked up here, for it is when the job is stored.
        if new.is_none() {
            self.free(&key).await?;
        }
        let secrets = admitted?;
        let made = match new {
            Some(made) => made,
            None => admission::create_output(store, outputs, actor, &mut parsed.spec).await?,
        };
        let seal = |(name, value): (&str, &str)| {
            (name.to_owned(), self.shared.seal.seal(&sealing::context(&key, name), value))
        };
        let secrets = secrets.iter().map(seal).collect();
        let Parsed { spec, syntax, masked_text: text, mut warnings, .. } = parsed;
        warnings.extend(self.told_by_nobody(&spec));
        let job = NewJob { key: key.clone(), spec, text, syntax, submitted_at: now() };
        match self.submissions.store(job, secrets, made.expected).await {
            Ok(id) => Ok(Submitted { id, key, warnings }),
            Err(error) => {
                // Where it is not known what became of it, and where it is to be submitted again, they stay.
                if !error.is_ours() && error.code != ErrorCode::UnavailableError {
                    forgotten::take_back(store, outputs, &actor.user, &made.new).await;
                }
                Err(error)
            }
        }
    }

    async fn check(&self, actor: &Actor, text: &str) -> Result<CheckReport> {
        let parsed = match parse(text) {
            Ok(parsed) => parsed,
            Err(problems) => {
                return Ok(CheckReport { problems, warnings: Vec::new(), dry_run: None });
            }
        };
        let refusal =
            admission::check(&self.shared, actor, &parsed.spec, &parsed.secrets).await.err();
        let never = refusal.as_ref().and_then(|refusal| refusal.never.clone());
        let mut warnings = parsed.warnings;
        warnings.extend(self.told_by_nobody(&parsed.spec));
        let problems = refusal.map(|refusal| refusal.located(text)).into_iter().collect();
        let dry_run = Some(match never {
            Some(reason) => DryRun::Never { reason },
            None => self.dry_run(actor, parsed.spec).await?,
        });
        Ok(CheckReport { problems, warnings, dry_run })
    }

    async fn list(&self, actor: &Actor, query: &JobQuery) -> Result<JobPage> {
        let (query, at) = (bounded(query)?, now());
        let listed = database::jobs::list(&self.shared.store.database, &query, at).await;
        let (rows, total) = listed?;
        let waits = rows.iter().filter(|row| row.state == State::Waiting);
        let waits: Vec<_> = waits.map(|row| (row.id, row.submitted_at)).collect();
        let ids: Vec<JobId> = rows.iter().map(|row| row.id).collect();
        // Whoever looks waits for the last of them, not for one after the other.
        let (mut waiting, tags, ends) = tokio::join!(
            self.shared.jobs.waiting(&waits, at),
            database::tags::of_jobs(self.shared.store.database.read(), &ids),
            limit::ends(&self.shared.store, &rows),
        );
        let (mut tags, ends) = (tags?, ends?);
        let view = |row: database::jobs::JobRow| {
            let (waiting, expected) = waiting.remove(&row.id).unzip();
            let tags = tags.remove(&row.id).unwrap_or_default();
            let lately =
                views::lately(&self.shared.settings, &self.shared.readings, actor, &row, at);
            let ends_by = ends.get(&row.id).copied();
            let summary = views::summary(row, tags, (waiting, expected.flatten()));
            JobSummary { lately, ends_by, ..summary }
        };
        Ok(JobPage { jobs: rows.into_iter().map(view).collect(), total })
    }

    async fn get(&self, actor: &Actor, key: &JobKey) -> Result<JobDetail> {
        let job = self.job(key).await?;
        let most_priority = queue::most_priority(actor, &job);
        let Job { row, spec } = job;
        let spec = self.as_seen_by(actor, &row.key.user, spec);
        let explanation = queue::explain(&self.shared, actor, &row).await?;
        let deadline = queue::due(&self.shared, &row, &spec).await?;
        let attempts = database::attempts::of_job(self.shared.store.database.read(), row.id);
        let attempts = attempts.await?;
        let mut tasks = self.tasks(row.id).await?;
        let storages =
            storages::seen(&self.shared.store, &self.shared.people, &row.key.user, &spec).await?;
        let tags = database::tags::of_jobs(self.shared.store.database.read(), &[row.id]).await;
        let tags = tags?.remove(&row.id).unwrap_or_default();
        let waiting = explanation.as_ref().map(Explanation::waiting);
        let expected = explanation.as_ref().and_then(|said| said.expected);
        let attempts = attempts.into_iter().map(|attempt| {
            let tasks = tasks.remove(&attempt.number).unwrap_or_default();
            views::attempt(attempt, tasks)
        });
        Ok(JobDetail {
            description: spec.description.clone(),
            dialect: spec.dialect,
            retry_limit: spec.retries,
            time_limit: spec.time_limit,
            grace: spec.grace,
            deadline,
            nodes: spec.nodes.clone(),
            roles: spec.roles.iter().map(views::role).collect(),
            storages,
            attempts: attempts.collect(),
            idling: self.shared.readings.idle.of(row.id, self.shared.settings.rules.clock.now()),
            may_manage: actor.admin || actor.user == row.key.user,
            most_priority,
            summary: views::summary(row, tags, (waiting, expected)),
            explanation,
        })
    }

    async fn runs(
        &self,
        _everybody: &Actor,
        key: &JobKey,
        task: &TaskPlace,
    ) -> Result<Vec<TaskView>> {
        let Job { row, .. } = self.job(key).await?;
        let TaskPlace { attempt, role, index } = task;
        let tasks = database::tasks::of_job(self.shared.store.database.read(), row.id).await;
        let mut runs = tasks?;
        runs.retain(|run| {
            (run.key.attempt, run.key.index) == (*attempt, *index) && run.role_name == *role
        });
        runs.sort_by_key(|run| std::cmp::Reverse(run.key.retry));
        let progress = self.shared.jobs.progress();
        let view = |run: database::tasks::Task| {
            let doing = progress.get(&run.key).cloned();
            views::task(run, doing)
        };
        Ok(runs.into_iter().map(view).collect())
    }

    async fn config(&self, actor: &Actor, key: &JobKey, form: ConfigForm) -> Result<JobConfig> {
        let Job { row, spec } = self.job(key).await?;
        if self.shared.settings.rules.private_jobs {
            owner_only(actor, &row.key.user, "read this job's file")?;
        }
        let seen = self.as_seen_by(actor, &row.key.user, spec.clone());
        let rendered = |syntax: Syntax| JobConfig {
            text: match syntax {
                Syntax::Json => protocol::render::to_json(&seen),
                Syntax::Yaml => protocol::render::to_yaml(&seen),
            },
            syntax,
        };
        match form {
            ConfigForm::Written => {
                let written = database::jobs::text(self.shared.store.database.read(), row.id).await;
                let (text, syntax) = written?;
                if is_own(actor, &row.key.user) {
                    return Ok(JobConfig { text, syntax });
                }
                let covered = sensitive::covered_file(&text, &spec);
                Ok(covered.map_or_else(|| rendered(syntax), |text| JobConfig { text, syntax }))
            }
            ConfigForm::Json => Ok(rendered(Syntax::Json)),
            ConfigForm::Yaml => Ok(rendered(Syntax::Yaml)),
        }
    }

    async fn stop(&self, actor: &Actor, key: &JobKey) -> Result<()> {
        let Job { row, .. } = self.job(key).await?;
        owner_only(actor, &row.key.user, "stop this job")?;
        let asked = self.shared.store.write(async |transaction| {
            let at = now();
            let news = database::jobs::request_stop(transaction, row.id, &actor.user, at).await?;
            if news {
                let message = format!("{} asked to stop it", actor.user);
                let event = happened::to_job(row.id, at, "stop requested", message);
                let event = happened::by_person(event, &actor.user);
                database::events::insert_many(transaction, &[event]).await?;
            }
            if news && actor.user != row.key.user {
                let (action, object) = (AuditAction::JobStopped, row.key.to_string());
                let note = Note { action, object, detail: String::new(), address: None };
                database::audit::insert(transaction, &note.by(actor)).await?;
            }
            Ok(news)
        });
        if asked.await? {
            self.shared.live.tell_job(row.id, &row.key, row.state);
            self.shared.live.wakeups.schedule.wake();
            self.shared.live.wakeups.jobs.wake();
        }
        Ok(())
    }

    async fn delete(&self, actor: &Actor, key: &JobKey) -> Result<()> {
        let Job { row, .. } = self.job(key).await?;
        delete::delete(&self.shared, actor, row).await
    }

    async fn add_tag(&self, actor: &Actor, key: &JobKey, tag: &Tag) -> Result<()> {
        let Job { row, .. } = self.job(key).await?;
        tags::add(&self.shared.store, &self.shared.live, actor, &row, tag).await
    }

    async fn remove_tag(&self, actor: &Actor, key: &JobKey, tag: &Tag) -> Result<()> {
        let Job { row, .. } = self.job(key).await?;
        tags::remove(&self.shared.store, &self.shared.live, actor, &row, tag).await
    }

    async fn keep(&self, actor: &Actor, key: &JobKey, hours: u32) -> Result<()> {
        let Job { row, .. } = self.job(key).await?;
        idle::keep(&self.shared, actor, &row, hours).await
    }

    async fn set_time_limit(&self, actor: &Actor, key: &JobKey, limit: TimeLimit) -> Result<()> {
        limit::set(&self.shared, actor, &self.job(key).await?, limit).await
    }

    async fn idle(&self, actor: &Actor, of: Option<&UserName>) -> Result<Vec<IdleJob>> {
        match of {
            Some(user) => owner_only(actor, user, "see which of these jobs are idle")?,
            None => administrators_only(actor)?,
        }
        Ok(self.shared.readings.idle.all(of, self.shared.settings.rules.clock.now()))
    }

    async fn events(&self, actor: &Actor, key: &JobKey) -> Result<Vec<EventView>> {
        let Job { row, .. } = self.job(key).await?;
        if self.shared.settings.rules.private_jobs {
            owner_only(actor, &row.key.user, "read what happened to this job")?;
        }
        let events =
            database::events::of_job(self.shared.store.database.read(), row.id, 1_000).await;
        Ok(events?.into_iter().map(views::event).collect())
    }

    async fn counts(&self, _everybody: &Actor, query: &JobQuery) -> Result<BTreeMap<State, u64>> {
        let query = JobQuery { states: Vec::new(), ..bounded(query)? };
        Ok(database::jobs::counts(&self.shared.store.database, &query, now()).await?)
    }

    async fn usage(&self, actor: &Actor, query: &UsageQuery) -> Result<Vec<UsageOfDay>> {
        let shared = &self.shared;
        usage::usage(&shared.settings, (&shared.store, &shared.nodes), actor, query).await
    }
}

impl Ops {
    /// What a job wants its owner to be told where nothing can be sent.
    fn told_by_nobody(&self, spec: &JobSpec) -> Option<String> {
        let wanted = !notifications::of_job(&spec.extras).is_empty();
        (wanted && !self.shared.outbound.notifying.post.has_mail()).then(|| {
            format!("no mail is set up here: extras.{} is not used", notifications::OF_JOB)
        })
    }

    /// What the scheduler would do with a job.
    async fn dry_run(&self, actor: &Actor, spec: JobSpec) -> Result<DryRun> {
        let user = actor.user.clone();
        let usable = answers::usable(&self.shared, actor, &user).await?;
        let asked = self.shared.jobs.ask(move |queue| {
            let now = now();
            let request = wanted(queue, &spec, &user);
            let answer = queue.dry_run(&request, now);
            let asked = Asked { request: &request, spec: &spec, usable: &usable, since: now };
            answers::dry_run(answer, &asked, queue, now)
        });
        asked.await
    }

    /// The job as this actor may see it.
    fn as_seen_by(&self, actor: &Actor, owner: &UserName, spec: JobSpec) -> JobSpec {
        if is_own(actor, owner) {
            return spec;
        }
        let mut spec = sensitive::covered(&spec);
        if self.shared.settings.rules.private_jobs {
            spec.description = None;
            for role in &mut spec.roles {
                MASK.clone_into(&mut role.command);
            }
        }
        spec
    }

    /// Refuses a name that a job of the same user's has.
    async fn free(&self, key: &JobKey) -> Result<()> {
        let found = database::jobs::by_key(self.shared.store.database.read(), key).await;
        found?.map_or(Ok(()), |_| Err(name_taken(key)))
    }

    /// The secrets of a job that is let in.
    async fn admitted(
        &self,
        actor: &Actor,
        parsed: &Parsed,
        submission: &Submission,
    ) -> Result<Secrets> {
        let secrets = self.secrets(actor, parsed, submission.cloned_from.as_ref()).await?;
        let checked = admission::check(&self.shared, actor, &parsed.spec, &secrets).await;
        checked.map_err(|refusal| refusal.about(&submission.text))?;
        Ok(secrets)
    }

    async fn job(&self, key: &JobKey) -> Result<Job> {
        let found = database::jobs::by_key(self.shared.store.database.read(), key).await;
        found?.ok_or_else(|| missing(key))
    }

    /// The latest runs of a job's tasks, by attempt.
    async fn tasks(&self, id: JobId) -> Result<HashMap<u32, Vec<TaskView>>> {
        let tasks = database::tasks::of_job(self.shared.store.database.read(), id).await;
        let mut latest = BTreeMap::new();
        for task in tasks? {
            // They come by key, so that of two runs of a task the later one stays.
            latest.insert((task.key.attempt, task.key.role, task.key.index), task);
        }
        let progress = self.shared.jobs.progress();
        let mut by_attempt: HashMap<u32, Vec<_>> = HashMap::new();
        for ((attempt, _, _), task) in latest {
            let doing = progress.get(&task.key).cloned();
            let idle = self.shared.readings.measured.idle(&task.key, now());
            let view = TaskView { idle, ..views::task(task, doing) };
            by_attempt.entry(attempt).or_default().push(view);
        }
        Ok(by_attempt)
    }

    /// The job's secrets; masked ones are those of the job it was cloned from, which must be the
    /// actor's own.
    async fn secrets(
        &self,
        actor: &Actor,
        parsed: &Parsed,
        cloned_from: Option<&JobKey>,
    ) -> Result<Secrets> {
        if parsed.secrets.iter().all(|(_, value)| value != MASK) {
            return Ok(parsed.secrets.clone());
        }
        let Some(original) = cloned_from else {
            let message = "a secret is masked (******): give its value, or clone a job of yours";
            return Err(Error::new(ErrorCode::InvalidParametersError, message));
        };
        owner_only(actor, &original.user, "use this job's secrets")?;
        let Job { row, .. } = self.job(original).await?;
        let sealed = database::secrets::of_job(self.shared.store.database.read(), row.id).await;
        let sealed: BTreeMap<String, Vec<u8>> = sealed?;
        let value = |name: &str, value: &str| {
            if value != MASK {
                return Ok((name.to_owned(), value.to_owned()));
            }
            let opened = sealed.get(name).and_then(|sealed| {
                self.shared.seal.unseal(&sealing::context(original, name), sealed)
            });
            let opened = opened.ok_or_else(|| {
                let message = format!("{original} has no secret {name}: give its value");
                Error::new(ErrorCode::InvalidParametersError, message)
            })?;
            Ok((name.to_owned(), opened))
        };
        parsed.secrets.iter().map(|(name, masked)| value(name, masked)).collect()
    }
}

fn is_own(actor: &Actor, owner: &UserName) -> bool {
    actor.admin || actor.user == *owner
}

pub(crate) fn name_taken(key: &JobKey) -> Error {
    let message = format!("{} has a job {} already: choose another name", key.user, key.name);
    Error::new(ErrorCode::ConflictJobError, message)
}

pub(crate) fn missing(key: &JobKey) -> Error {
    let message = format!("{} has no job {}", key.user, key.name);
    Error::new(ErrorCode::NoJobError, message)
}

/// The query with as many rows as there may be.
fn bounded(query: &JobQuery) -> Result<JobQuery> {
    if query.limit > LONGEST_PAGE {
        let message = format!("Limit exceeds max number {LONGEST_PAGE}.");
        return Err(Error::new(ErrorCode::InvalidParametersError, message));
    }
    let limit = if query.limit == 0 { PAGE } else { query.limit };
    Ok(JobQuery { limit, ..query.clone() })
}
