//! `api::sign_ins`.

use std::sync::Arc;

use api::sign_ins::SignIns;
use api::{Actor, Result};
use async_trait::async_trait;
use database::provider_accounts;
use protocol::ids::UserName;
use protocol::person::Person;

use crate::accounts::sign_ins::enter;
use crate::shared::Shared;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl SignIns for Ops {
    async fn enter(&self, person: Person) -> Result<Actor> {
        enter(&self.0.store, &self.0.people, &person).await
    }

    async fn session_seconds(&self, user: &UserName) -> Result<Option<u64>> {
        let account = provider_accounts::get(self.0.store.database.read(), user).await;
        Ok(account?.map(|_| self.0.people.sign_in.session_seconds))
    }
}
