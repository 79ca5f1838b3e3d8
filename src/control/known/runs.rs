//! How long jobs have run and waited, to expect how long the next ones will, and how often those that
//! have not ended gave way.

use std::collections::HashMap;

use database::Database;
use database::attempts::Attempt;
use database::jobs::JobRow;
use protocol::exit::Cause;
use protocol::gpus::GpuWeights;
use protocol::ids::JobId;
use protocol::spec::JobSpec;
use protocol::time::Timestamp;
use protocol::wait::{Expected, Ground, WaitReason, Waiting};
use scheduler::model::{GaveWay, PastUse, WHOLE_GPU};
use scheduler::{Like, PastRuns, PastWaits};

use crate::known::half_life::HalfLife;
use crate::wake::now;

/// So many jobs that succeeded, and that failed, are remembered from before the server started.
const REMEMBERED: u64 = 2_000;

/// What users had so many half-lives ago counts no more.
const HALF_LIVES: i64 = 8;
/// Its times are read in so many steps to a half-life: what they hide is less than a hundredth.
const STEPS: i64 = 64;

/// How long jobs have run and waited, and how often they gave way.
#[derive(Debug, Default)]
pub(crate) struct Past {
    pub(crate) runs: PastRuns,
    pub(crate) waits: PastWaits,
    /// What users had of GPUs before the server started; the scheduler's state goes on with it.
    pub(crate) had: PastUse,
    /// Of those that have not ended, the ones that ever did.
    gave_way: HashMap<JobId, GaveWay>,
}

impl Past {
    /// How often a job that has not ended gave way.
    pub(crate) fn gave_way(&self, job: JobId) -> GaveWay {
        self.gave_way.get(&job).copied().unwrap_or_default()
    }

    /// A job gave way so often; `None`: never, or it has ended.
    pub(crate) fn note_gave_way(&mut self, job: JobId, gave_way: Option<GaveWay>) {
        match gave_way {
            Some(gave_way) => self.gave_way.insert(job, gave_way),
            None => self.gave_way.remove(&job),
        };
    }
}

/// How often jobs gave way, as their attempts say, which are in order.
pub(crate) fn gave_way(attempts: &[Attempt]) -> HashMap<JobId, GaveWay> {
    let mut jobs = HashMap::<JobId, GaveWay>::new();
    for attempt in attempts {
        if attempt.exit.as_ref().is_some_and(|exit| exit.cause == Cause::Preempted) {
            let times = jobs.entry(attempt.job).or_default();
            *times = times.again(attempt.completed_at.unwrap_or(attempt.placed_at));
        }
    }
    jobs
}

/// What the jobs say that ended last, the latest of them last. What cannot be read says nothing.
pub(crate) async fn remember(
    database: &Database,
    half_life: HalfLife,
    weights: GpuWeights,
) -> Result<Past, database::Error> {
    let had = had(database, half_life.millis()).await?.weighing(weights);
    let mut past = Past { had, ..Past::default() };
    let jobs = database::jobs::ended_last(database.read(), REMEMBERED).await?;
    let ids: Vec<JobId> = jobs.iter().map(|job| job.id).collect();
    let attempts = database::attempts::readable_of_jobs(database.read(), &ids).await?;
    let images = database::jobs::first_images(database.read(), &ids).await?;
    let first = |attempt: &&Attempt| attempt.number == 0;
    let placed: HashMap<JobId, Timestamp> =
        attempts.iter().filter(first).map(|attempt| (attempt.job, attempt.placed_at)).collect();
    // By number, so that of a job's attempts the last one stays.
    let last: HashMap<JobId, Attempt> =
        attempts.into_iter().map(|attempt| (attempt.job, attempt)).collect();
    for job in &jobs {
        if let Some(placed_at) = placed.get(&job.id) {
            past.waits.record(&like(job, None), &job.key.name, placed_at.since(job.submitted_at));
        }
        let ran = last.get(&job.id).and_then(|attempt| {
            Some(attempt.completed_at?.since(attempt.started_at?)).zip(attempt.exit.as_ref())
        });
        if let Some((ran_ms, exit)) = ran {
            let like = like(job, images.get(&job.id).map(String::as_str));
            past.runs.learn(like, exit.cause.blame(), ran_ms);
        }
    }
    Ok(past)
}

