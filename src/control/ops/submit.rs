//! Stores submitted jobs, many in one transaction when many come at once: a submission is answered
//! when it is durable, and a burst of them costs few writes.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use api::{Error, ErrorCode, Result};
use database::Transaction;
use database::jobs::NewJob;
use protocol::ids::JobId;
use protocol::state::State;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::limits::Door;
use crate::error::{database, internal};
use crate::known::passes::{Passes, Rhythm};
use crate::records::happened;
use crate::shared::Shared;
use crate::wake::now;

/// Submissions that may wait to be stored; more are told to come again.
const WAITING: usize = 4_096;
/// Jobs stored by one transaction at most.
const AT_ONCE: usize = 256;
/// Where nothing is submitted it says so often that it would take it.
const PATIENCE: Duration = Duration::from_secs(5);
/// Without it no job is taken.
pub(crate) const RHYTHM: Rhythm = Rhythm::needed(Duration::from_secs(45));

/// Takes jobs to be stored.
#[derive(Debug, Clone)]
pub(crate) struct Submissions(mpsc::Sender<Pending>);

/// The other end, for [`run`].
pub(crate) type Inbox = mpsc::Receiver<Pending>;

#[derive(Debug)]
pub(crate) struct Pending {
    job: NewJob,
    /// Names and sealed values.
    secrets: Vec<(String, Vec<u8>)>,
    answer: oneshot::Sender<Result<JobId>>,
}

impl Submissions {
    pub(crate) fn new() -> (Self, Inbox) {
        let (sender, inbox) = mpsc::channel(WAITING);
        (Self(sender), inbox)
    }

    /// Stores a job; when this returns, it is durable.
    pub(crate) async fn store(
        &self,
        job: NewJob,
        secrets: Vec<(String, Vec<u8>)>,
    ) -> Result<JobId> {
        let (answer, stored) = oneshot::channel();
        self.0.try_send(Pending { job, secrets, answer }).map_err(|_full| {
            let message = "too many jobs are being submitted at once; submit it again";
            Error::new(ErrorCode::UnavailableError, message)
        })?;
        stored.await.map_err(internal)?
    }
}

/// Runs until shutdown; the inbox outlives a panic.
pub(crate) async fn run(
    shared: Arc<Shared>,
    inbox: Arc<Mutex<Inbox>>,
    passes: Arc<Passes>,
    shutdown: CancellationToken,
) {
    let (mut inbox, mut batch) = (inbox.lock().await, Vec::new());
    passes.ended(Instant::now());
    loop {
        tokio::select! {
            biased;
            () = shutdown.cancelled() => return,
            received = inbox.recv_many(&mut batch, AT_ONCE) => if received == 0 { return },
            () = tokio::time::sleep(PATIENCE) => {
                passes.ended(Instant::now());
                continue;
            }
        }
        let began = Instant::now();
        let mut pending = std::mem::take(&mut batch);
        let results = match insert(&shared, &mut pending).await {
            Ok(results) => {
                passes.ended(began);
                results
            }
            Err(error) => {
                let error = database(error);
                pending.iter().map(|_| Err(error.clone())).collect()
            }
        };
        for (pending, result) in pending.into_iter().zip(results) {
            if let Ok(id) = result {
                shared.active.learn_spec(id, pending.job.spec);
                let key = pending.job.key;
                shared.tell_queue(Change::Job { id, key, state: State::Waiting });
            }
            let _nobody_waits = pending.answer.send(result);
        }
        shared.bells.schedule.ring();
    }
}

async fn insert(
    shared: &Shared,
    pending: &mut [Pending],
) -> std::result::Result<Vec<Result<JobId>>, database::Error> {
    let jobs: Vec<NewJob> = pending.iter().map(|pending| pending.job.clone()).collect();
    let transaction = shared.database.begin().await?;
    let users = jobs.iter().map(|job| job.key.user.clone()).collect();
    // Whoever is removed meanwhile leaves no job of nobody behind.
    let users = database::users::present(&transaction, &users).await?;
    let refusals = refusals(shared, &transaction, &jobs, &users).await?;
    let let_in = jobs.into_iter().zip(&refusals).filter(|(_, refusal)| refusal.is_none());
    let jobs: Vec<NewJob> = let_in.map(|(job, _)| job).collect();
    let mut stored = database::jobs::insert_many(&transaction, &jobs).await?.into_iter();
    let (mut events, mut secrets) = (Vec::new(), Vec::new());
    let mut results = Vec::new();
    for (pending, refusal) in pending.iter_mut().zip(refusals) {
        let stored = if refusal.is_none() { stored.next() } else { None };
        let result = match stored {
            None => Err(refusal.unwrap_or_else(|| nobody(&pending.job))),
            Some(Ok(id)) => {
                secrets.extend(std::mem::take(&mut pending.secrets).into_iter().map(
                    |(name, ciphertext)| database::secrets::Secret { job: id, name, ciphertext },
                ));
                let user = &pending.job.key.user;
                let message = format!("submitted by {user}");
                let event = happened::to_job(id, pending.job.submitted_at, "submitted", message);
                events.push(happened::by_person(event, user));
                Ok(id)
            }
            Some(Err(database::Error::Conflict { .. })) => Err(taken(&pending.job)),
            Some(Err(error)) => Err(database(error)),
        };
        results.push(result);
    }
    database::secrets::insert_many(&transaction, &secrets).await?;
    database::events::insert_many(&transaction, &events).await?;
    transaction.commit().await?;
    Ok(results)
}

/// Of each of these jobs why it is not stored, if it is not: its owner is gone, or it is one too many,
/// those before it counted.
async fn refusals(
    shared: &Shared,
    transaction: &Transaction,
    jobs: &[NewJob],
    users: &HashSet<String>,
) -> std::result::Result<Vec<Option<Error>>, database::Error> {
    let mut door = Door::new(shared.cluster(), now());
    let mut refusals = Vec::with_capacity(jobs.len());
    for job in jobs {
        refusals.push(match users.contains(job.key.user.as_str()) {
            true => door.refusal(transaction, &job.key.user, &job.spec).await?,
            false => Some(nobody(job)),
        });
    }
    Ok(refusals)
}

/// The error of a job whose owner is gone.
fn nobody(job: &NewJob) -> Error {
    let message = format!("there is no user {} any more", job.key.user);
    Error::new(ErrorCode::NoUserError, message)
}

/// The error of a name that is in use.
fn taken(job: &NewJob) -> Error {
    super::jobs::name_taken(&job.key)
}
