use api::notifications::{NotificationsView, Tested};
use leptos::prelude::*;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::forms::WishesForm;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

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
