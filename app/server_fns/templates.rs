//! Job files that people share, beside the examples.

use leptos::prelude::*;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;
use crate::template::Template;

/// All that are shared, as the menu of examples shows them.
#[server(prefix = "/fn", endpoint = "templates/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_shared() -> Result<Vec<Template>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    crate::templates::shared(&backend, &actor).await.map_err(failed)
}
