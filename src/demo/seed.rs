use database::Database;
use protocol::jobs::JobQuery;
use protocol::time::Timestamp;
use rand::SeedableRng as _;
use rand::rngs::StdRng;
use storage::Storage;

use crate::job::Reader;
use crate::{Error, beside, cast, desk, measured, past, present};

/// The fact that a database was seeded.
const SEEDED: &str = "demo";
/// The same cluster each time.
const SEED: u64 = 40;

/// What a database is to a demonstration.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ground {
    /// Nothing is there yet.
    Empty,
    /// It was seeded before.
    Seeded,
    /// It is somebody's: nothing is simulated there.
    Taken,
}

/// What the database is.
///
/// # Errors
/// See [`Error`].
pub async fn ground(database: &Database) -> Result<Ground, Error> {
    if database::settings::get(database.read(), SEEDED).await?.is_some() {
        return Ok(Ground::Seeded);
    }
    let any = JobQuery { limit: 1, ..JobQuery::default() };
    let (_, jobs) = database::jobs::list(database, &any, Timestamp::default()).await?;
    let nodes = database::nodes::list(database.read()).await?;
    Ok(if jobs == 0 && nodes.is_empty() { Ground::Empty } else { Ground::Taken })
}

/// Writes everything into an empty database: all of it or nothing.
///
/// # Errors
/// See [`Error`].
pub async fn seed(database: &Database, storage: &Storage, now: Timestamp) -> Result<(), Error> {
    let (mut random, mut reader) = (StdRng::seed_from_u64(SEED), Reader::new());
    let mut past = past::lives(now, &mut random, &mut reader);
    let mut present = present::lives(now, &mut reader);
    let transaction = database.begin().await?;
    for node in cast::nodes() {
        database::nodes::save(&transaction, &node, false).await?;
    }
    database::nodes::set_draining(&transaction, &cast::node(cast::DRAINED), true, false).await?;
    for settings in cast::virtual_clusters() {
        database::virtual_clusters::save(&transaction, &settings).await?;
    }
    for settings in cast::storages() {
        let storage = database::storages::Storage { settings, password: None };
        database::storages::save(&transaction, &storage).await?;
    }
    beside::people(&transaction, now).await?;
    desk::write(&transaction, &mut past).await?;
    desk::write(&transaction, &mut present).await?;
    beside::saved(&transaction, &past).await?;
    beside::audited(&transaction, now, &past).await?;
    // Files of jobs that are not stored after all would be nobody's, jobs without them are common.
    beside::logs(storage, &past).await?;
    measured::write(storage, (&past, &present), now).await?;
    database::settings::set_once(&transaction, SEEDED, "seeded").await?;
    transaction.commit().await?;
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use engine::simulated::load;
    use protocol::exit::Cause;
    use protocol::state::State;

    use super::*;

    const NOW: Timestamp = Timestamp(1_700_000_000_000);

    async fn seeded(folder: &tempfile::TempDir) -> Database {
        let path = folder.path().display();
        let database = Database::open(&format!("sqlite://{path}/berth.db")).await.unwrap();
        let storage = Storage::open(&format!("{path}/storage")).unwrap();
        assert_eq!(ground(&database).await.unwrap(), Ground::Empty);
        seed(&database, &storage, NOW).await.unwrap();
        assert_eq!(ground(&database).await.unwrap(), Ground::Seeded);
        database
    }

    #[tokio::test]
    async fn a_seeded_cluster_has_everything_there_is_to_see() {
        let folder = tempfile::tempdir().unwrap();
        let database = seeded(&folder).await;
        let all = JobQuery { limit: 20_000, ..JobQuery::default() };
        let (jobs, total) = database::jobs::list(&database, &all, NOW).await.unwrap();
        let count = |state| jobs.iter().filter(|job| job.state == state).count();
        assert_eq!(count(State::Running), 62);
        assert_eq!(count(State::Waiting), 60);
        assert_eq!(usize::try_from(total).unwrap(), past::JOBS + 122);
        for state in [State::Succeeded, State::Failed, State::Stopped] {
            assert!(count(state) > 500, "{state:?}: {}", count(state));
        }
        let causes: BTreeSet<_> = jobs
            .iter()
            .filter_map(|job| job.exit.as_ref())
            .map(|exit| std::mem::discriminant(&exit.cause))
            .map(|cause| format!("{cause:?}"))
            .collect();
        assert!(causes.len() >= 18, "{causes:?}");
        let limit = |job: &&database::jobs::JobRow| {
            job.exit.as_ref().is_some_and(|exit| exit.cause == Cause::TimeLimit)
        };
        assert!(jobs.iter().any(|job| limit(&job)));
        assert_eq!(jobs.iter().filter(|job| job.held.is_some()).count(), 4);
    }

    #[tokio::test]
    async fn what_runs_was_measured_and_some_of_it_could_do_with_less() {
        let folder = tempfile::tempdir().unwrap();
        let database = seeded(&folder).await;
        let storage = Storage::open(&format!("{}/storage", folder.path().display())).unwrap();
        let tasks = database::tasks::active(database.read()).await.unwrap();
        let running: Vec<_> = tasks.iter().filter(|task| task.state == State::Running).collect();
        assert!(running.len() > 62, "{}", running.len());
        for task in &running {
            let kept = storage.kept_metrics(&task.key).await.unwrap();
            let bytes = kept.map_or(0, |kept| kept.len());
            assert!((1_000..=64_000).contains(&bytes), "{:?}: {bytes} bytes", task.key);
        }
        let idle = |task: &database::tasks::Task| {
            let loads = task.placement.gpus.iter();
            let loads = loads.map(|gpu| load::of_gpu((*gpu, 81_920), task.key.job, 0).load);
            loads.filter(|load| *load == Some(0.0)).count()
        };
        assert!(running.iter().any(|task| idle(task) == task.placement.gpus.len()));
        assert!(running.iter().any(|task| (1..task.placement.gpus.len()).contains(&idle(task))));
        for (node, is_there) in [("sim-a100-01", true), (cast::CUT_OFF, false)] {
            let kept = storage.kept_node_metrics(&cast::node(node)).await.unwrap();
            assert_eq!(kept.is_some(), is_there, "{node}");
        }
    }

    #[test]
    fn nothing_is_given_twice() {
        let lives = present::lives(NOW, &mut Reader::new());
        let tasks = lives.iter().flat_map(|life| &life.tasks);
        let mut given = BTreeSet::new();
        for task in tasks.filter(|task| task.resources.gpu_part().is_none()) {
            for gpu in &task.placement.gpus {
                assert!(given.insert((task.placement.node.clone(), *gpu)), "{:?}", task.placement);
            }
        }
        assert!(given.len() > 300, "{}", given.len());
    }

    #[test]
    fn the_same_moment_gives_the_same_past() {
        let lives = || {
            let (mut random, mut reader) = (StdRng::seed_from_u64(SEED), Reader::new());
            let lives = past::lives(NOW, &mut random, &mut reader).into_iter();
            lives.map(|life| (life.job, life.update, life.tasks)).collect::<Vec<_>>()
        };
        assert!(lives() == lives());
    }
}