/// What users have had of GPUs, as the attempts say that have ended. What is held still, the scheduler counts.
async fn had(database: &Database, half_life_ms: i64) -> Result<PastUse, database::Error> {
    let mut past = PastUse::new(half_life_ms);
    if !past.counts() {
        return Ok(past);
    }
    let now = now();
    let since = now.plus_millis(half_life_ms.saturating_mul(-HALF_LIVES));
    let step = half_life_ms / STEPS;
    for had in database::attempts::had(database.read(), (since, now), step).await? {
        let until = had.until.min(now);
        // Of little in a long step nothing is lost: it counts as a whole GPU, for a shorter time.
        let milli = had.gpu_milli_ms / until.since(had.from).max(1);
        let milli = milli.max(i64::from(WHOLE_GPU));
        let from = until.plus_millis(-(had.gpu_milli_ms / milli));
        past.record((&had.virtual_cluster, &had.user), milli, (from, until));
    }
    Ok(past)
}

/// What makes runs like those of a job, whose first role has this image.
pub(crate) fn like(job: &JobRow, image: Option<&str>) -> Like {
    let (virtual_cluster, user) = (job.virtual_cluster.clone(), job.key.user.clone());
    let (name, image) = (Some(job.key.name.clone()), image.map(str::to_owned));
    Like { virtual_cluster, user, gpus: job.gpus, name, image }
}

/// The image by which a job's runs are told from others.
pub(crate) fn image(spec: &JobSpec) -> Option<&str> {
    spec.roles.first().map(|role| role.image.as_str())
}

/// What is said of a start: what the scheduler knows where that bounds it, else what past jobs say.
pub(crate) fn start(
    waiting: &Waiting,
    said: Option<Expected>,
    past: Option<Expected>,
) -> Option<Expected> {
    if !waiting.reason.passes() || matches!(waiting.reason, WaitReason::Preempting { .. }) {
        return None;
    }
    let bounded = said.filter(|said| said.latest.is_some() && said.ground != Ground::Elapsed);
    bounded.or(past).or(said)
}

#[cfg(test)]
mod tests {
    use protocol::exit::Exit;

    use super::*;

    fn waits(reason: WaitReason) -> Waiting {
        Waiting { reason, position: 1, expected_start: None }
    }

    #[test]
    fn attempts_say_how_often_their_job_gave_way() {
        let attempt = |job, number, cause: Option<Cause>| Attempt {
            job: JobId(job),
            number,
            state: protocol::state::State::Stopped,
            borrowed: true,
            placed_at: Timestamp(0),
            started_at: None,
            completed_at: Some(Timestamp(1_000 * i64::from(number))),
            exit: cause.map(|cause| Exit { code: None, cause, evidence: Vec::new() }.into()),
            lease: None,
            weighed_milli: None,
        };
        let preempted = Some(Cause::Preempted);
        let attempts = [
            attempt(1, 0, preempted.clone()),
            attempt(1, 1, Some(Cause::TimeLimit)),
            attempt(1, 2, preempted),
            attempt(2, 0, Some(Cause::Succeeded)),
            attempt(3, 0, None),
        ];
        let twice = GaveWay { times: 2, last: Timestamp(2_000) };
        assert_eq!(gave_way(&attempts), HashMap::from([(JobId(1), twice)]));
    }

    #[test]
    fn past_waits_say_what_the_scheduler_does_not_bound() {
        let expected = |earliest, latest: Option<i64>, ground| {
            let (earliest, latest) = (Timestamp(earliest), latest.map(Timestamp));
            Some(Expected { earliest, latest, ground })
        };
        let behind = waits(WaitReason::Behind { ahead: 3 });
        let past = expected(10, Some(25), Ground::Elapsed);
        let limits = expected(5, Some(6), Ground::Limits);
        assert_eq!(start(&behind, limits, past), limits);
        assert_eq!(start(&behind, expected(5, None, Ground::Limits), past), past);
        assert_eq!(start(&behind, expected(5, Some(7), Ground::Elapsed), past), past);
        assert_eq!(start(&behind, limits, None), limits);
        assert_eq!(start(&behind, None, past), past);
        let held = waits(WaitReason::Hold { by: None, administrator: false });
        assert_eq!(start(&held, None, past), None, "only a person knows");
    }
}
