//! `api::queue`.

use std::sync::Arc;

use api::audit::AuditAction;
use api::jobs::Due;
use api::queue::{Effect, Explanation, Queue, QueueChange, QueuePlace};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::jobs::{Job, JobRow};
use protocol::ids::JobKey;
use protocol::jobs::Hold;
use protocol::spec::{JobSpec, Priority};
use protocol::state::State;
use scheduler::{Change, Place};

use super::answers::{self, Asked};
use super::effects;
use super::jobs::missing;
use crate::accounts::rights::owner_only;
use crate::known::queue::{held, waits_since};
use crate::records::audit::Note;
use crate::records::happened;
use crate::shared::Shared;
use crate::wake::now;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Queue for Ops {
    async fn change(&self, actor: &Actor, key: &JobKey, change: QueueChange) -> Result<()> {
        let job = self.may_change(actor, key, change).await?;
        let row = &job.row;
        let moves = match change {
            QueueChange::Move { place } => self.moves(actor, row, place).await?,
            QueueChange::Hold | QueueChange::Release | QueueChange::Priority { .. } => Vec::new(),
        };
        let by_right = by_right(actor, row);
        let done = self.0.store.write(async |t| {
            let done = match change {
                QueueChange::Hold => {
                    let by = actor.user.clone();
                    let hold = Hold { by, at: now(), administrator: by_right };
                    database::jobs::hold(t, row.id, &hold).await?
                }
                QueueChange::Release => database::jobs::release(t, row.id, actor.admin).await?,
                QueueChange::Priority { priority } => {
                    let most = actor.admin.then_some(priority);
                    database::jobs::set_priority(t, row.id, priority, most).await?
                }
                QueueChange::Move { .. } => {
                    database::jobs::move_many(t, &moves).await?;
                    !moves.is_empty()
                }
            };
            if done {
                record(t, actor, row, change).await?;
            }
            Ok(done)
        });
        if done.await? {
            self.0.live.tell_job(row.id, &row.key, row.state);
            self.0.live.wakeups.schedule.wake();
        }
        Ok(())
    }

    async fn effect(&self, actor: &Actor, key: &JobKey, change: QueueChange) -> Result<Effect> {
        let job = self.may_change(actor, key, change).await?;
        let id = job.row.id;
        let change = match change {
            QueueChange::Hold => Change::Hold(id, true),
            QueueChange::Release => Change::Hold(id, false),
            QueueChange::Priority { priority } => Change::Priority(id, priority),
            QueueChange::Move { place } => Change::Move(self.moves(actor, &job.row, place).await?),
        };
        effects::of(&self.0.jobs, change).await
    }

    async fn explain(&self, actor: &Actor, key: &JobKey) -> Result<Option<Explanation>> {
        let found = database::jobs::by_key(self.0.store.database.read(), key).await;
        let job = found?.ok_or_else(|| missing(key))?;
        explain(&self.0, actor, &job.row).await
    }
}

/// All that can be said of why a job waits.
pub(super) async fn explain(
    shared: &Arc<Shared>,
    actor: &Actor,
    row: &JobRow,
) -> Result<Option<Explanation>> {
    if row.state != State::Waiting {
        return Ok(None);
    }
    let id = row.id;
    let usable = answers::usable(shared, actor, &row.key.user).await?;
    let since = waits_since(row);
    let asked = shared.jobs.ask(move |queue| {
        let now = now();
        let request = queue.request(id)?;
        let spec = Arc::clone(&queue.job(id)?.spec);
        let said = queue.explain(id, now)?;
        let asked = Asked { request: &request, spec: &spec, usable: &usable, since };
        Some(answers::explanation(said, &asked, queue, now))
    });
    let said = asked.await?;
    Ok(said.map(|mut said| {
        if let Some(hold) = &row.held {
            said.reason = held(hold);
            said.expected = None;
        }
        said
    }))
}

/// By when a job is to have ended and, while it waits, has to start for that.
pub(super) async fn due(shared: &Arc<Shared>, row: &JobRow, spec: &JobSpec) -> Result<Option<Due>> {
    let Some(deadline) = spec.deadline else { return Ok(None) };
    let (at, id) = (deadline.at(), row.id);
    if row.state != State::Waiting {
        return Ok(Some(Due { at, latest_start: None }));
    }
    let urgency = shared.jobs.ask(move |queue| queue.request(id)?.urgency()).await?;
    Ok(Some(Due { at, latest_start: urgency.map(|urgency| urgency.latest_start) }))
}

