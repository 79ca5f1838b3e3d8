//! What is forgotten of jobs that have ended, and what outlives them.

use std::collections::{BTreeMap, HashMap, HashSet};

use database::events::NewEvent;
use database::jobs::{JobUpdate, NewJob};
use database::secrets::Secret;
use database::usage::{self, Usage, UsageKey};
use database::{Error, attempts, events, jobs, kept_jobs, secrets, tasks};
use protocol::ids::JobId;
use protocol::jobs::JobQuery;
use protocol::state::State;

use crate::stage::{Stage, a_job, a_task, at, attempt_of, on_both, user, vc, write};

/// Stores a job with something of everything.
async fn a_whole_job(stage: &Stage, job: &NewJob) -> anyhow::Result<JobId> {
    let tx = stage.begin().await?;
    let id = jobs::insert(&tx, job).await?;
    attempts::insert_many(&tx, &[attempt_of(id, 0), attempt_of(id, 1)]).await?;
    tasks::insert_many(&tx, &[a_task(id, 0, 0, "n1"), a_task(id, 1, 0, "n1")]).await?;
    let secret = Secret { job: id, name: "key".to_owned(), ciphertext: vec![1] };
    secrets::insert_many(&tx, &[secret]).await?;
    let event = NewEvent {
        job: Some(id),
        at: at(5),
        kind: "placed".to_owned(),
        message: String::new(),
        attempt: None,
        warning: false,
        actor: None,
    };
    events::insert_many(&tx, &[event]).await?;
    kept_jobs::keep(&tx, id, at(1)).await?;
    kept_jobs::keep(&tx, id, at(7)).await?;
    tx.commit().await?;
    Ok(id)
}

async fn end(stage: &Stage, id: JobId, millis: i64) -> anyhow::Result<()> {
    let end = JobUpdate { completed_at: Some(at(millis)), ..JobUpdate::to(State::Failed) };
    assert!(write!(stage, |tx| jobs::update(&tx, id, State::Waiting, end)));
    Ok(())
}

/// How many rows there are of a job's attempts, tasks, secrets and events.
async fn rows_of(stage: &Stage, id: JobId) -> anyhow::Result<[usize; 4]> {
    let conn = stage.db.read();
    Ok([
        attempts::of_job(conn, id).await?.len(),
        tasks::of_jobs(conn, &[id]).await?.len(),
        secrets::of_job(conn, id).await?.len(),
        events::of_job(conn, id, 9).await?.len(),
    ])
}

fn key(day: i64, who: &str, gpu_type: Option<&str>) -> UsageKey {
    let gpu_type = gpu_type.map(|name| name.parse().unwrap());
    UsageKey { day, user: user(who), virtual_cluster: vc("default"), gpu_type }
}

on_both! {
    async fn all_of_a_job_that_has_ended_goes_and_its_name_is_free(stage) {
        let gone = a_whole_job(&stage, &a_job("a", "one")).await?;
        let stays = a_whole_job(&stage, &a_job("a", "two")).await?;
        let both = [gone, stays];
        assert_eq!(write!(stage, |tx| jobs::remove_many(&tx, &both)), [], "they go on");
        end(&stage, gone, 2_000).await?;
        assert_eq!(write!(stage, |tx| jobs::remove_many(&tx, &both)), [], "its use is not counted");
        assert_eq!(write!(stage, |tx| usage::mark(&tx, &both)), HashSet::from([gone]));
        assert_eq!(write!(stage, |tx| jobs::remove_many(&tx, &both)), [gone]);
        assert_eq!(write!(stage, |tx| jobs::remove_many(&tx, &both)), [], "it is gone");

        assert_eq!(rows_of(&stage, gone).await?, [0, 0, 0, 0]);
        assert_eq!(rows_of(&stage, stays).await?, [2, 2, 1, 1]);
        let conn = stage.db.read();
        assert_eq!(kept_jobs::of_jobs(conn, &both).await?, HashMap::from([(stays, at(7))]));
        assert_eq!(jobs::by_key(conn, &a_job("a", "one").key).await?, None);
        assert!(matches!(jobs::text(conn, gone).await, Err(Error::NotFound { .. })));
        assert_eq!(jobs::ends(conn, &both).await?.into_iter().collect::<Vec<_>>(), [(stays, None)]);
        assert_eq!(jobs::given_last(conn).await?, Some(stays));
        let all = JobQuery { limit: 9, ..JobQuery::default() };
        assert_eq!(jobs::list(&stage.db, &all, at(9)).await?.1, 1);
        let again = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        assert!(again > stays, "a number is given once");
        let conn = stage.db.read();
        let none = HashSet::new();
        for (user_name, after, those) in [
            ("a", JobId(0), HashSet::from([stays, again])),
            ("a", stays, HashSet::from([again])),
            ("a", again, none.clone()),
            ("b", JobId(0), none),
        ] {
            let found = jobs::active_after(conn, &user(user_name), after).await?;
            assert_eq!(HashSet::from_iter(found), those, "{user_name} after {after}");
        }
        end(&stage, again, 2_000).await?;
        write!(stage, |tx| usage::mark(&tx, &[again]));
        assert_eq!(write!(stage, |tx| jobs::remove_many(&tx, &[again])), [again]);
        assert_eq!(jobs::given_last(stage.db.read()).await?, Some(again), "though it is gone");
    }

    async fn what_jobs_have_used_is_counted_once(stage) {
        let first = a_whole_job(&stage, &a_job("a", "one")).await?;
        let second = a_whole_job(&stage, &a_job("b", "two")).await?;
        let runs = a_whole_job(&stage, &a_job("b", "three")).await?;
        end(&stage, second, 2_000).await?;
        end(&stage, first, 3_000).await?;
        let conn = stage.db.read();
        assert_eq!(usage::to_count(conn, 9).await?, [second, first], "as they ended");
        assert_eq!(usage::to_count(conn, 1).await?, [second]);
        let jobs = [first, second, runs];
        assert_eq!(write!(stage, |tx| usage::mark(&tx, &jobs)), HashSet::from([first, second]));
        assert_eq!(write!(stage, |tx| usage::mark(&tx, &jobs)), HashSet::new());
        assert_eq!(usage::to_count(conn, 9).await?, []);

        let used = |jobs, gpu_ms| Usage {
            jobs, gpu_ms, used_ms: gpu_ms, queue_ms: jobs, asked_ms: 2 * gpu_ms, ..Usage::default()
        };
        let a100 = Some("A100");
        let some = [(key(7, "a", a100), used(1, 5)), (key(7, "a", None), used(2, 0))];
        write!(stage, |tx| usage::add(&tx, &BTreeMap::from(some.clone())));
        let more = [(key(7, "a", a100), used(1, 6)), (key(8, "b", a100), used(0, 9))];
        write!(stage, |tx| usage::add(&tx, &BTreeMap::from(more.clone())));
        let a = [some[1].clone(), (key(7, "a", a100), used(2, 11))];
        assert_eq!(usage::list(conn, &(0..=9), Some(&user("a"))).await?, a);
        assert_eq!(usage::list(conn, &(8..=9), None).await?, more[1..]);
        assert_eq!(usage::list(conn, &(0..=9), None).await?.len(), 3);
    }
}
