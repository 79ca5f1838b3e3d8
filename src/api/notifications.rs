//! What people are told when they are not looking.

use async_trait::async_trait;
use protocol::notifications::Wishes;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// What people want to be told of their jobs, by mail and by webhooks.
#[async_trait]
pub trait Notifications: Send + Sync {
    /// What the actor wants to be told, and how he is reached.
    async fn get(&self, actor: &Actor) -> Result<NotificationsView>;
    /// Wants something else. An address that webhooks do not reach is an `InvalidParametersError`.
    async fn set(&self, actor: &Actor, wishes: Wishes) -> Result<NotificationsView>;
    /// Sends something at once in every way that the actor has chosen. It counts as what is sent to him
    /// otherwise.
    async fn test(&self, actor: &Actor) -> Result<Tested>;
}

/// What somebody wants to be told, and how he is reached.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct NotificationsView {
    /// What he wants.
    pub wishes: Wishes,
    /// Whether this installation sends mail.
    pub mail_set_up: bool,
    /// Where mail reaches him, as far as that is known.
    pub address: Option<String>,
    /// What calls of his webhook are signed with, if he has one.
    pub signing_key: Option<String>,
}

/// How a test went, by way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct Tested {
    /// Of mail; `None`: it was not chosen.
    pub mail: Option<TestResult>,
    /// Of the webhook; `None`: there is none.
    pub webhook: Option<TestResult>,
}

/// How a test went.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct TestResult {
    /// It was taken.
    pub sent: bool,
    /// What was said otherwise, English.
    pub problem: Option<String>,
}