/// The highest priority that the actor may give a job; `None`: any.
pub(super) fn most_priority(actor: &Actor, job: &Job) -> Option<Priority> {
    (!actor.admin).then(|| job.row.most_priority.unwrap_or(job.spec.priority))
}

impl Ops {
    /// The job, when the actor may change it like this and it still waits.
    async fn may_change(&self, actor: &Actor, key: &JobKey, change: QueueChange) -> Result<Job> {
        let found = database::jobs::by_key(self.0.store.database.read(), key).await;
        let job = found?.ok_or_else(|| missing(key))?;
        owner_only(actor, &key.user, "change its turn")?;
        if job.row.state != State::Waiting || job.row.stop.is_some() {
            let message = format!("{key} does not wait any more: only a waiting job has a turn");
            return Err(Error::new(ErrorCode::ConflictJobError, message));
        }
        let forbidden = |message: String| Err(Error::new(ErrorCode::ForbiddenUserError, message));
        match change {
            QueueChange::Hold | QueueChange::Move { .. } => {}
            QueueChange::Release => match &job.row.held {
                Some(hold) if hold.administrator && !actor.admin => {
                    return forbidden(format!(
                        "the administrator {} holds it: only an administrator releases it",
                        hold.by
                    ));
                }
                Some(_) | None => {}
            },
            QueueChange::Priority { priority } => match most_priority(actor, &job) {
                Some(most) if priority > most => {
                    return forbidden(format!(
                        "{} is the highest priority that you may give it",
                        most.0
                    ));
                }
                Some(_) | None => {}
            },
        }
        Ok(job)
    }

    /// An owner's jobs change places with each other; what an administrator moves that is not his
    /// own goes past those of others.
    async fn moves(&self, actor: &Actor, row: &JobRow, place: QueuePlace) -> Result<Moves> {
        let place = match place {
            QueuePlace::First => Place::First,
            QueuePlace::Earlier => Place::Earlier,
            QueuePlace::Later => Place::Later,
            QueuePlace::Last => Place::Last,
        };
        let (id, among) = (row.id, (!actor.admin).then(|| row.key.user.clone()));
        let asked = self
            .0
            .jobs
            .ask(move |queue| scheduler::moves(&queue.requests(), id, place, among.as_ref()));
        asked.await
    }
}

/// Each job's new `moved_ms`.
type Moves = Vec<(protocol::ids::JobId, i64)>;

/// Whether the actor changes the job as an administrator, and not because it is his.
fn by_right(actor: &Actor, row: &JobRow) -> bool {
    actor.admin && actor.user != row.key.user
}

async fn record(
    transaction: &database::Transaction,
    actor: &Actor,
    row: &JobRow,
    change: QueueChange,
) -> std::result::Result<(), database::Error> {
    let at = now();
    let by = &actor.user;
    let (kind, action, detail, words) = match change {
        QueueChange::Hold => ("held", AuditAction::JobHeld, String::new(), format!("held by {by}")),
        QueueChange::Release => {
            ("released", AuditAction::JobReleased, String::new(), format!("released by {by}"))
        }
        QueueChange::Priority { priority } => {
            let detail = format!("{} → {}", row.priority.0, priority.0);
            let words = format!("{by} changed its priority from {}", detail.replace('→', "to"));
            ("priority changed", AuditAction::JobPriority, detail, words)
        }
        QueueChange::Move { place } => {
            let to = match place {
                QueuePlace::First => "first",
                QueuePlace::Earlier => "earlier",
                QueuePlace::Later => "later",
                QueuePlace::Last => "last",
            };
            let words = match place {
                QueuePlace::First | QueuePlace::Last => format!("{by} moved it to be {to}"),
                QueuePlace::Earlier | QueuePlace::Later => format!("{by} moved it one place {to}"),
            };
            ("moved", AuditAction::JobMoved, to.to_owned(), words)
        }
    };
    let event = happened::by_person(happened::to_job(row.id, at, kind, words), by);
    database::events::insert_many(transaction, &[event]).await?;
    let note = Note { action, object: row.key.to_string(), detail, address: None };
    database::audit::insert(transaction, &note.by(actor)).await
}
