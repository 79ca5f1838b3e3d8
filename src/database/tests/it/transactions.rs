use database::settings;
use database::{ConnectionTrait as _, Error};

use crate::stage::{Kind, on_both, write};

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

    async fn readers_go_on_beside_a_writer(stage) {
        let tx = stage.begin().await?;
        settings::set_once(&tx, "a", "1").await?;
        for _ in 0..20 {
            assert_eq!(settings::get(stage.db.read(), "a").await?, None);
        }
        stage.db.ping().await?;
        tx.commit().await?;
        assert_eq!(settings::get(stage.db.read(), "a").await?.as_deref(), Some("1"));
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
