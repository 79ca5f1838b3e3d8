//! `api::saved_views`.

use std::sync::Arc;

use api::saved_views::{MOST, SavedView, SavedViews, check_name};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use database::saved_views::SavedViewRecord;

use crate::shared::Shared;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl SavedViews for Ops {
    async fn list(&self, actor: &Actor) -> Result<Vec<SavedView>> {
        let views = database::saved_views::list_of(self.0.store.database.read(), &actor.user).await;
        Ok(views?.into_iter().map(view).collect())
    }

    async fn save(&self, actor: &Actor, view: SavedView) -> Result<()> {
        view.check()?;
        let SavedView { name, filter: words, all: everybody, sort } = view;
        let record = SavedViewRecord { name, words, everybody, sort };
        // Counted where they are written: of many at once not one is too many.
        let stored = self.0.store.write(async |t| {
            let known = database::saved_views::list_of(t, &actor.user).await?;
            if known.len() >= MOST && known.iter().all(|known| known.name != record.name) {
                return Ok(Err(invalid(format!("{MOST} views are enough: remove one first"))));
            }
            database::saved_views::save(t, &actor.user, &record).await?;
            Ok(Ok(()))
        });
        stored.await?
    }

    async fn rename(&self, actor: &Actor, name: &str, to: &str) -> Result<()> {
        check_name(to)?;
        let renamed = self
            .0
            .store
            .write(async |t| database::saved_views::rename(t, &actor.user, name, to).await);
        match renamed.await {
            Ok(true) => Ok(()),
            Ok(false) => Err(missing(name)),
            Err(database::Error::Conflict { .. }) => {
                Err(invalid(format!("you have a view {to} already")))
            }
            Err(error) => Err(error.into()),
        }
    }

    async fn remove(&self, actor: &Actor, name: &str) -> Result<()> {
        let removed =
            self.0.store.write(async |t| database::saved_views::remove(t, &actor.user, name).await);
        if removed.await? { Ok(()) } else { Err(missing(name)) }
    }
}

fn view(record: SavedViewRecord) -> SavedView {
    let SavedViewRecord { name, words, everybody, sort } = record;
    SavedView { name, filter: words, all: everybody, sort }
}

fn missing(name: &str) -> Error {
    invalid(format!("you have no view {name}"))
}

fn invalid(message: String) -> Error {
    Error::new(ErrorCode::InvalidParametersError, message)
}
