use api::cluster::{FreeGpus, Promise, VirtualClusterView};
use leptos::prelude::*;
use protocol::ids::{GpuType, VirtualClusterName};
use serde::{Deserialize, Serialize};
use server_fn::codec::GetUrl;

use crate::failed::Failed;
use crate::forms::ClusterForm;
use crate::json::Answer;
use crate::server_fns::reads::Reads;

/// All virtual clusters.
#[server(prefix = "/fn", endpoint = "clusters/list", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_clusters() -> Result<Vec<VirtualClusterView>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.virtual_clusters.list(&actor).await.map_err(failed)
}

/// A virtual cluster as one looks for room in it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Room {
    pub(crate) name: VirtualClusterName,
    /// Whether the reader may use it.
    pub(crate) usable: bool,
    /// The GPUs that its jobs can have at all.
    pub(crate) gpu_types: Vec<GpuType>,
    /// What a job of the reader could start on now.
    pub(crate) free: Vec<(GpuType, FreeGpus)>,
    pub(crate) running_jobs: u64,
    pub(crate) waiting_jobs: u64,
}

impl From<VirtualClusterView> for Room {
    fn from(cluster: VirtualClusterView) -> Self {
        Self {
            name: cluster.settings.name,
            usable: cluster.usable,
            gpu_types: cluster.total.gpus.into_keys().collect(),
            free: cluster.free.into_iter().collect(),
            running_jobs: cluster.running_jobs,
            waiting_jobs: cluster.waiting_jobs,
        }
    }
}

/// Where there is room.
#[server(prefix = "/fn", endpoint = "clusters/rooms", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn list_rooms() -> Result<Vec<Room>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let clusters = backend.virtual_clusters.list(&actor).await.map_err(failed)?;
    Ok(clusters.into_iter().map(Room::from).collect())
}

/// Adds a virtual cluster or changes it.
#[server(prefix = "/fn", endpoint = "clusters/save", output = Answer)]
pub(crate) async fn save_cluster(cluster: ClusterForm) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let settings = crate::settings::cluster(&cluster).map_err(failed)?;
    backend.virtual_clusters.save(&actor, settings).await.map_err(failed)
}

/// What is guaranteed of what there is.
#[server(prefix = "/fn", endpoint = "clusters/promises", input = GetUrl, output = Answer, client = Reads)]
pub(crate) async fn promises() -> Result<Vec<Promise>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.virtual_clusters.promises(&actor, None).await.map_err(failed)
}

/// The same once a virtual cluster is saved as the form says it. A form without a name is none yet.
#[server(prefix = "/fn", endpoint = "clusters/promises-after", output = Answer)]
pub(crate) async fn promises_after(cluster: ClusterForm) -> Result<Vec<Promise>, Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    let settings = match cluster.name.trim() {
        "" => None,
        _named => Some(crate::settings::cluster(&cluster).map_err(failed)?),
    };
    backend.virtual_clusters.promises(&actor, settings).await.map_err(failed)
}

/// Lets a virtual cluster take new jobs, or no more.
#[server(prefix = "/fn", endpoint = "clusters/stopped", output = Answer)]
pub(crate) async fn set_stopped(name: VirtualClusterName, stopped: bool) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.virtual_clusters.set_stopped(&actor, &name, stopped).await.map_err(failed)
}

/// Removes a virtual cluster.
#[server(prefix = "/fn", endpoint = "clusters/remove", output = Answer)]
pub(crate) async fn remove_cluster(name: VirtualClusterName) -> Result<(), Failed> {
    use crate::edge::{call, failed};
    let (backend, actor) = call()?;
    backend.virtual_clusters.remove(&actor, &name).await.map_err(failed)
}
