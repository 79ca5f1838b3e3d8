use leptos::prelude::*;
use protocol::ids::UserName;

use crate::Failed;
use crate::json::Answer;

/// Puts a user into groups: those of the text, as far as they are written here.
#[server(prefix = "/fn", endpoint = "groups/set", output = Answer)]
pub(crate) async fn set_groups(
    user: UserName,
    #[server(default)] groups: String,
) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let groups = crate::settings::groups(&groups).map_err(failed)?;
    backend.groups.set(&actor, &user, groups).await.map_err(failed)
}
