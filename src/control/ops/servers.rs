//! `api::servers`.

use std::sync::Arc;
use std::time::Duration;

use api::servers::{ServerView, Servers};
use api::{Actor, Result};
use async_trait::async_trait;
use database::lead::{self, Heard, Leader, SIGN};
use protocol::time::Timestamp;

use crate::accounts::rights::administrators_only;
use crate::shared::Shared;
use crate::wake::now;

/// Who has not been heard for longer is not there.
const PATIENCE: Duration = SIGN.saturating_mul(3);

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

#[async_trait]
impl Servers for Ops {
    async fn list(&self, actor: &Actor) -> Result<Vec<ServerView>> {
        administrators_only(actor)?;
        let Some(leader) = self.0.store.database.fencing_token().leader() else {
            return Ok(Vec::new());
        };
        let heard = lead::heard(self.0.store.database.read()).await?;
        Ok(views(leader, heard, now()))
    }
}

fn views(leader: &Leader, heard: Vec<Heard>, now: Timestamp) -> Vec<ServerView> {
    // Who asks hears it.
    let leads = ServerView {
        name: leader.server.name.clone(),
        address: leader.server.address.clone(),
        term: Some(leader.term),
        heard: now,
        there: true,
    };
    let others = heard.into_iter().filter(|heard| heard.server != leader.server);
    let others = others.map(|Heard { server, ago }| ServerView {
        name: server.name,
        address: server.address,
        term: None,
        heard: Timestamp(now.0.saturating_sub(i64::try_from(ago.as_millis()).unwrap_or(i64::MAX))),
        there: ago <= PATIENCE,
    });
    std::iter::once(leads).chain(others).collect()
}

#[cfg(test)]
mod tests {
    use database::lead::Named;

    use super::*;

    fn named(name: &str) -> Named {
        Named { name: name.to_owned(), address: Some(format!("{name}:8081")) }
    }

    #[test]
    fn who_leads_is_first_and_who_is_gone_is_told() {
        let leader = Leader { term: 7, server: named("two") };
        let heard = [("one", 4), ("three", 60), ("two", 3_600)];
        let heard = heard.map(|(name, seconds)| Heard {
            server: named(name),
            ago: Duration::from_secs(seconds),
        });
        let all = views(&leader, heard.to_vec(), Timestamp(100_000));
        let told = |view: &ServerView| (view.name.clone(), view.term, view.heard.0, view.there);
        let expected = [
            ("two".to_owned(), Some(7), 100_000, true),
            ("one".to_owned(), None, 96_000, true),
            ("three".to_owned(), None, 40_000, false),
        ];
        assert_eq!(all.iter().map(told).collect::<Vec<_>>(), expected);
    }
}
