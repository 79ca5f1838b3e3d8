use std::collections::BTreeMap;

use database::jobs::{self, JobUpdate, Load, Sums};
use database::{Error, attempts, tasks};
use protocol::document::Syntax;
use protocol::ids::JobId;
use protocol::jobs::{Hold, Retries};
use protocol::spec::Priority;
use protocol::state::State;

use crate::stage::{a_job, a_task, at, attempt_of, exit, node, on_both, user, write};

on_both! {
    async fn a_new_job_is_read_back_whole(stage) {
        let new = a_job("alice", "train");
        let id = write!(stage, |tx| jobs::insert(&tx, &new));
        let conn = stage.db.read();
        let job = jobs::by_key(conn, &new.key).await?.unwrap();
        assert_eq!((job.row.id, &job.row.key, &job.spec), (id, &new.key, &new.spec));
        assert_eq!((job.row.state, job.row.priority), (State::Waiting, Priority::PRODUCTION));
        assert_eq!((job.row.tasks, job.row.roles, job.row.gpus), (2, 1, 4.into()));
        let types: Vec<_> = job.row.gpu_types.iter().map(ToString::to_string).collect();
        assert_eq!(types, ["A100", "V100"], "each type once");
        assert_eq!((job.row.submitted_at, job.row.started_at), (at(1000), None));
        assert_eq!((&job.row.stop, &job.row.exit), (&None, &None));
        assert_eq!((job.row.attempt, job.row.not_before), (None, None));
        assert!(job.row.avoid.is_empty());
        assert_eq!(job.row.retries, Retries::default());
        assert_eq!(jobs::by_id(conn, id).await?, Some(job));
        assert_eq!(jobs::text(conn, id).await?, (new.text, Syntax::Json));
    }

    async fn a_held_job_does_not_begin_and_only_who_may_releases_it(stage) {
        let id = write!(stage, |tx| jobs::insert(&tx, &a_job("alice", "train")));
        let hold = |by: &str, administrator| Hold { by: user(by), at: at(5), administrator };
        assert!(write!(stage, |tx| jobs::hold(&tx, id, &hold("alice", false))));
        assert!(!write!(stage, |tx| jobs::hold(&tx, id, &hold("alice", false))), "it is held");
        let begin = || JobUpdate { attempt: Some(0), ..JobUpdate::to(State::Preparing) };
        assert!(!write!(stage, |tx| jobs::update(&tx, id, State::Waiting, begin())));
        assert!(write!(stage, |tx| jobs::hold(&tx, id, &hold("root", true))));
        assert!(!write!(stage, |tx| jobs::hold(&tx, id, &hold("alice", false))));
        assert!(!write!(stage, |tx| jobs::release(&tx, id, false)), "an administrator holds it");
        let held = jobs::by_id(stage.db.read(), id).await?.unwrap().row.held;
        assert_eq!(held, Some(hold("root", true).into()));
        assert!(write!(stage, |tx| jobs::release(&tx, id, true)));
        assert!(!write!(stage, |tx| jobs::release(&tx, id, true)));
        write!(stage, |tx| jobs::move_many(&tx, &[(id, -70)]));
        assert!(write!(stage, |tx| jobs::set_priority(&tx, id, Priority(3), None)));
        let row = jobs::by_id(stage.db.read(), id).await?.unwrap().row;
        assert_eq!((row.held, row.moved_ms), (None, -70));
        assert_eq!((row.priority, row.most_priority), (Priority(3), None));
        let most = Some(Priority(7));
        assert!(write!(stage, |tx| jobs::set_priority(&tx, id, Priority(7), most)));
        assert_eq!(jobs::by_id(stage.db.read(), id).await?.unwrap().row.most_priority, most);
        assert!(write!(stage, |tx| jobs::update(&tx, id, State::Waiting, begin())));
        assert!(!write!(stage, |tx| jobs::hold(&tx, id, &hold("root", true))), "it has begun");
        assert!(!write!(stage, |tx| jobs::set_priority(&tx, id, Priority(9), None)));
    }

    async fn what_is_not_there_is_none_or_not_found(stage) {
        let conn = stage.db.read();
        assert_eq!(jobs::by_key(conn, &"a~b".parse()?).await?, None);
        assert_eq!(jobs::by_id(conn, JobId(1)).await?, None);
        assert_eq!(jobs::by_ids(conn, &[JobId(1)]).await?, []);
        let error = jobs::text(conn, JobId(1)).await.unwrap_err();
        assert!(matches!(error, Error::NotFound { .. }), "{error}");
        assert!(!write!(stage, |tx| jobs::request_stop(&tx, JobId(1), &user("a"), at(1))));
    }

    async fn a_name_is_taken_once_by_each_user(stage) {
        write!(stage, |tx| jobs::insert(&tx, &a_job("alice", "train")));
        write!(stage, |tx| jobs::insert(&tx, &a_job("bob", "train")));
        let tx = stage.begin().await?;
        let error = jobs::insert(&tx, &a_job("alice", "train")).await.unwrap_err();
        assert!(matches!(&error, Error::Conflict { .. }), "{error}");
        assert_eq!(error.to_string(), "job alice~train exists already");
        jobs::insert(&tx, &a_job("alice", "next")).await?;
        tx.commit().await?;
        let found = jobs::by_key(stage.db.read(), &"alice~next".parse()?).await?;
        assert!(found.is_some(), "the transaction went on after the conflict");
    }

    async fn of_many_each_has_its_own_result(stage) {
        write!(stage, |tx| jobs::insert(&tx, &a_job("alice", "j3")));
        let mut news: Vec<_> = (0..600).map(|n| a_job("alice", &format!("j{n}"))).collect();
        news.push(a_job("alice", "j599"));
        let results = write!(stage, |tx| jobs::insert_many(&tx, &news));
        assert_eq!(results.len(), news.len());
        for (n, (new, result)) in news.iter().zip(&results).enumerate() {
            match result {
                Ok(id) => {
                    assert!(n != 3 && n != 600, "job {n} was stored twice");
                    let job = jobs::by_id(stage.db.read(), *id).await?.unwrap();
                    assert_eq!((&job.row.key, &job.spec), (&new.key, &new.spec));
                }
                Err(Error::Conflict { what }) => {
                    assert!(n == 3 || n == 600, "job {n} was refused");
                    assert_eq!(what, &format!("job {}", new.key));
                }
                Err(error) => panic!("job {n}: {error}"),
            }
        }
        let ids: Vec<_> = results.into_iter().flatten().rev().collect();
        let found = jobs::by_ids(stage.db.read(), &ids).await?;
        assert_eq!(found.len(), 599);
        assert!(found.is_sorted_by_key(|job| job.row.id));
        assert!(write!(stage, |tx| jobs::insert_many(&tx, &[])).is_empty());
    }

    async fn what_goes_on_is_summed_up_as_its_rows_and_tasks_are(stage) {
        let many: Vec<_> = (0..300).map(|n| a_job("alice", &format!("j{n}"))).collect();
        let ids = write!(stage, |tx| jobs::insert_many(&tx, &many));
        let ids: Vec<JobId> = ids.into_iter().collect::<Result<_, _>>()?;
        let hold = Hold { by: user("alice"), at: at(5), administrator: false };
        write!(stage, |tx| jobs::hold(&tx, ids[1], &hold));
        write!(stage, |tx| jobs::move_many(&tx, &[(ids[2], -70), (ids[299], i64::MAX)]));
        write!(stage, |tx| jobs::set_priority(&tx, ids[3], Priority(-3), None));
        write!(stage, |tx| jobs::request_stop(&tx, ids[4], &user("alice"), at(6)));
        let later = JobUpdate { not_before: Some(at(7)), ..JobUpdate::to(State::Waiting) };
        write!(stage, |tx| jobs::update(&tx, ids[5], State::Waiting, later.clone()));
        let begins = JobUpdate { attempt: Some(0), ..JobUpdate::to(State::Preparing) };
        for id in [ids[6], ids[7]] {
            write!(stage, |tx| jobs::update(&tx, id, State::Waiting, begins.clone()));
            write!(stage, |tx| attempts::insert_many(&tx, &[attempt_of(id, 0)]));
            let tasks = [0, 1].map(|index| a_task(id, 0, index, "n1"));
            write!(stage, |tx| tasks::insert_many(&tx, &tasks));
        }
        let ends = JobUpdate { completed_at: Some(at(9)), ..JobUpdate::to(State::Succeeded) };
        write!(stage, |tx| jobs::update(&tx, ids[8], State::Waiting, ends.clone()));

        let mut expected: BTreeMap<i64, Sums> = BTreeMap::new();
        let conn = stage.db.read();
        for row in jobs::active(conn).await? {
            expected.entry(jobs::part_of(row.id)).or_default().add_job(&row);
        }
        for task in tasks::active(conn).await? {
            let (job, place) = (task.key.job, &task.placement);
            expected.entry(jobs::part_of(job)).or_default().add_task(job, place.role, place.index);
        }
        assert_eq!(jobs::sums(conn).await?, expected);
        assert_eq!(expected.len(), 2, "300 jobs are of two parts");
        let parts: Vec<i64> = expected.keys().copied().collect();
        let active: Vec<JobId> = jobs::active(conn).await?.iter().map(|row| row.id).collect();
        let mut found = jobs::active_in(conn, &parts).await?;
        found.sort_unstable();
        assert_eq!(found, active);
    }

    async fn active_jobs_are_those_that_have_not_ended(stage) {
        let mut expected = Vec::new();
        for state in State::ALL {
            let id = write!(stage, |tx| jobs::insert(&tx, &a_job("a", state.as_str())));
            let to = JobUpdate::to(state);
            assert!(write!(stage, |tx| jobs::update(&tx, id, State::Waiting, to)));
            if !state.is_final() {
                expected.push((id, state));
            }
        }
        let active = jobs::active(stage.db.read()).await?;
        let found: Vec<_> = active.iter().map(|row| (row.id, row.state)).collect();
        assert_eq!(found, expected);
        expected.retain(|(_, state)| *state != State::Waiting);
        let placed = jobs::placed(stage.db.read()).await?;
        let found: Vec<_> = placed.iter().map(|row| (row.id, row.state)).collect();
        assert_eq!(found, expected);
    }

    async fn an_update_changes_what_it_names_and_only_from_the_expected_state(stage) {
        let id = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j")));
        let other = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "other")));
        let mut all = JobUpdate::to(State::Waiting);
        all.not_before = Some(at(77));
        all.exit = Some(exit(1));
        all.attempt = Some(3);
        all.retries = Some(Retries { user: 1, platform: 2 });
        all.avoid = Some(vec![node("n1")]);
        all.started_at = Some(at(5));
        assert!(!write!(stage, |tx| jobs::update(&tx, id, State::Running, all.clone())));
        let before = jobs::by_id(stage.db.read(), id).await?.unwrap().row;
        assert_eq!((before.attempt, before.not_before), (None, None), "it was not running");

        // Who knows it from before knows it afterwards.
        let mut known = before;
        all.apply(&mut known);
        assert!(write!(stage, |tx| jobs::update(&tx, id, State::Waiting, all)));
        let row = jobs::by_id(stage.db.read(), id).await?.unwrap().row;
        assert_eq!(row, known);
        assert_eq!(row.not_before, Some(at(77)));
        assert_eq!((row.exit, row.attempt), (Some(exit(1).into()), Some(3)));
        assert_eq!((row.retries.user, row.retries.platform), (1, 2));
        assert_eq!((row.avoid, row.started_at), (vec![node("n1")], Some(at(5))));

        let mut last = JobUpdate::to(State::Succeeded);
        last.completed_at = Some(at(99));
        last.exit = Some(exit(0));
        last.apply(&mut known);
        assert!(write!(stage, |tx| jobs::update(&tx, id, State::Waiting, last)));
        let row = jobs::by_id(stage.db.read(), id).await?.unwrap().row;
        assert_eq!(row, known);
        assert_eq!((row.state, row.completed_at), (State::Succeeded, Some(at(99))));
        assert_eq!(row.exit, Some(exit(0).into()));
        assert_eq!(row.not_before, None, "it does not wait any more");
        assert_eq!((row.attempt, row.started_at), (Some(3), Some(at(5))), "these stay");
        let other = jobs::by_id(stage.db.read(), other).await?.unwrap().row;
        assert_eq!((other.state, other.attempt), (State::Waiting, None), "another job stays");
    }

    async fn what_somebody_asks_of_a_virtual_cluster_is_counted(stage) {
        let id = write!(stage, |tx| jobs::insert(&tx, &a_job("alice", "one")));
        for (who, name) in [("alice", "two"), ("bob", "one"), ("eve", "one")] {
            write!(stage, |tx| jobs::insert(&tx, &a_job(who, name)));
        }
        let ended = JobUpdate::to(State::Failed);
        write!(stage, |tx| jobs::update(&tx, id, State::Waiting, ended));
        let conn = stage.db.read();
        let cluster = jobs::by_id(conn, id).await?.unwrap().row.virtual_cluster;
        let load = |waiting, submitted| Load { waiting, submitted };
        let (alice, both) = ([user("alice")], [user("alice"), user("bob")]);
        assert_eq!(jobs::load(conn, &alice, &cluster, at(999)).await?, load(1, 2));
        assert_eq!(jobs::load(conn, &both, &cluster, at(999)).await?, load(2, 3));
        assert_eq!(jobs::load(conn, &both, &cluster, at(1000)).await?, load(2, 0), "all before");
        assert_eq!(jobs::load(conn, &[], &cluster, at(0)).await?, load(0, 0));
        let other: protocol::ids::VirtualClusterName = "other".parse()?;
        assert_eq!(jobs::load(conn, &both, &other, at(0)).await?, load(0, 0));
    }

    async fn a_stop_is_asked_for_once_and_while_it_helps(stage) {
        let id = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j")));
        assert!(write!(stage, |tx| jobs::request_stop(&tx, id, &user("bob"), at(7))));
        assert!(!write!(stage, |tx| jobs::request_stop(&tx, id, &user("eve"), at(8))));
        let stop = jobs::by_id(stage.db.read(), id).await?.unwrap().row.stop.unwrap();
        assert_eq!((stop.by, stop.at), (user("bob"), at(7)));
        let ended = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "ended")));
        let to = JobUpdate::to(State::Failed);
        write!(stage, |tx| jobs::update(&tx, ended, State::Waiting, to));
        assert!(!write!(stage, |tx| jobs::request_stop(&tx, ended, &user("bob"), at(7))));
        assert_eq!(jobs::by_id(stage.db.read(), ended).await?.unwrap().row.stop, None);
    }

    async fn many_are_read_without_their_specs(stage) {
        let news: Vec<_> = (0..700).map(|n| a_job("a", &format!("j{n}"))).collect();
        let mut ids: Vec<_> =
            write!(stage, |tx| jobs::insert_many(&tx, &news)).into_iter().flatten().collect();
        let to = JobUpdate::to(State::Succeeded);
        write!(stage, |tx| jobs::update(&tx, ids[5], State::Waiting, to));
        ids.swap_remove(9);
        let mut rows = jobs::rows(stage.db.read(), &ids).await?;
        rows.sort_by_key(|row| row.id);
        ids.sort_unstable();
        assert_eq!(rows.iter().map(|row| row.id).collect::<Vec<_>>(), ids);
        assert_eq!((rows[5].state, rows[6].state), (State::Succeeded, State::Waiting));
        assert_eq!(jobs::rows(stage.db.read(), &[]).await?, []);
    }
}
