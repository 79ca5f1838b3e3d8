use api::jobs::JobQuery;
use api::{Actor, Backend, Error, ErrorCode};
use protocol::ids::{InvalidName, JobKey, JobName, UserName};

use crate::failure::Failure;

/// How many jobs of one name are looked at before the name is called ambiguous.
const CANDIDATES: u64 = 50_000;

/// The job of a flat address: the one whose `user~name` it is, if there is such a user; else the
/// caller's own, else the only one of that name.
pub(crate) async fn find(backend: &Backend, actor: &Actor, name: &str) -> Result<JobKey, Failure> {
    if let Ok(key) = name.parse::<JobKey>()
        && backend.users.actor(&key.user).await?.is_some()
    {
        return Ok(key);
    }
    let job: JobName = name.parse().map_err(|_| not_found(name))?;
    let own = JobKey { user: actor.user.clone(), name: job.clone() };
    let query = JobQuery { keyword: name.to_owned(), limit: CANDIDATES, ..JobQuery::default() };
    let page = backend.jobs.list(actor, &query).await?;
    let mut named = page.jobs.into_iter().map(|row| row.key).filter(|key| key.name == job);
    let Some(first) = named.next() else {
        return name.parse().map_err(|_: InvalidName| not_found(name));
    };
    let others: Vec<_> = named.collect();
    if first == own || others.contains(&own) {
        return Ok(own);
    }
    if others.is_empty() {
        return Ok(first);
    }
    let message = format!("Several users have a job {name}: use /api/v1/user/USER/jobs/{name}.");
    Err(Failure::new(ErrorCode::InvalidParametersError, message))
}

/// The job of `/user/:user/jobs/:name`.
pub(crate) fn of_user(user: &str, name: &str) -> Result<JobKey, Failure> {
    let key = || Some(JobKey { user: user.parse().ok()?, name: name.parse().ok()? });
    key().ok_or_else(|| not_found(&format!("{user}~{name}")))
}

/// The job of `/jobs/user~name`.
pub(crate) fn parse(text: &str) -> Result<JobKey, Failure> {
    text.parse().map_err(|_| not_found(text))
}

/// Jobs are made in one's own name only.
pub(crate) fn own_name_space(actor: &Actor, user: &str) -> Result<(), Failure> {
    let same = user.parse::<UserName>().is_ok_and(|user| user == actor.user);
    if same {
        return Ok(());
    }
    let message = format!("User {} is not allowed to submit jobs for {user}.", actor.user);
    Err(Failure::new(ErrorCode::ForbiddenUserError, message))
}

fn not_found(name: &str) -> Failure {
    Error::new(ErrorCode::NoJobError, format!("Job {name} is not found.")).into()
}
