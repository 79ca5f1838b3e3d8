use std::collections::{HashMap, HashSet};
use std::time::Duration;

use bollard::models::{
    ContainerInspectResponse, ContainerState, ContainerStateStatusEnum, ContainerSummary,
    ContainerSummaryStateEnum,
};
use bollard::query_parameters::{InspectContainerOptions, ListContainersOptions};
use futures::{StreamExt, TryStreamExt};
use protocol::ids::TaskKey;
use protocol::time::Timestamp;

use super::connection::CALL;
use super::failure::{classify, status_of};
use super::shape;
use super::{DockerEngine, clock};
use crate::filling::CLUSTER_LABEL;
use crate::model::{Container, ContainerStatus, Result, Stranger};

/// An engine takes so long at most to look at what all containers have written.
const SIZES: Duration = Duration::from_secs(120);
/// Inspections at a time.
const AT_ONCE: usize = 8;

impl DockerEngine {
    pub(super) async fn inspect_raw(&self, name: &str) -> Result<Option<ContainerInspectResponse>> {
        let call = self.connection.call(CALL, |docker| async move {
            docker.inspect_container(name, None::<InspectContainerOptions>).await
        });
        match call.await {
            Ok(found) => Ok(Some(found)),
            Err(error) if status_of(&error) == Some(404) => Ok(None),
            Err(error) => Err(classify(error, name)),
        }
    }

    /// One call, and one more for each container not seen in its present state before: the list
    /// says neither exit codes nor times.
    pub(super) async fn list_containers(&self, cluster: &str) -> Result<Vec<Container>> {
        let all = ListContainersOptions { all: true, ..Default::default() };
        let rows = self.rows(cluster, CALL, all).await?;
        let ids: HashSet<String> = rows.iter().filter_map(|row| row.id.clone()).collect();
        self.cache.keep(&ids);
        futures::stream::iter(rows)
            .map(|row| self.complete(cluster, row))
            .buffered(AT_ONCE)
            .try_filter_map(|found| async move { Ok(found) })
            .try_collect()
            .await
    }

    /// Containers that say that they are of another cluster.
    pub(super) async fn list_strangers(&self, cluster: &str) -> Result<Vec<Stranger>> {
        let all = ListContainersOptions { all: true, ..Default::default() };
        let rows = self.rows_with(CLUSTER_LABEL.to_owned(), CALL, all).await?;
        let strangers = rows.into_iter().filter_map(|row| {
            // Images saved from containers have the label, and it says nothing.
            let others = |whose: &String| !whose.is_empty() && whose != cluster;
            let whose = row.labels?.remove(CLUSTER_LABEL).filter(others)?;
            let name = row.names?.into_iter().next()?.trim_start_matches('/').to_owned();
            let runs = row.state == Some(ContainerSummaryStateEnum::RUNNING);
            Some(Stranger { name, cluster: whose, runs })
        });
        Ok(strangers.collect())
    }

    /// The bytes that each running container has written into its own layer.
    pub(super) async fn written_by_containers(
        &self,
        cluster: &str,
    ) -> Result<HashMap<TaskKey, u64>> {
        let sizes = ListContainersOptions { size: true, ..Default::default() };
        let rows = self.rows(cluster, SIZES, sizes).await?;
        let written = rows.iter().filter_map(|row| {
            let name = row.names.iter().flatten().find_map(|name| name.strip_prefix('/'))?;
            let key = TaskKey::from_container_name(cluster, name)?;
            Some((key, u64::try_from(row.size_rw?).ok()?))
        });
        Ok(written.collect())
    }

    /// The engine's list of this cluster's containers.
    async fn rows(
        &self,
        cluster: &str,
        wait: Duration,
        options: ListContainersOptions,
    ) -> Result<Vec<ContainerSummary>> {
        self.rows_with(format!("{CLUSTER_LABEL}={cluster}"), wait, options).await
    }

