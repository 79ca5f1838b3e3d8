use database::{jobs, place, settings, tasks};
use protocol::epoch::Epoch;
use protocol::ids::{JobId, TaskKey};

use crate::stage::{Stage, a_job, a_task, on_both, write};

on_both! {
    async fn ids_up_to_one_are_given_to_nobody(stage) {
        write!(stage, |tx| jobs::give_beyond(&tx, JobId(40)));
        assert_eq!(write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j"))), JobId(41));
        write!(stage, |tx| jobs::give_beyond(&tx, JobId(7)));
        assert_eq!(write!(stage, |tx| jobs::insert(&tx, &a_job("a", "k"))), JobId(42));
        write!(stage, |tx| jobs::give_beyond(&tx, JobId(42)));
        assert_eq!(write!(stage, |tx| jobs::insert(&tx, &a_job("a", "l"))), JobId(43));
    }

    async fn a_database_lives_where_no_other_does(stage) {
        let lives = place::of(stage.db.read()).await?;
        let stage = stage.reopened().await?;
        assert_eq!(place::of(stage.db.read()).await?, lives, "over restarts");
        let other = Stage::new(stage.kind).await?;
        assert_ne!(place::of(other.db.read()).await?, lives);
    }

    async fn a_run_says_in_which_life_it_was_given(stage) {
        let job = write!(stage, |tx| jobs::insert(&tx, &a_job("a", "j")));
        let of_before = a_task(job, 0, 0, "n1");
        let mut given = a_task(job, 0, 1, "n1");
        given.epoch = Epoch::default().next(0xbee);
        let both = [of_before.clone(), given.clone()];
        write!(stage, |tx| tasks::insert_many(&tx, &both));
        assert_eq!(tasks::get(stage.db.read(), &given.key).await?.as_ref(), Some(&given));
        let never = TaskKey { retry: 1, ..given.key };
        let found = tasks::given(stage.db.read(), &[never, given.key, of_before.key]).await?;
        let expected = [(of_before.key, Epoch::default()), (given.key, given.epoch)];
        assert_eq!(found, expected.into());
    }

    async fn a_fact_is_replaced(stage) {
        for value in ["1", "2"] {
            write!(stage, |tx| settings::set(&tx, "epoch", value));
            assert_eq!(settings::get(stage.db.read(), "epoch").await?.as_deref(), Some(value));
        }
    }
}
