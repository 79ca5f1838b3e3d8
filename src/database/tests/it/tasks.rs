use std::collections::HashMap;

use database::Error;
use database::jobs::{self, JobUpdate};
use database::tasks::{self, Change, Intent, Task, TaskUpdate};
use protocol::ids::JobId;
use protocol::state::State;

use crate::stage::{Stage, a_job, a_task, at, exit, node, on_both, write};

async fn job(stage: &Stage, name: &str) -> anyhow::Result<JobId> {
    Ok(write!(stage, |tx| jobs::insert(&tx, &a_job("a", name))))
}

async fn only(stage: &Stage, job: JobId) -> anyhow::Result<Task> {
    let mut found = tasks::of_job(stage.db.read(), job).await?;
    assert_eq!(found.len(), 1);
    Ok(found.remove(0))
}

on_both! {
    async fn thousands_are_stored_at_once_and_read_back_whole(stage) {
        let id = job(&stage, "big").await?;
        let mut all: Vec<_> = (0..3000).map(|n| a_task(id, 0, n, &format!("n{}", n % 7))).collect();
        all[1].state = State::Succeeded;
        all[1].container = Some("c0ffee".to_owned());
        all[1].progress = Some("pulling".to_owned());
        all[1].intent = Some(Intent::Remove);
        (all[1].started_at, all[1].completed_at) = (Some(at(3)), Some(at(4)));
        all[1].exit = Some(exit(0).into());
        let jumbled: Vec<_> = all.iter().rev().cloned().collect();
        write!(stage, |tx| tasks::insert_many(&tx, &jumbled));
        assert!(tasks::of_job(stage.db.read(), id).await? == all, "in the order of their keys");
        assert_eq!(tasks::of_job(stage.db.read(), JobId(id.0 + 1)).await?, []);
    }

    async fn of_runs_those_are_recorded_that_were_stored(stage) {
        let (one, other) = (job(&stage, "one").await?, job(&stage, "other").await?);
        let stored = [a_task(one, 0, 0, "n"), a_task(one, 0, 1, "n"), a_task(other, 0, 0, "n")];
        write!(stage, |tx| tasks::insert_many(&tx, &stored));
        let to = TaskUpdate::to(State::Succeeded);
        write!(stage, |tx| tasks::update(&tx, &stored[0].key, State::Preparing, to));
        let asked = [stored[0].key, stored[2].key, a_task(one, 1, 0, "n").key];
        let found = tasks::recorded(stage.db.read(), &asked).await?;
        let expected = HashMap::from([(asked[0], State::Succeeded), (asked[1], State::Preparing)]);
        assert_eq!(found, expected, "also those that have ended");
        assert!(tasks::recorded(stage.db.read(), &[]).await?.is_empty());
    }

    async fn a_task_is_stored_once(stage) {
        let id = job(&stage, "j").await?;
        write!(stage, |tx| tasks::insert_many(&tx, &[a_task(id, 0, 0, "n")]));
        let mut again = a_task(id, 0, 0, "other");
        let tx = stage.begin().await?;
        let error = tasks::insert_many(&tx, &[again.clone()]).await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
        tx.rollback().await?;
        again.key.retry = 1;
        write!(stage, |tx| tasks::insert_many(&tx, &[again]));
        assert_eq!(tasks::of_job(stage.db.read(), id).await?.len(), 2);
    }

    async fn an_update_changes_what_it_names_and_only_from_the_expected_state(stage) {
        let id = job(&stage, "j").await?;
        let task = a_task(id, 0, 0, "n");
        write!(stage, |tx| tasks::insert_many(&tx, std::slice::from_ref(&task)));
        let mut to = TaskUpdate::to(State::Preparing);
        to.progress = Change::Set("pulling the image".to_owned());
        to.intent = Change::Set(Intent::Launch);
        assert!(!write!(stage, |tx| tasks::update(&tx, &task.key, State::Running, to.clone())));
        assert_eq!(only(&stage, id).await?, task, "it was not running");
        // Who knows it from before knows it afterwards.
        let mut known = task.clone();
        to.apply(&mut known);
        assert!(write!(stage, |tx| tasks::update(&tx, &task.key, State::Preparing, to)));
        let now = only(&stage, id).await?;
        assert_eq!(now, known);
        assert_eq!((now.progress.as_deref(), now.intent), (Some("pulling the image"), Some(Intent::Launch)));

        let mut to = TaskUpdate::to(State::Running);
        to.container = Some("c0ffee".to_owned());
        to.started_at = Some(at(8));
        to.apply(&mut known);
        assert!(write!(stage, |tx| tasks::update(&tx, &task.key, State::Preparing, to)));
        let now = only(&stage, id).await?;
        assert_eq!(now, known);
        assert_eq!((now.progress, now.intent), (None, Some(Intent::Launch)), "it prepares no more");

        let mut to = TaskUpdate::to(State::Failed);
        to.intent = Change::Clear;
        (to.completed_at, to.exit) = (Some(at(9)), Some(exit(137).into()));
        to.apply(&mut known);
        assert!(write!(stage, |tx| tasks::update(&tx, &task.key, State::Running, to)));
        let now = only(&stage, id).await?;
        assert_eq!(now, known);
        assert_eq!((now.state, now.container.as_deref()), (State::Failed, Some("c0ffee")));
        assert_eq!((now.started_at, now.completed_at), (Some(at(8)), Some(at(9))));
        assert_eq!((now.exit, now.intent), (Some(exit(137).into()), None));
        assert_eq!((now.placement, now.resources), (task.placement, task.resources));
    }

    async fn an_intent_alone_leaves_all_else_as_it_is(stage) {
        let id = job(&stage, "j").await?;
        let mut all: Vec<_> = (0..3).map(|n| a_task(id, 0, n, "n")).collect();
        all[1].progress = Some("pulling the image".to_owned());
        write!(stage, |tx| tasks::insert_many(&tx, &all));
        for intent in [Change::Set(Intent::Launch), Change::Clear] {
            let to = TaskUpdate { intent, ..TaskUpdate::to(State::Preparing) };
            all.iter_mut().for_each(|task| to.apply(task));
            let updates: Vec<_> =
                all.iter().map(|task| (task.key, State::Preparing, to.clone())).collect();
            assert_eq!(write!(stage, |tx| tasks::update_many(&tx, &updates)), 3);
            assert_eq!(tasks::of_job(stage.db.read(), id).await?, all);
        }
        let run = TaskUpdate::to(State::Running);
        assert!(write!(stage, |tx| tasks::update(&tx, &all[0].key, State::Preparing, run)));
        let late = TaskUpdate {
            intent: Change::Set(Intent::Launch),
            ..TaskUpdate::to(State::Preparing)
        };
        assert!(!write!(stage, |tx| tasks::update(&tx, &all[0].key, State::Preparing, late)));
    }

    async fn a_task_counts_once_however_many_rows_its_statement_has(stage) {
        let id = job(&stage, "j").await?;
        for (attempt, number) in [(0, 9), (1, 33)] {
            let all: Vec<_> = (0..number).map(|n| a_task(id, attempt, n, "n")).collect();
            write!(stage, |tx| tasks::insert_many(&tx, &all));
            let run = TaskUpdate::to(State::Running);
            let updates: Vec<_> =
                all.iter().map(|task| (task.key, State::Preparing, run.clone())).collect();
            let changed = write!(stage, |tx| tasks::update_many(&tx, &updates));
            assert_eq!(changed, u64::from(number));
            assert_eq!(write!(stage, |tx| tasks::update_many(&tx, &updates)), 0, "they run");
            let keys: Vec<_> = all.iter().map(|task| task.key).collect();
            let recorded = tasks::recorded(stage.db.read(), &keys).await?;
            let run: HashMap<_, _> = keys.into_iter().map(|key| (key, State::Running)).collect();
            assert_eq!(recorded, run);
        }
        assert_eq!(tasks::of_jobs(stage.db.read(), &[id]).await?.len(), 42);
    }

    async fn an_update_hits_one_key_alone(stage) {
        let id = job(&stage, "j").await?;
        let other = job(&stage, "other").await?;
        let mut all = vec![a_task(id, 0, 0, "n"); 5];
        all[1].key.retry = 1;
        (all[2].key.index, all[2].placement.index) = (1, 1);
        (all[3].key.role, all[3].placement.role) = (1, 1);
        all[4].key.attempt = 1;
        all.sort_by_key(|task| task.key);
        let stranger = a_task(other, 0, 0, "n");
        write!(stage, |tx| tasks::insert_many(&tx, &all));
        write!(stage, |tx| tasks::insert_many(&tx, std::slice::from_ref(&stranger)));
        let to = TaskUpdate::to(State::Running);
        assert!(write!(stage, |tx| tasks::update(&tx, &all[0].key, State::Preparing, to)));
        all[0].state = State::Running;
        assert_eq!(tasks::of_job(stage.db.read(), id).await?, all);
        assert_eq!(only(&stage, other).await?, stranger);
    }

    async fn active_tasks_are_those_that_matter_now(stage) {
        let (runs, ended, waits) =
            (job(&stage, "runs").await?, job(&stage, "ended").await?, job(&stage, "waits").await?);
        let done = |mut task: Task| {
            task.state = State::Succeeded;
            task
        };
        let all = [
            done(a_task(runs, 0, 0, "n1")),
            done(a_task(runs, 1, 0, "n1")),
            a_task(runs, 1, 1, "n2"),
            done(a_task(ended, 0, 0, "n1")),
            a_task(ended, 0, 1, "n2"),
            done(a_task(waits, 0, 0, "n1")),
        ];
        write!(stage, |tx| tasks::insert_many(&tx, &all));
        let mut to = JobUpdate::to(State::Running);
        to.attempt = Some(1);
        write!(stage, |tx| jobs::update(&tx, runs, State::Waiting, to));
        let mut to = JobUpdate::to(State::Failed);
        to.attempt = Some(0);
        write!(stage, |tx| jobs::update(&tx, ended, State::Waiting, to));
        let expected = [all[1].clone(), all[2].clone(), all[4].clone()];
        assert_eq!(tasks::active(stage.db.read()).await?, expected);
        let some = tasks::active_of(stage.db.read(), &[waits, runs]).await?;
        assert_eq!(some, expected[..2]);
        let held = tasks::of_node(stage.db.read(), &node("n2")).await?;
        assert_eq!(held, [all[2].clone(), all[4].clone()]);
        assert_eq!(tasks::of_node(stage.db.read(), &node("n1")).await?, []);
    }
}
