use api::saved_views::SavedView;
use leptos::prelude::*;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// The actor's named views of the list of jobs.
#[server(prefix = "/fn", endpoint = "views/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_views() -> Result<Vec<SavedView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.saved_views.list(&actor).await.map_err(failed)
}

/// Saves one; `all` is `1` for everybody's jobs.
#[server(prefix = "/fn", endpoint = "views/save", output = Answer)]
pub(crate) async fn save_view(
    name: String,
    #[server(default)] filter: String,
    #[server(default)] all: String,
    #[server(default)] sort: String,
) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let view = SavedView { name: name.trim().to_owned(), filter, all: all == "1", sort };
    backend.saved_views.save(&actor, view).await.map_err(failed)
}

/// Gives one another name.
#[server(prefix = "/fn", endpoint = "views/rename", output = Answer)]
pub(crate) async fn rename_view(name: String, to: String) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.saved_views.rename(&actor, &name, to.trim()).await.map_err(failed)
}

/// Removes one.
#[server(prefix = "/fn", endpoint = "views/remove", output = Answer)]
pub(crate) async fn remove_view(name: String) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.saved_views.remove(&actor, &name).await.map_err(failed)
}
