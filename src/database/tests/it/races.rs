use std::sync::Arc;

use database::jobs::{self, JobUpdate};
use database::tasks::{self, TaskUpdate};
use database::{ConnectionTrait, Database, settings};
use protocol::ids::{JobId, TaskKey};
use protocol::jobs::JobQuery;
use protocol::state::State;
use protocol::time::Timestamp;
use tempfile::TempDir;
use tokio::sync::Barrier;
use tokio::task::JoinSet;

use crate::stage::{Stage, a_job, a_task, on_both, user, write};

const WRITERS: usize = 10;

/// The database after a race, and the folder it is in.
struct After {
    db: Arc<Database>,
    _folder: TempDir,
}

impl After {
    fn read(&self) -> &impl ConnectionTrait {
        self.db.read()
    }
}

/// What several writers that begin together answer.
async fn race<T: Send + 'static, F>(
    stage: Stage,
    writer: impl Fn(Arc<Database>, usize) -> F,
) -> anyhow::Result<(Vec<T>, After)>
where
    F: Future<Output = anyhow::Result<T>> + Send + 'static,
{
    let db = Arc::new(stage.db);
    let start = Arc::new(Barrier::new(WRITERS));
    let mut writers = JoinSet::new();
    for number in 0..WRITERS {
        let (writing, start) = (writer(Arc::clone(&db), number), Arc::clone(&start));
        writers.spawn(async move {
            start.wait().await;
            writing.await
        });
    }
    let answers = writers.join_all().await.into_iter().collect::<anyhow::Result<_>>()?;
    Ok((answers, After { db, _folder: stage.folder }))
}

on_both! {
    async fn of_many_writers_one_moves_a_job(stage) {
        let id = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j")));
        let (answers, db) = race(stage, move |db, number| async move {
            let tx = db.begin().await?;
            let mut to = JobUpdate::to(State::Preparing);
            to.attempt = Some(number.try_into()?);
            let won = jobs::update(&tx, id, State::Waiting, to).await?;
            tx.commit().await?;
            Ok(won.then_some(number))
        })
        .await?;
        let winners: Vec<_> = answers.into_iter().flatten().collect();
        assert_eq!(winners.len(), 1, "{winners:?}");
        let row = jobs::by_id(db.read(), id).await?.unwrap().row;
        assert_eq!(row.attempt.map(|attempt| attempt as usize), Some(winners[0]));
    }

    async fn of_many_writers_one_moves_a_task(stage) {
        let job = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j")));
        write!(stage, |tx| tasks::insert_many(&tx, &[a_task(job, 0, 0, "n")]));
        let key = TaskKey { job, attempt: 0, role: 0, index: 0, retry: 0 };
        let (answers, db) = race(stage, move |db, number| async move {
            let tx = db.begin().await?;
            let mut to = TaskUpdate::to(State::Running);
            to.container = Some(number.to_string());
            let won = tasks::update(&tx, &key, State::Preparing, to).await?;
            tx.commit().await?;
            Ok(won.then_some(number.to_string()))
        })
        .await?;
        let winners: Vec<_> = answers.into_iter().flatten().collect();
        assert_eq!(winners.len(), 1, "{winners:?}");
        let found = tasks::of_job(db.read(), job).await?;
        assert_eq!(found[0].container.as_ref(), winners.first());
    }

    async fn of_many_submissions_of_a_name_one_is_stored(stage) {
        let (answers, db) = race(stage, |db, _| async move {
            let tx = db.begin().await?;
            let stored = jobs::insert(&tx, &a_job("a", "j")).await;
            tx.commit().await?;
            Ok(stored.ok())
        })
        .await?;
        let stored: Vec<JobId> = answers.into_iter().flatten().collect();
        assert_eq!(stored.len(), 1);
        let job = jobs::by_key(db.read(), &"a~j".parse()?).await?.unwrap();
        assert_eq!(job.row.id, stored[0]);
    }

    async fn of_many_stops_one_counts(stage) {
        let id = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j")));
        let (answers, db) = race(stage, move |db, number| async move {
            let (tx, by) = (db.begin().await?, user(&format!("u{number}")));
            let first = jobs::request_stop(&tx, id, &by, crate::stage::at(1)).await?;
            tx.commit().await?;
            Ok(first.then_some(by))
        })
        .await?;
        let first: Vec<_> = answers.into_iter().flatten().collect();
        let stop = jobs::by_id(db.read(), id).await?.unwrap().row.stop.unwrap();
        assert_eq!(first, [stop.by]);
    }

    async fn who_has_committed_finds_it_in_lists(stage) {
        let (answers, _after) = race(stage, |db, number| async move {
            let name = format!("j{number}");
            let tx = db.begin().await?;
            let id = jobs::insert(&tx, &a_job("a", &name)).await?;
            tx.commit().await?;
            let query = JobQuery { keyword: name, limit: 5, ..JobQuery::default() };
            let (found, total) = jobs::list(&db, &query, Timestamp::default()).await?;
            Ok((found.first().map(|row| row.id), total) == (Some(id), 1))
        })
        .await?;
        assert_eq!(answers, vec![true; WRITERS]);
    }

    async fn all_get_the_setting_of_the_first(stage) {
        let (answers, db) = race(stage, |db, number| async move {
            let tx = db.begin().await?;
            let holds = settings::set_once(&tx, "cluster", &number.to_string()).await?;
            tx.commit().await?;
            Ok(holds)
        })
        .await?;
        let stored = settings::get(db.read(), "cluster").await?.unwrap();
        assert_eq!(answers, vec![stored; WRITERS]);
    }
}
