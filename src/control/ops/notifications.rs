//! `api::notifications`.

use std::sync::Arc;

use api::notifications::{Notifications, NotificationsView, TestResult, Tested};
use api::{Actor, Error, ErrorCode, Result};
use async_trait::async_trait;
use post::Call;
use protocol::notifications::Wishes;
use protocol::problem::Problem;
use serde_json::json;

use crate::records::{letters, notices};
use crate::shared::Shared;
use crate::wake::now;

#[derive(Debug)]
pub(crate) struct Ops(pub(crate) Arc<Shared>);

impl Ops {
    async fn view(&self, actor: &Actor, wishes: Wishes) -> Result<NotificationsView> {
        let shared = &self.0;
        let signing_key =
            wishes.webhook.as_ref().map(|url| notices::signing_key(&shared.seal, &actor.user, url));
        Ok(NotificationsView {
            mail_set_up: shared.outbound.notifying.post.has_mail(),
            address: notices::address(&shared.store, &actor.user).await?,
            signing_key,
            wishes,
        })
    }

    async fn test_mail(&self, actor: &Actor, wishes: &Wishes) -> Result<TestResult> {
        let shared = &self.0;
        let Some(to) = notices::address(&shared.store, &actor.user).await? else {
            let problem = Some("the account has no mail address".to_owned());
            return Ok(TestResult { sent: false, problem });
        };
        let letter =
            letters::test(wishes.language, to, shared.outbound.notifying.portal.as_deref());
        Ok(result(shared.outbound.notifying.post.mail(&letter).await))
    }

    async fn test_webhook(&self, actor: &Actor, url: &str) -> TestResult {
        let shared = &self.0;
        let key = notices::signing_key(&shared.seal, &actor.user, url);
        let body = json!({ "test": true, "at": now() }).to_string();
        result(shared.outbound.notifying.post.call(&Call { url: url.to_owned(), body, key }).await)
    }
}

fn result(sent: post::Result<()>) -> TestResult {
    let problem = sent.err().map(|error| error.to_string());
    TestResult { sent: problem.is_none(), problem }
}

#[async_trait]
impl Notifications for Ops {
    async fn get(&self, actor: &Actor) -> Result<NotificationsView> {
        self.view(actor, self.0.outbound.posted.wishes(&actor.user)).await
    }

    async fn set(&self, actor: &Actor, mut wishes: Wishes) -> Result<NotificationsView> {
        let url = wishes.webhook.take().map(|url| url.trim().to_owned());
        wishes.webhook = url.filter(|url| !url.is_empty());
        let refusal =
            wishes.webhook.as_ref().and_then(|url| self.0.outbound.notifying.post.refusal(url));
        if let Some(refusal) = refusal {
            let allowed = "an address of the internet that begins with https://";
            let problem = Problem::of_setting("webhook", refusal, allowed);
            return Err(Error::invalid_settings(vec![problem]));
        }
        let stored = self
            .0
            .store
            .write(async |t| database::notifications::save(t, &actor.user, &wishes).await);
        stored.await?;
        self.0.outbound.posted.change(&actor.user, wishes.clone());
        self.view(actor, wishes).await
    }

    async fn test(&self, actor: &Actor) -> Result<Tested> {
        let wishes = self.0.outbound.posted.wishes(&actor.user);
        if !self.0.outbound.posted.may(&actor.user, now(), self.0.outbound.notifying.hourly) {
            let message = "so much was sent to you in this hour: try it again in the next one";
            return Err(Error::new(ErrorCode::TooManyRequestsError, message));
        }
        let mail = match wishes.mail {
            true => Some(self.test_mail(actor, &wishes).await?),
            false => None,
        };
        let webhook = match &wishes.webhook {
            Some(url) => Some(self.test_webhook(actor, url).await),
            None => None,
        };
        Ok(Tested { mail, webhook })
    }
}
