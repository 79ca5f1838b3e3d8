use api::compare::Comparison;
use leptos::prelude::*;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// Compares jobs, each written `user~job`.
#[server(prefix = "/fn", endpoint = "jobs/compare", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn compare_jobs(
    #[server(default)] jobs: Vec<String>,
    all: bool,
) -> Result<Comparison, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    api::compare::compare(&backend, &actor, &jobs, all).await.map_err(failed)
}
