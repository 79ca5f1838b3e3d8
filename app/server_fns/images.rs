use api::images::{ImageSize, SavedImageView, TaskOfJob};
use leptos::prelude::*;
use protocol::ids::RoleName;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::jobs::JobKeyText;
use crate::server_fns::reads::Reads;

/// One's own saved images; everybody's, for administrators.
#[server(prefix = "/fn", endpoint = "images/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_images() -> Result<Vec<SavedImageView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.images.list(&actor).await.map_err(failed)
}

/// What an image of a task's container would take; nothing is asked of no task.
#[server(prefix = "/fn", endpoint = "images/size", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn measure_image(task: Option<TaskOfJob>) -> Result<Option<ImageSize>, Failed> {
    use crate::edge::{call, failed};
    let Some(task) = task else { return Ok(None) };
    let (backend, actor) = call()?;
    backend.images.size(&actor, &task).await.map(Some).map_err(failed)
}

/// Begins to save a task's container.
#[server(prefix = "/fn", endpoint = "images/save", output = Answer)]
pub(crate) async fn save_image(
    job: JobKeyText,
    role: RoleName,
    index: u32,
    name: String,
    #[server(default)] tag: String,
    #[server(default)] registry: String,
    #[server(default)] auth_file: String,
) -> Result<SavedImageView, Failed> {
    use api::images::SaveImage;

    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let task = TaskOfJob { job: job.0, role, index };
    let request = SaveImage { task, name, tag, registry, auth_file, address: None };
    backend.images.save(&actor, &request).await.map_err(failed)
}

/// Removes a saved image.
#[server(prefix = "/fn", endpoint = "images/remove", output = Answer)]
pub(crate) async fn remove_image(id: i64) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.images.remove(&actor, id).await.map_err(failed)
}