    /// The engine's list of containers with a label.
    pub(super) async fn rows_with(
        &self,
        label: String,
        wait: Duration,
        options: ListContainersOptions,
    ) -> Result<Vec<ContainerSummary>> {
        let filters = Some(HashMap::from([("label".to_owned(), vec![label])]));
        let options = ListContainersOptions { filters, ..options };
        let call = self
            .connection
            .call(wait, |docker| async move { docker.list_containers(Some(options)).await });
        call.await.map_err(|error| classify(error, ""))
    }

    async fn complete(&self, cluster: &str, row: ContainerSummary) -> Result<Option<Container>> {
        let Some(name) = row.names.iter().flatten().find_map(|name| name.strip_prefix('/')) else {
            return Ok(None);
        };
        let (Some(id), Some(key)) = (row.id, TaskKey::from_container_name(cluster, name)) else {
            return Ok(None);
        };
        let epoch = row.labels.as_ref().map(shape::epoch_of).unwrap_or_default();
        if let Some(status) = self.cache.status(&id)
            && row.state.is_some_and(|state| fits(&status, state))
        {
            return Ok(Some(Container { key, epoch, name: name.to_owned(), id, status }));
        }
        // It may have gone since the list.
        let Some(found) = self.inspect_raw(&id).await? else { return Ok(None) };
        let Some(status) = found.state.as_ref().and_then(|state| status(state, &found)) else {
            return Ok(None);
        };
        self.cache.learn(&id, &status);
        Ok(Some(Container { key, epoch, name: name.to_owned(), id, status }))
    }
}

fn fits(known: &ContainerStatus, listed: ContainerSummaryStateEnum) -> bool {
    use ContainerSummaryStateEnum as Listed;
    match known {
        ContainerStatus::Running { .. } => matches!(listed, Listed::RUNNING | Listed::PAUSED),
        ContainerStatus::Exited { .. } => matches!(listed, Listed::EXITED | Listed::DEAD),
        ContainerStatus::Created => false,
    }
}

/// An inspected container; `None` when it is not one of ours.
pub(super) fn container(found: &ContainerInspectResponse) -> Option<Container> {
    let name = found.name.as_deref()?.trim_start_matches('/').to_owned();
    let labels = found.config.as_ref()?.labels.as_ref()?;
    let key = TaskKey::from_container_name(labels.get(CLUSTER_LABEL)?, &name)?;
    let status = status(found.state.as_ref()?, found)?;
    let epoch = shape::epoch_of(labels);
    Some(Container { key, epoch, name, id: found.id.clone()?, status })
}

fn status(state: &ContainerState, found: &ContainerInspectResponse) -> Option<ContainerStatus> {
    use ContainerStateStatusEnum as Docker;
    let started_at = moment(state.started_at.as_deref());
    match state.status? {
        Docker::CREATED | Docker::EMPTY => {
            // A start that failed leaves a container "created", with the reason beside it.
            let error = state.error.clone().filter(|text| !text.is_empty());
            Some(match error {
                Some(_) => ended(state, None, created_at(found), error),
                None => ContainerStatus::Created,
            })
        }
        Docker::RUNNING | Docker::PAUSED | Docker::RESTARTING | Docker::STOPPING => {
            Some(ContainerStatus::Running { started_at: started_at? })
        }
        Docker::EXITED | Docker::DEAD | Docker::REMOVING => {
            let error = state.error.clone().filter(|text| !text.is_empty());
            Some(ended(state, started_at, created_at(found), error))
        }
    }
}

fn ended(
    state: &ContainerState,
    started_at: Option<Timestamp>,
    created_at: Timestamp,
    error: Option<String>,
) -> ContainerStatus {
    ContainerStatus::Exited {
        started_at,
        finished_at: moment(state.finished_at.as_deref()).unwrap_or(created_at),
        code: state.exit_code.and_then(|code| i32::try_from(code).ok()).unwrap_or(-1),
        oom_killed: state.oom_killed.unwrap_or(false),
        error,
    }
}

fn created_at(found: &ContainerInspectResponse) -> Timestamp {
    moment(found.created.as_deref()).unwrap_or_default()
}

fn moment(text: Option<&str>) -> Option<Timestamp> {
    text.and_then(clock::timestamp)
}
