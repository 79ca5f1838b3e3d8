//! Files for the containers of a node, in volumes that they have read-only: mounting one costs
//! nothing, while copying files into every container would cost each start.
//!
//! A volume is filled through a container that is never started and has the volume's name. It goes
//! when the volume is full: a volume without such a container is whole.

use std::collections::HashMap;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use bollard::models::{ContainerCreateBody, HostConfig, Mount, MountType, MountVolumeOptions};
use bollard::query_parameters::{
    CreateContainerOptions, ListVolumesOptions, RemoveContainerOptions, RemoveVolumeOptions,
    UploadToContainerOptions,
};
use bytes::Bytes;
use futures::StreamExt;
use futures::stream::BoxStream;

use super::connection::Connection;
use super::failure::{self, classify, status_of};
use super::shape::CLUSTER_LABEL;
use super::{CALL, DockerEngine, WORK};
use crate::{Content, EngineError, Result, Volume};

/// Where a container has it.
const FOLDER: &str = "/provided";
/// The labels of a volume for one attempt of a job.
const ATTEMPT_LABELS: [&str; 2] = ["berth.job", "berth.attempt"];

impl DockerEngine {
    /// Fills a volume unless it is whole.
    pub(super) async fn fill(
        &self,
        volume: &Volume,
        image: &str,
        content: &dyn Content,
    ) -> Result<()> {
        if self.is_whole(&volume.name).await? {
            return Ok(());
        }
        // One at a time: another task of the job may be filling it.
        let _filling = self.filling.lock().await;
        if self.is_whole(&volume.name).await? {
            return Ok(());
        }
        remove_filler(&self.connection, &volume.name).await?;
        self.discard(&volume.name).await?;
        create_filler(&self.connection, volume, image).await?;
        upload(&self.connection, &volume.name, FOLDER, content.tar().await?).await?;
        remove_filler(&self.connection, &volume.name).await
    }

    async fn is_whole(&self, name: &str) -> Result<bool> {
        let call = self
            .connection
            .call(CALL, |docker| async move { docker.inspect_volume(name).await.map(drop) });
        match call.await {
            Ok(()) => Ok(self.inspect_raw(name).await?.is_none()),
            Err(error) if status_of(&error) == Some(404) => Ok(false),
            Err(error) => Err(classify(error, name)),
        }
    }

    pub(super) async fn list_volumes(&self, cluster: &str) -> Result<Vec<Volume>> {
        let label = format!("{CLUSTER_LABEL}={cluster}");
        let options = ListVolumesOptions {
            filters: Some(HashMap::from([("label".to_owned(), vec![label])])),
        };
        let call = self
            .connection
            .call(CALL, |docker| async move { docker.list_volumes(Some(options)).await });
        let found = call.await.map_err(|error| classify(error, ""))?.volumes.unwrap_or_default();
        let volumes = found.into_iter().map(|found| {
            let [job, attempt] = ATTEMPT_LABELS.map(|label| found.labels.get(label));
            let attempt = job.zip(attempt).and_then(|(job, attempt)| {
                Some((protocol::ids::JobId(job.parse().ok()?), attempt.parse().ok()?))
            });
            Volume { name: found.name, cluster: cluster.to_owned(), attempt }
        });
        Ok(volumes.collect())
    }

    /// Removes a volume and what a crash left of its filling; one that a container has stays.
    pub(super) async fn discard(&self, name: &str) -> Result<()> {
        remove_filler(&self.connection, name).await?;
        let call = self.connection.call(WORK, |docker| async move {
            docker.remove_volume(name, None::<RemoveVolumeOptions>).await
        });
        match call.await {
            Err(error) if matches!(status_of(&error), Some(404 | 409)) => Ok(()),
            other => other.map_err(|error| classify(error, name)),
        }
    }
}

async fn create_filler(connection: &Connection, volume: &Volume, image: &str) -> Result<()> {
    let name = volume.name.clone();
    let options = CreateContainerOptions { name: Some(name.clone()), ..Default::default() };
    let labels = MountVolumeOptions { labels: Some(labels(volume)), ..Default::default() };
    let mount = Mount { volume_options: Some(labels), ..mount(&name, FOLDER, false) };
    let body = ContainerCreateBody {
        image: Some(protocol::image::explicit(image)),
        entrypoint: Some(vec!["never".to_owned()]),
        host_config: Some(HostConfig { mounts: Some(vec![mount]), ..Default::default() }),
        ..Default::default()
    };
    let call = connection
        .call(WORK, |docker| async move { docker.create_container(Some(options), body).await });
    match call.await {
        Ok(_) => Ok(()),
        Err(error) if status_of(&error) == Some(404) => {
            Err(EngineError::NoImage { image: image.to_owned(), message: failure::words(&error) })
        }
        Err(error) => Err(classify(error, &name)),
    }
}

fn labels(volume: &Volume) -> HashMap<String, String> {
    let mut labels = HashMap::from([(CLUSTER_LABEL.to_owned(), volume.cluster.clone())]);
    if let Some((job, attempt)) = volume.attempt {
        let values = [job.to_string(), attempt.to_string()];
        labels.extend(ATTEMPT_LABELS.map(str::to_owned).into_iter().zip(values));
    }
    labels
}

async fn remove_filler(connection: &Connection, name: &str) -> Result<()> {
    let options = RemoveContainerOptions { force: true, v: false, link: false };
    let call = connection
        .call(WORK, |docker| async move { docker.remove_container(name, Some(options)).await });
    match call.await {
        Err(error) if status_of(&error) == Some(404) => Ok(()),
        other => other.map_err(|error| classify(error, name)),
    }
}

/// A volume as a folder of a container.
pub(super) fn mount(volume: &str, folder: &str, read_only: bool) -> Mount {
    Mount {
        typ: Some(MountType::VOLUME),
        source: Some(volume.to_owned()),
        target: Some(folder.to_owned()),
        read_only: Some(read_only),
        ..Default::default()
    }
}

/// Unpacks a tar in a container. Where its source fails, that is the error, not that the engine
/// found its end too early.
pub(super) async fn upload(
    connection: &Connection,
    name: &str,
    folder: &str,
    tar: BoxStream<'static, Result<Bytes>>,
) -> Result<()> {
    let failure: Arc<Mutex<Option<EngineError>>> = Arc::default();
    let noted = Arc::clone(&failure);
    let tar = tar.map(move |piece| {
        piece.map_err(|error| {
            let told = io::Error::other(error.to_string());
            *noted.lock().unwrap_or_else(PoisonError::into_inner) = Some(error);
            told
        })
    });
    let options = UploadToContainerOptions { path: folder.to_owned(), ..Default::default() };
    let call = connection.call(WORK * 5, |docker| async move {
        docker.upload_to_container(name, Some(options), bollard::body_try_stream(tar)).await
    });
    let outcome = call.await.map_err(|error| classify(error, name));
    let source = failure.lock().unwrap_or_else(PoisonError::into_inner).take();
    source.map_or(outcome, Err)
}
