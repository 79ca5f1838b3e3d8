use api::notifications::{NotificationsView, Tested};
use leptos::prelude::*;
use protocol::notifications::Tongue;
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// What somebody wants to be told, as its form sends it.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(default)]
pub(crate) struct WishesForm {
    pub(crate) started: bool,
    pub(crate) succeeded: bool,
    pub(crate) failed: bool,
    pub(crate) stopped: bool,
    pub(crate) retried: bool,
    pub(crate) preempted: bool,
    pub(crate) waiting: bool,
    pub(crate) idle: bool,
    pub(crate) mail: bool,
    pub(crate) webhook: String,
    pub(crate) language: Tongue,
}

impl WishesForm {
    /// The names of the form's fields, in the order of all occasions.
    pub(crate) const FIELDS: [&str; 8] = [
        "wishes[started]",
        "wishes[succeeded]",
        "wishes[failed]",
        "wishes[stopped]",
        "wishes[retried]",
        "wishes[preempted]",
        "wishes[waiting]",
        "wishes[idle]",
    ];
}

/// What one wants to be told.
#[server(prefix = "/fn", endpoint = "notifications/get", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_notifications() -> Result<NotificationsView, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.notifications.get(&actor).await.map_err(failed)
}

/// Wants something else.
#[server(prefix = "/fn", endpoint = "notifications/set", output = Answer)]
pub(crate) async fn set_notifications(wishes: WishesForm) -> Result<NotificationsView, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.notifications.set(&actor, crate::settings::wishes(wishes)).await.map_err(failed)
}

/// Sends a test.
#[server(prefix = "/fn", endpoint = "notifications/test", output = Answer)]
pub(crate) async fn test_notifications() -> Result<Tested, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.notifications.test(&actor).await.map_err(failed)
}
