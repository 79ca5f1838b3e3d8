//! The servers of the cluster, where there may be several.

use async_trait::async_trait;
use protocol::time::Timestamp;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::actor::Actor;
use crate::error::Result;

/// What administrators see of them.
#[async_trait]
pub trait Servers: Send + Sync {
    /// The one that leads, and then the others that have been heard within a month, by name. Where there
    /// can be one only, none.
    ///
    /// # Errors
    /// `ForbiddenUserError`.
    async fn list(&self, actor: &Actor) -> Result<Vec<ServerView>>;
}

/// A server.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "camelCase")]
pub struct ServerView {
    /// What its machine is called.
    pub name: String,
    /// Where the others reach it, if they can.
    pub address: Option<String>,
    /// It leads: the number of its lead, which grows with each.
    pub term: Option<i64>,
    /// When it was heard last.
    pub heard: Timestamp,
    /// Whether that is so short ago that it is there: it would take over.
    pub there: bool,
}
