use std::time::Duration;

use database::jobs;
use database::settings;
use database::{ConnectionTrait as _, Error};
use protocol::jobs::JobQuery;
use protocol::time::Timestamp;

use crate::stage::{Kind, a_job, on_both, write};

on_both! {
    async fn what_is_not_committed_never_was(stage) {
        let tx = stage.begin().await?;
        settings::set_once(&tx, "a", "1").await?;
        assert_eq!(settings::get(&tx, "a").await?.as_deref(), Some("1"));
        assert_eq!(settings::get(stage.db.read(), "a").await?, None, "not seen by others");
        drop(tx);
        let tx = stage.begin().await?;
        assert_eq!(settings::get(&tx, "a").await?, None, "gone with the drop");
        settings::set_once(&tx, "b", "1").await?;
        tx.rollback().await?;
        assert_eq!(settings::get(stage.db.read(), "b").await?, None);
        write!(stage, |tx| settings::set_once(&tx, "c", "1"));
        assert_eq!(settings::get(stage.db.read(), "c").await?.as_deref(), Some("1"));
    }

    async fn a_statement_that_fails_takes_its_transaction_along(stage) {
        write!(stage, |tx| settings::set_once(&tx, "a", "1"));
        let tx = stage.begin().await?;
        settings::set_once(&tx, "b", "1").await?;
        tx.execute_unprepared("INSERT INTO settings VALUES ('a', '2')").await.unwrap_err();
        settings::set_once(&tx, "c", "1").await.unwrap_err();
        tx.commit().await.unwrap_err();
        for name in ["b", "c"] {
            assert_eq!(settings::get(stage.db.read(), name).await?, None, "{name}");
        }
    }

    async fn readers_go_on_beside_a_writer(stage) {
        let tx = stage.begin().await?;
        settings::set_once(&tx, "a", "1").await?;
        for _ in 0..20 {
            assert_eq!(settings::get(stage.db.read(), "a").await?, None);
        }
        tx.commit().await?;
        assert_eq!(settings::get(stage.db.read(), "a").await?.as_deref(), Some("1"));
        stage.db.ping().await?;
    }

    async fn a_commit_that_nobody_waits_for_is_known_to_lists(stage) {
        let any = JobQuery { limit: 1, ..JobQuery::default() };
        let listed = async || jobs::list(&stage.db, &any, Timestamp::default()).await;
        assert_eq!(listed().await?.1, 0);
        let tx = stage.begin().await?;
        jobs::insert(&tx, &a_job("a", "j")).await?;
        tokio::select! {
            biased;
            committed = tx.commit() => committed?,
            () = std::future::ready(()) => {}
        }
        let known = async {
            while listed().await?.1 == 0 {
                tokio::task::yield_now().await;
            }
            anyhow::Ok(())
        };
        tokio::time::timeout(Duration::from_secs(30), known).await??;
    }

    async fn a_refused_statement_says_so_without_details(stage) {
        let error = stage.db.read().execute_unprepared("no statement").await.unwrap_err();
        let error = Error::from(error);
        assert!(matches!(error, Error::Internal { .. }), "{error:?}");
        assert_eq!(error.to_string(), "the database refused a statement");
        if stage.kind == Kind::Sqlite {
            let refused = settings::set_once(stage.db.read(), "a", "1").await;
            assert!(refused.is_err(), "reading connections do not write");
        }
    }
}
