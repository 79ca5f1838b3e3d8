//! Stores submitted jobs, many in one transaction when many come at once: a submission is answered
//! when it is durable, and a burst of them costs few writes.

use std::collections::HashSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use api::changes::Change;
use api::{Error, ErrorCode, Result};
use database::Transaction;
use database::jobs::NewJob;
use database::secrets::Secret;
use protocol::ids::JobId;
use protocol::state::State;
use tokio::sync::{Mutex, mpsc, oneshot};
use tokio_util::sync::CancellationToken;

use super::limits::Door;
use crate::container::outputs::Expected;
use crate::error::internal;
use crate::known::nodes::KnownNodes;
use crate::known::passes::{Passes, Rhythm};
use crate::records::happened;
use crate::shared::Shared;
use crate::wake::now;

/// Submissions that may wait to be stored; more are told to come again.
const WAITING: usize = 4_096;
/// Jobs stored by one transaction at most.
const AT_ONCE: usize = 256;
/// So many jobs of one transaction are some of many that come,
const MANY: usize = 4;
/// and the next ones are waited for so long: a transaction waits for the disk, and everybody else who writes waits
/// for it, be it of few jobs or of many. Where a job comes alone, it is stored at once.
const GATHERING: Duration = Duration::from_millis(10);
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
    /// Its folder for output is kept for it.
    expected: Option<Expected>,
    answer: oneshot::Sender<Result<JobId>>,
}

impl Submissions {
    pub(crate) fn new() -> (Self, Inbox) {
        let (sender, inbox) = mpsc::channel(WAITING);
        (Self(sender), inbox)
    }

    /// Stores a job; when this returns, it is durable. Its folder is kept for it until then, whether anybody
    /// waits for that or not.
    pub(crate) async fn store(
        &self,
        job: NewJob,
        secrets: Vec<(String, Vec<u8>)>,
        expected: Option<Expected>,
    ) -> Result<JobId> {
        let (answer, stored) = oneshot::channel();
        self.0.try_send(Pending { job, secrets, expected, answer }).map_err(|_full| {
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
        let more_come = are_of_many(pending.len());
        let results = match insert(&shared, &mut pending).await {
            Ok(results) => {
                passes.ended(began);
                results
            }
            Err(error) => {
                let error = api::Error::from(error);
                pending.iter().map(|_| Err(error.clone())).collect()
            }
        };
        for (pending, result) in pending.into_iter().zip(results) {
            let Pending { job, expected, answer, .. } = pending;
            if let Ok(id) = result {
                shared.jobs.active.learn_spec(id, job.spec);
                shared.live.tell_queue(Change::Job { id, key: job.key, state: State::Waiting });
            }
            // By now it is found in the records, or whoever is refused takes its folder back.
            drop(expected);
            let _nobody_waits = answer.send(result);
        }
        shared.live.wakeups.schedule.wake();
        if more_come {
            tokio::time::sleep(GATHERING).await;
        }
    }
}

/// Whether so many jobs that came together are some of many, of which all that wait are stored by now.
fn are_of_many(jobs: usize) -> bool {
    (MANY..AT_ONCE).contains(&jobs)
}

async fn insert(
    shared: &Shared,
    pending: &mut [Pending],
) -> std::result::Result<Vec<Result<JobId>>, database::Error> {
    let transaction = shared.store.database.begin().await?;
    let results = store(&shared.nodes, &transaction, pending).await?;
    let (mut events, mut secrets) = (Vec::new(), Vec::new());
    for (pending, result) in pending.iter_mut().zip(&results) {
        let Ok(id) = *result else { continue };
        let sealed = std::mem::take(&mut pending.secrets).into_iter();
        secrets.extend(sealed.map(|(name, ciphertext)| Secret { job: id, name, ciphertext }));
        let user = &pending.job.key.user;
        let message = format!("submitted by {user}");
        let event = happened::to_job(id, pending.job.submitted_at, "submitted", message);
        events.push(happened::by_person(event, user));
    }
    database::secrets::insert_many(&transaction, &secrets).await?;
    database::events::insert_many(&transaction, &events).await?;
    transaction.commit().await?;
    Ok(results)
}

/// Stores those that are let in, and says of each what has become of it. One that is not stored since its
/// name is taken counts against nobody: those that were refused with it counted are looked at again.
async fn store(
    nodes: &KnownNodes,
    transaction: &Transaction,
    pending: &[Pending],
) -> std::result::Result<Vec<Result<JobId>>, database::Error> {
    // Whoever is removed meanwhile leaves no job of nobody behind.
    let users = pending.iter().map(|pending| pending.job.key.user.clone()).collect();
    let users = database::users::present(transaction, &users).await?;
    let mut results: Vec<Result<JobId>> =
        pending.iter().map(|pending| Err(nobody(&pending.job))).collect();
    let is_present = |at: &usize| users.contains(pending[*at].job.key.user.as_str());
    let mut left: Vec<usize> = (0..pending.len()).filter(is_present).collect();
    let mut names = HashSet::new();
    loop {
        let mut door = Door::new(nodes.cluster(), now());
        let (mut let_in, mut refused) = (Vec::new(), Vec::new());
        for at in left {
            let job = &pending[at].job;
            if names.contains(&job.key) {
                results[at] = Err(taken(job));
                continue;
            }
            match door.refusal(transaction, &job.key.user, &job.spec).await? {
                None => {
                    names.insert(&job.key);
                    let_in.push(at);
                }
                Some(refusal) => {
                    results[at] = Err(refusal);
                    refused.push(at);
                }
            }
        }
        let jobs: Vec<NewJob> = let_in.iter().map(|at| pending[*at].job.clone()).collect();
        let stored = database::jobs::insert_many(transaction, &jobs).await?;
        let all_stored = stored.iter().all(std::result::Result::is_ok);
        for (at, stored) in let_in.into_iter().zip(stored) {
            results[at] = stored.map_err(|error| match error {
                database::Error::Conflict { .. } => taken(&pending[at].job),
                error => error.into(),
            });
        }
        if all_stored || refused.is_empty() {
            return Ok(results);
        }
        left = refused;
    }
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_alone_is_stored_at_once_and_many_wait_for_each_other() {
        assert!([1, MANY - 1].iter().all(|jobs| !are_of_many(*jobs)));
        assert!([MANY, 64, AT_ONCE - 1].iter().all(|jobs| are_of_many(*jobs)));
        assert!(!are_of_many(AT_ONCE), "others wait already");
    }
}
