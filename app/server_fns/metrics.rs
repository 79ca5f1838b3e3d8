use api::metrics::{JobMetrics, JobUse, MetricsAsk, NodeMetrics, NodeMetricsAsk};
use leptos::prelude::*;
use protocol::ids::JobKey;
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// What the tasks of a job use over time.
#[server(prefix = "/fn", endpoint = "jobs/metrics", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_metrics(ask: MetricsAsk) -> Result<JobMetrics, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.metrics.of_job(&actor, &ask).await.map_err(failed)
}

/// What a job came to.
#[server(prefix = "/fn", endpoint = "jobs/use", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_use(key: JobKey) -> Result<JobUse, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.metrics.use_of_job(&actor, &key).await.map_err(failed)
}

/// What a node and its GPUs did over time.
#[server(prefix = "/fn", endpoint = "nodes/metrics", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn get_node_metrics(ask: NodeMetricsAsk) -> Result<NodeMetrics, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.metrics.of_node(&actor, &ask).await.map_err(failed)
}
