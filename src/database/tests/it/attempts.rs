use database::Error;
use database::attempts::{self, Attempt, AttemptUpdate, Had};
use database::jobs;
use protocol::ids::JobId;
use protocol::state::State;

use crate::stage::{a_job, at, attempt_of, exit, on_both, user, write};

on_both! {
    async fn attempts_are_read_back_by_job_and_number(stage) {
        let a = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let b = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "two")));
        let mut ended = attempt_of(b, 0);
        ended.state = State::Failed;
        (ended.started_at, ended.completed_at) = (Some(at(5)), Some(at(6)));
        ended.exit = Some(exit(3).into());
        let all = [attempt_of(a, 0), attempt_of(a, 1), ended.clone(), attempt_of(b, 1)];
        let jumbled = [all[3].clone(), all[1].clone(), all[2].clone(), all[0].clone()];
        write!(stage, |tx| attempts::insert_many(&tx, &jumbled));
        let conn = stage.db.read();
        assert_eq!(attempts::of_job(conn, a).await?, all[..2]);
        assert_eq!(attempts::of_jobs(conn, &[b, a, JobId(99)]).await?, all);
        assert_eq!(attempts::of_jobs(conn, &[]).await?, []);
    }

    async fn what_runs_is_as_old_as_before_when_the_clock_was_set(stage) {
        let job = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let ended = Attempt {
            started_at: Some(at(5)), completed_at: Some(at(6)), ..attempt_of(job, 0)
        };
        let runs = Attempt { started_at: Some(at(7)), ..attempt_of(job, 1) };
        let other = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "two")));
        let prepares = attempt_of(other, 0);
        let all = [ended.clone(), runs.clone(), prepares.clone()];
        write!(stage, |tx| attempts::insert_many(&tx, &all));
        for (by, began) in [(3_600_000, 3_600_007), (-3_600_004, 3)] {
            write!(stage, |tx| attempts::clock_was_set(&tx, by));
            let found = attempts::of_jobs(stage.db.read(), &[job, other]).await?;
            let runs = Attempt { started_at: Some(at(began)), ..runs.clone() };
            assert_eq!(found, [ended.clone(), runs, prepares.clone()]);
        }
    }

    async fn what_users_have_had_is_summed_up(stage) {
        let a = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let b = write!(stage, |tx| jobs::insert(&tx, &a_job("b", "two")));
        let ran = |job, number, placed, ended: Option<i64>| Attempt {
            placed_at: at(placed),
            completed_at: ended.map(at),
            ..attempt_of(job, number)
        };
        let all = [
            ran(a, 0, 1_100, Some(2_600)),
            ran(a, 1, 1_200, Some(2_700)),
            ran(a, 2, 2_800, Some(5_000)),
            ran(a, 3, 5_000, None),
            ran(b, 0, 1_500, Some(1_500)),
            ran(b, 1, 1_500, Some(1_900)),
            ran(b, 2, 1_500, Some(9_001)),
            ran(b, 3, 100, Some(1_000)),
        ];
        write!(stage, |tx| attempts::insert_many(&tx, &all));
        let mut found = attempts::had(stage.db.read(), (at(1_000), at(9_000)), 1_000).await?;
        found.sort_by_key(|had| (had.user.to_string(), had.from));
        let had = |name, from, until, gpu_ms: i64| Had {
            user: user(name),
            virtual_cluster: a_job(name, "one").spec.virtual_cluster,
            from: at(from),
            until: at(until),
            // Each of the jobs has four GPUs.
            gpu_milli_ms: gpu_ms * 4_000,
        };
        let expected = [
            had("a", 1_000, 2_000, 1_500 + 1_500),
            had("a", 2_000, 5_000, 2_200),
            had("b", 1_000, 2_000, 400),
        ];
        assert_eq!(found, expected);
    }

    async fn what_counted_by_its_type_when_it_was_given_is_summed_up_so(stage) {
        let job = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let ran = |number, weighed_milli| Attempt {
            placed_at: at(1_000),
            completed_at: Some(at(3_000)),
            weighed_milli,
            ..attempt_of(job, number)
        };
        let all = [ran(0, Some(10_000)), ran(1, None)];
        write!(stage, |tx| attempts::insert_many(&tx, &all));
        assert_eq!(attempts::of_jobs(stage.db.read(), &[job]).await?, all);
        let found = attempts::had(stage.db.read(), (at(1_000), at(9_000)), 1_000).await?;
        let had: Vec<i64> = found.iter().map(|had| had.gpu_milli_ms).collect();
        assert_eq!(had, [2_000 * (10_000 + 4_000)], "its job has four GPUs");
    }

    async fn what_a_wrong_clock_has_made_of_runs_is_summed_up_as_well(stage) {
        let job = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let ran = |number| Attempt {
            placed_at: at(1),
            completed_at: Some(at(i64::MAX / 2)),
            ..attempt_of(job, number)
        };
        write!(stage, |tx| attempts::insert_many(&tx, &[ran(0), ran(1)]));
        let found = attempts::had(stage.db.read(), (at(0), at(i64::MAX)), 1_000).await?;
        let had: Vec<i64> = found.iter().map(|had| had.gpu_milli_ms).collect();
        assert_eq!(had, [i64::MAX], "more than there are numbers for");
    }

    async fn an_attempt_is_stored_once(stage) {
        let job = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        write!(stage, |tx| attempts::insert_many(&tx, &[attempt_of(job, 0)]));
        let tx = stage.begin().await?;
        let again = [attempt_of(job, 1), attempt_of(job, 0)];
        let error = attempts::insert_many(&tx, &again).await.unwrap_err();
        assert!(matches!(error, Error::Conflict { .. }), "{error}");
        tx.rollback().await?;
        assert_eq!(attempts::of_job(stage.db.read(), job).await?, [attempt_of(job, 0)]);
    }

    async fn an_update_is_guarded_by_the_state(stage) {
        let job = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "one")));
        let both = [attempt_of(job, 0), attempt_of(job, 1)];
        write!(stage, |tx| attempts::insert_many(&tx, &both));
        let mut to = AttemptUpdate::to(State::Failed);
        (to.started_at, to.completed_at, to.exit) = (Some(at(8)), Some(at(9)), Some(exit(1).into()));
        let early = write!(stage, |tx| attempts::update(&tx, job, 0, State::Running, to.clone()));
        assert!(!early, "it prepares and does not run");
        // Who knows it from before knows it afterwards.
        let mut known = both[0].clone();
        to.apply(&mut known);
        assert!(write!(stage, |tx| attempts::update(&tx, job, 0, State::Preparing, to)));
        let found = attempts::of_job(stage.db.read(), job).await?;
        assert_eq!(found[0], known);
        assert_eq!((found[0].state, found[0].exit.clone()), (State::Failed, Some(exit(1).into())));
        assert_eq!((found[0].started_at, found[0].completed_at), (Some(at(8)), Some(at(9))));
        assert_eq!(found[1], both[1], "the other attempt stays");
        let to = AttemptUpdate::to(State::Stopped);
        to.apply(&mut known);
        assert!(write!(stage, |tx| attempts::update(&tx, job, 0, State::Failed, to)));
        let found = attempts::of_job(stage.db.read(), job).await?;
        assert_eq!(found[0], known);
        assert_eq!((found[0].state, found[0].exit.clone()), (State::Stopped, Some(exit(1).into())));
    }
}
